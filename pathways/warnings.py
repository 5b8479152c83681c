"""What is allowed but deserves a look: sentences shown by every preview."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pathways.capacity import FlexStart, Spot
from pathways.errors import listed
from pathways.head import head_needs
from pathways.images import ARTIFACT_REGISTRY, Image
from pathways.plan import Plan, images_of, repositories_of
from pathways.settings.platform import CreatedCluster, CreatedScratch, ExistingCluster, ExistingScratch
from pathways.settings.runtime import DEFAULT_REPOSITORY
from pathways.settings.workload import Batch, Interactive

NODES_PER_POOL = 2000
"""TPU nodes in one pool; above it Google has to raise a limit."""
LARGE_CLUSTER = 5000
"""Nodes that a regional cluster can have without talking to Google."""
LONG_RETENTION_DAYS = 60


def warnings(plan: Plan) -> tuple[str, ...]:
    """All warnings of a plan, as `key: sentence`."""
    return tuple(sentence for rule in _RULES for sentence in rule(plan))


def _size(plan: Plan) -> Iterator[str]:
    generation, shape = plan.settings.slices.generation, plan.shape
    if shape.chips > generation.documented_max_chips:
        most = f"the largest documented {generation.name} slice ({generation.documented_max_chips} chips)"
        yield f"slices.topology: {shape.topology} is above {most}"
    if shape.hosts > NODES_PER_POOL:
        limit = f"above {NODES_PER_POOL} ask Google to raise the limit first"
        yield f"slices.topology: {shape.hosts} hosts in one node pool; {limit}"

    if plan.addresses.nodes > LARGE_CLUSTER:
        limit = f"above {LARGE_CLUSTER} nodes ask Google first"
        yield f"slices.count: {plan.addresses.nodes} nodes in one cluster; {limit}"


def _zone(plan: Plan) -> Iterator[str]:
    generation, zone = plan.settings.slices.generation, plan.settings.zone
    if zone not in generation.zones_seen:
        seen = listed(generation.zones_seen)
        yield f"zone: {zone} is not known to offer {generation.name} (seen in {seen}); make sure it does"


def _capacity(plan: Plan) -> Iterator[str]:
    capacity = plan.settings.slices.capacity
    if isinstance(capacity, Spot) and plan.settings.environment == "prod":
        yield "slices.capacity: spot in prod: slices can be taken away with 30 seconds' notice"
    if isinstance(capacity, FlexStart):
        longest = capacity.max_run_duration
        yield f"slices.capacity: flex-start: hosts leave after {longest} at the latest, and the job with them"


def _images(plan: Plan) -> Iterator[str]:
    runtime = plan.settings.runtime
    if runtime.images.allow_mutable_tags:
        moving = [reference for _, reference in images_of(plan.settings) if not Image.parse(reference).pinned]
        yield from (f"runtime.images: {reference} may be another image tomorrow" for reference in moving)
    server, proxy = (Image.parse(plan.images[name]) for name in ("server", "proxy"))
    if (server.release is None) != (proxy.release is None):
        yield "runtime.images: only one of server and proxy names its release by tag; make sure both are of one"
    own = plan.settings.project
    for project, location, repository in repositories_of(plan):
        if project != own and f"{location}{ARTIFACT_REGISTRY}/{project}/{repository}" != DEFAULT_REPOSITORY:
            account = f"{plan.names.node_service_account}@{own}.iam.gserviceaccount.com"
            fix = f"give {account} roles/artifactregistry.reader on it"
            yield f"images: {project}/{repository} is another project's; {fix}"
    outside = [reference for reference in plan.images.values() if f"{ARTIFACT_REGISTRY}/" not in reference]
    if outside and not runtime.images.pull_secret:
        names = listed(sorted(set(outside)))
        yield f"images: {names} is not in Artifact Registry; if it is private, set runtime.images.pullSecret"


def _scratch(plan: Plan) -> Iterator[str]:
    scratch = plan.settings.scratch
    if isinstance(scratch, CreatedScratch) and scratch.retention_days > LONG_RETENTION_DAYS:
        days = scratch.retention_days
        yield f"scratch.retentionDays: {days} days of compile cache and suspended state are kept and billed"
    if isinstance(scratch, ExistingScratch):
        where = f"has to be in {plan.settings.region}"
        yield f"scratch.existing: {scratch.existing} {where}, and its own lifecycle decides what is deleted"


def _network(plan: Plan) -> Iterator[str]:
    port = plan.settings.runtime.ports.proxy
    if plan.settings.runtime.host_network:
        open_to = f"whoever reaches the node reaches the proxy on port {port}"
        yield f"runtime.hostNetwork: no NetworkPolicy reaches these pods: {open_to}"
    cluster, workload = plan.settings.cluster, plan.settings.workload
    if isinstance(cluster, CreatedCluster) and cluster.kms_key:
        role = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
        yield f"cluster.kmsKey: GKE's service agent needs {role} on the key before the first up"
    if isinstance(cluster, CreatedCluster) and cluster.endpoint == "private":
        yield "cluster.endpoint: private: pulumi and kubectl have to run where they reach the VPC"
    if isinstance(cluster, ExistingCluster) and isinstance(workload, Interactive) and workload.access == "dns":
        yield f"workload.access: dns: the existing cluster needs Cloud DNS with the VPC domain {plan.vpc_dns_domain}"


def _workload(plan: Plan) -> Iterator[str]:
    workload = plan.settings.workload
    if isinstance(workload, Batch) and workload.ttl:
        again = "the next `pulumi up --refresh` would run it again"
        yield f"workload.ttl: the JobSet is deleted {workload.ttl} after it ends; {again}"
    if plan.settings.runtime.elastic_slices == plan.slice_count:
        yield "runtime.elasticSlices: all slices may be missing at once; the workload has to enforce its own minimum"
    needs, machine = head_needs(workload), plan.head_machine
    if needs.milli_cpu * 4 < machine.allocatable_milli_cpu:
        yield f"head.machineType: {machine.name} has four times the CPU its containers need ({needs.cpu_text})"


_RULES: tuple[Callable[[Plan], Iterator[str]], ...] = (_size, _zone, _capacity, _images, _scratch, _network, _workload)
