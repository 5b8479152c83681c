"""Whether Kubernetes NetworkPolicies let a connection into a pod (ingress only).

Follows `networking.k8s.io/v1`: policies add up, a pod that no policy selects for ingress is open, and a pod always
reaches itself. Two things are a network plugin's choice and follow GKE Dataplane V2: an `ipBlock` never matches the
address of an ordinary pod, and a policy never selects a pod on its node's network. What a node may do to its own pods
(the kubelet's probes) is not judged.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name"  # the API server sets it on every namespace

Labels = Mapping[str, str]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True)
class NamedPort:
    """A named container port."""

    name: str
    port: int
    protocol: str = "TCP"


@dataclass(frozen=True)
class Pod:
    """A pod as a policy sees it; `node_address` matters only for a pod on its node's network."""

    namespace: str
    labels: Labels = field(default_factory=dict)
    ports: tuple[NamedPort, ...] = ()
    host_network: bool = False
    node_address: str | None = None

    @classmethod
    def from_template(cls, template: Mapping[str, Any], namespace: str, extra_labels: Labels | None = None) -> Pod:
        """The pod that a pod template makes; controllers add `extra_labels` (JobSet: its name, the job's index)."""
        spec = template["spec"]
        labels = {**template.get("metadata", {}).get("labels", {}), **(extra_labels or {})}
        named = tuple(
            NamedPort(port["name"], port["containerPort"], port.get("protocol", "TCP"))
            for container in (*spec.get("initContainers", ()), *spec.get("containers", ()))
            for port in container.get("ports", ())
            if "name" in port
        )
        return cls(namespace, labels, named, host_network=spec.get("hostNetwork", False))


@dataclass(frozen=True)
class _Connection:
    source: Pod | str
    target: Pod
    port: int
    protocol: str


def allows(
    policies: Iterable[Mapping[str, Any]],
    namespaces: Mapping[str, Labels],
    source: Pod | str,
    target: Pod,
    port: int,
    *,
    protocol: str = "TCP",
) -> bool:
    """Whether a connection from `source` (a pod, or an address outside the cluster) reaches a port of `target`.

    Args:
        policies: NetworkPolicy objects as plain dicts.
        namespaces: the labels of every namespace; the name label need not be among them.
        source: a pod, or the text of an IP address.
        target: the pod that is connected to.
        port: 1 to 65535.
        protocol: TCP, UDP or SCTP.

    Raises:
        ValueError: a policy that the API server would refuse, or a namespace without labels given.
    """
    if target.host_network or source == target:
        return True
    isolating = [policy for policy in policies if _isolates(policy, target)]
    if not isolating:
        return True
    connection = _Connection(source, target, port, protocol)
    return any(
        _rule_allows(rule, policy["metadata"]["namespace"], namespaces, connection)
        for policy in isolating
        for rule in policy["spec"].get("ingress", ())
    )


def _isolates(policy: Mapping[str, Any], target: Pod) -> bool:
    spec = policy["spec"]
    # Without policyTypes a policy is one for ingress, whether it has ingress rules or not.
    in_force = "Ingress" in spec.get("policyTypes", ("Ingress",))
    same_namespace = policy["metadata"]["namespace"] == target.namespace
    return bool(in_force and same_namespace and selects(spec.get("podSelector", {}), target.labels))


def _rule_allows(
    rule: Mapping[str, Any], policy_namespace: str, namespaces: Mapping[str, Labels], connection: _Connection
) -> bool:
    peers: Sequence[Mapping[str, Any]] = rule.get("from") or ()
    ports: Sequence[Mapping[str, Any]] = rule.get("ports") or ()
    from_here = not peers or any(_peer_matches(peer, policy_namespace, namespaces, connection.source) for peer in peers)
    return from_here and (not ports or any(_port_matches(entry, connection) for entry in ports))


def _peer_matches(
    peer: Mapping[str, Any], policy_namespace: str, namespaces: Mapping[str, Labels], source: Pod | str
) -> bool:
    if "ipBlock" in peer:
        if len(peer) > 1:
            msg = "a NetworkPolicy peer with ipBlock takes no selector beside it"
            raise ValueError(msg)
        address = _address(source)
        return address is not None and _in_block(peer["ipBlock"], address)
    if "podSelector" not in peer and "namespaceSelector" not in peer:
        msg = "a NetworkPolicy peer needs a podSelector, a namespaceSelector or an ipBlock"
        raise ValueError(msg)
    if isinstance(source, str) or source.host_network:
        return False
    if "namespaceSelector" in peer:
        in_namespace = selects(peer["namespaceSelector"], _namespace_labels(namespaces, source.namespace))
    else:
        in_namespace = source.namespace == policy_namespace
    return in_namespace and selects(peer.get("podSelector", {}), source.labels)


def _address(source: Pod | str) -> Address | None:
    if isinstance(source, str):
        return ipaddress.ip_address(source)
    if source.host_network and source.node_address is not None:
        return ipaddress.ip_address(source.node_address)
    return None


def _in_block(block: Mapping[str, Any], address: Address) -> bool:
    inside = address in ipaddress.ip_network(block["cidr"])
    return inside and not any(address in ipaddress.ip_network(hole) for hole in block.get("except", ()))


def _namespace_labels(namespaces: Mapping[str, Labels], name: str) -> Labels:
    if name not in namespaces:
        msg = f"namespace {name!r}: its labels are not given"
        raise ValueError(msg)
    return {**namespaces[name], NAMESPACE_NAME_LABEL: name}


def _port_matches(entry: Mapping[str, Any], connection: _Connection) -> bool:
    port, protocol = connection.port, connection.protocol
    if entry.get("protocol", "TCP") != protocol:
        return False
    wanted = entry.get("port")
    last = entry.get("endPort")
    if last is not None and (not isinstance(wanted, int) or last < wanted):
        msg = f"endPort {last} needs a port that is a number not above it, not {wanted!r}"
        raise ValueError(msg)
    if wanted is None:
        return True
    if isinstance(wanted, str):
        return any(
            (named.name, named.port, named.protocol) == (wanted, port, protocol) for named in connection.target.ports
        )
    return bool(wanted <= port <= (wanted if last is None else last))


def selects(selector: Mapping[str, Any], labels: Labels) -> bool:
    """Whether a label selector selects these labels; an empty one selects everything.

    Raises:
        ValueError: an operator that is none of In, NotIn, Exists, DoesNotExist.
    """
    exact = all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())
    return exact and all(_expression_holds(entry, labels) for entry in selector.get("matchExpressions", ()))


def _expression_holds(expression: Mapping[str, Any], labels: Labels) -> bool:
    key = expression["key"]
    match expression["operator"]:
        case "In":
            return key in labels and labels[key] in expression["values"]
        case "NotIn":
            return key not in labels or labels[key] not in expression["values"]
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case operator:
            msg = f"label selector operator {operator!r} is none of In, NotIn, Exists, DoesNotExist"
            raise ValueError(msg)
