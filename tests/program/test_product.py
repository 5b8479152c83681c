"""Every generation × machine × topology × capacity × mode × access × network mode × sidecar × elasticity.

The pools of each kind of slice are recorded from the component that makes them; the Kubernetes objects come from the
pure core, as the program has them from there. Whole programs of chosen rows are in `test_pairs.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import pytest

from pathways import manifests
from pathways.errors import StackFileError
from pathways.load import load
from pathways.plan import Plan, derive
from tests.components.support import build
from tests.program.product import (
    CAPACITIES,
    CHIPS_OF_MACHINE,
    GENERATIONS,
    NO_SHAPES,
    RUNTIMES,
    SHAPES,
    TOPOLOGIES,
    WORKLOADS,
    ZONES,
    offered,
    slices,
)
from tests.program.support import config
from tests.support import google_schema, kubernetes_objects, rendered_pools, rendered_text, rendered_workload
from tests.support.recording import NODE_POOL, Recording, Resource

pytestmark = pytest.mark.thorough

POOL_RULES = (
    rendered_pools.flex_start,
    rendered_pools.slices_numbered,
    rendered_pools.replacement,
    rendered_text.texts_resolved,
)
WORKLOAD_RULES = (
    rendered_workload.one_jobset,
    rendered_workload.references_declared,
    rendered_workload.sidecars,
    rendered_workload.user_environment,
    rendered_workload.head_is_plain,
    rendered_workload.ports_agree,
    rendered_workload.host_network,
    rendered_workload.exclusive_placement,
    rendered_workload.images_pinned,
    rendered_text.texts_resolved,
)
BETWEEN_RULES = (rendered_pools.spot, rendered_pools.counts_agree)
POOLS = """
from components.pools import TpuSlices
from components.placement import SlicePlacement
for index, plan in enumerate(plans):
    policy = plan.workload_policy and SlicePlacement(
        f"s{index}", place, policy_name=plan.workload_policy, topology=plan.shape.topology, opts=opts
    ).policy
    TpuSlices(
        f"s{index}", place, plan, cluster=cluster, node_service_account="n@x", policy=policy, pod_range=None, opts=opts
    )
"""
HOST_NETWORK: tuple[dict[str, Any], ...] = ({}, {"hostNetwork": True})
Row = tuple[str, str, str, str]


def _rows(tpu: str) -> list[Row]:
    """Every kind of slice of a generation: generation, machine, topology, capacity."""
    shapes = [(machine, shape) for (of, machine), shapes in SHAPES.items() if of == tpu for shape in shapes]
    rows = [(tpu, machine, shape, capacity) for (machine, shape), capacity in product(shapes, CAPACITIES)]
    return [row for row in rows if offered(*row)]


def _config(row: Row, **changes: Any) -> dict[str, Any]:
    return config(slices=slices(*row), zone=ZONES[row[0]], **changes)


def _variants() -> Iterator[dict[str, Any]]:
    for workload, runtime, network in product(WORKLOADS.values(), RUNTIMES.values(), HOST_NETWORK):
        yield {"workload": workload, "runtime": {**runtime, **network}}


def _objects(plan: Plan) -> Iterator[Resource]:
    for manifest in manifests.objects(plan, plan.client_range):
        type_ = f"kubernetes:{manifest['apiVersion']}:{manifest['kind']}"
        yield Resource(f"urn:{type_}", type_, manifest["kind"], None, custom=True, inputs=manifest, options={})


def _pools(directory: Path, rows: list[Row]) -> dict[Row, list[Resource]]:
    recording = build(directory, POOLS, [_config(row) for row in rows])
    below: dict[str, list[Resource]] = {}
    for pool in recording.of_type(NODE_POOL):
        below.setdefault(pool.name.partition("-")[0], []).append(pool)
    return {row: below[f"s{index}"] for index, row in enumerate(rows)}


def _variants_of(row: Row, index: int) -> list[dict[str, Any]]:
    """All variants for one shape of each machine; an eighth, another one each time, for shapes of another size."""
    variants = list(_variants())
    return variants if row[2] == SHAPES[row[0], row[1]][-1] else variants[index % 8 :: 8]


@pytest.mark.parametrize("tpu", GENERATIONS)
def test_every_stack_there_is_holds_every_rule(tpu: str, tmp_path: Path) -> None:
    rows = _rows(tpu)
    pools, schema = _pools(tmp_path, rows), google_schema.from_environment()
    faults: list[str] = []
    for index, row in enumerate(rows):
        faults += google_schema.problems(pools[row][:1], schema) if schema else []
        alone = Recording("pathways", "demo-dev", tuple(pools[row]), {})
        faults += [f"{row}: {line}" for rule in POOL_RULES for line in rule(alone)]
        for variant in _variants_of(row, index):
            plan = derive(load(_config(row, **variant), "stack"))
            objects = tuple(_objects(plan))
            outputs = {"totals": plan.totals, "slices": {"$unknown": True}}
            job = Recording("pathways", "demo-dev", objects, outputs)
            both = Recording("pathways", "demo-dev", (*pools[row], *objects), outputs)
            faults += [f"{row} {variant}: {line}" for rule in WORKLOAD_RULES for line in rule(job)]
            faults += [f"{row} {variant}: {line}" for rule in BETWEEN_RULES for line in rule(both)]
    assert faults == []


@pytest.mark.parametrize("tpu", GENERATIONS)
def test_objects_of_every_kind_are_valid_kubernetes(tpu: str) -> None:
    """A topology only changes numbers, so one of each machine stands for the others."""
    rows = [row for row in _rows(tpu) if row[2] == SHAPES[row[0], row[1]][-1] and row[3] in {"on-demand", "spot"}]
    faults: list[str] = []
    for row, variant in product(rows, _variants()):
        plan = derive(load(_config(row, **variant), "stack"))
        faults += kubernetes_objects.problems_of_recording(_objects(plan))
    assert faults == []


@pytest.mark.parametrize(
    ("machine", "topology"), [(key[1], shape) for key, shapes in SHAPES.items() for shape in shapes]
)
def test_hosts_chips_and_placement_follow_from_machine_and_topology(
    machine: str, topology: str, tmp_path: Path
) -> None:
    (tpu,) = (of for of, name in SHAPES if name == machine)
    plan = derive(load(_config((tpu, machine, topology, "on-demand")), "stack"))
    chips = prod(int(size) for size in topology.split("x"))
    hosts = chips // CHIPS_OF_MACHINE[machine.rpartition("-")[2]]
    assert (plan.shape.chips, plan.shape.hosts, plan.chips, plan.hosts) == (chips, hosts, 2 * chips, 2 * hosts)
    assert plan.worker_backoff == 4 * hosts
    assert (plan.workload_policy is not None) is (tpu == "tpu7x" and hosts > 1)


def test_placement_is_by_topology_by_policy_or_none(tmp_path: Path) -> None:
    rows = [(*key, shape, "on-demand") for key, shapes in SHAPES.items() for shape in (shapes[0], shapes[-1])]
    for (tpu, machine, topology, _), found in _pools(tmp_path, rows).items():
        hosts = prod(int(size) for size in topology.split("x")) // CHIPS_OF_MACHINE[machine.rpartition("-")[2]]
        for pool in found:
            placement = pool.inputs.get("placementPolicy")
            if hosts == 1:
                assert placement is None
            elif tpu == "tpu7x":
                assert placement == {"type": "", "policyName": f"demo-dev-tpu7x-{topology}"}
            else:
                assert placement == {"type": "COMPACT", "tpuTopology": topology}


@pytest.mark.parametrize("tpu", GENERATIONS)
def test_every_slice_that_does_not_exist_is_refused(tpu: str) -> None:
    accepted, refused = [], 0
    shapes = [(of, machine, shape) for (of, machine), own in SHAPES.items() for shape in own if of != tpu]
    shapes += [(tpu, machine, shape) for of, machine in SHAPES if of == tpu for shape in (*TOPOLOGIES, *NO_SHAPES)]
    rows = [(tpu, machine, shape, "on-demand") for _, machine, shape in shapes]
    rows += [("v4", "ct4p-hightpu-4t", shape, "flex-start") for shape in SHAPES["v4", "ct4p-hightpu-4t"] if tpu == "v4"]
    for row in rows:
        if offered(*row):
            continue
        lines = _lines(row)
        refused += bool(lines)
        assert all(line.startswith("stack: slices.") for line in lines)
        if not lines:
            accepted.append(row)
    # 3-D shapes follow a rule; those of the rule that are not among the representatives are accepted rightly.
    assert [row for row in accepted if not _by_the_cube_rule(*row)] == []
    assert refused > len(NO_SHAPES)


def _lines(row: Row) -> tuple[str, ...]:
    try:
        load(_config(row), "stack")
    except StackFileError as error:
        return error.lines
    return ()


def _by_the_cube_rule(tpu: str, machine: str, topology: str, capacity: str) -> bool:
    cubes = {"v4": 64, "v5p": 140, "tpu7x": 144}
    sizes = [int(size) for size in topology.split("x")]
    whole = len(sizes) == 3 and sizes == sorted(sizes) and all(size % 4 == 0 for size in sizes)
    fits = prod(sizes) // 64 <= cubes.get(tpu, 0)
    own = (tpu, machine) in SHAPES and machine.endswith("-4t")
    return whole and fits and own and not (tpu == "v4" and capacity == "flex-start")


@pytest.mark.parametrize("elastic", [-1, 3, 1000])
def test_no_more_slices_are_elastic_than_there_are(elastic: int) -> None:
    with pytest.raises(StackFileError, match=r"stack: runtime\.elasticSlices: "):
        load(config(runtime={"elasticSlices": elastic}), "stack")
