"""Stacks whose manifests go to the API server: a cut through everything that can be combined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from pathways.errors import StackFileError
from pathways.load import load
from pathways.plan import Plan, derive
from tests.program.product import CAPACITIES, RUNTIMES, SHAPES, WORKLOADS, ZONES, slices
from tests.program.support import config

LONGEST_NAME = "a-name-of-22-charactrs"
_NAMES = ("train", LONGEST_NAME)
_STRIDE = 23
"""Every twenty-third combination: a prime, so that no choice is always skipped together with another."""


def combinations() -> Iterator[Plan]:
    """Some 300 of the valid combinations of shape, capacity, mode, network, sidecar, elasticity and name length."""
    choices = product(SHAPES.items(), CAPACITIES, WORKLOADS, RUNTIMES, (False, True))
    rows = [
        (tpu, machine, topology, capacity, workload, runtime, host)
        for ((tpu, machine), topologies), capacity, workload, runtime, host in choices
        for topology in topologies
    ]
    for number, (tpu, machine, topology, capacity, workload, runtime, host) in enumerate(rows[::_STRIDE]):
        changes = {
            "team": "host" if host else "pod",
            "zone": ZONES[tpu],
            "slices": slices(tpu, machine, topology, capacity),
            "runtime": {**RUNTIMES[runtime], **({"hostNetwork": True} if host else {})},
            "workload": {**WORKLOADS[workload], "name": _NAMES[number % 2], "runId": f"run-{number}"},
        }
        if (found := valid(changes)) is not None:
            yield found


def to_run(count: int) -> list[Plan]:
    """`count` different small stacks, each of a team of its own, to be created for real."""
    small = [
        ("v4", "ct4p-hightpu-4t", "2x2x2"),
        ("v5e", "ct5lp-hightpu-4t", "2x2"),
        ("v5e", "ct5lp-hightpu-8t", "2x4"),
        ("v5p", "ct5p-hightpu-4t", "2x2x1"),
        ("v6e", "ct6e-standard-4t", "2x4"),
        ("tpu7x", "tpu7x-standard-4t", "2x2x2"),
    ]
    capacities = ("on-demand", "spot", "reservation")
    rows = list(product(small, capacities, WORKLOADS, RUNTIMES, (False, True)))
    step = max(1, len(rows) // count)
    found = []
    for number, ((tpu, machine, topology), capacity, workload, runtime, host) in enumerate(rows[::step]):
        plan = valid(
            {
                "team": f"team{number}",
                "zone": ZONES[tpu],
                "slices": slices(tpu, machine, topology, capacity),
                "runtime": {**RUNTIMES[runtime], **({"hostNetwork": True} if host else {})},
                "workload": {**WORKLOADS[workload], "name": LONGEST_NAME if number % 3 == 0 else "job"},
            }
        )
        if plan is not None:
            found.append(plan)
    return found[:count]


def valid(changes: Mapping[str, Any]) -> Plan | None:
    """The plan of the base stack with these sections, or None if it is refused."""
    try:
        return derive(load(config(**changes), "row.yaml"))
    except StackFileError:
        return None
