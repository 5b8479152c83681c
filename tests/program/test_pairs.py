"""Whole programs for a few dozen stacks that hold every pair of choices, against everything that judges a recording."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pytest

from tests.program.product import CAPACITIES, RUNTIMES, WORKLOADS, ZONES, slices
from tests.program.support import EXISTING, config, merged, record
from tests.support import google_schema, kubernetes_objects, rendered
from tests.support.pairwise import Row, pairs_of, pairwise

pytestmark = pytest.mark.thorough

SLICES: Mapping[str, tuple[str, str, str]] = {
    "one host": ("v6e", "ct6e-standard-4t", "2x2"),
    "one big host": ("v5e", "ct5lp-hightpu-8t", "2x4"),
    "2-D": ("v6e", "ct6e-standard-4t", "16x16"),
    "3-D": ("v5p", "ct5p-hightpu-4t", "4x4x8"),
    "by policy": ("tpu7x", "tpu7x-standard-4t", "4x4x4"),
}
PLACES: Mapping[str, Mapping[str, Any]] = {
    "created": {},
    "private": {"cluster": {"endpoint": "private", "minVersion": "1.34.1-gke.2541000"}},
    "authorized": {"cluster": {"endpoint": "authorized", "authorizedNetworks": ["203.0.113.0/24"]}},
    "existing": EXISTING,
}
SCRATCH: Mapping[str, dict[str, Any]] = {"created": {}, "existing": {"scratch": {"existing": "acme-scratch"}}}
OPERATORS: Mapping[str, dict[str, Any]] = {"installed": {}, "there": {"operators": {"jobset": {"install": False}}}}

PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "slices": tuple(SLICES),
    "capacity": tuple(CAPACITIES),
    "workload": tuple(WORKLOADS),
    "runtime": tuple(RUNTIMES),
    "place": tuple(PLACES),
    "network": ("pod", "host"),
    "environment": ("dev", "staging", "prod"),
    "scratch": tuple(SCRATCH),
    "operators": tuple(OPERATORS),
}
ROWS = pairwise(PARAMETERS)


def stack(row: Row) -> dict[str, Any]:
    """The config of a row."""
    tpu, machine, topology = SLICES[row["slices"]]
    zone = ZONES[tpu]
    changes = merged(merged(PLACES[row["place"]], SCRATCH[row["scratch"]]), OPERATORS[row["operators"]])
    if row["place"] == "existing":
        changes = merged(changes, {"cluster": {"existing": {"location": zone.rpartition("-")[0]}}})
    runtime = {**RUNTIMES[row["runtime"]], **({"hostNetwork": True} if row["network"] == "host" else {})}
    return config(
        slices=slices(tpu, machine, topology, row["capacity"]),
        zone=zone,
        environment=row["environment"],
        runtime=runtime,
        workload=WORKLOADS[row["workload"]],
        **changes,
    )


def test_the_rows_hold_every_pair() -> None:
    held = {pair for row in ROWS for pair in pairs_of(row)}
    for (a, xs), (b, ys) in combinations(PARAMETERS.items(), 2):
        assert {((a, x), (b, y)) for x in xs for y in ys} <= held
    assert len(ROWS) <= 40


@pytest.mark.parametrize("row", ROWS, ids=["-".join(row.values()) for row in ROWS])
def test_a_whole_program_holds_every_rule(row: Row) -> None:
    recording = record(stack(row))
    assert rendered.problems(recording, environment=row["environment"]) == []
    assert kubernetes_objects.problems_of_recording(recording.resources) == []
    schema = google_schema.from_environment()
    assert schema is None or google_schema.problems(recording.resources, schema) == []
