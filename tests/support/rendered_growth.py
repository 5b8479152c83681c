"""Rules about two recordings: what one more slice changes, and that a second run changes nothing."""

from __future__ import annotations

from collections.abc import Mapping

from tests.support.recording import NODE_POOL, Recording, Resource
from tests.support.workload import is_tpu_pool, workload


def one_more_slice(before: Recording, after: Recording) -> list[str]:
    """From N to N + 1 slices: one pool is added, no other pool changes, and the JobSet is replaced."""
    old, new = _pools(before), _pools(after)
    found = [f"{old[urn].label}: : is gone" for urn in sorted(old.keys() - new.keys())]
    found += [
        f"{new[urn].label}: : changes" for urn in sorted(old.keys() & new.keys()) if not _same(old[urn], new[urn])
    ]
    added = [new[urn] for urn in sorted(new.keys() - old.keys())]
    if len(added) != 1 or not is_tpu_pool(added[0]):
        found.append(f"{NODE_POOL}: : added {[pool.name for pool in added]}, not one TPU pool")
    return found + _jobset_lines(before, after)


def _jobset_lines(before: Recording, after: Recording) -> list[str]:
    old, new = workload(before), workload(after)
    if old is None or new is None:
        return ["JobSet: : missing before or after"]
    if old.resource.urn != new.resource.urn:
        return [f"{new.resource.label}: : another resource than before, so both would exist for a while"]
    if old.resource.input("spec") == new.resource.input("spec"):
        return [f"{new.resource.label}: spec: does not change, so the new slice has no workers"]
    return []


def nothing_changed(before: Recording, after: Recording) -> list[str]:
    """Two runs of one file register the same resources and outputs."""
    old = {resource.urn: resource for resource in before.resources}
    new = {resource.urn: resource for resource in after.resources}
    found = [f"{urn}: : registered by one run only" for urn in sorted(old.keys() ^ new.keys())]
    found += [
        f"{new[urn].label}: : changes" for urn in sorted(old.keys() & new.keys()) if not _same(old[urn], new[urn])
    ]
    return found + ([] if before.outputs == after.outputs else ["outputs: : change"])


def _pools(recording: Recording) -> Mapping[str, Resource]:
    return {pool.urn: pool for pool in recording.of_type(NODE_POOL)}


def _same(old: Resource, new: Resource) -> bool:
    return old.inputs == new.inputs and old.options == new.options
