"""Rules about the TPU pools: their capacity, their counts, and what replaces them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.recording import NODE_POOL, Recording, Resource, is_opaque
from tests.support.workload import (
    RESOURCE_MANAGER,
    SPOT_LABEL,
    TOPOLOGY_LABEL,
    TPU_RESOURCE,
    Job,
    Workload,
    chips,
    flag,
    hosts,
    is_flex_start,
    is_tpu_pool,
    tpu_pools,
    workload,
)

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(h|m|s)")
_SECONDS = {"h": 3600, "m": 60, "s": 1}
_POOL_TIMEOUT = 3600  # seconds that creating or deleting a TPU pool may take at least
_NOT_RESERVED = {None, "NO_RESERVATION"}
_MAX_RUN = re.compile(r"(\d+)s")


def flex_start(recording: Recording) -> list[str]:
    """A flex-start pool scales 0..hosts anywhere, has no static count, repair, reservation or spot; all or none."""
    pools = tpu_pools(recording)
    chosen = [pool for pool in pools if is_flex_start(pool)]
    found = [f"{pool.label}: {line}" for pool in chosen for line in _flex_shape(pool)]
    if chosen and len(chosen) < len(pools):
        found.append(f"{NODE_POOL}: : {len(chosen)} of {len(pools)} TPU pools are flex-start")
    return found


def _flex_shape(pool: Resource) -> Iterator[str]:
    scaling = pool.input("autoscaling") or {}
    for key, wanted in (("minNodeCount", 0), ("locationPolicy", "ANY")):
        if scaling.get(key) != wanted:
            yield f"autoscaling.{key}: {scaling.get(key)!r}, not {wanted!r}"
    if not isinstance(scaling.get("maxNodeCount"), int):
        yield f"autoscaling.maxNodeCount: {scaling.get('maxNodeCount')!r} is not the slice's hosts"
    for key in sorted(scaling.keys() & {"totalMinNodeCount", "totalMaxNodeCount"}):
        yield f"autoscaling.{key}: flex-start scales per zone"
    if pool.input("nodeCount") is not None:
        yield "nodeCount: a flex-start pool has no static count"
    if pool.input("initialNodeCount") not in {None, 0}:
        yield f"initialNodeCount: {pool.input('initialNodeCount')!r}, not 0"
    if pool.input("management.autoRepair") is not False:
        yield f"management.autoRepair: {pool.input('management.autoRepair')!r}, not False"
    if pool.input("nodeConfig.reservationAffinity.consumeReservationType") not in _NOT_RESERVED:
        yield "nodeConfig.reservationAffinity: flex-start takes no reservation"
    if pool.input("nodeConfig.spot"):
        yield "nodeConfig.spot: flex-start is not spot"
    yield from _max_run(pool.input("nodeConfig.maxRunDuration"))


def _max_run(duration: object) -> Iterator[str]:
    match = _MAX_RUN.fullmatch(duration) if isinstance(duration, str) else None
    if match is None or not 600 <= int(match[1]) <= 604_800:
        yield f"nodeConfig.maxRunDuration: {duration!r} is not seconds from 600s to 604800s"


def spot(recording: Recording) -> list[str]:
    """TPU pools are all spot or none; workers select and tolerate spot exactly then; no other pool is spot."""
    found = [
        f"{pool.label}: nodeConfig.spot: only TPU pools may be spot"
        for pool in recording.of_type(NODE_POOL)
        if pool.input("nodeConfig.spot") and not is_tpu_pool(pool)
    ]
    states = {bool(pool.input("nodeConfig.spot")) for pool in tpu_pools(recording)}
    if len(states) > 1:
        found.append(f"{NODE_POOL}: : some TPU pools are spot and some are not")
    current = workload(recording)
    if current and states:
        lines = _worker_spot(current.worker, is_spot=True in states)
        found += [f"{current.resource.label}: {current.worker.path}: {line}" for line in lines]
    return found


def _worker_spot(worker: Job, *, is_spot: bool) -> Iterator[str]:
    wanted = "true" if is_spot else None
    selected = worker.pod.get("nodeSelector", {}).get(SPOT_LABEL)
    if selected != wanted:
        yield f"nodeSelector[{SPOT_LABEL}]: {selected!r}, not {wanted!r}"
    tolerated = any(_tolerates_spot(toleration) for toleration in worker.pod.get("tolerations", ()))
    if tolerated is not is_spot:
        yield f"tolerations: {'no' if is_spot else 'a'} toleration of {SPOT_LABEL}"


def _tolerates_spot(toleration: Mapping[str, Any]) -> bool:
    any_value = toleration.get("operator") == "Exists"
    return toleration.get("key") == SPOT_LABEL and (any_value or toleration.get("value") == "true")


def counts_agree(recording: Recording) -> list[str]:
    """Pools, nodes, workers, the RM's instances, topologies and the outputs are one set of numbers."""
    current = workload(recording)
    pools = tpu_pools(recording)
    if current is None:
        return []
    lines = [
        *_worker_counts(current, pools),
        *_instance_flags(current),
        *_topology_lines(current, pools),
        *_output_lines(recording, current, pools),
    ]
    return [f"{current.resource.label}: {line}" for line in lines]


def _worker_counts(current: Workload, pools: list[Resource]) -> Iterator[str]:
    worker = current.worker
    if worker.replicas != len(pools):
        yield f"{worker.path}.replicas: {worker.replicas}, but there are {len(pools)} TPU pools"
    for key in ("completions", "parallelism"):
        for pool in pools:
            if worker.spec.get(key) != hosts(pool):
                yield f"{worker.path}.template.spec.{key}: {worker.spec.get(key)}, but {pool.name} has {hosts(pool)}"


def _instance_flags(current: Workload) -> Iterator[str]:
    manager = current.head_container(RESOURCE_MANAGER)
    if manager is None:
        return
    count, type_ = flag(manager, "instance_count"), flag(manager, "instance_type")
    if count != str(current.worker.replicas):
        yield f"{RESOURCE_MANAGER}: --instance_count={count}, but there are {current.worker.replicas} worker jobs"
    topology = _topology(current)
    if type_ is None or type_.partition(":")[2] != topology:
        yield f"{RESOURCE_MANAGER}: --instance_type={type_}, but the workers select {topology}"


def _topology_lines(current: Workload, pools: list[Resource]) -> Iterator[str]:
    topology = _topology(current)
    for pool in pools:
        placed = pool.input("placementPolicy.tpuTopology")
        if placed is not None and placed != topology:
            yield f"{pool.name}: placementPolicy.tpuTopology {placed}, but the workers select {topology}"
    per_worker, completions = _chips_per_worker(current), current.worker.spec.get("completions")
    if per_worker is None or not isinstance(completions, int) or topology is None:
        yield f"{current.worker.path}: no {TPU_RESOURCE} limit, completions or {TOPOLOGY_LABEL}"
    elif per_worker * completions != chips(topology):
        yield f"{current.worker.path}: {completions} workers of {per_worker} chips do not make {topology}"


def _output_lines(recording: Recording, current: Workload, pools: list[Resource]) -> Iterator[str]:
    slices, per_worker = len(pools), _chips_per_worker(current) or 0
    nodes = (hosts(pools[0]) if pools else None) or 0
    sums = {"slices": slices, "hosts": slices * nodes, "chips": slices * nodes * per_worker}
    totals = recording.outputs.get("totals", {})
    for key, value in sums.items():
        if not is_opaque(totals) and _differs(totals.get(key), value):
            yield f"outputs.totals.{key}: {totals.get(key)}, not {value}"
    listed = recording.outputs.get("slices", [])
    if is_opaque(listed):
        return
    if len(listed) != slices:
        yield f"outputs.slices: {len(listed)}, but there are {slices} TPU pools"
    expected: dict[str, Any] = {"topology": _topology(current), "hosts": nodes, "chips": nodes * per_worker}
    names = {pool.input("name") for pool in pools}
    for index, entry in enumerate(listed):
        if is_opaque(entry):
            continue
        if not is_opaque(entry.get("pool")) and entry.get("pool") not in names:
            yield f"outputs.slices[{index}].pool: {entry.get('pool')!r} is no TPU pool"
        for key, value in expected.items():
            if _differs(entry.get(key), value):
                yield f"outputs.slices[{index}].{key}: {entry.get(key)!r}, not {value!r}"


def _differs(value: object, wanted: object) -> bool:
    return not is_opaque(value) and value != wanted


def _topology(current: Workload) -> str | None:
    value = current.worker.pod.get("nodeSelector", {}).get(TOPOLOGY_LABEL)
    return value if isinstance(value, str) else None


def _chips_per_worker(current: Workload) -> int | None:
    container = current.tpu_container()
    return None if container is None else int(container["resources"]["limits"][TPU_RESOURCE])


def slices_numbered(recording: Recording) -> list[str]:
    """TPU pools are numbered from 0 and their names do not carry the shape."""
    pools = tpu_pools(recording)
    names = [str(pool.input("name")) for pool in pools]
    numbers = sorted(int(match[0]) for name in names if (match := re.search(r"\d+$", name)))
    found = [f"{pool.label}: name: carries a shape" for pool in pools if re.search(r"\dx\d", str(pool.input("name")))]
    if numbers != list(range(len(pools))):
        found.append(f"{NODE_POOL}: name: {sorted(names)} are not numbered 0 to {len(pools) - 1}")
    return found


def replacement(recording: Recording) -> list[str]:
    """What a TPU slice cannot change in place replaces its pool, old one first, with time for either."""
    return [f"{pool.label}: {line}" for pool in tpu_pools(recording) for line in _replacement(pool)]


def _replacement(pool: Resource) -> Iterator[str]:
    watched = pool.options.get("replaceOnChanges", ())
    wanted = ["placementPolicy.tpuTopology", "nodeConfig.machineType"]
    if pool.input("nodeCount") is not None:
        wanted.append("nodeCount")
    for path in wanted:
        if not any(path == entry or path.startswith(f"{entry}.") for entry in watched):
            yield f"options.replaceOnChanges: {path} is not covered by {list(watched)}"
    if pool.options.get("deleteBeforeReplace") is not True:
        yield "options.deleteBeforeReplace: not set"
    timeouts = pool.options.get("customTimeouts", {})
    for action in ("create", "delete"):
        if seconds(timeouts.get(action)) < _POOL_TIMEOUT:
            yield f"options.customTimeouts.{action}: {timeouts.get(action)!r} is less than 60m"


def seconds(duration: object) -> float:
    """The seconds of a Go duration such as `1h30m`; 0 where there is none."""
    return sum(float(amount) * _SECONDS[unit] for amount, unit in _DURATION.findall(str(duration or "")))
