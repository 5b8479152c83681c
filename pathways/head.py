"""What the head's containers take: resource manager, proxy and, in batch mode, the user's container."""

from __future__ import annotations

from dataclasses import dataclass

from pathways.machines import GIB
from pathways.model import memory_bytes, milli_cpu
from pathways.settings.workload import Batch, Interactive, Resources

RESOURCE_MANAGER = Resources.model_construct(cpu=8, memory="32G")
"""Limits of the resource manager; smaller ones were killed for memory (public Pathways generators)."""
PROXY = Resources.model_construct(cpu=16, memory="100G")
"""Limits of the proxy, which compiles (public Pathways generators)."""

DISK_BYTES = 45 * GIB
"""Local disk that GKE leaves to the pods of a node with a boot disk of 100 GB: it keeps a tenth, and 6 GiB + 35 %."""


@dataclass(frozen=True)
class Needs:
    """Limits added up: thousandths of a core and bytes."""

    milli_cpu: int
    memory_bytes: int

    @property
    def cpu_text(self) -> str:
        """Cores, as a person writes them."""
        return f"{self.milli_cpu / 1000:g}"

    @property
    def memory_text(self) -> str:
        """Memory in GB (10^9 bytes), as a person writes it."""
        return f"{self.memory_bytes / 1e9:,.1f}".removesuffix(".0") + " GB"


def head_needs(workload: Batch | Interactive) -> Needs:
    """The sum of the limits of the containers that run in the head."""
    users = (workload.resources,) if isinstance(workload, Batch) else ()
    containers = (RESOURCE_MANAGER, PROXY, *users)
    return Needs(sum(milli_cpu(each.cpu) for each in containers), sum(memory_bytes(each.memory) for each in containers))
