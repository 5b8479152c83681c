"""Rules of a VPC."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from offline.recording import Resource
from policy.expect import Problem, at, items, must_be, must_have
from policy.model import Each, Rule

NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
FIREWALL = "gcp:compute/firewall:Firewall"


def _rule(id: str, source: tuple[str, ...], sentence: str, fix: str, problem: Problem, *, on: str) -> Rule:
    return Rule(id=id, level="mandatory", source=source, sentence=sentence, fix=fix, check=Each((on,), problem))


def _flow_logs(subnet: Resource) -> str | None:
    purpose = at(subnet.inputs, "purpose")
    if purpose not in (None, "PRIVATE"):
        return None  # those for proxies keep none
    return must_have("logConfig")(subnet)


def _ipv6_access(subnet: Resource) -> str | None:
    dual = at(subnet.inputs, "stackType") in ("IPV4_IPV6", "IPV6_ONLY")
    return must_be("privateIpv6GoogleAccess", "ENABLE_OUTBOUND_VM_ACCESS_TO_GOOGLE")(subnet) if dual else None


def _everywhere(firewall: Resource, path: str) -> Iterator[str]:
    for cidr in items(firewall.inputs, path):
        if isinstance(cidr, str) and ipaddress.ip_network(cidr, strict=False).prefixlen == 0:
            yield cidr


def _open(direction: str, path: str) -> Problem:
    """An allowing rule of this direction that names everybody."""

    def problem(firewall: Resource) -> str | None:
        ways = at(firewall.inputs, "direction") or "INGRESS"
        cidr = next(_everywhere(firewall, path), None)
        if ways != direction or cidr is None or not items(firewall.inputs, "allows"):
            return None
        return f"{path} has {cidr}"

    return problem


def _all_ports(firewall: Resource) -> str | None:
    for allow in items(firewall.inputs, "allows"):
        if at(allow, "protocol") == "all" or "0-65535" in items(allow, "ports"):
            return "allows every port"
    return None


RULES: tuple[Rule, ...] = (
    _rule(
        "network-own-subnets",
        ("CKV2_GCP_2", "GCP-0010"),
        "A network has the subnets that somebody planned, and no others.",
        "autoCreateSubnetworks: false",
        must_be("autoCreateSubnetworks", False),
        on=NETWORK,
    ),
    _rule(
        "subnet-flow-logs",
        ("CKV_GCP_26", "GCP-0029", "GCP-0076"),
        "Who spoke with whom can be found out afterwards.",
        "logConfig: {flowSampling: 0.5, …}",
        _flow_logs,
        on=SUBNETWORK,
    ),
    _rule(
        "subnet-private-google-access",
        ("CKV_GCP_74", "GCP-0075"),
        "Nodes without public addresses reach Google's APIs.",
        "privateIpGoogleAccess: true",
        must_be("privateIpGoogleAccess", True),
        on=SUBNETWORK,
    ),
    _rule(
        "subnet-private-google-access-ipv6",
        ("CKV_GCP_76",),
        "The same holds for IPv6, where a subnet has it.",
        "privateIpv6GoogleAccess: ENABLE_OUTBOUND_VM_ACCESS_TO_GOOGLE",
        _ipv6_access,
        on=SUBNETWORK,
    ),
    _rule(
        "firewall-ingress-named",
        (
            *("CKV_GCP_2", "CKV_GCP_3", "CKV_GCP_75", "CKV_GCP_77", "CKV_GCP_88", "CKV_GCP_106"),
            *("GCP-0027", "GCP-0070", "GCP-0071", "GCP-0074"),
        ),
        "No port is open to the whole internet.",
        "sourceRanges: the networks that need it",
        _open("INGRESS", "sourceRanges"),
        on=FIREWALL,
    ),
    _rule(
        "firewall-egress-named",
        ("GCP-0035",),
        "A rule that lets traffic out says where to.",
        "destinationRanges: the networks that are meant",
        _open("EGRESS", "destinationRanges"),
        on=FIREWALL,
    ),
    _rule(
        "firewall-ports-named",
        ("CKV2_GCP_12", "GCP-0072"),
        "A rule lets single ports through, not all.",
        "allows: [{protocol: tcp, ports: [443]}]",
        _all_ports,
        on=FIREWALL,
    ),
)
