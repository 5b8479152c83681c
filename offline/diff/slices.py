"""The TPU slices of a recording: one node pool each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from offline.diff.google import NODE_POOL
from offline.diff.model import Amount
from offline.glossary import at, physical_name
from offline.recording import Recording, Resource
from offline.tree import natural

_TPU_MACHINE = re.compile(r"(?:ct\d|tpu\d)\w*-.*-(\d+)t")


@dataclass(frozen=True, slots=True)
class Slice:
    """One slice.

    Attributes:
        pool: the node pool's name in the cloud.
        hosts: VMs, each one node.
        chips: of all hosts together.
        number: counted from 1 among the slices of its recording.
        of: how many slices there are.
        capacity: where its capacity comes from, as a phrase.
        zone: the zone of its hosts.
    """

    pool: str
    hosts: int
    chips: int
    number: int
    of: int
    capacity: str
    zone: str

    @property
    def label(self) -> str:
        """How sentences call it."""
        return f"slice {self.pool} ({self.number} of {self.of})"


def slices(recording: Recording) -> dict[str, Slice]:
    """The slices by URN, in the order of their pools' names."""
    pools = [resource for resource in recording.resources if chips_per_host(resource)]
    pools.sort(key=lambda pool: natural(physical_name(pool)))
    return {pool.urn: _slice(pool, number, len(pools)) for number, pool in enumerate(pools, 1)}


def chips_per_host(resource: Resource) -> int:
    """The chips of one node of a TPU pool, from its machine type; 0 for any other resource."""
    machine = at(resource.inputs, "nodeConfig.machineType") if resource.type == NODE_POOL else None
    found = _TPU_MACHINE.fullmatch(machine) if isinstance(machine, str) else None
    return int(found[1]) if found else 0


def totals(base: Recording, head: Recording) -> dict[str, Amount]:
    """Slices, hosts and chips of both sides, and how many node and pod addresses they use."""
    before, after = _totals(base), _totals(head)
    return {key: Amount(before.get(key), after.get(key)) for key in _KEYS if key in before or key in after}


_KEYS = ("slices", "hosts", "chips", "nodeAddresses", "podAddresses")


def _totals(recording: Recording) -> dict[str, int]:
    """From the pools themselves, so that they are right for any program; addresses only the program knows."""
    if not recording.resources:
        return {}
    found = slices(recording).values()
    counted = {
        "slices": len(found),
        "hosts": sum(each.hosts for each in found),
        "chips": sum(each.chips for each in found),
    }
    said = recording.outputs.get("totals")
    for key in ("nodeAddresses", "podAddresses"):
        used = at(said, f"{key}.used")
        if isinstance(used, int):
            counted[key] = used
    return counted


def _slice(pool: Resource, number: int, of: int) -> Slice:
    inputs = pool.inputs
    sizes = (at(inputs, path) for path in ("nodeCount", "autoscaling.maxNodeCount", "autoscaling.totalMaxNodeCount"))
    hosts = next((size for size in sizes if isinstance(size, int)), 1)
    zone = next(iter(inputs.get("nodeLocations") or ()), None) or inputs.get("location") or ""
    return Slice(physical_name(pool), hosts, hosts * chips_per_host(pool), number, of, _capacity(inputs), str(zone))


def _capacity(inputs: Mapping[str, Any]) -> str:
    values = at(inputs, "nodeConfig.reservationAffinity.values")
    if isinstance(values, list) and values:
        return f"under the reservation {values[0]}"
    if at(inputs, "nodeConfig.flexStart"):
        return "as flex-start, which waits until it is there"
    return "as spot, which may take long" if at(inputs, "nodeConfig.spot") else "on demand"
