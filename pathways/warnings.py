"""What is allowed but deserves a look: sentences shown by every preview."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pathways.capacity import FlexStart, Spot
from pathways.head import head_needs
from pathways.images import Image
from pathways.plan import Plan, images_of, repositories_of
from pathways.settings.platform import CreatedCluster, CreatedScratch, ExistingCluster, ExistingScratch
from pathways.settings.runtime import DEFAULT_REPOSITORY
from pathways.settings.workload import Batch, Interactive

NODES_PER_POOL = 2000
"""TPU nodes in one pool; above it Google has to raise a limit."""
LONG_RETENTION_DAYS = 60


def warnings(plan: Plan) -> tuple[str, ...]:
    """All warnings of a plan, as `key: sentence`."""
    return tuple(sentence for rule in _RULES for sentence in rule(plan))


def _size(plan: Plan) -> Iterator[str]:
    generation, shape = plan.settings.slices.generation, plan.shape
    if shape.chips > generation.documented_max_chips:
        yield f"slices.topology: {shape.topology} is above the largest documented {generation.name} slice ({generation.documented_max_chips} chips)"
    if shape.hosts > NODES_PER_POOL:
        yield f"slices.topology: {shape.hosts} hosts in one node pool; above {NODES_PER_POOL} ask Google to raise the limit first"


def _zone(plan: Plan) -> Iterator[str]:
    generation, zone = plan.settings.slices.generation, plan.settings.zone
    if zone not in generation.zones_seen:
        yield f"zone: {zone} is not known to offer {generation.name} (seen in {', '.join(generation.zones_seen)}); make sure it does"


def _capacity(plan: Plan) -> Iterator[str]:
    capacity = plan.settings.slices.capacity
    if isinstance(capacity, Spot) and plan.settings.environment == "prod":
        yield "slices.capacity: spot in prod: slices can be taken away with 30 seconds' notice"
    if isinstance(capacity, FlexStart):
        yield f"slices.capacity: flex-start: hosts leave after {capacity.max_run_duration} at the latest, and the job with them"


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
        if project != own and not f"{location}-docker.pkg.dev/{project}/{repository}" == DEFAULT_REPOSITORY:
            account = f"{plan.names.node_service_account}@{own}.iam.gserviceaccount.com"
            yield f"images: {project}/{repository} is another project's; give {account} roles/artifactregistry.reader on it"
    outside = [reference for reference in plan.images.values() if "-docker.pkg.dev/" not in reference]
    if outside and not runtime.images.pull_secret:
        yield f"images: {', '.join(sorted(set(outside)))} is not in Artifact Registry; if it is private, set runtime.images.pullSecret"


def _scratch(plan: Plan) -> Iterator[str]:
    scratch = plan.settings.scratch
    if isinstance(scratch, CreatedScratch) and scratch.retention_days > LONG_RETENTION_DAYS:
        yield f"scratch.retentionDays: {scratch.retention_days} days of compile cache and suspended state are kept and billed"
    if isinstance(scratch, ExistingScratch):
        yield f"scratch.existing: {scratch.existing} has to be in {plan.settings.region}, and its own lifecycle decides what is deleted"


def _network(plan: Plan) -> Iterator[str]:
    port = plan.settings.runtime.ports.proxy
    if plan.settings.runtime.host_network:
        yield f"runtime.hostNetwork: no NetworkPolicy reaches these pods: whoever reaches the node reaches the proxy on port {port}"
    cluster, workload = plan.settings.cluster, plan.settings.workload
    if isinstance(cluster, CreatedCluster) and cluster.kms_key:
        yield "cluster.kmsKey: GKE's service agent needs roles/cloudkms.cryptoKeyEncrypterDecrypter on the key before the first up"
    if isinstance(cluster, CreatedCluster) and cluster.endpoint == "private":
        yield "cluster.endpoint: private: pulumi and kubectl have to run where they reach the VPC"
    if isinstance(cluster, ExistingCluster) and isinstance(workload, Interactive) and workload.access == "dns":
        yield f"workload.access: dns: the existing cluster needs Cloud DNS with the VPC domain {plan.vpc_dns_domain}"


def _workload(plan: Plan) -> Iterator[str]:
    workload = plan.settings.workload
    if isinstance(workload, Batch) and workload.ttl:
        yield f"workload.ttl: the JobSet is deleted {workload.ttl} after it ends; the next `pulumi up --refresh` would run it again"
    if plan.settings.runtime.elastic_slices == plan.slice_count:
        yield "runtime.elasticSlices: all slices may be missing at once; the workload has to enforce its own minimum"
    needs, machine = head_needs(workload), plan.head_machine
    if needs.milli_cpu * 4 < machine.allocatable_milli_cpu:
        yield f"head.machineType: {machine.name} has four times the CPU its containers need ({needs.cpu_text})"


_RULES: tuple[Callable[[Plan], Iterator[str]], ...] = (_size, _zone, _capacity, _images, _scratch, _network, _workload)
