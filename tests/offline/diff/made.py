"""Recordings made by hand, for rules that no stack file can bring about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from offline import urn
from offline.diff.engine import compare
from offline.diff.model import Diff, Operation
from offline.recording import Mode, Options, Recording, Resource

ROOT = urn.make("dev", "made", "", urn.STACK_TYPE, "made-dev")
POOL = "gcp:container/nodePool:NodePool"
CLUSTER = "gcp:container/cluster:Cluster"
BUCKET = "gcp:storage/bucket:Bucket"
ACCOUNT = "gcp:serviceaccount/account:Account"
MEMBER = "gcp:projects/iAMMember:IAMMember"
SUBNET = "gcp:compute/subnetwork:Subnetwork"
JOB_SET = "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet"
SERVICE = "kubernetes:core/v1:Service"
GROUP = "made:index:Group"
TEAM = "made:index:Team"


def name_of(type_: str, name: str, parent: str = ROOT) -> str:
    """The URN."""
    return urn.make("dev", "made", parent, type_, name)


def made(
    type_: str,
    name: str,
    inputs: dict[str, Any] | None = None,
    *,
    parent: str = ROOT,
    sources: Mapping[str, tuple[str, ...]] | None = None,
    **options: Any,
) -> Resource:
    """A resource; `sources` are its property dependencies, and `options` those of `Options`."""
    found = sources or {}
    depends_on = tuple(sorted({*options.pop("depends_on", ()), *(each for urns in found.values() for each in urns)}))
    return Resource(
        urn=name_of(type_, name, parent),
        type=type_,
        name=name,
        parent=parent,
        custom=type_ not in (GROUP, TEAM),
        inputs=inputs or {},
        options=Options(depends_on=depends_on, **options),
        property_dependencies=found,
    )


def recording(*resources: Resource, mode: Mode = "up") -> Recording:
    """A recording of them, with the Stack."""
    stack = Resource(ROOT, urn.STACK_TYPE, "made-dev", None, False, {}, Options())
    return Recording("made", "dev", mode, tuple(sorted((stack, *resources), key=lambda each: each.urn)), {})


def between(base: list[Resource], head: list[Resource], preview: list[Resource] | None = None) -> Diff:
    """What goes on between two lists of resources."""
    seen = None if preview is None else (lambda: recording(*preview, mode="preview"))
    return compare(recording(*base), recording(*head), preview=seen)


def operations(diff: Diff) -> dict[str, Operation]:
    """The operation by logical name."""
    return {change.name: change.operation for change in diff.changes}
