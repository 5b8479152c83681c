"""CPU machine types for the head and system pools: vCPU, memory, boot disk, and what GKE leaves for pods."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pathways.tpu import DiskType

GIB = 2**30
NODE_DISK_GB = 100
"""Boot disk of every node, GB (Cluster Toolkit, axlearn); `head.DISK_BYTES` is what it leaves to pods."""
_SIZES_N2 = (2, 4, 8, 16, 32, 48, 64, 80)


@dataclass(frozen=True)
class _Family:
    """A machine family: GiB per vCPU of each kind, the sizes (vCPU) on offer, and the boot disk it takes."""

    gib_per_vcpu: dict[str, float]
    sizes: tuple[int, ...]
    disk_type: DiskType


# Google Cloud's machine-family pages; n4 takes hyperdisk-balanced only. Families without known figures are refused:
# nothing could be promised about what fits.
_FAMILIES = {
    "e2": _Family({"standard": 4, "highmem": 8, "highcpu": 1}, (2, 4, 8, 16, 32), "pd-balanced"),
    "n2": _Family({"standard": 4, "highmem": 8, "highcpu": 1}, (*_SIZES_N2, 96, 128), "pd-balanced"),
    "n2d": _Family({"standard": 4, "highmem": 8, "highcpu": 1}, (*_SIZES_N2, 96, 128, 224), "pd-balanced"),
    "n4": _Family({"standard": 4, "highmem": 8, "highcpu": 2}, _SIZES_N2, "hyperdisk-balanced"),
    "c3": _Family({"standard": 4, "highmem": 8, "highcpu": 2}, (4, 8, 22, 44, 88, 176), "pd-balanced"),
}
# GiB of the machine types whose memory is not in proportion.
_OWN_MEMORY = {"n2-highmem-128": 864.0}
# Combinations that the pages do not list although the family has kind and size.
_ABSENT = {"e2-highmem-32", "n2-highcpu-128", "n2d-highmem-128", "n2d-highmem-224"}


@dataclass(frozen=True)
class CpuMachine:
    """A CPU machine type; `memory_gib` is the VM's, `allocatable_*` what pods of ours can have of it."""

    name: str
    vcpu: int
    memory_gib: float
    disk_type: DiskType

    @property
    def allocatable_milli_cpu(self) -> int:
        """Thousandths of a core left for our pods.

        GKE reserves 6 % of the first core, 1 % of the second, 0.5 % of two more, 0.25 % of the rest; one core is for
        DaemonSets.
        """
        cores = self.vcpu
        reserved = 60 + 10 * min(max(cores - 1, 0), 1) + 5 * min(max(cores - 2, 0), 2) + 2.5 * max(cores - 4, 0)
        return int(cores * 1000 - reserved - 1000)

    @property
    def allocatable_bytes(self) -> int:
        """Bytes left for our pods.

        GKE reserves 25, 20, 10, 6 and 2 % by tier and 100 MiB for eviction; 2 GiB are for DaemonSets.
        """
        left, reserved = self.memory_gib, 0.1
        for tier, share in ((4, 0.25), (4, 0.20), (8, 0.10), (112, 0.06), (float("inf"), 0.02)):
            part = min(left, tier)
            reserved, left = reserved + part * share, left - part
        return int((self.memory_gib - reserved - 2) * GIB)


def cpu_machine(name: str) -> CpuMachine | None:
    """The machine type of that name, or None if it is not known here."""
    match = re.fullmatch(r"([a-z0-9]+)-(standard|highmem|highcpu)-([1-9][0-9]*)", name)
    family = _FAMILIES.get(match[1]) if match else None
    if match is None or family is None or int(match[3]) not in family.sizes or name in _ABSENT:
        return None
    vcpu = int(match[3])
    memory = _OWN_MEMORY.get(name, vcpu * family.gib_per_vcpu[match[2]])
    return CpuMachine(name, vcpu, memory, family.disk_type)


def system_machine() -> CpuMachine:
    """The machine of the system pool: room for kube-system and the operators."""
    machine = cpu_machine("e2-standard-4")
    assert machine is not None  # noqa: S101  it stands in the table above
    return machine


def machines_that_hold(milli_cpu: int, memory: int, family: str = "n2") -> list[CpuMachine]:
    """The machine types of a family with room for that much, smallest first; of n2 where the family has none."""
    known = family if family in _FAMILIES else "n2"
    names = [f"{known}-{kind}-{size}" for kind in _FAMILIES[known].gib_per_vcpu for size in _FAMILIES[known].sizes]
    found = [machine for machine in map(cpu_machine, names) if machine]
    able = [each for each in found if each.allocatable_milli_cpu >= milli_cpu and each.allocatable_bytes >= memory]
    if not able and known != "n2":
        return machines_that_hold(milli_cpu, memory)
    return sorted(able, key=lambda each: (each.vcpu, each.memory_gib))
