"""Networks and what lies in them."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from tests.e2e.cloud.config import ProviderConfig
from tests.e2e.cloud.diff import Change
from tests.e2e.cloud.errors import CloudError, in_use, invalid
from tests.e2e.cloud.services.base import COMPUTE, Regional, Service, project_of, tail
from tests.e2e.cloud.store import Record
from tests.e2e.cloud.wire import Props

if TYPE_CHECKING:
    from tests.e2e.cloud.cloud import Cloud

NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
ROUTER = "gcp:compute/router:Router"
NAT = "gcp:compute/routerNat:RouterNat"
FIREWALL = "gcp:compute/firewall:Firewall"
ADDRESS = "gcp:compute/address:Address"
POLICY = "gcp:compute/resourcePolicy:ResourcePolicy"
CLUSTER = "gcp:container/cluster:Cluster"
NODE_POOL = "gcp:container/nodePool:NodePool"
TIME = "2026-01-01T00:00:00.000-08:00"


def network_of(cloud: Cloud, reference: object, project: str) -> Record:
    """The network of a name, path or link; raises Google's 404."""
    owner = project_of(reference, project)
    for network in cloud.store.all(NETWORK):
        if network.name == tail(reference) and network.project == owner:
            return network
    path = f"projects/{owner}/global/networks/{tail(reference)}"
    raise CloudError(404, f"The resource '{path}' was not found", "notFound")


def subnetwork_of(cloud: Cloud, reference: object, project: str, region: str) -> Record:
    """The subnet of a name, path or link; raises Google's 404."""
    owner = project_of(reference, project)
    for subnet in cloud.store.all(SUBNETWORK):
        if subnet.name == tail(reference) and subnet.project == owner and tail(subnet.props["region"]) == region:
            return subnet
    path = f"projects/{owner}/regions/{region}/subnetworks/{tail(reference)}"
    raise CloudError(404, f"The resource '{path}' was not found", "notFound")


class Network(Regional):
    """A VPC."""

    token, collection, everywhere = NETWORK, "networks", True

    def complete(self, cloud: Cloud, inputs: Props, config: ProviderConfig) -> Props:
        """MTU, routing mode, ids."""
        props = super().complete(cloud, inputs, config)
        number = str(crc32(self.id(props).encode()))
        defaults = {"mtu": 1460, "routingMode": "REGIONAL", "gatewayIpv4": "", "bgpBestPathSelectionMode": "LEGACY"}
        return {**defaults, "networkId": number, "numericId": number, **props}

    def forbid_delete(self, cloud: Cloud, record: Record, state: Props) -> None:
        """Anything left in it keeps it: subnets, routers, firewall rules (GKE's own among them), clusters."""
        for token in (SUBNETWORK, ROUTER, FIREWALL, CLUSTER):
            for other in cloud.store.all(token):
                same = project_of(other.props.get("network"), other.project) == record.project
                if same and tail(other.props.get("network")) == record.name:
                    raise in_use("Network", record.id, other.id)


class Subnetwork(Regional):
    """A subnet with its secondary ranges."""

    token, collection = SUBNETWORK, "subnetworks"

    def complete(self, cloud: Cloud, inputs: Props, config: ProviderConfig) -> Props:
        """Gateway, stack type, the network as a link."""
        props = super().complete(cloud, inputs, config)
        owner = project_of(props["network"], props["project"])
        defaults: Props = {
            "creationTimestamp": TIME,
            "privateIpGoogleAccess": False,
            "privateIpv6GoogleAccess": "DISABLE_GOOGLE_ACCESS",
            "purpose": "PRIVATE",
            "stackType": "IPV4_ONLY",
            "secondaryIpRanges": [],
        }
        cidr = props.get("ipCidrRange")
        if cidr:
            defaults["gatewayAddress"] = str(ipaddress.ip_network(cidr).network_address + 1)
        props["network"] = f"{COMPUTE}projects/{owner}/global/networks/{tail(props['network'])}"
        return {**defaults, "subnetworkId": crc32(self.id(props).encode()), **props}

    def admit(self, cloud: Cloud, record: Record) -> None:
        """The network is there and no range of it overlaps."""
        network_of(cloud, record.props["network"], record.project)
        self._overlaps(cloud, record)

    def update(self, cloud: Cloud, record: Record, merged: Props, changes: Sequence[Change]) -> list[str]:
        """Ranges can be added, none in use removed."""
        before = {item["rangeName"] for item in record.props.get("secondaryIpRanges", [])}
        record.props = merged
        self._overlaps(cloud, record)
        gone = before - {item["rangeName"] for item in merged.get("secondaryIpRanges", [])}
        for cluster in cloud.store.all(CLUSTER):
            policy = cluster.props.get("ipAllocationPolicy", {})
            if tail(cluster.props.get("subnetwork")) == record.name and gone & set(map(str, policy.values())):
                raise invalid(
                    f"Invalid value for field 'resource.secondaryIpRanges': cannot remove {sorted(gone)}: in use"
                )
        return [f"PATCH {record.id}"] if changes else []

    @staticmethod
    def _ranges(props: Props) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
        texts = [props.get("ipCidrRange"), *(item.get("ipCidrRange") for item in props.get("secondaryIpRanges", []))]
        return [ipaddress.ip_network(text) for text in texts if text]

    def _overlaps(self, cloud: Cloud, record: Record) -> None:
        mine = self._ranges(record.props)
        for index, one in enumerate(mine):
            for other in mine[index + 1 :]:
                if one.overlaps(other):
                    raise invalid(f"Invalid IPCidrRange: {one} conflicts with {other} of the same subnetwork")
        for subnet in cloud.store.all(SUBNETWORK):
            same = tail(subnet.props["network"]) == tail(record.props["network"]) and subnet.project == record.project
            if same and subnet.id != record.id:
                for one in mine:
                    if any(one.overlaps(other) for other in self._ranges(subnet.props)):
                        region = tail(subnet.props["region"])
                        raise invalid(
                            f"Invalid IPCidrRange: {one} conflicts with existing subnetwork '{subnet.name}' in region "
                            f"'{region}'."
                        )

    def forbid_delete(self, cloud: Cloud, record: Record, state: Props) -> None:
        """A cluster's nodes keep it."""
        for cluster in cloud.store.all(CLUSTER):
            if tail(cluster.props.get("subnetwork")) == record.name and cluster.project == record.project:
                raise in_use("Subnetwork", record.id, cluster.id)


class Router(Regional):
    """A cloud router; its NATs live inside it."""

    token, collection = ROUTER, "routers"

    def complete(self, cloud: Cloud, inputs: Props, config: ProviderConfig) -> Props:
        """The network as a link."""
        props = super().complete(cloud, inputs, config)
        owner = project_of(props.get("network"), props["project"])
        props["network"] = f"{COMPUTE}projects/{owner}/global/networks/{tail(props.get('network'))}"
        return {"creationTimestamp": TIME, **props}

    def admit(self, cloud: Cloud, record: Record) -> None:
        """The network is there."""
        network_of(cloud, record.props["network"], record.project)

    def removed(self, cloud: Cloud, record: Record) -> None:
        """Its NATs went with it."""
        for nat in cloud.store.all(NAT):
            if tail(nat.props["router"]) == record.name and nat.project == record.project:
                cloud.store.remove(NAT, nat.id)


class RouterNat(Service):
    """A NAT in a router."""

    token = NAT

    def id(self, props: Props) -> str:
        """PROJECT/REGION/ROUTER/NAME."""
        return f"{props['project']}/{tail(props['region'])}/{tail(props['router'])}/{props['name']}"

    def complete(self, cloud: Cloud, inputs: Props, config: ProviderConfig) -> Props:
        """Project, region, port defaults."""
        defaults = {"minPortsPerVm": 64, "enableDynamicPortAllocation": False, "autoNetworkTier": "PREMIUM"}
        more = {"enableEndpointIndependentMapping": False, "endpointTypes": ["ENDPOINT_TYPE_VM"], "drainNatIps": []}
        place = {"project": config.project, "region": config.region, "deletionPolicy": "DELETE"}
        return {**defaults, **more, **place, **inputs}

    def admit(self, cloud: Cloud, record: Record) -> None:
        """The router is there."""
        region, router = tail(record.props["region"]), tail(record.props["router"])
        path = f"projects/{record.project}/regions/{region}/routers/{router}"
        if cloud.store.get(ROUTER, path) is None:
            raise CloudError(404, f"The resource '{path}' was not found", "notFound")


class Firewall(Regional):
    """A firewall rule."""

    token, collection, everywhere = FIREWALL, "firewalls", True

    def complete(self, cloud: Cloud, inputs: Props, config: ProviderConfig) -> Props:
        """Direction, the network as a link."""
        props = super().complete(cloud, inputs, config)
        owner = project_of(props["network"], props["project"])
        props["network"] = f"{COMPUTE}projects/{owner}/global/networks/{tail(props['network'])}"
        return {
            "creationTimestamp": TIME,
            "direction": "INGRESS",
            "destinationRanges": [],
            "enableLogging": False,
            **props,
        }

    def admit(self, cloud: Cloud, record: Record) -> None:
        """The network is there; an ingress rule says from where."""
        network_of(cloud, record.props["network"], record.project)


class Address(Regional):
    """A static address."""

    token, collection = ADDRESS, "addresses"

    def complete(self, cloud: Cloud, inputs: Props, config: ProviderConfig) -> Props:
        """An address of the range for documentation."""
        props = super().complete(cloud, inputs, config)
        number = crc32(self.id(props).encode())
        defaults = {
            "address": f"203.0.113.{number % 254 + 1}",
            "networkTier": "PREMIUM",
            "prefixLength": 0,
            "users": [],
        }
        return {
            **defaults,
            "addressId": str(number),
            "creationTimestamp": TIME,
            "labelFingerprint": "42WmSpB8rSM=",
            **props,
        }


class ResourcePolicy(Regional):
    """A placement or workload policy. The service cannot change one."""

    token, collection = POLICY, "resourcePolicies"

    def update(self, cloud: Cloud, record: Record, merged: Props, changes: Sequence[Change]) -> list[str]:
        """A rename is planned as an update, and then finds nothing under the new name."""
        if any(change.path == "name" for change in changes):
            raise CloudError(404, f"The resource '{self.id(merged)}' was not found", "notFound")
        return super().update(cloud, record, merged, changes)

    def forbid_delete(self, cloud: Cloud, record: Record, state: Props) -> None:
        """A node pool that is placed by it keeps it."""
        for pool in cloud.store.all(NODE_POOL):
            used = tail(pool.props.get("placementPolicy", {}).get("policyName"))
            if used == record.name and pool.project == record.project:
                raise in_use("ResourcePolicy", record.id, pool.id)
