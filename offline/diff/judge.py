"""One resource's change: what its provider says, corrected by the options that the engine applies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from offline.diff import google, kubernetes
from offline.diff.model import PathChange
from offline.diff.paths import covers, parse
from offline.diff.trees import PENDING, differences, reset, settled, with_pending
from offline.recording import Resource
from offline.urn import PROVIDER_PREFIX, package_of


def effective_inputs(
    known: Resource,
    previews: Callable[[], Mapping[str, Resource]],
    pending: frozenset[str],
    moved: frozenset[str],
) -> dict[str, Any]:
    """The head's inputs as a preview sees them: PENDING where the value comes from one of the URNs `pending`.

    `moved` names the inputs whose deployed value came from a resource that has left. If the new value is one that a
    recording cannot know (a look-up), it is another value all the same: PENDING as well.
    """
    waiting = {key for key, urns in known.property_dependencies.items() if not pending.isdisjoint(urns)}
    preview = previews().get(known.urn) if waiting else None
    inputs = dict(known.inputs)
    for key, value in known.inputs.items():
        if preview is not None and key in waiting:
            inputs[key] = with_pending(value, preview.inputs.get(key))
        elif key in moved:
            inputs[key] = with_pending(value, value)
    return inputs


def own_changes(
    old: Resource, inputs: Mapping[str, Any], *, ignored: Iterable[str], replacing: Iterable[str]
) -> list[PathChange]:
    """What changes between a deployed resource and its new inputs.

    `ignoreChanges` puts the old inputs back before the provider looks; `replaceOnChanges` turns what the provider calls
    a change into a replacement, and only that: what the provider drops silently stays dropped.
    """
    before, after = settled(dict(old.inputs), dict(inputs))
    for pattern in ignored:
        after = reset(before, after, parse(pattern))
    patterns = [parse(pattern) for pattern in replacing]
    return [
        replace(found, replaces=True)
        if not found.silent and any(covers(pattern, found.path) for pattern in patterns)
        else found
        for found in _by_provider(old.type, before, after)
    ]


def condemned_inputs(old: Resource, gone: frozenset[str]) -> dict[str, Any] | None:
    """The deployed inputs with everything that came from the URNs `gone` unknown; None where nothing did.

    The engine's question before it deletes something early: would those who use it have to be replaced too? Here a
    whole top-level input counts as unknown, also where only a known part of the source went into it.
    """
    lost = {key for key, urns in old.property_dependencies.items() if not gone.isdisjoint(urns)} & old.inputs.keys()
    return {**old.inputs, **dict.fromkeys(lost, PENDING)} if lost else None


def deletes_first(old: Resource, new: Resource) -> bool:
    """Whether the old one goes before the new one is made: the option decides, else the provider."""
    if new.options.delete_before_replace is not None:
        return new.options.delete_before_replace
    if new.type.startswith(PROVIDER_PREFIX):
        return False
    match package_of(new.type):
        case "kubernetes":
            return kubernetes.takes_the_name(new.type, old.inputs, new.inputs)
        case "gcp":
            return google.takes_the_name(old.inputs, new.inputs)
    return False


def _by_provider(type_: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[PathChange]:
    if old == new:
        return []
    if type_ == kubernetes.PROVIDER:
        return kubernetes.provider_changes(old, new)
    if type_.startswith("kubernetes:"):
        return kubernetes.changes(type_, old, new)
    if type_.startswith("gcp:"):
        return google.changes(type_, old, new)
    return list(differences(old, new))
