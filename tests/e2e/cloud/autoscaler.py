"""Pools that scale: machines come when pods wait for them, and go when nothing runs there."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.e2e.cloud import machines, nodes
from tests.e2e.cloud.backend import PendingPod, Removal
from tests.e2e.cloud.services.network import CLUSTER, NODE_POOL
from tests.e2e.cloud.services.nodepool import resize, slots
from tests.e2e.cloud.services.pool_rules import reserved_free
from tests.e2e.cloud.store import RUNNING, Record

if TYPE_CHECKING:
    from tests.e2e.cloud.cloud import Cloud


def limits(pool: Record) -> tuple[int, int]:
    """The least and most machines in each zone."""
    scaling, zones = pool.props["autoscaling"], len(pool.meta["zones"])
    low = max(scaling.get("minNodeCount", 0), -(-scaling.get("totalMinNodeCount", 0) // zones))
    high = scaling.get("maxNodeCount") or -(-scaling.get("totalMaxNodeCount", 0) // zones)
    return int(low), int(high)


def fits(pool: Record, pod: PendingPod) -> bool:
    """True when an empty machine of the pool would take the pod."""
    template = nodes.node(pool, nodes.Slot(pool.meta["zones"][0], 0, 0))
    labels = template["metadata"]["labels"]
    machine = machines.machine(nodes.machine_of(pool.props))
    if machine is None or any(labels.get(key) != value for key, value in pod.node_selector.items()):
        return False
    hard = {taint["key"] for taint in template["spec"]["taints"] if taint["effect"] != "PreferNoSchedule"}
    if hard - pod.tolerated and "*" not in pod.tolerated:
        return False
    chips = machine.tpu.chips if machine.tpu is not None else 0
    cpu, memory = machines.allocatable_cpu(machine.vcpu), machines.allocatable_memory(machine.memory)
    return pod.tpu_chips <= chips and pod.cpu <= cpu and pod.memory_gib <= memory


def scale(cloud: Cloud) -> None:
    """One round over all clusters: up for waiting pods, down for what has been idle long enough."""
    pools = [pool for pool in cloud.store.all(NODE_POOL) if "autoscaling" in pool.props and pool.status == RUNNING]
    for cluster in cloud.store.all(CLUSTER):
        mine = [pool for pool in pools if pool.meta["cluster"] == cluster.id]
        if mine and cluster.status == RUNNING:
            _up(cloud, mine, cloud.backend.pending_pods(cluster.id))
            _down(cloud, mine)


def _up(cloud: Cloud, pools: Sequence[Record], waiting: Sequence[PendingPod]) -> None:
    rest = list(waiting)
    for pool in pools:
        _, high = limits(pool)
        zones = len(pool.meta["zones"])
        room = high * zones - len(slots(pool))
        # One machine for each waiting pod: the head and a slice's workers take a whole one.
        taken = [pod for pod in rest if fits(pool, pod)][:room]
        if taken:
            rest = [pod for pod in rest if pod not in taken]
            atomic = pool.meta.get("hosts") is not None
            target = high if atomic else -(-(len(slots(pool)) + len(taken)) // zones)
            _resize(cloud, pool.id, target, reason=f"{taken[0].namespace}/{taken[0].name}")


def _resize(cloud: Cloud, id_: str, per_zone: int, reason: str) -> None:
    with cloud.lock:
        pool = cloud.store.get(NODE_POOL, id_)
        if pool is None or pool.status != RUNNING:
            return
        free = reserved_free(cloud, pool)
        if free is not None and per_zone * len(pool.meta["zones"]) > free:
            return
        cloud.store.event("cloud.scale", NODE_POOL, pool.name, {"per_zone": per_zone, "reason": reason})
        pool.meta.pop("idle_since", None)
        resize(cloud, pool, per_zone, Removal.DRAIN)
        cloud.store.put(pool)


def _down(cloud: Cloud, pools: Sequence[Record]) -> None:
    """Down to the least size after ``scale_down_after`` idle seconds; never while that is unset."""
    after = cloud.store.setting("scale_down_after")
    if after is None:
        return
    for pool in pools:
        names = [nodes.node_name(pool, slot) for slot in slots(pool)]
        low, _ = limits(pool)
        if len(names) <= low * len(pool.meta["zones"]) or cloud.backend.busy_nodes(pool.meta["cluster"], names):
            since = None
        else:
            since = pool.meta.get("idle_since") or cloud.now()
        if since is not None and cloud.now() - since >= after:
            _resize(cloud, pool.id, low, reason="idle")
        else:
            _note_idle(cloud, pool.id, since)


def _note_idle(cloud: Cloud, id_: str, since: float | None) -> None:
    with cloud.lock:
        pool = cloud.store.get(NODE_POOL, id_)
        if pool is not None and pool.meta.get("idle_since") != since:
            pool.meta["idle_since"] = since
            cloud.store.put(pool)


def run(cloud: Cloud, stop: threading.Event) -> None:
    """Scale every ``scale_every`` seconds until stopped. A control plane that is away is tried again."""
    while not stop.wait(float(cloud.store.setting("scale_every", 0.5))):
        try:
            scale(cloud)
        except Exception as error:  # the loop must outlive an API server that restarts
            cloud.store.event("cloud.scale", NODE_POOL, "", {"error": str(error)})
