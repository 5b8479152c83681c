"""Rules of a TPU slice's pool."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from offline.recording import Resource
from policy.expect import POOL, at
from policy.model import Each, Rule, Whole

RESOURCE_POLICY = "gcp:compute/resourcePolicy:ResourcePolicy"
# GKE's TPU machine types end in the chips of one host: ct6e-standard-4t, tpu7x-standard-4t.
_TPU_MACHINE = re.compile(r"(?:ct[0-9]|tpu[0-9])[a-z0-9]*-[a-z]+-(\d+)t")


def chips_per_host(pool: Resource) -> int | None:
    """The chips of one host of a TPU pool; None for any other pool."""
    machine = at(pool.inputs, "nodeConfig.machineType")
    match = _TPU_MACHINE.fullmatch(machine) if isinstance(machine, str) else None
    return int(match[1]) if match else None


def _hosts(pool: Resource) -> int | None:
    """The hosts that the pool has, or grows to; None where neither is known."""
    for path in ("nodeCount", "autoscaling.maxNodeCount", "autoscaling.totalMaxNodeCount"):
        found = at(pool.inputs, path)
        if isinstance(found, int):
            return found
    return None


def _topologies(resources: Sequence[Resource]) -> dict[str, str]:
    """Topology by the name of the workload policy that asks for it."""
    policies = (resource for resource in resources if resource.type == RESOURCE_POLICY)
    pairs = ((at(each.inputs, "name"), at(each.inputs, "workloadPolicy.acceleratorTopology")) for each in policies)
    return {name: topology for name, topology in pairs if isinstance(name, str) and isinstance(topology, str)}


def _chips_match(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    by_policy = _topologies(resources)
    for pool in (resource for resource in resources if resource.type == POOL):
        chips, hosts = chips_per_host(pool), _hosts(pool)
        policy = at(pool.inputs, "placementPolicy.policyName")
        topology = at(pool.inputs, "placementPolicy.tpuTopology")
        topology = topology or (by_policy.get(policy) if isinstance(policy, str) else None)
        if chips is None or hosts is None or not isinstance(topology, str):
            continue
        wanted = math.prod(int(each) for each in re.findall(r"\d+", topology))
        if hosts * chips != wanted:
            yield pool, f"{topology} is {wanted} chips, and {hosts} hosts of {chips} are {hosts * chips}"


def _one_zone(pool: Resource) -> str | None:
    zones = at(pool.inputs, "nodeLocations")
    if chips_per_host(pool) is None or not isinstance(zones, (list, tuple)) or len(zones) == 1:
        return None
    return f"nodeLocations has {len(zones)} zones"


RULES: tuple[Rule, ...] = (
    Rule(
        id="slice-chips-match",
        level="mandatory",
        source=("ours",),
        sentence="A slice's hosts have as many chips as its topology; GKE makes no other pool.",
        fix="pathways:slices: {topology: …} and machineType that divide, so that the program derives the hosts",
        check=Whole(_chips_match),
    ),
    Rule(
        id="slice-one-zone",
        level="mandatory",
        source=("ours",),
        sentence="A slice is in one zone: its chips are wired to each other.",
        fix="nodeLocations: [one zone]",
        check=Each((POOL,), _one_zone),
    ),
)
