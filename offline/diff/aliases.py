"""Which deployed resource a resource of the head is: by its URN, or by one that an alias says it had."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from offline import urn
from offline.recording import Resource


@dataclass(frozen=True, slots=True)
class Matches:
    """The pairs of two recordings.

    Attributes:
        old_of: per URN of the head the resource of the base that it is.
        new_name: per URN of the base what it is called in the head; itself where it has left.
    """

    old_of: Mapping[str, Resource]
    new_name: Mapping[str, str]


def match(olds: Mapping[str, Resource], news: Mapping[str, Resource]) -> Matches:
    """Pair two recordings by URN; a resource of the base is taken once, an equal URN goes before an alias."""
    old_of = {name: olds[name] for name in news if name in olds}
    taken = set(old_of)
    known: dict[str, tuple[str, ...]] = {}
    for name in news:
        if name in old_of:
            continue
        for former in _former(name, news, known):
            if former in olds and former not in taken:
                old_of[name] = olds[former]
                taken.add(former)
                break
    renamed = {old.urn: name for name, old in old_of.items()}
    return Matches(old_of, {name: renamed.get(name, name) for name in olds})


def _former(name: str, news: Mapping[str, Resource], known: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """All URNs that a resource may have had: its own aliases, those of its parents, and both together."""
    if name not in known:
        known[name] = ()  # no way round in a circle
        known[name] = tuple(dict.fromkeys(_candidates(news[name], news, known)))
    return known[name]


def _candidates(resource: Resource, news: Mapping[str, Resource], known: dict[str, tuple[str, ...]]) -> Iterator[str]:
    parent = resource.parent or ""
    grandparents = _former(parent, news, known) if parent in news else ()
    for alias in resource.options.aliases:
        if isinstance(alias, str):
            yield alias
            continue
        given = dict(alias)
        parents = ("",) if given.get("noParent") else (str(given["parentUrn"]),) if "parentUrn" in given else None
        for above in parents or (parent, *grandparents):
            yield urn.make(
                str(given.get("stack") or _stack(resource.urn)),
                str(given.get("project") or _project(resource.urn)),
                above,
                str(given.get("type") or resource.type),
                str(given.get("name") or resource.name),
            )
    for above in grandparents:
        yield urn.make(_stack(above), _project(above), above, resource.type, _inherited(resource.name, parent, above))


def _inherited(name: str, parent: str, former_parent: str) -> str:
    """The engine's guess: a child whose name starts with its parent's was renamed along with it."""
    own, before = urn.name_of(parent), urn.name_of(former_parent)
    return before + name[len(own) :] if name.startswith(own) else name


def _stack(name: str) -> str:
    return name.split("::", 1)[0].removeprefix("urn:pulumi:")


def _project(name: str) -> str:
    return name.split("::", 2)[1]
