"""Every kind of stack there is: shapes by machine, written out from GKE's pages, and the other choices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.program.support import INTERACTIVE

_2D = ("2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16")
_SMALL_3D = ("2x2x1", "2x2x2", "2x2x4", "2x4x4", "4x4x4", "4x4x8", "4x8x8", "4x8x16")

SHAPES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("v4", "ct4p-hightpu-4t"): (*_SMALL_3D, "8x8x12", "12x16x16", "16x16x16"),
    ("v5e", "ct5lp-hightpu-4t"): _2D,
    ("v5e", "ct5lp-hightpu-8t"): ("2x4",),
    ("v5p", "ct5p-hightpu-4t"): (*_SMALL_3D, "8x8x12", "16x16x16", "4x4x244", "16x16x24", "16x20x28"),
    ("v6e", "ct6e-standard-1t"): ("1x1",),
    ("v6e", "ct6e-standard-4t"): _2D,
    ("v6e", "ct6e-standard-8t"): ("2x4",),
    ("tpu7x", "tpu7x-standard-1t"): ("1x1x1",),
    ("tpu7x", "tpu7x-standard-4t"): (*_SMALL_3D, "8x8x12", "16x16x16", "4x4x244", "16x20x28", "16x24x24"),
}
"""Per generation and machine: all 2-D topologies, and of the 3-D ones the small, some larger and the largest."""

NO_SHAPES = (
    *("1x2", "2x1", "4x2", "3x3", "8x4", "16x8", "16x32", "32x32", "2x2x3", "2x4x2", "2x4x8", "1x1x4", "4x4x2"),
    *("4x4x6", "6x6x6", "8x4x4", "4x16x8", "24x24x24", "4x4x1024", "20x20x28", "4", "4x4x4x4", "0x4", "04x4", "4X4"),
)
"""Of no generation."""

CHIPS_OF_MACHINE = {"1t": 1, "4t": 4, "8t": 8}
"""Chips of a VM by the end of its name."""

GENERATIONS = tuple(dict.fromkeys(tpu for tpu, _ in SHAPES))
TOPOLOGIES = tuple(dict.fromkeys(shape for shapes in SHAPES.values() for shape in shapes))

ZONES = {"v4": "us-central2-b", "v5e": "us-west4-a", "v5p": "us-east5-a", "v6e": "us-east5-b", "tpu7x": "us-central1-c"}

CAPACITIES: Mapping[str, Mapping[str, Any]] = {
    "on-demand": {"type": "on-demand"},
    "spot": {"type": "spot"},
    "reservation": {"type": "reservation", "name": "tpus"},
    "shared block": {
        "type": "reservation",
        "name": "projects/acme-capacity/reservations/tpus/reservationBlocks/b/reservationSubBlocks/s",
    },
    "flex-start": {"type": "flex-start", "maxRunDuration": "2h"},
}

WORKLOADS: Mapping[str, Mapping[str, Any]] = {
    "batch": {},
    "port-forward": {**INTERACTIVE, "access": "port-forward"},
    "internal-load-balancer": {**INTERACTIVE, "access": "internal-load-balancer"},
    "dns": {**INTERACTIVE, "access": "dns"},
}

RUNTIMES: Mapping[str, Mapping[str, Any]] = {
    "plain": {},
    "sidecar": {
        "colocatedPython": {"image": "us-docker.pkg.dev/demo-project/r/sidecar:20261103-python_3.12-jax_0.11.1"},
    },
    "elastic": {"elasticSlices": 1},
    "elastic sidecar": {
        "elasticSlices": 2,
        "colocatedPython": {
            "image": "us-docker.pkg.dev/demo-project/r/sidecar:20261103-python_3.12-jax_0.11.1",
            "sharedMemory": "8Gi",
        },
    },
}


def slices(tpu: str, machine: str, topology: str, capacity: str, count: int = 2) -> dict[str, Any]:
    """The `slices` section of a stack."""
    return {
        "tpu": tpu,
        "machineType": machine,
        "topology": topology,
        "count": count,
        "capacity": dict(CAPACITIES[capacity]),
    }


def offered(tpu: str, machine: str, topology: str, capacity: str) -> bool:
    """Whether there is such a slice: the shape on the machine, and the capacity for the generation."""
    return topology in SHAPES.get((tpu, machine), ()) and not (tpu == "v4" and capacity == "flex-start")
