"""The Nodes of a node pool, with what GKE puts on them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from tests.e2e.cloud import machines
from tests.e2e.cloud.backend import Node
from tests.e2e.cloud.store import Record
from tests.e2e.cloud.wire import Props

GKE = "cloud.google.com/"
DEFAULT_MACHINE = "e2-medium"
EFFECTS = {"NO_SCHEDULE": "NoSchedule", "PREFER_NO_SCHEDULE": "PreferNoSchedule", "NO_EXECUTE": "NoExecute"}


@dataclass(frozen=True, slots=True)
class Slot:
    """One place of a pool: a zone and a number in it. ``birth`` changes when the machine is a new one."""

    zone: str
    index: int
    birth: int


_BIRTHS_APART = 0x1001
"""More than the hosts of any pool, so that a machine that comes back has a name that no other ever had."""


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def node_name(pool: Record, slot: Slot) -> str:
    """As GKE names them: ``gke-CLUSTER-POOL-8-4``, the two names cut to fit."""
    cluster = pool.meta["cluster"].rpartition("/")[2]
    group = _digest(f"{pool.id} {slot.zone} {pool.created}", 8)
    # Four digits are too few to draw at random: of 64 hosts, two would have one name once in thirty pools.
    unique = f"{(int(_digest(group, 4), 16) + slot.index + slot.birth * _BIRTHS_APART) % 0x10000:04x}"
    return f"gke-{cluster[:18].rstrip('-')}-{pool.name[:24].rstrip('-')}-{group}-{unique}"


def machine_of(props: Props) -> str:
    """The pool's machine type."""
    return str(props.get("nodeConfig", {}).get("machineType", DEFAULT_MACHINE))


def provisioning(props: Props) -> str:
    """The value of the label gke-provisioning."""
    config = props.get("nodeConfig", {})
    if config.get("flexStart"):
        return "flex-start"
    if config.get("spot"):
        return "spot"
    return "preemptible" if config.get("preemptible") else "standard"


def topology_of(pool: Record) -> str | None:
    """The slice's topology: the pool's own, its workload policy's, or that of a single host; None without TPUs."""
    found = machines.machine(machine_of(pool.props))
    if found is None or found.tpu is None:
        return None
    return str(pool.meta.get("topology") or found.tpu.single_host)


def labels(pool: Record, slot: Slot, name: str) -> dict[str, str]:
    """All labels of one node."""
    config = pool.props.get("nodeConfig", {})
    machine = machines.machine(machine_of(pool.props))
    assert machine is not None
    kind = provisioning(pool.props)
    result = {
        **config.get("labels", {}),
        f"{GKE}gke-nodepool": pool.name,
        f"{GKE}gke-provisioning": kind,
        f"{GKE}gke-os-distribution": "cos",
        f"{GKE}gke-container-runtime": "containerd",
        f"{GKE}gke-max-pods-per-node": str(pool.props["maxPodsPerNode"]),
        f"{GKE}machine-family": machine.family,
        "beta.kubernetes.io/instance-type": machine.name,
        "node.kubernetes.io/instance-type": machine.name,
        "topology.kubernetes.io/region": slot.zone.rpartition("-")[0],
        "topology.kubernetes.io/zone": slot.zone,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "kubernetes.io/hostname": name,
    }
    if machine.tpu is not None:
        result[f"{GKE}gke-tpu-accelerator"] = machine.tpu.accelerator
        result[f"{GKE}gke-tpu-topology"] = topology_of(pool) or ""
        result[f"{GKE}gke-accelerator-count"] = str(machine.tpu.chips)
    if config.get("workloadMetadataConfig", {}).get("mode") == "GKE_METADATA":
        result["iam.gke.io/gke-metadata-server-enabled"] = "true"
    if kind == "spot":
        result[f"{GKE}gke-spot"] = "true"
    if kind == "flex-start":
        result[f"{GKE}gke-flex-start"] = "true"
    if pool.props.get("queuedProvisioning", {}).get("enabled"):
        result[f"{GKE}gke-queued"] = "true"
    if pool.meta.get("reservation"):
        # A label's value cannot be a path: GKE shows the bare name.
        result[f"{GKE}reservation-name"] = str(pool.meta["reservation"])
        result[f"{GKE}reservation-affinity"] = "specific"
    if pool.props.get("placementPolicy", {}).get("policyName"):
        result[f"{GKE}placement-policy-name"] = str(pool.props["placementPolicy"]["policyName"]).rpartition("/")[2]
    return result


def taints(pool: Record) -> list[dict[str, str]]:
    """Declared taints, and GKE's own on TPU hosts. A spot or flex-start pool gets none by itself, a queued one does."""
    config = pool.props.get("nodeConfig", {})
    result = [
        {"key": taint["key"], "value": taint["value"], "effect": EFFECTS[taint["effect"]]}
        for taint in config.get("taints", [])
    ]
    machine = machines.machine(machine_of(pool.props))
    if machine is not None and machine.tpu is not None:
        result.append({"key": "google.com/tpu", "value": "present", "effect": "NoSchedule"})
    if pool.props.get("queuedProvisioning", {}).get("enabled"):
        result.append({"key": f"{GKE}gke-queued", "value": "true", "effect": "NoSchedule"})
    return result


def node(pool: Record, slot: Slot) -> Node:
    """One Node, with capacity and allocatable; its kubelet is kwok's."""
    machine = machines.machine(machine_of(pool.props))
    assert machine is not None
    name = node_name(pool, slot)
    pods = str(pool.props["maxPodsPerNode"])
    disk = f"{pool.props.get('nodeConfig', {}).get('diskSizeGb', 100)}Gi"
    chips = {"google.com/tpu": str(machine.tpu.chips)} if machine.tpu is not None else {}
    capacity = {"cpu": str(machine.vcpu), "memory": f"{int(machine.memory * 1024)}Mi", "ephemeral-storage": disk}
    usable = {
        "cpu": f"{int(machines.allocatable_cpu(machine.vcpu) * 1000)}m",
        "memory": f"{int(machines.allocatable_memory(machine.memory) * 1024)}Mi",
        "ephemeral-storage": disk,
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": labels(pool, slot, name),
            "annotations": {"kwok.x-k8s.io/node": "fake", "node.gke.io/last-applied-node-labels": ""},
        },
        "spec": {"providerID": f"gce://{pool.project}/{slot.zone}/{name}", "taints": taints(pool)},
        "status": {
            "capacity": {**capacity, **chips, "pods": pods},
            "allocatable": {**usable, **chips, "pods": pods},
            "nodeInfo": _node_info(),
        },
    }


def _node_info() -> dict[str, Any]:
    return {
        "architecture": "amd64", "operatingSystem": "linux", "kubeletVersion": "fake", "containerRuntimeVersion": "",
        "kernelVersion": "", "kubeProxyVersion": "fake", "machineID": "", "osImage": "", "bootID": "", "systemUUID": "",
    }  # fmt: skip
