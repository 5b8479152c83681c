"""Network: a VPC of the stack's own, or the look-up of one that exists."""

from dataclasses import dataclass

import pulumi
from pulumi_gcp import compute

from components.common import Place, named_child
from components.lookup import Lookup
from pathways.names import Names
from pathways.network_plan import NetworkPlan
from pathways.settings.platform import ExistingNetworkNames


@dataclass(frozen=True, kw_only=True)
class Subnet:
    """What a cluster and its clients need to know of the network they are in; `client_range` is the nodes' range."""

    network: pulumi.Input[str]
    subnetwork: pulumi.Input[str]
    pod_range: pulumi.Input[str]
    service_range: pulumi.Input[str]
    client_range: pulumi.Input[str]


class Network(pulumi.ComponentResource):
    """A custom VPC with one subnet for nodes, pods and services, and NAT for nodes without public addresses."""

    subnet: Subnet

    def __init__(
        self,
        name: str,
        place: Place,
        names: Names,
        plan: NetworkPlan,
        *,
        mtu: int,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Create it; `mtu` is in bytes."""
        super().__init__("pathways:index:Network", name, {}, opts)
        vpc = compute.Network(
            f"{name}-vpc",
            name=names.network,
            project=place.project,
            auto_create_subnetworks=False,
            routing_mode="REGIONAL",
            mtu=mtu,
            opts=named_child(self, opts),
        )
        subnetwork = compute.Subnetwork(
            f"{name}-nodes",
            name=names.subnetwork,
            project=place.project,
            region=place.region,
            network=vpc.id,
            ip_cidr_range=str(plan.nodes),
            secondary_ip_ranges=[
                {"range_name": names.pod_range, "ip_cidr_range": str(plan.pods)},
                {"range_name": names.service_range, "ip_cidr_range": str(plan.services)},
            ],
            private_ip_google_access=True,
            log_config={
                "aggregation_interval": "INTERVAL_10_MIN",
                "flow_sampling": 0.5,
                "metadata": "INCLUDE_ALL_METADATA",
            },
            opts=named_child(self, opts),
        )
        router = compute.Router(
            f"{name}-router",
            name=names.router,
            project=place.project,
            region=place.region,
            network=vpc.id,
            opts=named_child(self, opts),
        )
        compute.RouterNat(
            f"{name}-nat",
            name=names.nat,
            project=place.project,
            region=place.region,
            router=router.name,
            nat_ip_allocate_option="AUTO_ONLY",
            source_subnetwork_ip_ranges_to_nat="LIST_OF_SUBNETWORKS",
            subnetworks=[{"name": subnetwork.id, "source_ip_ranges_to_nats": ["ALL_IP_RANGES"]}],
            log_config={"enable": True, "filter": "ERRORS_ONLY"},
            opts=named_child(self, opts),
        )
        self.subnet = Subnet(
            network=vpc.id,
            subnetwork=subnetwork.id,
            pod_range=names.pod_range,
            service_range=names.service_range,
            client_range=subnetwork.ip_cidr_range,
        )
        self.register_outputs({"network": vpc.id, "subnetwork": subnetwork.id})


def existing_subnet(place: Place, named: ExistingNetworkNames, lookup: Lookup) -> Subnet:
    """Look up a network and its subnet, by name or by path in a host project; a preview fails if there is none."""
    network, subnetwork = named.network, named.subnetwork
    project, owner = _project(network, place.project), _project(subnetwork, place.project)
    found = lookup.answer(
        compute.get_network_output(name=_name(network), project=project, opts=lookup.opts),
        key="network.existing.network",
        name=network,
        rule=f"the network exists in the project {project}",
        fix=f"write one of `gcloud compute networks list --project {project}`",
    )
    subnet = lookup.answer(
        compute.get_subnetwork_output(name=_name(subnetwork), project=owner, region=place.region, opts=lookup.opts),
        key="network.existing.subnetwork",
        name=subnetwork,
        rule=f"the subnet exists in the project {owner} and the zone's region, {place.region}",
        fix=f"write one of `gcloud compute networks subnets list --project {owner} --regions {place.region}`",
    )
    return Subnet(
        network=found.self_link,
        subnetwork=subnet.self_link,
        pod_range=named.pod_range,
        service_range=named.service_range,
        client_range=subnet.ip_cidr_range,
    )


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _project(path: str, own: str) -> str:
    return path.split("/")[1] if path.startswith("projects/") else own
