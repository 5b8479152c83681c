"""Machine facts of the simulated zones: what a host offers.

The numbers are Google's machine type pages and the cluster autoscaler's machine table; they are kept here a second time
on purpose, so that a slip in the project's own table shows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True, slots=True)
class Tpu:
    """The accelerator of a TPU host. ``accelerator`` is the value of the label gke-tpu-accelerator."""

    accelerator: str
    chips: int
    single_host: str


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine type. Memory is in GiB as sold, before GKE's own share."""

    name: str
    vcpu: int
    memory: float
    tpu: Tpu | None = None
    hyperdisk_only: bool = False

    @property
    def family(self) -> str:
        """``n2`` of ``n2-standard-64``."""
        return self.name.split("-")[0]


# name, vCPU, GiB, label, chips, topology of a single host, hyperdisk only
_TPU_ROWS = (
    ("ct4p-hightpu-4t", 240, 407, "tpu-v4-podslice", 4, "2x2x1", False),
    ("ct5lp-hightpu-1t", 24, 48, "tpu-v5-lite-podslice", 1, "1x1", False),
    ("ct5lp-hightpu-4t", 112, 192, "tpu-v5-lite-podslice", 4, "2x2", False),
    ("ct5lp-hightpu-8t", 224, 384, "tpu-v5-lite-podslice", 8, "2x4", False),
    ("ct5p-hightpu-4t", 208, 448, "tpu-v5p-slice", 4, "2x2x1", False),
    ("ct6e-standard-1t", 44, 176, "tpu-v6e-slice", 1, "1x1", True),
    ("ct6e-standard-4t", 180, 720, "tpu-v6e-slice", 4, "2x2", True),
    ("ct6e-standard-8t", 180, 1440, "tpu-v6e-slice", 8, "2x4", True),
    ("tpu7x-standard-1t", 56, 248, "tpu7x", 1, "1x1x1", True),
    ("tpu7x-standard-4t", 224, 960, "tpu7x", 4, "2x2x1", True),
)
_TPUS = {
    name: Machine(name, vcpu, memory, Tpu(label, chips, shape), hyperdisk)
    for name, vcpu, memory, label, chips, shape, hyperdisk in _TPU_ROWS
}
_SHARED = {"e2-medium": Machine("e2-medium", 2, 4), "e2-small": Machine("e2-small", 2, 2)}
_FAMILIES = "c2|c2d|c3|c3d|c4|c4a|c4d|e2|n1|n2|n2d|n4|n4d|t2d"
_GIB_PER_VCPU = {"standard": 4.0, "highmem": 8.0, "highcpu": 1.0}
_HYPERDISK_FAMILIES = frozenset({"c4", "c4a", "c4d", "n4", "n4d"})
_MOST_VCPU = {"e2": 32, "n1": 96, "n2": 128, "n4": 80, "c2": 60, "t2d": 60}


def machine(name: str) -> Machine | None:
    """The machine type of this name, None when there is none."""
    if name in _TPUS:
        return _TPUS[name]
    if name in _SHARED:
        return _SHARED[name]
    found = re.fullmatch(rf"({_FAMILIES})-(standard|highmem|highcpu)-(\d+)", name)
    if found is None:
        return None
    family, shape, vcpu = found[1], found[2], int(found[3])
    if vcpu > _MOST_VCPU.get(family, 384) or (vcpu != 1 and vcpu % 2):
        return None
    per = 3.75 if (family, shape) == ("n1", "standard") else _GIB_PER_VCPU[shape]
    return Machine(name, vcpu, vcpu * per, hyperdisk_only=family in _HYPERDISK_FAMILIES)


def chips(topology: str) -> int | None:
    """Chips of ``AxB`` or ``AxBxC``; None when it is not such a text."""
    if not re.fullmatch(r"[1-9]\d*(x[1-9]\d*){1,2}", topology):
        return None
    return prod(int(part) for part in topology.split("x"))


def allocatable_cpu(vcpu: int) -> float:
    """CPUs left for pods: GKE keeps 6 % of the first, 1 % of the second, 0.5 % of two more, 0.25 % of the rest."""
    kept = 0.06 + (0.01 if vcpu > 1 else 0) + 0.005 * min(max(vcpu - 2, 0), 2) + 0.0025 * max(vcpu - 4, 0)
    return vcpu - kept


def allocatable_memory(gib: float) -> float:
    """GiB left for pods: GKE keeps a falling share (25, 20, 10, 6, 2 %) and 100 MiB for eviction."""
    kept, rest = 0.0, gib
    for size, share in ((4, 0.25), (4, 0.20), (8, 0.10), (112, 0.06)):
        part = min(rest, size)
        kept += part * share
        rest -= part
    return gib - kept - rest * 0.02 - 100 / 1024
