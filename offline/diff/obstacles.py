"""What would stop a change: found before anybody waits for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from offline.diff import google
from offline.diff.decision import Decision
from offline.diff.model import Kind, Obstacle, Operation
from offline.diff.paths import written
from offline.diff.words import arrow, item
from offline.glossary import physical_name
from offline.recording import Resource
from offline.urn import PROVIDER_PREFIX

# Every resource that has no name of its own but what it grants.
_GRANTS = ("IAMMember", "IamMember")
_SCOPE = ("project", "location", "region", "cluster", "namespace")


def obstacles(decisions: Sequence[Decision]) -> list[Obstacle]:
    """All obstacles, in the order of the decisions."""
    found: list[Obstacle] = []
    early = {name for decision in decisions for name in decision.takes_along}
    for decision in decisions:
        found += _protected(decision, early)
        found += _refused_deletion(decision)
        found += _name_kept(decision)
        found += _ranges(decision, decisions)
    found += _names_taken(decisions, early)
    return found


def _ends(decision: Decision) -> Resource | None:
    """The deployed resource, if it is deleted in the cloud."""
    ends = decision.operation in (Operation.DELETE, Operation.REPLACE) and decision.resource.custom
    old = decision.old if ends else None
    return None if old is None or old.options.retain_on_delete else old


def _protected(decision: Decision, early: set[str]) -> Iterator[Obstacle]:
    old = decision.old
    if old is None or not old.options.protect or decision.operation not in (Operation.DELETE, Operation.REPLACE):
        return
    let_go = decision.new is not None and not decision.new.options.protect
    if let_go and old.urn not in early:
        return  # the engine takes the protection off and replaces in one run
    verb = "deleted" if decision.operation is Operation.DELETE else "replaced"
    yield Obstacle(
        decision.resource.urn,
        "protected",
        f"{item(old)} is protected and would be {verb}: pulumi refuses; keep it as it is, or take the protection off "
        f"first (pulumi state unprotect '{old.urn}')",
    )


def _refused_deletion(decision: Decision) -> Iterator[Obstacle]:
    old = _ends(decision)
    if old is None:
        return
    if old.type == google.CLUSTER and old.inputs.get("deletionProtection") is not False:
        yield Obstacle(
            decision.resource.urn,
            "deletion-protection",
            f"{item(old)} has deletion protection on: the provider refuses to delete it; switch it off in an up of its "
            "own (cluster.deletionProtection: false)",
        )
    if old.type == google.BUCKET and not old.inputs.get("forceDestroy"):
        yield Obstacle(
            decision.resource.urn,
            "bucket-not-empty",
            f"{item(old)} is deleted only if it is empty; empty it first (gcloud storage rm -r gs://{physical_name(old)}/**)",
        )


def _name_kept(decision: Decision) -> Iterator[Obstacle]:
    old, new = decision.old, decision.new
    if decision.operation is not Operation.REPLACE or decision.delete_first or old is None or new is None:
        return
    if (name := _identity(old)) is not None and name == _identity(new):
        yield Obstacle(
            new.urn,
            "name-taken",
            f"{item(new)} would be made before the old one goes, under the same name; set "
            "delete_before_replace in the program",
        )


def _names_taken(decisions: Sequence[Decision], early: set[str]) -> Iterator[Obstacle]:
    """New resources whose name belongs to something that goes only at the end (or stays)."""
    leaving = {
        name: decision.old
        for decision in decisions
        if decision.operation is Operation.DELETE and decision.old and decision.old.urn not in early
        if (name := _identity(decision.old)) is not None
    }
    for decision in decisions:
        new = decision.new
        name = _identity(new) if new is not None and decision.operation is Operation.CREATE else None
        if new is None or name is None or name not in leaving:
            continue
        old = leaving[name]
        if new.type.endswith(_GRANTS):
            text = f"the grant {new.name} is made anew and then taken away with {old.name}, which is deleted last"
        else:
            text = f"{item(new)} is made while the old one of that name is still there"
        yield Obstacle(
            new.urn, "name-taken", f"{text}; give the resource an alias of its former name or parent ({old.urn})"
        )


def _identity(resource: Resource) -> tuple[object, ...] | None:
    """What the cloud tells resources of a type apart by; None where it invents a name."""
    if not resource.custom or resource.type.startswith(PROVIDER_PREFIX):
        return None
    if resource.type.endswith(_GRANTS):
        return (resource.type, *sorted((key, repr(value)) for key, value in resource.inputs.items()))
    metadata = resource.inputs.get("metadata")
    inputs = metadata if isinstance(metadata, dict) else resource.inputs
    named = next((inputs[key] for key in ("name", "accountId") if isinstance(inputs.get(key), str)), None)
    return None if named is None else (resource.type, named, *(repr(inputs.get(key)) for key in _SCOPE))


def _ranges(decision: Decision, decisions: Sequence[Decision]) -> Iterator[Obstacle]:
    """A subnet's secondary range cannot change while a cluster has addresses out of it."""
    old = decision.old
    if old is None or old.type != google.SUBNETWORK or decision.operation is not Operation.UPDATE:
        return
    if not any(other.old is not None and other.old.type == google.CLUSTER for other in decisions):
        return
    for path in decision.paths:
        if path.path[0] == "secondaryIpRanges" and path.kind is not Kind.ADD:
            yield Obstacle(
                decision.resource.urn,
                "range-in-use",
                f"{item(old)}: {written(path.path)} {arrow(path)}: the cluster has addresses out of this range, which "
                "can neither grow nor move; keep it, or make a new cluster",
            )
