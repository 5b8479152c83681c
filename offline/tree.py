"""A recording as the tree of its components, in the order in which an `up` reaches them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

from offline.glossary import details, noun, unknown_inputs
from offline.recording import Recording, Resource
from offline.urn import STACK_TYPE


@dataclass(frozen=True)
class Node:
    """A resource with those below it.

    Attributes:
        resource: the resource itself.
        children: those registered below it, in order.
        level: how many resources an `up` has to finish one after the other before it gets here.
    """

    resource: Resource
    children: tuple[Node, ...]
    level: int

    def shape(self) -> tuple[Any, ...]:
        """Equal for siblings that differ in their numbers only, such as the slices of one shape."""
        own = (noun(self.resource), *details(self.resource), self.resource.options.protect)
        name = "" if self.is_bare() else re.sub(r"\d+", "#", self.resource.name)
        return (own, name, *(child.shape() for child in self.children))

    def is_bare(self) -> bool:
        """Whether there is nothing to say of it but what it is called."""
        options = self.resource.options
        marked = options.protect or options.retain_on_delete or self.resource.read_id is not None
        told = details(self.resource) or unknown_inputs(self.resource)
        return self.resource.custom and not (self.children or marked or told)


def tree(recording: Recording) -> Node:
    """The Stack with everything below it."""
    levels = _levels(recording)
    below: dict[str | None, list[Resource]] = {}
    for resource in recording.resources:
        below.setdefault(resource.parent, []).append(resource)
    root = next(resource for resource in recording.resources if resource.type == STACK_TYPE)
    return _node(root, below, levels)


def inner(root: Node) -> Node:
    """The first node that has more than one thing in it: those around it would only be a frame around everything."""
    while len(root.children) == 1 and root.children[0].children:
        root = root.children[0]
    return root


def folded(children: Sequence[Node], more_than: int) -> list[tuple[Node, ...]]:
    """Siblings in order, those of one shape together where they are `more_than` that many."""
    shapes: dict[tuple[Any, ...], list[Node]] = {}
    for child in children:
        shapes.setdefault(child.shape(), []).append(child)
    groups: list[tuple[Node, ...]] = []
    for child in children:
        same = shapes[child.shape()]
        if len(same) <= more_than:
            groups.append((child,))
        elif same[0] is child:
            groups.append(tuple(same))
    return groups


def dependencies(recording: Recording) -> dict[str, frozenset[str]]:
    """Per URN the resources it waits for: by value, by `dependsOn`, its provider, and what its components wait for.

    A child is registered only when its parent is, and a component when all it depends on is there.
    """
    by_urn = recording.by_urn()
    found: dict[str | None, frozenset[str]] = {None: frozenset()}

    def collect(urn: str) -> frozenset[str]:
        if urn not in found:
            resource = by_urn[urn]
            own = frozenset(resource.options.depends_on) | {resource.options.provider or ""}
            found[urn] = (own & by_urn.keys()) | (collect(resource.parent) if resource.parent else frozenset())
        return found[urn]

    return {urn: collect(urn) for urn in by_urn}


def natural(text: str) -> tuple[tuple[int, str], ...]:
    """A sort key that puts slice-2 before slice-10."""
    parts = re.findall(r"\d+|\D+", text)
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in parts)


def _node(resource: Resource, below: Mapping[str | None, list[Resource]], levels: Mapping[str, int]) -> Node:
    children = [_node(child, below, levels) for child in below.get(resource.urn, [])]
    children.sort(key=lambda child: (child.level, natural(child.resource.name)))
    own = levels[resource.urn] if resource.custom or not children else children[0].level
    return Node(resource, tuple(children), own)


def _levels(recording: Recording) -> dict[str, int]:
    graph = dependencies(recording)
    levels: dict[str, int] = {}
    for urn in TopologicalSorter(graph).static_order():
        levels[urn] = max((levels[dependency] + 1 for dependency in graph[urn]), default=0)
    return levels
