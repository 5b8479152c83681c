"""What resources are called and which of their inputs matter to a person who reviews a plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from offline.recording import Resource, is_unknown

AFTER_UP = "known after up"
"""How a value that only the cloud knows is written for people."""

PURPOSES: Mapping[str, str] = {
    "pathways:index:ProjectServices": "the Google APIs that the stack calls",
    "pathways:index:Network": "a private network; machines reach the internet, nothing reaches them",
    "pathways:index:NodeIdentity": "whom the machines act as",
    "pathways:index:ScratchBucket": "where Pathways keeps compiled programs and temporary files",
    "pathways:index:BucketAccess": "what the job may do in the bucket",
    "pathways:index:SlicePlacement": "keeps the hosts of one slice together",
    "pathways:index:Cluster": "Kubernetes, run by Google",
    "pathways:index:SystemPool": "machines for Kubernetes' own programs",
    "pathways:index:HeadPool": "the machine of the resource manager, the proxy and your program",
    "pathways:index:TpuSlices": "the TPU machines, one pool of them per slice",
    "pathways:index:Operators": "programs in the cluster that start and restart jobs",
    "pathways:index:Tenancy": "the stack's own corner of the cluster, closed to others",
    "pathways:index:Workload": "the job itself",
    "pathways:index:ProxyDoor": "where clients outside the cluster connect",
    "pathways:index:Protection": "what a deletion of a protected stack ends at",
}
"""What a component is for, for a person who does not know GKE."""

Details = Callable[[Mapping[str, Any]], list[str]]


@dataclass(frozen=True)
class Entry:
    """A type's everyday name, and what to say of one such resource."""

    noun: str
    details: Details


def noun(resource: Resource) -> str:
    """What a person calls a resource of this type: `node pool`, `subnet`, or a Kubernetes kind."""
    entry = _ENTRIES.get(resource.type)
    if entry is not None:
        return entry.noun
    return resource.type.rsplit(":", 1)[-1]


def words(type_name: str) -> str:
    """A component's type as words: `TpuSlices` as `TPU slices`."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", type_name).lower()
    return re.sub(r"\btpu\b", "TPU", spaced[:1].upper() + spaced[1:], flags=re.IGNORECASE)


def physical_name(resource: Resource) -> str:
    """The name of the object in the cloud or the cluster; the logical name where it has none of its own."""
    metadata = resource.inputs.get("metadata")
    inputs = metadata if isinstance(metadata, Mapping) else resource.inputs
    for key in ("name", "accountId", "service"):
        value = inputs.get(key)
        if isinstance(value, str):
            return value
    return resource.name


def details(resource: Resource) -> list[str]:
    """The two or three inputs that matter, each as a short phrase."""
    entry = _ENTRIES.get(resource.type)
    found = entry.details(resource.inputs) if entry is not None else []
    return [phrase for phrase in found if phrase]


def unknown_inputs(resource: Resource) -> list[str]:
    """Paths of the inputs whose value only the cloud knows, at most one per top-level input."""
    return [path for key, value in resource.inputs.items() if (path := _unknown_path(key, value))]


def shown(value: Any) -> str:
    """A single value for a person."""
    if is_unknown(value):
        return AFTER_UP
    if value == {"$secret": True}:
        return "secret"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def at(inputs: Any, path: str) -> Any:
    """The value at a dotted path (a list is entered at its first item); None where there is none."""
    for part in path.split("."):
        if isinstance(inputs, list):
            inputs = inputs[0] if inputs else None
        if not isinstance(inputs, Mapping):
            return None
        inputs = inputs.get(part)
    return inputs


def _unknown_path(path: str, value: Any) -> str | None:
    if is_unknown(value):
        return path
    pairs = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, item in pairs:
        below = f"{path}[{key}]" if isinstance(value, list) else f"{path}.{key}"
        if found := _unknown_path(below, item):
            return found
    return None


def _fields(*templates: tuple[str, str]) -> Details:
    """Details that put the value at a path into a template: `("mtu", "MTU {}")`."""

    def read(inputs: Mapping[str, Any]) -> list[str]:
        values = ((at(inputs, path), template) for path, template in templates)
        return [template.format(shown(value)) for value, template in values if not _is_silent(value)]

    return read


def _is_silent(value: Any) -> bool:
    """Nothing to say: absent, or unknown, which is marked apart from the details."""
    return value in (None, "", [], False) or is_unknown(value)


def _node_pool(inputs: Mapping[str, Any]) -> list[str]:
    machine = shown(at(inputs, "nodeConfig.machineType") or "")
    topology = at(inputs, "placementPolicy.tpuTopology")
    least = at(inputs, "autoscaling.minNodeCount") or at(inputs, "autoscaling.totalMinNodeCount")
    most = at(inputs, "autoscaling.maxNodeCount") or at(inputs, "autoscaling.totalMaxNodeCount")
    count = inputs.get("nodeCount")
    number = shown(count) if most is None or most == least else f"{shown(least or 0)} to {shown(most)}"
    nodes = f"{number} node{'' if number == '1' else 's'}"
    size = f"{nodes} {machine}".strip() if count is not None or most is not None else machine
    capacity = [
        name
        for path, name in (
            ("nodeConfig.spot", "spot"),
            ("nodeConfig.flexStart", "flex-start"),
            ("nodeConfig.queuedProvisioning.enabled", "queued"),
        )
        if at(inputs, path) is True
    ]
    reservation = at(inputs, "nodeConfig.reservationAffinity.values")
    if reservation:
        capacity.append(f"reservation {shown(reservation[0])}")
    return [size, f"topology {shown(topology)}" if topology else "", *capacity]


def _secondary_ranges(inputs: Mapping[str, Any]) -> list[str]:
    ranges = inputs.get("secondaryIpRanges") or []
    return [
        f"nodes {shown(inputs.get('ipCidrRange'))}",
        *(f"{shown(item.get('rangeName'))} {shown(item.get('ipCidrRange'))}" for item in ranges),
    ]


def _bucket(inputs: Mapping[str, Any]) -> list[str]:
    ages = [at(rule, "condition.age") for rule in inputs.get("lifecycleRules") or []]
    days = [f"deleted after {shown(age)} days" for age in ages if age is not None]
    return [*_fields(("location", "in {}"))(inputs), *days[:1]]


def _job_set(inputs: Mapping[str, Any]) -> list[str]:
    found = []
    for job in at(inputs, "spec.replicatedJobs") or []:
        pods = at(job, "template.spec.parallelism") or 1
        replicas = job.get("replicas", 1)
        times = f"{replicas} × {shown(pods)} pods" if pods != 1 else f"{replicas} pod" + ("s" if replicas != 1 else "")
        found.append(f"{job.get('name')}: {times}")
    return found


def _member(inputs: Mapping[str, Any]) -> list[str]:
    return _fields(("role", "{}"), ("member", "to {}"))(inputs)


def _none(_: Mapping[str, Any]) -> list[str]:
    return []


_RANGES = _fields(("ipCidrRange", "{}"))

_ENTRIES: Mapping[str, Entry] = {
    "pulumi:providers:gcp": Entry("Google provider", _fields(("project", "project {}"), ("region", "region {}"))),
    "pulumi:providers:kubernetes": Entry("Kubernetes provider", _fields(("clusterIdentifier", "{}"))),
    "gcp:projects/service:Service": Entry("API switched on", _none),
    "gcp:iam/workloadIdentityPool:WorkloadIdentityPool": Entry("identity pool", _none),
    "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider": Entry("identity provider", _none),
    "gcp:kms/cryptoKey:CryptoKey": Entry("key", _fields(("rotationPeriod", "rotated every {}"))),
    "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember": Entry("grant on key", _fields(("role", "{}"))),
    "gcp:kms/keyRing:KeyRing": Entry("key ring", _fields(("location", "{}"))),
    "gcp:projects/iAMCustomRole:IAMCustomRole": Entry("role of our own", _fields(("roleId", "{}"))),
    "gcp:compute/network:Network": Entry("VPC network", _fields(("mtu", "MTU {}"))),
    "gcp:compute/subnetwork:Subnetwork": Entry("subnet", _secondary_ranges),
    "gcp:compute/router:Router": Entry("router", _fields(("region", "{}"))),
    "gcp:compute/routerNat:RouterNat": Entry("NAT gateway", _fields(("natIpAllocateOption", "{}"))),
    "gcp:compute/firewall:Firewall": Entry("firewall rule", _fields(("direction", "{}"))),
    "gcp:compute/address:Address": Entry("address", _fields(("addressType", "{}"), ("address", "{}"))),
    "gcp:compute/resourcePolicy:ResourcePolicy": Entry(
        "placement policy",
        _fields(("workloadPolicy.type", "{}"), ("workloadPolicy.acceleratorTopology", "topology {}")),
    ),
    "gcp:container/cluster:Cluster": Entry(
        "GKE cluster",
        _fields(
            ("location", "{}"),
            ("releaseChannel.channel", "channel {}"),
            ("minMasterVersion", "at least {}"),
            ("deletionProtection", "deletion protection"),
        ),
    ),
    "gcp:container/nodePool:NodePool": Entry("node pool", _node_pool),
    "gcp:serviceaccount/account:Account": Entry("service account", _none),
    "gcp:serviceaccount/iAMMember:IAMMember": Entry("grant on account", _member),
    "gcp:projects/iAMMember:IAMMember": Entry("grant on project", _member),
    "gcp:storage/bucket:Bucket": Entry("bucket", _bucket),
    "gcp:storage/bucketIAMMember:BucketIAMMember": Entry("grant on bucket", _member),
    "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember": Entry("grant on images", _member),
    "kubernetes:helm.sh/v3:Release": Entry("Helm release", _fields(("chart", "{}"), ("version", "version {}"))),
    "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet": Entry("JobSet", _job_set),
    "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition": Entry(
        "resource kind", _fields(("spec.group", "{}"))
    ),
    "kubernetes:core/v1:ServiceAccount": Entry("k8s account", _none),
    "kubernetes:core/v1:Service": Entry("k8s service", _fields(("spec.type", "{}"), ("spec.ports.port", "port {}"))),
    "kubernetes:networking.k8s.io/v1:NetworkPolicy": Entry("network policy", _none),
    "kubernetes:yaml/v2:ConfigFile": Entry("manifest file", _fields(("file", "{}"))),
    "kubernetes:yaml/v2:ConfigGroup": Entry("manifests", _none),
}
