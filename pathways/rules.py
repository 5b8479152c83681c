"""The rules between values of a stack file; each is a function that yields the faults it finds.

A rule reads what it needs from `Settings`. Where a value is itself wrong, reading it raises AttributeError and the rule
is passed over: the fault has been said already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from ipaddress import IPv4Network
from itertools import combinations

from pathways.capacity import FlexStart
from pathways.containers import SIDECAR_PORT
from pathways.errors import Problem, shown
from pathways.head import head_needs
from pathways.images import Image
from pathways.machines import cpu_machine, machines_that_hold
from pathways.network_plan import network_plan
from pathways.plan import address_needs, images_of, names_of
from pathways.settings.platform import CreatedCluster, CreatedNetwork, CreatedScratch, ExistingCluster, ExistingNetwork
from pathways.settings.stack import Settings
from pathways.settings.workload import Batch, Interactive
from pathways.tpu import FLEX_START_MIN_GKE
from pathways.versions import GkeVersion

Rule = Callable[[Settings], Iterator[Problem]]

MAX_NODES = 15_000
"""Nodes of a cluster with Dataplane V2."""
_TPU_PORTS = {8471: "the TPU mesh", 8080: "megascale", SIDECAR_PORT: "the colocated-python sidecar"}
_NODE_PORTS = {22: "SSH", 10248: "kubelet", 10250: "kubelet", 10255: "kubelet", 10256: "the node's health check"}


def elastic_within_slices(s: Settings) -> Iterator[Problem]:
    """No more slices can be missing than there are."""
    elastic, count = s.runtime.elastic_slices, s.slices.count
    if elastic > count:
        yield Problem(
            "runtime.elasticSlices",
            f"{elastic} is more than the {count} slices there are",
            "0 ≤ elasticSlices ≤ slices.count",
            f"write at most {count}",
        )


def restarts_within_int32(s: Settings) -> Iterator[Problem]:
    """Kubernetes counts a job's failures in 32 bits."""
    backoff = s.slices.shape.hosts * s.runtime.max_slice_restarts
    if backoff > 2**31 - 1:
        yield Problem(
            "runtime.maxSliceRestarts",
            f"{backoff} failures a slice",
            "hosts × maxSliceRestarts stays below 2^31",
            "write a smaller number",
        )


def head_holds_containers(s: Settings) -> Iterator[Problem]:
    """The head's machine has room for the limits of its containers beside the system."""
    machine, need = cpu_machine(s.head.machine_type), head_needs(s.workload)
    if machine is None or (
        machine.allocatable_milli_cpu >= need.milli_cpu and machine.allocatable_bytes >= need.memory_bytes
    ):
        return
    fitting = machines_that_hold(need.milli_cpu, need.memory_bytes, machine.name.split("-")[0])
    fix = f"write {fitting[0].name} or larger" if fitting else "lower workload.resources"
    yield Problem(
        "head.machineType",
        f"{machine.name} with {machine.vcpu} vCPU and {machine.memory_gib:g} GiB is too small",
        f"the head's containers need {need.cpu_text} CPU and {need.memory_text} beside the system",
        fix,
    )


def images_pinned(s: Settings) -> Iterator[Problem]:
    """No image is named by a tag that moves."""
    if s.runtime.images.allow_mutable_tags:
        return
    for key, reference in images_of(s):
        image = Image.parse(reference)
        if not image.pinned:
            what = (
                f"{image.tag} is a mutable tag"
                if image.tag
                else "the image has neither tag nor digest, which means latest"
            )
            yield Problem(
                key,
                f"{what} ({shown(reference)})",
                "an image names a release, by a fixed tag or a digest",
                "write a fixed tag or @sha256:…, or allow it with runtime.images.allowMutableTags: true",
            )


def mutable_tags_not_for_prod(s: Settings) -> Iterator[Problem]:
    """Production never runs an image that can change under it."""
    if s.environment == "prod" and s.runtime.images.allow_mutable_tags:
        yield Problem(
            "runtime.images.allowMutableTags",
            "true in prod",
            "production images are fixed",
            "remove it and write fixed tags or digests",
        )


def one_release(s: Settings) -> Iterator[Problem]:
    """Server, proxy and sidecar are of one release, and it is the client's JAX."""
    releases = {}
    for key, reference in images_of(s):
        if key == "workload.image":
            continue
        image = Image.parse(reference)
        releases[key] = image.release
        if (
            image.release is None
            and image.tag
            and not image.digest
            and not s.runtime.images.allow_mutable_tags
            and image.pinned
        ):
            yield Problem(
                key,
                f"{image.tag} is not the tag of a Pathways release",
                "a release is tagged [YYYYMMDD-]jax-X.Y.Z or jax_X.Y.Z",
                f"write for example jax-{s.runtime.jax_version}, or a digest",
            )
        elif image.release and image.release.jax != s.runtime.jax_version:
            yield Problem(
                key,
                f"{image.tag} is JAX {image.release.jax}",
                f"images are of runtime.jaxVersion ({s.runtime.jax_version})",
                "write the same JAX in both places",
            )
    server, proxy = releases.get("runtime.images.server"), releases.get("runtime.images.proxy")
    if server and proxy and server != proxy:
        yield Problem(
            "runtime.images.proxy",
            f"proxy and server are of different releases ({proxy.date or 'undated'} and {server.date or 'undated'})",
            "server and proxy are of one release",
            "write the same tag for both",
        )


def sidecar_image_once(s: Settings) -> Iterator[Problem]:
    """The sidecar's image has no default, and one place."""
    sidecar, image = s.runtime.colocated_python, s.runtime.images.colocated_python
    key = "runtime.colocatedPython.image"
    if sidecar and not sidecar.image and not image:
        yield Problem(key, "is missing", "the sidecar's image has no default", "write image: REPOSITORY:TAG")
    if sidecar and sidecar.image and image:
        yield Problem(
            key, "the sidecar's image stands twice", "it is written once", "remove runtime.images.colocatedPython"
        )
    if image and not sidecar:
        yield Problem(
            "runtime.images.colocatedPython",
            "there is no sidecar to run it",
            "the sidecar runs with runtime.colocatedPython",
            "write runtime.colocatedPython: {} too, or remove it",
        )


def ports_distinct(s: Settings) -> Iterator[Problem]:
    """No two servers of a pod listen on one port, nor on one that the TPU runtime or the node uses."""
    ports = s.runtime.ports
    head = {
        ports.resource_manager: "the resource manager",
        ports.resource_manager + 1: "the resource manager's second port",
    }
    if ports.proxy in head:
        yield Problem(
            "runtime.ports.proxy",
            f"{ports.proxy} is {head[ports.proxy]}",
            "ports of one pod are distinct",
            "write another port, for example 29000",
        )
    for port in (ports.worker, ports.worker + 1):
        if port in _TPU_PORTS:
            yield Problem(
                "runtime.ports.worker",
                f"{ports.worker} takes {port}, which {_TPU_PORTS[port]} uses",
                "ports of one pod are distinct",
                "write another port, for example 29001",
            )
    if s.runtime.host_network:
        named = (
            ("proxy", (ports.proxy,)),
            ("resourceManager", (ports.resource_manager, ports.resource_manager + 1)),
            ("worker", (ports.worker, ports.worker + 1)),
        )
        for key, taken in named:
            for port in taken:
                if port in _NODE_PORTS:
                    yield Problem(
                        f"runtime.ports.{key}",
                        f"{port} belongs to {_NODE_PORTS[port]} of the node",
                        "with hostNetwork pods share the node's ports",
                        "write another port",
                    )


def references_declared(s: Settings) -> Iterator[Problem]:
    """`$(NAME)` in command and arguments is declared, since Kubernetes would pass it on as it stands."""
    if isinstance(s.workload, Batch):
        for key, name in s.workload.undeclared():
            yield Problem(
                f"workload.{key}",
                f"$({name}) is not declared",
                "Kubernetes expands only variables of the same container",
                f"declare {name} in workload.env, or write $$({name}) for the text itself",
            )


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
    """A given range holds what the slices need, and no two overlap."""
    if not isinstance(s.network, CreatedNetwork) or isinstance(s.cluster, ExistingCluster):
        return
    needs, given = address_needs(s), s.network
    sized = (
        ("nodes", given.nodes, needs.nodes, needs.nodes_prefix, "node"),
        ("pods", given.pods, needs.pods, needs.pods_prefix, "pod"),
        ("services", given.services, 256, 24, "service"),
    )
    for key, cidr, count, prefix, noun in sized:
        if cidr and IPv4Network(cidr).prefixlen > prefix:
            yield Problem(
                f"network.{key}",
                f"{cidr} is too small",
                f"this stack needs {count} {noun} addresses, a /{prefix}",
                f"write a /{prefix} or larger",
            )
    plan = network_plan(needs, given.nodes, given.pods, given.services)
    ranges = (("nodes", plan.nodes), ("pods", plan.pods), ("services", plan.services))
    for (first, a), (second, b) in combinations(ranges, 2):
        if a.overlaps(b):
            key = second if getattr(given, second) else first
            yield Problem(
                f"network.{key}",
                f"{first} {a} and {second} {b} overlap",
                "the three ranges are disjoint",
                "write ranges that do not overlap",
            )


def cluster_large_enough(s: Settings) -> Iterator[Problem]:
    """A cluster has a limit of nodes."""
    nodes = address_needs(s).nodes
    if nodes > MAX_NODES:
        yield Problem(
            "slices.count",
            f"{nodes} nodes in one cluster",
            f"a cluster with Dataplane V2 has at most {MAX_NODES} nodes",
            "write fewer or smaller slices",
        )


def names_within_budget(s: Settings) -> Iterator[Problem]:
    """What is really rendered fits the limits of where it goes."""
    shape, names = s.slices.shape, names_of(s)
    for problem in names.problems(s.slices.count, shape.hosts, shape.topology, s.slices.generation.accelerator):
        if "bucket" not in problem.what or isinstance(s.scratch, CreatedScratch):
            yield problem


RULES: tuple[Rule, ...] = (
    elastic_within_slices,
    restarts_within_int32,
    head_holds_containers,
    images_pinned,
    mutable_tags_not_for_prod,
    one_release,
    sidecar_image_once,
    ports_distinct,
    references_declared,
    versions_offer_features,
    endpoint_networks,
    maintenance_long_enough,
    one_region,
    network_of_existing_cluster,
    client_range_known,
    ranges_large_enough,
    cluster_large_enough,
    names_within_budget,
)
