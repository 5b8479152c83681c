"""A recording as a graph to draw: components as groups, equal siblings as one node with a count."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from offline.glossary import details, noun, physical_name, unknown_inputs, words
from offline.recording import Recording
from offline.tree import Node, dependencies, folded, inner, tree
from offline.urn import PROVIDER_PREFIX


@dataclass(frozen=True)
class Box:
    """One resource, or several alike.

    Attributes:
        id: unique in the graph.
        noun: what it is.
        name: its physical name; the first and the last where it stands for several.
        detail: what matters about it, one phrase; "" if nothing does.
        count: how many resources it stands for.
        protected: deleting it is refused.
        unknown: some input is known to the cloud only.
        level: how many others an `up` finishes one after the other before it.
    """

    id: str
    noun: str
    name: str
    detail: str
    count: int
    protected: bool
    unknown: bool
    level: int


@dataclass(frozen=True)
class Group:
    """A component; its resources and the components in it."""

    id: str
    title: str
    items: tuple[Box | Group, ...]

    def boxes(self) -> Iterator[Box]:
        """All boxes below, in order."""
        for item in self.items:
            if isinstance(item, Box):
                yield item
            else:
                yield from item.boxes()


@dataclass(frozen=True)
class Graph:
    """What to draw; an edge leads from what is needed to what needs it."""

    title: str
    root: Group
    edges: tuple[tuple[str, str], ...]


def graph(recording: Recording) -> Graph:
    """The graph of a recording, without the providers and without edges that others imply."""
    ids: dict[str, str] = {}
    root = _group([inner(tree(recording))], ids)
    boxes = {box.id for box in root.boxes()}
    needs: dict[str, set[str]] = {box: set() for box in boxes}
    direct = dependencies(recording)
    for urn, shown in ids.items():
        if shown in boxes:
            needs[shown] |= {ids[needed] for needed in _through(urn, direct, ids)} & boxes - {shown}
    return Graph(f"{recording.project} {recording.stack}", root, tuple(_reduced(needs)))


def _through(urn: str, direct: Mapping[str, frozenset[str]], ids: Mapping[str, str]) -> set[str]:
    """What `urn` needs, seeing through what is not drawn."""
    found: set[str] = set()
    for needed in direct[urn]:
        found |= {needed} if needed in ids else _through(needed, direct, ids)
    return found


def _group(nodes: list[Node], ids: dict[str, str]) -> Group:
    """The group of components of one shape; `ids` gets the drawn ID of each resource in it."""
    first = nodes[0]
    identity = f"n{len(ids)}"
    for node in nodes:
        ids[node.resource.urn] = identity
    items: list[Box | Group] = []
    for positions in _alike(nodes):
        resource = positions[0].resource
        if resource.type.startswith(PROVIDER_PREFIX):
            continue
        items.append(_box(positions, ids) if not positions[0].children else _group(positions, ids))
    title = words(noun(first.resource))
    return Group(identity, title if len(nodes) == 1 else f"{len(nodes)} x {title}", tuple(items))


def _alike(nodes: list[Node]) -> Iterator[list[Node]]:
    """Children of one shape, across all of `nodes`, which have the same shape themselves."""
    for siblings in folded(nodes[0].children, more_than=1):
        start = nodes[0].children.index(siblings[0])
        indexes = [nodes[0].children.index(sibling, start) for sibling in siblings]
        yield [node.children[index] for node in nodes for index in indexes]


def _box(nodes: list[Node], ids: dict[str, str]) -> Box:
    first = nodes[0].resource
    identity = f"n{len(ids)}"
    for node in nodes:
        ids[node.resource.urn] = identity
    names = [physical_name(node.resource) for node in nodes]
    facts = details(first) if len(nodes) == 1 or len({tuple(details(node.resource)) for node in nodes}) == 1 else []
    return Box(
        id=identity,
        noun=noun(first),
        name=names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}",
        detail=facts[0] if facts else "",
        count=len(nodes),
        protected=any(node.resource.options.protect is True for node in nodes),
        unknown=any(unknown_inputs(node.resource) for node in nodes),
        level=min(node.level for node in nodes),
    )


def _reduced(needs: Mapping[str, set[str]]) -> Iterator[tuple[str, str]]:
    """The edges, without those that a longer way implies."""
    reach: dict[str, set[str]] = {}

    def reached(box: str) -> set[str]:
        if box not in reach:
            reach[box] = set()  # a fold may close a circle; it ends here
            reach[box] = set(needs[box]).union(*(reached(needed) for needed in needs[box]))
        return reach[box]

    for box in sorted(needs, key=_number):
        implied = set().union(*(reached(needed) for needed in needs[box])) if needs[box] else set()
        for needed in sorted(needs[box] - implied, key=_number):
            yield needed, box


def _number(identity: str) -> int:
    return int(identity.removeprefix("n"))
