"""Decide as the engine does: in the program's order, what was decided before decides what follows.

A resource that is deleted before it is replaced takes those along that could not live through it: the engine asks their
providers what they would do if the inputs that came from it were unknown. A resource whose `deletedWith` is replaced is
replaced with it (engine 3.260 and newer). A provider that is replaced, or exchanged for another, replaces its objects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from graphlib import TopologicalSorter

from offline.diff import google
from offline.diff.aliases import Matches, match
from offline.diff.decision import Decision
from offline.diff.judge import condemned_inputs, deletes_first, effective_inputs, own_changes
from offline.diff.model import Diff, Operation, PathChange
from offline.diff.report import report
from offline.glossary import noun, physical_name
from offline.recording import Recording, Resource
from offline.urn import STACK_TYPE

S, C, U, R, D = Operation.SAME, Operation.CREATE, Operation.UPDATE, Operation.REPLACE, Operation.DELETE


@dataclass
class _Plan:
    """The decisions so far.

    Attributes:
        matches: which deployed resource is which.
        olds: the base by URN.
        news: the head by URN.
        previews: gives the head recorded as a preview, by URN; few changes ask for it.
        order: the URNs of the base, each after all it depends on.
        decided: by the head's URN, or the base's for what leaves.
        condemned: deployed resources that go early because of another: URN of the base → URN of that other.
        pending: URNs of the head whose computed values are not known before the `up`.
    """

    matches: Matches
    olds: Mapping[str, Resource]
    news: Mapping[str, Resource]
    previews: Callable[[], Mapping[str, Resource]]
    order: Sequence[str]
    decided: dict[str, Decision] = field(default_factory=dict)
    condemned: dict[str, str] = field(default_factory=dict)
    pending: set[str] = field(default_factory=set)


def compare(
    base: Recording, head: Recording, *, preview: Callable[[], Recording] | None = None, base_name: str = "the base"
) -> Diff:
    """What an `up` of `head` does to a stack that `base` was deployed to.

    Args:
        base: recorded as in an `up` where possible; a saved preview will do.
        head: recorded likewise.
        preview: records the head as a preview, when needed; without it no value is unknown for a replacement's sake.
        base_name: how the base is called in the result.
    """
    olds = _with_sources(base.by_urn(), head.by_urn())
    plan = _Plan(
        match(olds, head.by_urn()),
        olds,
        head.by_urn(),
        cache(lambda: preview().by_urn() if preview else {}),
        _order(olds),
    )
    for name in _order(plan.news):
        _decide(plan, plan.news[name])
    for name, old in plan.olds.items():
        if plan.matches.new_name[name] not in plan.news and old.type != STACK_TYPE:
            plan.decided[name] = _leaving(plan, old)
    return report(base, head, list(plan.decided.values()), plan.order, base_name)


def _with_sources(olds: Mapping[str, Resource], news: Mapping[str, Resource]) -> Mapping[str, Resource]:
    """The base; a saved plan, which does not say where values came from, takes that from the head."""
    if any(old.property_dependencies for old in olds.values()):
        return olds
    return {
        name: replace(old, property_dependencies=news[name].property_dependencies) if name in news else old
        for name, old in olds.items()
    }


def _order(resources: Mapping[str, Resource]) -> list[str]:
    """URNs so that each comes after its parent, its provider and all it depends on."""
    graph = {name: set(_ties(resource)) & resources.keys() for name, resource in resources.items()}
    return list(TopologicalSorter(graph).static_order())


def _ties(resource: Resource) -> Iterator[str]:
    options = resource.options
    yield from options.depends_on
    yield from filter(None, (resource.parent, options.provider, options.deleted_with))


def _decide(plan: _Plan, new: Resource) -> None:
    if new.type == STACK_TYPE:
        return
    old = plan.matches.old_of.get(new.urn)
    if old is None or new.read_id is not None or old.read_id is not None:
        decision = _unpaired(old, new)
    else:
        decision = _paired(plan, old, new)
    plan.decided[new.urn] = decision
    if decision.operation in (C, R):
        plan.pending.add(new.urn)
    if decision.operation is R and decision.delete_first and old is not None:
        along = dict(_dependants(plan, old))
        plan.decided[new.urn] = replace(decision, takes_along=tuple(along))
        plan.condemned.update(along)


def _unpaired(old: Resource | None, new: Resource) -> Decision:
    """A resource that is new; or read instead of managed, which is nobody's change but lets go of a managed one."""
    if new.read_id is None:
        return Decision(C, None, new)
    if old is not None and old.read_id is None:
        return Decision(D, old, None)
    return Decision(S, old, new)


def _paired(plan: _Plan, old: Resource, new: Resource) -> Decision:
    renamed = plan.matches.new_name
    moved = {
        key for key, urns in old.property_dependencies.items() if any(renamed[name] not in plan.news for name in urns)
    }
    inputs = effective_inputs(new, plan.previews, frozenset(plan.pending), frozenset(moved))
    options = new.options
    paths = own_changes(old, inputs, ignored=options.ignore_changes, replacing=options.replace_on_changes)
    paths += _default_labels(plan, old, new)
    if not new.custom:
        return Decision(U if paths else S, old, new, tuple(paths))
    because = tuple(_reasons(plan, old, new))
    gone_with = _replaced(plan, options.deleted_with)
    if because or any(path.replaces for path in paths):
        first = old.urn in plan.condemned or deletes_first(old, new)
        return Decision(R, old, new, tuple(paths), because, first, gone_with)
    return Decision(U if any(not path.silent for path in paths) else S, old, new, tuple(paths))


def _reasons(plan: _Plan, old: Resource, new: Resource) -> Iterator[str]:
    """Why a resource is replaced whatever its inputs: the first thing that says it."""
    options = new.options
    together = [other for other in options.replace_with if _replaced(plan, other) is not None]
    if (target := _replaced(plan, options.deleted_with)) is not None:
        yield f"what it lives in is replaced: {_label(plan, target)}"
    elif (provider := _replaced(plan, options.provider)) is not None:
        yield f"its provider is replaced: {_label(plan, provider)}"
    elif _other_provider(plan, old, new):
        yield "another provider manages it"
    elif together:
        more = f" and {len(together) - 1} more" if len(together) > 1 else ""
        yield f"it is replaced together with {_label(plan, together[0])}{more}"
    elif (cause := plan.condemned.get(old.urn)) is not None:
        yield f"what it is made from is deleted first: {_label(plan, cause)}"


def _replaced(plan: _Plan, name: str | None) -> str | None:
    decision = plan.decided.get(name or "")
    return name if decision is not None and decision.operation is R else None


def _other_provider(plan: _Plan, old: Resource, new: Resource) -> bool:
    before, after = old.options.provider, new.options.provider
    if before is None or after is None:
        return False  # default providers: the engine compares their settings, which the program does not make
    return plan.matches.new_name.get(before, before) != after


def _label(plan: _Plan, name: str) -> str:
    resource = plan.news.get(name) or plan.olds[name]
    return f"{noun(resource)} {physical_name(resource)}"


def _default_labels(plan: _Plan, old: Resource, new: Resource) -> list[PathChange]:
    if not new.type.startswith("gcp:"):
        return []
    before, after = plan.olds.get(old.options.provider or ""), plan.news.get(new.options.provider or "")
    if before is None or after is None or before.inputs.get("defaultLabels") == after.inputs.get("defaultLabels"):
        return []
    return google.default_label_change(new.type, old.inputs, new.inputs, _labels(before), _labels(after))


def _labels(provider: Resource) -> Mapping[str, str]:
    found = provider.inputs.get("defaultLabels")
    return found if isinstance(found, Mapping) else {}


def _dependants(plan: _Plan, root: Resource) -> Iterator[tuple[str, str]]:
    """Deployed resources that must go before `root` does, with what each goes for."""
    gone = {root.urn}
    for name in plan.order:
        old = plan.olds[name]
        decided = plan.matches.new_name[name] in plan.decided
        if name == root.urn or decided or not old.custom or old.read_id is not None:
            continue
        cause = _gone_because(old, frozenset(gone))
        if cause is not None:
            gone.add(name)
            yield name, plan.matches.new_name[cause]


def _gone_because(old: Resource, gone: frozenset[str]) -> str | None:
    for tie in (old.options.provider, old.options.deleted_with, *old.options.replace_with):
        if tie in gone:
            return tie
    inputs = condemned_inputs(old, gone)
    if inputs is None:
        return None
    paths = own_changes(old, inputs, ignored=old.options.ignore_changes, replacing=old.options.replace_on_changes)
    if not any(path.replaces for path in paths):
        return None
    lost = (urns for urns in old.property_dependencies.values() if not gone.isdisjoint(urns))
    return next(name for urns in lost for name in urns if name in gone)


def _leaving(plan: _Plan, old: Resource) -> Decision:
    """A resource that is not in the head any more; what lives in something that goes too is not deleted by a call."""
    target = plan.matches.new_name.get(old.options.deleted_with or "")
    ends = target is not None and (target not in plan.news or _replaced(plan, target) is not None)
    return Decision(D, old, None, goes_with=target if ends else None)
