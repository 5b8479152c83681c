"""Updates of node pools: which GKE does in place, which roll the nodes, and which it cannot finish."""

from __future__ import annotations

from collections.abc import Sequence

from offline.diff.decision import Decision
from offline.diff.google import NODE_POOL, sends_nothing
from offline.diff.model import Impact, PathChange
from offline.diff.paths import written
from offline.diff.words import changed
from offline.glossary import at

# GKE changes these on running nodes; every other part of nodeConfig recreates them.
_ON_RUNNING_NODES = ("nodeConfig.labels", "nodeConfig.taints", "nodeConfig.resourceLabels", "nodeConfig.tags")
# A rolling update to another machine cannot end on a TPU slice: the topology wants all hosts of the old shape.
_NEVER_ENDS = ("nodeConfig.machineType", "nodeCount", "autoscaling.maxNodeCount", "autoscaling.totalMaxNodeCount")


def slice_update(decision: Decision, label: str) -> tuple[Impact, str]:
    """What an update means for a TPU slice, called `label`."""
    paths = [path for path in decision.paths if not path.silent]
    if paths and all(sends_nothing(NODE_POOL, path) for path in paths):
        return Impact.NONE, f"{label}: the provider accepts the change and sends nothing, at every preview again"
    if any(_below(path, _NEVER_ENDS) for path in paths) and not _from_or_to_nothing(decision):
        return Impact.REPLACES_SLICE, (
            f"{label} starts a rolling update that cannot end on TPU hosts: {changed(decision)}; replace the pool"
        )
    if any(_below(path, ("nodeLocations",)) for path in paths):
        return (
            Impact.REPLACES_SLICE,
            f"{label} moves: its hosts leave, capacity must be found in the other zone: {changed(decision)}",
        )
    if _rolls(paths):
        return (
            Impact.RESTARTS_WORKLOAD,
            f"{label}: GKE recreates its hosts one by one, the job starts again: {changed(decision)}",
        )
    return Impact.IN_PLACE, f"{label} keeps its hosts: {changed(decision)}"


def pool_update(decision: Decision, label: str, felt: Impact, after: str) -> tuple[Impact, str]:
    """What an update means for a pool without TPU; `felt` and `after` say what a roll of its nodes does."""
    paths = [path for path in decision.paths if not path.silent]
    if _rolls(paths) or any(_below(path, ("nodeLocations",)) for path in paths):
        return felt, f"{label}: GKE recreates its nodes one by one; {after}: {changed(decision)}"
    return Impact.IN_PLACE, f"{label} keeps its nodes: {changed(decision)}"


def _rolls(paths: Sequence[PathChange]) -> bool:
    return any(_below(path, ("nodeConfig", "version")) and not _below(path, _ON_RUNNING_NODES) for path in paths)


def _below(path: PathChange, places: tuple[str, ...]) -> bool:
    text = written(path.path)
    return any(text == place or text.startswith((f"{place}.", f"{place}[")) for place in places)


def _from_or_to_nothing(decision: Decision) -> bool:
    """Whether the pool has no nodes before or after, so that nothing has to be rolled."""
    sides = [side.inputs for side in (decision.old, decision.new) if side is not None]
    return any(at(inputs, "nodeCount") == 0 for inputs in sides)
