"""Property paths: `nodeConfig.labels["a/b"]`, `lifecycleRules[0].condition`, `containers[main].image`.

An element of a list is written by its position or, where all elements have a name, by that name, which says more to a
person. Options such as `ignoreChanges` know positions only; an `Item` has both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Item:
    """An element of a list of named objects."""

    name: str
    position: int


Segment = str | int | Item
Path = tuple[Segment, ...]
Pattern = tuple[str | int, ...]

_PLAIN = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
_PARTS = re.compile(r"""\.?([^.\[\]"]+)|\[(\d+)\]|\[(\*)\]|\["((?:[^"\\]|\\.)*)"\]""")


def parse(pattern: str) -> Pattern:
    """A path as the engine's options write it; `*` stands for any key or position."""
    found: list[str | int] = []
    for name, position, star, quoted in _PARTS.findall(pattern):
        found.append(int(position) if position else star or name or quoted.replace('\\"', '"'))
    return tuple(found)


def covers(pattern: Pattern, path: Path) -> bool:
    """Whether `pattern` names `path` or something above it."""
    return len(pattern) <= len(path) and all(map(_matches, pattern, path))


def written(path: Path) -> str:
    """`path` as text."""
    text = ""
    for segment in path:
        if isinstance(segment, Item):
            text += f"[{segment.name}]"
        elif isinstance(segment, int):
            text += f"[{segment}]"
        elif _PLAIN.fullmatch(segment):
            text += f".{segment}" if text else segment
        else:
            text += f'["{segment}"]'
    return text


def schema_path(path: Path) -> str:
    """`path` without positions, as the facts table writes it."""
    return ".".join(segment for segment in path if isinstance(segment, str))


def _matches(pattern: str | int, segment: Segment) -> bool:
    if pattern == "*":
        return True
    return pattern == (segment.position if isinstance(segment, Item) else segment)
