"""Changes of stack files and what they do: one table for the offline comparison and for the real engine.

A case edits the configuration of a committed stack file, the base, the head or both. Keys are dotted paths below
`pathways:` (or `gcp:project`); the value None removes a key. `operations` names every resource that does not stay as it
is, by its logical name; components are left out.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Edit = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """One change: `head` and `base` are edits of a stack file, `operations` is by logical name, of all that changes.

    A trailing `*` in `operations` stands for the rest; `impact` is the worst; `stopped` has the obstacles' rules.
    """

    name: str
    head: Edit
    operations: Mapping[str, str]
    impact: str
    stack: str = "vision-dev"
    base: Edit = field(default_factory=dict)
    stopped: tuple[str, ...] = ()


def edited(config: Mapping[str, Any], edit: Edit) -> dict[str, Any]:
    """A stack file's configuration with the edits made."""
    result: dict[str, Any] = copy.deepcopy(dict(config))
    for path, value in edit.items():
        first, *rest = path.split(".")
        keys = [first if ":" in first else f"pathways:{first}", *rest]
        inner = result
        for key in keys[:-1]:
            inner = inner.setdefault(key, {})
        if value is None:
            inner.pop(keys[-1], None)
        else:
            inner[keys[-1]] = value
    return result


SLICES = {"slices-0": "replace", "slices-1": "replace"}
JOB = {"workload-jobset": "replace"}
GRANTS = {"access-bucket": "replace", "access-objects": "replace"}
PROVIDERS = {"kubernetes": "update", "kubernetes-crds": "update"}
IN_CLUSTER = {
    "head-pool": "replace",
    "system-pool": "replace",
    "operators-jobset-crd": "replace",
    "operators-jobset": "replace",
    "tenancy-namespace": "replace",
    "tenancy-account": "replace",
    "tenancy-policy": "replace",
}
NEW_CLUSTER = {"cluster-cluster": "replace", **IN_CLUSTER, **SLICES, **JOB}
NEW_PROVIDERS = {"kubernetes": "replace", "kubernetes-crds": "replace"}
NEW_NAMES = {
    **NEW_CLUSTER,
    **NEW_PROVIDERS,
    **GRANTS,
    "google": "update",
    "scratch-bucket": "replace",
    "network-vpc": "replace",
    "network-nodes": "replace",
    "network-router": "replace",
    "network-nat": "replace",
    "nodes-account": "replace",
    "nodes-node-agents": "replace",
    "nodes-images-us-train": "replace",
}
LOST_BUCKET = ("bucket-not-empty", "protected")
SPOT = {"slices.capacity": {"type": "spot"}}
FLEX = {"slices.capacity": {"type": "flex-start", "maxRunDuration": "3d"}}
RESERVED = {"slices.capacity": {"type": "reservation", "name": "tpus"}}
NETWORK: Edit = {
    "network": {"existing": {"network": "net", "subnetwork": "sub", "podRange": "pods", "serviceRange": "services"}}
}
CLUSTER: Edit = {
    "cluster": {"existing": {"name": "research", "location": "us-east5"}},
    "operators.jobset": {"install": False},
}
KEY = "projects/acme-keys/locations/us-central1/keyRings/gke/cryptoKeys/next"
AUTHORIZED = {"cluster.endpoint": "authorized", "cluster.authorizedNetworks": ["203.0.113.0/24"]}
NETWORK_GOES = dict.fromkeys(("network-vpc", "network-nodes", "network-router", "network-nat"), "delete")
NETWORK_COMES = dict.fromkeys(NETWORK_GOES, "create")

CASES = (
    # slices
    Case("one slice more", {"slices.count": 3}, {"slices-2": "create", **JOB}, "restarts-workload"),
    Case("one slice less", {"slices.count": 1}, {"slices-1": "delete", **JOB}, "restarts-workload"),
    Case("larger topology", {"slices.topology": "4x8"}, {**SLICES, **JOB}, "replaces-slice"),
    Case("single-host topology", {"slices.topology": "2x2"}, {**SLICES, **JOB}, "replaces-slice"),
    Case(
        "machine type of the slices",
        {"slices.topology": "2x4", "slices.machineType": "ct6e-standard-8t"},
        {**SLICES, **JOB},
        "replaces-slice",
        base={"slices.topology": "2x4"},
    ),
    Case("generation", {"slices.tpu": "v5e"}, {**SLICES, **JOB}, "replaces-slice"),
    Case("pods per node", {"slices.maxPodsPerNode": 32}, {**SLICES, **JOB}, "replaces-slice"),
    # capacity
    Case("on demand to spot", SPOT, {**SLICES, **JOB}, "replaces-slice"),
    Case("on demand to a reservation", RESERVED, {**SLICES, **JOB}, "replaces-slice"),
    Case("on demand to flex-start", FLEX, {**SLICES, **JOB}, "replaces-slice"),
    Case("spot to a reservation", RESERVED, {**SLICES, **JOB}, "replaces-slice", base=SPOT),
    Case("flex-start to on demand", {}, {**SLICES, **JOB}, "replaces-slice", base=FLEX),
    Case(
        "another reservation",
        {"slices.capacity": {"type": "reservation", "name": "tpus-2"}},
        {**SLICES, **JOB},
        "replaces-slice",
        base=RESERVED,
    ),
    # workload
    Case("image", {"workload.image": "us-docker.pkg.dev/acme-ml-dev/train/app:1.2.4"}, JOB, "restarts-workload"),
    Case(
        "image of another repository",
        {"workload.image": "us-docker.pkg.dev/acme-ml-dev/other/app:1.2.3"},
        {"nodes-images-us-train": "delete", "nodes-images-us-other": "create", **JOB},
        "restarts-workload",
    ),
    Case("command", {"workload.command": ["python", "other.py"]}, JOB, "restarts-workload"),
    Case("environment variable", {"workload.env": {"LOG_LEVEL": "info"}}, JOB, "restarts-workload"),
    Case("run id", {"workload.runId": "run-2"}, JOB, "restarts-workload"),
    Case(
        "flags",
        {"runtime.flags": {"proxy": ["--xla_tpu_scoped_vmem_limit_kib=98304"]}},
        JOB,
        "restarts-workload",
    ),
    Case("port of the proxy", {"runtime.ports": {"proxy": 29500}}, JOB, "restarts-workload"),
    Case("release of JAX", {"runtime.jaxVersion": "0.10.0"}, JOB, "restarts-workload"),
    Case("name of the job", {"workload.name": "learn"}, {"tenancy-policy": "replace", **JOB}, "restarts-workload"),
    Case(
        "job to interactive",
        {"workload": {"mode": "interactive", "name": "train", "access": "port-forward"}},
        {"nodes-images-us-train": "delete", **JOB},
        "restarts-workload",
    ),
    Case(
        "host network",
        {"runtime.hostNetwork": True, "runtime.ports": {"worker": 29005}},
        {"tenancy-namespace": "update", "tenancy-policy": "delete", **GRANTS, **JOB},
        "restarts-workload",
    ),
    Case(
        "image pull secret", {"runtime.images": {"pullSecret": "registry"}}, {"tenancy-account": "update"}, "in-place"
    ),
    Case(
        "access by DNS name",
        {"workload.access": "dns"},
        {"cluster-cluster": "update", "tenancy-policy": "update"},
        "in-place",
        stack="research-dev",
    ),
    Case(
        "access by load balancer",
        {"workload.access": "internal-load-balancer"},
        {"door-service": "create", "tenancy-policy": "update"},
        "in-place",
        stack="research-dev",
    ),
    # nodes and network
    Case(
        "machine type of the head",
        {"head.machineType": "n2-standard-80"},
        {"head-pool": "replace", **JOB},
        "restarts-workload",
    ),
    Case(
        "pod range",
        {"network.pods": "10.8.0.0/14"},
        {"network-nodes": "update"},
        "in-place",
        stopped=("range-in-use",),
    ),
    Case(
        "larger node range",
        {"network.nodes": "10.0.0.0/19"},
        {"network-nodes": "update"},
        "in-place",
        base={"network.nodes": "10.0.0.0/20"},
    ),
    Case(
        "another node range",
        {"network.nodes": "10.16.0.0/20"},
        {"network-nodes": "replace", "network-nat": "update", **PROVIDERS, **NEW_CLUSTER},
        "replaces-cluster",
        base={"network.nodes": "10.0.0.0/20"},
    ),
    Case("packet size", {"network.mtu": 1460}, {"network-vpc": "update"}, "in-place"),
    Case(
        "created network to an existing one", NETWORK, {**NETWORK_GOES, **PROVIDERS, **NEW_CLUSTER}, "replaces-cluster"
    ),
    Case(
        "existing network to a created one",
        {},
        {**NETWORK_COMES, **PROVIDERS, **NEW_CLUSTER},
        "replaces-cluster",
        base=NETWORK,
    ),
    # place and names
    Case(
        "another region",
        {"zone": "us-west4-a"},
        {
            **NEW_CLUSTER,
            **NEW_PROVIDERS,
            **GRANTS,
            "google": "update",
            "scratch-bucket": "replace",
            "network-nodes": "replace",
            "network-router": "replace",
            "network-nat": "replace",
        },
        "destroys-data",
        stopped=LOST_BUCKET,
    ),
    Case(
        "another zone of the region",
        {"zone": "us-east5-a"},
        {
            "google": "update",
            "cluster-cluster": "update",
            "system-pool": "update",
            "head-pool": "replace",
            **SLICES,
            **JOB,
        },
        "replaces-slice",
    ),
    Case("team", {"team": "sight"}, NEW_NAMES, "destroys-data", stopped=LOST_BUCKET),
    Case("environment", {"environment": "staging"}, NEW_NAMES, "destroys-data", stopped=LOST_BUCKET),
    Case("dev to prod", {"environment": "prod"}, NEW_NAMES, "destroys-data", stopped=LOST_BUCKET),
    # cluster
    Case("release channel", {"cluster.releaseChannel": "STABLE"}, {"cluster-cluster": "update"}, "in-place"),
    Case("least version", {"cluster.minVersion": "1.34.1-gke.2541000"}, {"cluster-cluster": "update"}, "in-place"),
    Case("deletion protection", {"cluster.deletionProtection": True}, {"cluster-cluster": "update"}, "in-place"),
    Case(
        "endpoint of the control plane",
        {"cluster.endpoint": "private"},
        {"cluster-cluster": "update", **PROVIDERS},
        "in-place",
    ),
    Case(
        "authorized networks",
        {**AUTHORIZED, "cluster.authorizedNetworks": ["203.0.113.0/24", "198.51.100.0/24"]},
        {"cluster-cluster": "update"},
        "in-place",
        base=AUTHORIZED,
    ),
    Case("another KMS key", {"cluster.kmsKey": KEY}, {"cluster-cluster": "update"}, "in-place", stack="llm-prod"),
    Case("no KMS key any more", {"cluster.kmsKey": None}, {}, "none", stack="llm-prod"),
    Case(
        "created cluster to an existing one",
        CLUSTER,
        {
            **SLICES,
            **JOB,
            **NETWORK_GOES,
            "cluster-cluster": "delete",
            "system-pool": "delete",
            "head-pool": "replace",
            "operators-jobset": "delete",
            "operators-jobset-crd": "delete",
            "kubernetes-crds": "delete",
            "kubernetes": "replace",
            "tenancy-namespace": "replace",
            "tenancy-account": "replace",
            "tenancy-policy": "replace",
        },
        "replaces-cluster",
    ),
    Case(
        "existing cluster to a created one",
        {"cluster": None, "network": None, "operators.jobset": None},
        {
            **SLICES,
            **JOB,
            **NETWORK_COMES,
            "cluster-cluster": "create",
            "system-pool": "create",
            "head-pool": "replace",
            "operators-jobset": "create",
            "operators-jobset-crd": "create",
            "kubernetes-crds": "create",
            "kubernetes": "replace",
            "tenancy-namespace": "replace",
            "tenancy-account": "replace",
        },
        "replaces-slice",
        stack="shared-dev",
    ),
    Case(
        "a protected cluster moves",
        {"zone": "us-central1-a"},
        {},
        "destroys-data",
        stack="vision-prod",
        stopped=("bucket-not-empty", "deletion-protection", "protected", "protected"),
    ),
    # scratch and operators
    Case("longer retention", {"scratch.retentionDays": 30}, {"scratch-bucket": "update"}, "in-place"),
    Case("scratch prefix", {"scratch.prefix": "other/x"}, {"scratch-bucket": "update", **JOB}, "restarts-workload"),
    Case(
        "created bucket to an existing one",
        {"scratch.existing": "acme-scratch"},
        {"scratch-bucket": "delete", **GRANTS, **JOB},
        "destroys-data",
        stopped=LOST_BUCKET,
    ),
    Case(
        "existing bucket to a created one",
        {},
        {"scratch-bucket": "create", **GRANTS, **JOB},
        "restarts-workload",
        base={"scratch.existing": "acme-scratch"},
    ),
    Case(
        "JobSet release",
        {},
        {"operators-jobset-crd": "update", "operators-jobset": "update"},
        "in-place",
        base={"operators.jobset": {"version": "0.10.1"}},
    ),
    Case(
        "JobSet chart from a mirror",
        {"operators.jobset": {"chart": "oci://mirror.example.com/jobset"}},
        {"operators-jobset": "update"},
        "in-place",
    ),
    Case(
        "JobSet not installed any more",
        {"operators.jobset": {"install": False}},
        {"operators-jobset": "delete", "operators-jobset-crd": "delete", "kubernetes-crds": "delete"},
        "in-place",
    ),
)
