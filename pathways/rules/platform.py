"""Rules about what the slices live in: cluster, network, region, names."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import combinations

from pathways.capacity import FlexStart
from pathways.errors import Problem
from pathways.network_plan import LARGEST
from pathways.plan import address_needs, names_of
from pathways.settings.platform import CreatedCluster, CreatedNetwork, CreatedScratch, ExistingCluster, ExistingNetwork
from pathways.settings.stack import Settings
from pathways.settings.workload import Interactive
from pathways.tpu import FLEX_START_MIN_GKE
from pathways.versions import GkeVersion

MAX_NODES = 15_000
"""Nodes of a cluster with Dataplane V2."""
MAX_ZONAL_NODES = 1_000
"""Nodes of a cluster whose control plane is in one zone."""


def versions_offer_features(s: Settings) -> Iterator[Problem]:
    """The cluster's least version knows the generation and the kind of capacity."""
    if not isinstance(s.cluster, CreatedCluster) or s.cluster.min_version is None:
        return
    version = GkeVersion.parse(s.cluster.min_version)
    needs: list[tuple[GkeVersion, str]] = [(s.slices.generation.min_gke, s.slices.tpu)]
    if isinstance(s.slices.capacity, FlexStart):
        needs.append((FLEX_START_MIN_GKE, "flex-start"))
    for least, feature in needs:
        if version < least:
            yield Problem(
                "cluster.minVersion",
                f"{version} is too old for {feature}",
                f"{feature} needs GKE {least} or later",
                f"write {least} or later, or remove minVersion",
            )


def endpoint_networks(s: Settings) -> Iterator[Problem]:
    """Authorized networks go with the endpoints that look at them."""
    if not isinstance(s.cluster, CreatedCluster):
        return
    key = "cluster.authorizedNetworks"
    if s.cluster.endpoint == "authorized" and not s.cluster.authorized_networks:
        yield Problem(
            key,
            "is missing",
            "endpoint: authorized needs the ranges that may connect",
            "write authorizedNetworks: [203.0.113.0/24], or endpoint: dns",
        )
    if s.cluster.endpoint == "dns" and s.cluster.authorized_networks:
        yield Problem(
            key,
            "has no effect",
            "the DNS endpoint is open to whom IAM lets in, whatever their address",
            "remove it, or write endpoint: authorized",
        )


def maintenance_long_enough(s: Settings) -> Iterator[Problem]:
    """GKE asks for 48 hours of maintenance in any 32 days."""
    if isinstance(s.cluster, CreatedCluster):
        window = s.cluster.maintenance
        if len(set(window.days)) * window.hours * 4 < 48:
            yield Problem(
                "cluster.maintenance.hours",
                f"{len(set(window.days))} × {window.hours} hours a week are too few",
                "GKE needs 48 hours in any 32 days",
                "write more days or hours (12 a week at least)",
            )
        if len(set(window.days)) != len(window.days):
            yield Problem("cluster.maintenance.days", "a day stands twice", "each day is named once", "remove it")


def one_region(s: Settings) -> Iterator[Problem]:
    """Everything lies in the zone's region."""
    if isinstance(s.cluster, ExistingCluster):
        location = s.cluster.existing.location
        if location != s.region and location.removesuffix(location[location.rfind("-") :]) != s.region:
            yield Problem(
                "cluster.existing.location",
                f"{location} is not in {s.region}",
                "slices live in a zone of the cluster's region",
                "write the cluster's region, or a zone of that region as pathways:zone",
            )
    if isinstance(s.cluster, CreatedCluster) and s.cluster.kms_key:
        location = s.cluster.kms_key.split("/")[3]
        if location != s.region:
            yield Problem(
                "cluster.kmsKey",
                f"the key is in {location}",
                f"GKE takes keys of the cluster's region ({s.region})",
                f"write a key of {s.region}",
            )
    if isinstance(s.network, ExistingNetwork) and "/regions/" in s.network.existing.subnetwork:
        location = s.network.existing.subnetwork.split("/")[3]
        if location != s.region:
            yield Problem(
                "network.existing.subnetwork",
                f"the subnet is in {location}",
                f"the subnet lies in the zone's region ({s.region})",
                f"write a subnet of {s.region}",
            )


def one_network_project(s: Settings) -> Iterator[Problem]:
    """Network and subnet are of one project; a bare name is of the stack's own."""
    if isinstance(s.network, ExistingNetwork):
        network, subnetwork = (
            _project(name, s.project) for name in (s.network.existing.network, s.network.existing.subnetwork)
        )
        if network != subnetwork:
            yield Problem(
                "network.existing.subnetwork",
                f"the subnet is of {subnetwork}, the network of {network}",
                "a subnet is of its network's project, and a bare name of gcp:project",
                f"write projects/{network}/regions/{s.region}/subnetworks/NAME",
            )


def ranges_of_existing_network(s: Settings) -> Iterator[Problem]:
    """Pods and services have a secondary range each."""
    if isinstance(s.network, ExistingNetwork) and s.network.existing.pod_range == s.network.existing.service_range:
        yield Problem(
            "network.existing.serviceRange",
            f"{s.network.existing.service_range} is podRange too",
            "pods and services have a secondary range each",
            "write the name of the subnet's range for services",
        )


def _project(name: str, own: str) -> str:
    return name.split("/")[1] if name.startswith("projects/") else own


def network_of_existing_cluster(s: Settings) -> Iterator[Problem]:
    """An existing cluster has its network already."""
    if isinstance(s.cluster, ExistingCluster) and isinstance(s.network, CreatedNetwork) and s.network.model_fields_set:
        yield Problem(
            "network",
            "a new network is described for a cluster that exists",
            "an existing cluster keeps its own network",
            "remove it, or write network.existing",
        )


def client_range_known(s: Settings) -> Iterator[Problem]:
    """Clients outside the cluster are let in by their range, which the network tells."""
    outside = isinstance(s.workload, Interactive) and s.workload.access != "port-forward"
    if outside and isinstance(s.cluster, ExistingCluster) and isinstance(s.network, CreatedNetwork):
        yield Problem(
            "network.existing",
            "is missing",
            "clients are let in by the range of the cluster's subnet",
            "write network.existing, or access: port-forward",
        )


def ranges_large_enough(s: Settings) -> Iterator[Problem]:
    """A given range holds what the slices need, and is not larger than GKE takes."""
    if not isinstance(s.network, CreatedNetwork):
        return
    for key, largest in LARGEST.items():
        cidr = getattr(s.network, key)
        if cidr and IPv4Network(cidr).prefixlen < largest:
            yield Problem(
                f"network.{key}",
                f"{cidr} is too large",
                f"it is at most a /{largest}",
                f"write a /{largest} or smaller",
            )
    needs = address_needs(s)
    if needs.nodes > MAX_NODES:
        return
    sized = (
        ("nodes", s.network.nodes, needs.nodes, needs.nodes_prefix, "node"),
        ("pods", s.network.pods, needs.pods, needs.pods_prefix, "pod"),
        ("services", s.network.services, 256, 24, "service"),
    )
    for key, cidr, count, prefix, noun in sized:
        if cidr and IPv4Network(cidr).prefixlen > prefix:
            yield Problem(
                f"network.{key}",
                f"{cidr} is too small",
                f"this stack needs {count} {noun} addresses, a /{prefix}",
                f"write a /{prefix} or larger",
            )


def ranges_disjoint(s: Settings) -> Iterator[Problem]:
    """No two given ranges overlap; those that are not given keep clear of them."""
    if not isinstance(s.network, CreatedNetwork):
        return
    network = s.network
    given = [(key, IPv4Network(cidr)) for key in LARGEST if (cidr := getattr(network, key, None))]
    for (first, a), (second, b) in combinations(given, 2):
        if a.overlaps(b):
            yield Problem(
                f"network.{second}",
                f"{b} overlaps network.{first} ({a})",
                "the ranges are disjoint",
                f"write another range, or remove {second} and let it be derived",
            )


def cluster_large_enough(s: Settings) -> Iterator[Problem]:
    """A cluster has a limit of nodes."""
    nodes, limit, kind = address_needs(s).nodes, MAX_NODES, "a cluster with Dataplane V2"
    if isinstance(s.cluster, ExistingCluster) and s.cluster.existing.location != s.region:
        limit, kind = MAX_ZONAL_NODES, "a zonal cluster"
    if nodes > limit:
        yield Problem(
            "slices.count",
            f"{s.slices.count} slices make {nodes} nodes in one cluster",
            f"{kind} has at most {limit} nodes",
            "write fewer or smaller slices",
        )


def names_within_budget(s: Settings) -> Iterator[Problem]:
    """What is really rendered fits the limits of where it goes."""
    shape, names = s.slices.shape, names_of(s)
    for problem in names.problems(s.slices.count, shape.hosts, shape.topology, s.slices.generation.accelerator):
        if "bucket" not in problem.what or isinstance(s.scratch, CreatedScratch):
            yield problem
