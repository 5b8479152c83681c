"""Simulated nodes: what GKE would register for a node pool, without a machine behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.e2e.cluster.kube import Kube, KubeError, Object, wait_for

_FAKE = {"kwok.x-k8s.io/node": "fake"}
TPU_TAINT = {"key": "google.com/tpu", "value": "present", "effect": "NoSchedule"}
SPOT_TAINT = {"key": "cloud.google.com/gke-spot", "value": "true", "effect": "NoSchedule"}


@dataclass(frozen=True)
class NodeShape:
    """One machine of a node pool.

    Attributes:
        pool: Name of the node pool.
        labels: Labels beyond the pool's and the node's own names.
        taints: As in the node's spec.
        capacity: Quantities by resource name.
    """

    pool: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Mapping[str, str], ...] = ()
    capacity: Mapping[str, str] = field(default_factory=dict)

    def node(self, name: str) -> Object:
        """The Node object."""
        capacity = {"pods": "110", "ephemeral-storage": "100Gi", **self.capacity}
        labels = {
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "kubernetes.io/arch": "amd64",
            "cloud.google.com/gke-nodepool": self.pool,
            **self.labels,
        }
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels, "annotations": dict(_FAKE)},
            "spec": {"taints": [dict(taint) for taint in self.taints]},
            "status": {"capacity": capacity, "allocatable": dict(capacity)},
        }


def cpu_shape(pool: str, cpu: int = 64, memory: str = "256Gi", **labels: str) -> NodeShape:
    """A machine without accelerators."""
    return NodeShape(pool, labels=labels, capacity={"cpu": str(cpu), "memory": memory})


def tpu_shape(
    pool: str, accelerator: str, topology: str, chips: int = 4, *, spot: bool = False, cpu: int = 180
) -> NodeShape:
    """A TPU host as GKE registers it.

    Args:
        pool: Name of the node pool.
        accelerator: Value of `cloud.google.com/gke-tpu-accelerator`, such as `tpu-v6e-slice`.
        topology: Of the slice, such as `4x4`.
        chips: Chips of one host.
        spot: Whether the label and taint of spot machines are there too.
        cpu: vCPUs of one host.
    """
    labels = {
        "cloud.google.com/gke-tpu-accelerator": accelerator,
        "cloud.google.com/gke-tpu-topology": topology,
        **({"cloud.google.com/gke-spot": "true"} if spot else {}),
    }
    capacity = {"cpu": str(cpu), "memory": "720Gi", "google.com/tpu": str(chips)}
    return NodeShape(pool, labels, (TPU_TAINT, SPOT_TAINT) if spot else (TPU_TAINT,), capacity)


def add_nodes(kube: Kube, shape: NodeShape, count: int, first: int = 0) -> list[str]:
    """Register `count` nodes of a pool and return their names; their kubelets report ready within a second."""
    names = [f"gke-{shape.pool}-{number}" for number in range(first, first + count)]
    for name in names:
        kube.create(shape.node(name))
    return names


def nodes_of(kube: Kube, pool: str) -> list[Object]:
    """The nodes of a pool."""
    return kube.objects("Node", labels=f"cloud.google.com/gke-nodepool={pool}")


def ready(node: Object) -> bool:
    """Whether a node reports ready."""
    conditions = node.get("status", {}).get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def remove_node(kube: Kube, name: str) -> None:
    """A machine is gone: its Node, and the pods on it, without a graceful end, as the node controllers would do."""
    kube.delete("Node", name)
    for pod in kube.objects("Pod", fields=f"spec.nodeName={name}"):
        meta = pod["metadata"]
        path = kube.path("Pod", meta["namespace"], meta["name"])
        try:
            kube.request("DELETE", path, json={"gracePeriodSeconds": 0})
        except KubeError as error:
            if error.code != 404:
                raise


def remove_pool(kube: Kube, pool: str) -> None:
    """All machines of a pool are gone, and the pods that were on them."""
    names = [node["metadata"]["name"] for node in nodes_of(kube, pool)]
    for name in names:
        remove_node(kube, name)
    wait_for(
        f"pods of {pool} gone",
        lambda: not any(kube.objects("Pod", fields=f"spec.nodeName={name}") for name in names),
    )
