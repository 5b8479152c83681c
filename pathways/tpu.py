"""The TPU catalogue: what each generation's machines are, as data.

To add a generation: add its `Generation` here with its machines, and its name to `TpuName`. Everything else follows.
Sources: GKE cluster autoscaler's machine-type tables (machines, labels), the public Pathways generators (instance
types), "About TPUs in GKE" (topologies, minimum versions).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from pathways.versions import GkeVersion

TpuName = Literal["v4", "v5e", "v5p", "v6e", "tpu7x"]
"""The generations a stack file can name."""

DiskType = Literal["pd-balanced", "hyperdisk-balanced"]
Placement = Literal["compact", "workload-policy"]


@dataclass(frozen=True)
class Machine:
    """A TPU VM: chips it holds, vCPU, memory in GB, and the Pathways type of its slices (before `:topology`)."""

    name: str
    chips: int
    vcpu: int
    memory_gb: int
    pathways_type: str
    only_topologies: tuple[str, ...] = ()
    """Set where the VM is a whole slice by itself and no other shape can be made of it."""


@dataclass(frozen=True)
class Generation:
    """A TPU generation and what GKE asks for it.

    `dimensions` is 2 or 3; `topologies` are all shapes where they are few (2-D), else none and the cube rule decides,
    with `max_cubes` cubes of 4x4x4 at most. `documented_max_chips` is the largest slice the public pages show (only a
    warning).
    """

    name: str
    dimensions: int
    accelerator: str
    """Value of the node label `cloud.google.com/gke-tpu-accelerator`."""
    machines: tuple[Machine, ...]
    disk_type: DiskType
    single_host_topology: str
    multi_host_placement: Placement
    min_gke: GkeVersion
    flex_start: bool
    zones_seen: tuple[str, ...]
    """Zones in which the generation was seen on offer; not exhaustive, so only a warning."""
    topologies: tuple[str, ...] = ()
    max_cubes: int = 0
    documented_max_chips: int = 0

    @property
    def default_machine(self) -> Machine:
        """The 4-chip VM of the generation, which every one of them has."""
        return next(machine for machine in self.machines if machine.chips == 4)

    def machine(self, name: str) -> Machine | None:
        """The machine of that name, or None if it belongs to another generation or to none."""
        return next((machine for machine in self.machines if machine.name == name), None)


PATHWAYS_MIN_GKE = GkeVersion.parse("1.32.2-gke.1475000")
"""Pathways itself asks for this version (Pathways on Cloud introduction)."""
FLEX_START_MIN_GKE = GkeVersion.parse("1.33.0-gke.1712000")

_2D = ("2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16")

GENERATIONS: Mapping[str, Generation] = MappingProxyType(
    {
        "v4": Generation(
            name="v4",
            dimensions=3,
            accelerator="tpu-v4-podslice",
            machines=(Machine("ct4p-hightpu-4t", 4, 240, 407, "tpuv4"),),
            disk_type="pd-balanced",
            single_host_topology="2x2x1",
            multi_host_placement="compact",
            min_gke=PATHWAYS_MIN_GKE,
            flex_start=False,
            zones_seen=("us-central2-b",),
            max_cubes=64,
            documented_max_chips=12 * 16 * 16,
        ),
        "v5e": Generation(
            name="v5e",
            dimensions=2,
            accelerator="tpu-v5-lite-podslice",
            machines=(
                Machine("ct5lp-hightpu-4t", 4, 112, 192, "tpuv5e"),
                Machine("ct5lp-hightpu-8t", 8, 224, 384, "tpuv5e1t", only_topologies=("2x4",)),
            ),
            disk_type="pd-balanced",
            single_host_topology="2x2",
            multi_host_placement="compact",
            min_gke=PATHWAYS_MIN_GKE,
            flex_start=True,
            zones_seen=("us-west4-a",),
            topologies=_2D,
            documented_max_chips=256,
        ),
        "v5p": Generation(
            name="v5p",
            dimensions=3,
            accelerator="tpu-v5p-slice",
            machines=(Machine("ct5p-hightpu-4t", 4, 208, 448, "tpuv5"),),
            disk_type="pd-balanced",
            single_host_topology="2x2x1",
            multi_host_placement="compact",
            min_gke=PATHWAYS_MIN_GKE,
            flex_start=True,
            zones_seen=("us-east5-a",),
            max_cubes=140,
            documented_max_chips=16 * 16 * 24,
        ),
        "v6e": Generation(
            name="v6e",
            dimensions=2,
            accelerator="tpu-v6e-slice",
            machines=(
                Machine("ct6e-standard-1t", 1, 44, 176, "tpuv6e", only_topologies=("1x1",)),
                Machine("ct6e-standard-4t", 4, 180, 720, "tpuv6e"),
                Machine("ct6e-standard-8t", 8, 180, 1440, "tpuv6e1t", only_topologies=("2x4",)),
            ),
            disk_type="hyperdisk-balanced",
            single_host_topology="2x2",
            multi_host_placement="compact",
            min_gke=PATHWAYS_MIN_GKE,
            flex_start=True,
            zones_seen=(
                "asia-northeast1-b",
                "europe-west4-a",
                "southamerica-west1-a",
                "us-central1-b",
                "us-east1-d",
                "us-east5-a",
                "us-east5-b",
                "us-south1-ai1b",
            ),
            topologies=("1x1", *_2D),
            documented_max_chips=256,
        ),
        "tpu7x": Generation(
            name="tpu7x",
            dimensions=3,
            accelerator="tpu7x",
            machines=(
                Machine("tpu7x-standard-1t", 1, 56, 248, "tpu7x", only_topologies=("1x1x1",)),
                # 960 GB, the smaller of the two figures in public code: sizing has to hold on either.
                Machine("tpu7x-standard-4t", 4, 224, 960, "tpu7x"),
            ),
            disk_type="hyperdisk-balanced",
            single_host_topology="2x2x1",
            multi_host_placement="workload-policy",
            min_gke=GkeVersion.parse("1.34.0-gke.2201000"),
            flex_start=True,
            zones_seen=("us-central1-c",),
            max_cubes=144,
            documented_max_chips=16 * 24 * 24,
        ),
    }
)

assert set(GENERATIONS) == set(get_args(TpuName)), "TpuName and GENERATIONS name the same generations"  # noqa: S101
