"""The catalogue against the public tables."""

from __future__ import annotations

import pytest

from pathways.topology import slice_shape
from pathways.tpu import FLEX_START_MIN_GKE, GENERATIONS, PATHWAYS_MIN_GKE

MACHINES = {
    "ct4p-hightpu-4t": ("v4", 4, 240, 407, "tpuv4"),
    "ct5lp-hightpu-4t": ("v5e", 4, 112, 192, "tpuv5e"),
    "ct5lp-hightpu-8t": ("v5e", 8, 224, 384, "tpuv5e1t"),
    "ct5p-hightpu-4t": ("v5p", 4, 208, 448, "tpuv5"),
    "ct6e-standard-1t": ("v6e", 1, 44, 176, "tpuv6e"),
    "ct6e-standard-4t": ("v6e", 4, 180, 720, "tpuv6e"),
    "ct6e-standard-8t": ("v6e", 8, 180, 1440, "tpuv6e1t"),
    "tpu7x-standard-1t": ("tpu7x", 1, 56, 248, "tpu7x"),
    "tpu7x-standard-4t": ("tpu7x", 4, 224, 960, "tpu7x"),
}


def test_machines() -> None:
    found = {
        machine.name: (name, machine.chips, machine.vcpu, machine.memory_gb, machine.pathways_type)
        for name, generation in GENERATIONS.items()
        for machine in generation.machines
    }
    assert found == MACHINES


@pytest.mark.parametrize(
    ("tpu", "facts"),
    [
        ("v4", ("tpu-v4-podslice", "pd-balanced", "2x2x1", "compact", False, 3)),
        ("v5e", ("tpu-v5-lite-podslice", "pd-balanced", "2x2", "compact", True, 2)),
        ("v5p", ("tpu-v5p-slice", "pd-balanced", "2x2x1", "compact", True, 3)),
        ("v6e", ("tpu-v6e-slice", "hyperdisk-balanced", "2x2", "compact", True, 2)),
        ("tpu7x", ("tpu7x", "hyperdisk-balanced", "2x2x1", "workload-policy", True, 3)),
    ],
)
def test_generations(tpu: str, facts: tuple[object, ...]) -> None:
    generation = GENERATIONS[tpu]
    assert generation.name == tpu
    assert facts == (
        generation.accelerator,
        generation.disk_type,
        generation.single_host_topology,
        generation.multi_host_placement,
        generation.flex_start,
        generation.dimensions,
    )


def test_minimum_versions() -> None:
    assert str(PATHWAYS_MIN_GKE) == "1.32.2-gke.1475000"
    assert str(FLEX_START_MIN_GKE) == "1.33.0-gke.1712000"
    assert str(GENERATIONS["tpu7x"].min_gke) == "1.34.0-gke.2201000"
    assert all(generation.min_gke >= PATHWAYS_MIN_GKE for generation in GENERATIONS.values())


def test_single_host_topologies_fill_one_default_machine() -> None:
    for generation in GENERATIONS.values():
        assert slice_shape(generation, generation.default_machine, generation.single_host_topology).hosts == 1


def test_a_machine_of_another_generation_is_unknown() -> None:
    assert GENERATIONS["v6e"].machine("ct5p-hightpu-4t") is None
