"""Differences of two plain values, and what is unknown in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher
from typing import Any

from offline.diff.model import Kind, PathChange
from offline.diff.paths import Item, Path, Pattern, Segment
from offline.recording import UNKNOWN, holds_unknown, is_unknown

PENDING: Mapping[str, bool] = {"$pending": True}
"""Inside a comparison: a value that is unknown because its source is created or replaced."""


def kind_of(old: Any, new: Any) -> Kind:
    """What happens between two values of which at most one is missing."""
    if old is None:
        return Kind.ADD
    return Kind.DELETE if new is None else Kind.UPDATE


def shown_value(value: Any) -> Any:
    """`value` as results have it: what is pending is unknown."""
    if value == PENDING:
        return UNKNOWN
    if isinstance(value, Mapping):
        return {key: shown_value(item) for key, item in value.items()}
    return [shown_value(item) for item in value] if isinstance(value, list) else value


def change(path: Path, old: Any, new: Any, *, replaces: bool = False, silent: bool = False) -> PathChange:
    """A `PathChange` between two values of which at most one is missing."""
    return PathChange(path, kind_of(old, new), shown_value(old), shown_value(new), replaces, silent)


def differences(old: Any, new: Any, path: Path = ()) -> Iterator[PathChange]:
    """All differences at the greatest depth; the order of lists counts. A key without value is no key."""
    if old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping) and PENDING not in (old, new):
        for key in sorted({*old, *new}):
            yield from differences(old.get(key), new.get(key), (*path, key))
    elif isinstance(old, list) and isinstance(new, list):
        yield from _lists(old, new, path)
    else:
        yield change(path, old, new)


def settled(old: Any, new: Any) -> tuple[Any, Any]:
    """Both values without what a recording cannot know: there one side takes over the other's value."""
    if old == new:
        return old, new
    if is_unknown(new) or is_unknown(old):
        known = old if is_unknown(new) else new
        return known, known
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        pairs = {key: settled(old.get(key), new.get(key)) for key in {**old, **new}}
        a = {key: pair[0] for key, pair in pairs.items() if pair[0] is not None}
        return a, {key: pair[1] for key, pair in pairs.items() if pair[1] is not None}
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        both = [settled(a, b) for a, b in zip(old, new, strict=True)]
        return [a for a, _ in both], [b for _, b in both]
    return old, new


def with_pending(known: Any, preview: Any) -> Any:
    """`known` with PENDING wherever `preview` has an unknown."""
    if is_unknown(preview):
        return PENDING
    if not holds_unknown(preview):
        return known
    if isinstance(known, Mapping) and isinstance(preview, Mapping):
        return {key: with_pending(value, preview.get(key)) for key, value in known.items()}
    if isinstance(known, list) and isinstance(preview, list) and len(known) == len(preview):
        return [with_pending(a, b) for a, b in zip(known, preview, strict=True)]
    return PENDING


def reset(old: Any, new: Any, pattern: Pattern) -> Any:
    """`new` with the value that `old` has at `pattern` (what `ignoreChanges` does)."""
    if not pattern:
        return old
    first, rest = pattern[0], pattern[1:]
    if isinstance(new, list) and isinstance(old, list):
        indices = range(len(new)) if first == "*" else [first] if isinstance(first, int) and first < len(new) else []
        copy = list(new)
        for index in indices:
            if index < len(old):
                copy[index] = reset(old[index], new[index], rest)
        return copy
    if not isinstance(new, Mapping) or not isinstance(old, Mapping):
        return new
    keys = {*old, *new} if first == "*" else {first} if isinstance(first, str) else set()
    values = {key: reset(old.get(key), new.get(key), rest) for key in keys if key in old or not rest or key in new}
    return {key: value for key, value in {**new, **values}.items() if value is not None}


def _lists(old: list[Any], new: list[Any], path: Path) -> Iterator[PathChange]:
    names = _names(old), _names(new)
    if names[0] and names[1]:
        yield from _named(old, new, names[0], names[1], path)
    elif len(old) == len(new):
        for index, (a, b) in enumerate(zip(old, new, strict=True)):
            yield from differences(a, b, (*path, index))
    else:
        yield from _aligned(old, new, path)


def _names(items: list[Any]) -> list[str]:
    """The names of a list's objects, if all have one of their own."""
    names = [item.get("name") for item in items if isinstance(item, Mapping)]
    texts = [name for name in names if isinstance(name, str)]
    return texts if len(texts) == len(items) == len(set(texts)) else []


def _named(old: list[Any], new: list[Any], before: list[str], after: list[str], path: Path) -> Iterator[PathChange]:
    olds, news = dict(zip(before, old, strict=True)), dict(zip(after, new, strict=True))
    for name in dict.fromkeys((*before, *after)):
        item = Item(name, (after if name in news else before).index(name))
        yield from differences(olds.get(name), news.get(name), (*path, item))
    kept = [name for name in before if name in news], [name for name in after if name in olds]
    if kept[0] != kept[1]:
        yield change(path, kept[0], kept[1])  # the order alone


def _aligned(old: list[Any], new: list[Any], path: Path) -> Iterator[PathChange]:
    """Lists of different lengths: what is in both keeps its place."""
    matcher = SequenceMatcher(None, [repr(item) for item in old], [repr(item) for item in new], autojunk=False)
    for tag, start, end, first, last in matcher.get_opcodes():
        if tag == "equal":
            continue
        for offset in range(max(end - start, last - first)):
            a = old[start + offset] if start + offset < end else None
            b = new[first + offset] if first + offset < last else None
            index: Segment = first + offset if b is not None else start + offset
            yield from differences(a, b, (*path, index))
