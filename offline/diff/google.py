"""How the Google provider sees two versions of a resource's inputs.

Read from its schema (`offline.diff.facts`): a flag on a block acts when the block is added or removed, a change inside
follows the inner flag; an unset value equals its zero; what the cloud fills in is no change when it is left out; the
order of a set does not count. What its code adds to the schema is in `_by_code`. A type without facts is compared by
value and never replaced.
"""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from offline.diff.facts import Facts, facts
from offline.diff.model import PathChange
from offline.diff.paths import Path, schema_path
from offline.diff.trees import PENDING, change

NODE_POOL = "gcp:container/nodePool:NodePool"
CLUSTER = "gcp:container/cluster:Cluster"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
BUCKET = "gcp:storage/bucket:Bucket"
ACCOUNT = "gcp:serviceaccount/account:Account"
PROJECT_SERVICE = "gcp:projects/service:Service"
RESOURCE_POLICY = "gcp:compute/resourcePolicy:ResourcePolicy"

# The provider accepts the change, sends nothing and shows it again at every preview (seen with provider 9.35).
_NOTHING_SENT = frozenset({(NODE_POOL, "placementPolicy.tpuTopology")})


def changes(type_: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[PathChange]:
    """All changes between two versions of the inputs of `type_`, in the order of their paths."""
    found = list(_block(facts().get(type_, Facts()), old, new, (), False))
    return [_by_code(type_, item) for item in found]


def default_label_change(
    type_: str, old: Mapping[str, Any], new: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]
) -> list[PathChange]:
    """The change of all labels together where the provider's defaults go from `before` to `after`."""
    if not facts().get(type_, Facts()).labels:
        return []
    key = "resourceLabels" if type_ == CLUSTER else "labels"
    a, b = {**before, **(old.get(key) or {})}, {**after, **(new.get(key) or {})}
    return [change(("effectiveLabels",), a, b)] if a != b and old.get(key) == new.get(key) else []


def takes_the_name(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether the provider itself wants the old one gone first: it has a name of its own, which stays the same."""
    return "name" in new and old.get("name") == new["name"]


def _block(
    known: Facts, old: Mapping[str, Any], new: Mapping[str, Any], path: Path, replaces: bool
) -> Iterator[PathChange]:
    for key in sorted({*old, *new}):
        yield from _property(known, old.get(key), new.get(key), (*path, key), replaces)


def _property(known: Facts, old: Any, new: Any, path: Path, inherited: bool) -> Iterator[PathChange]:
    place = schema_path(path)
    if old == new or (not old and not new and (isinstance(old, list) or isinstance(new, list))):
        return
    replaces = inherited or place in known.replaces
    if new is None and place in known.server_set:
        yield change(path, old, new, silent=True)
    elif new == PENDING:
        yield change(path, old, new, replaces=replaces or place in known.replaces_whole)
    elif isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from _block(known, old, new, path, replaces)
    elif isinstance(old, list) and isinstance(new, list):
        yield from (_set if place in known.sets else _list)(known, old, new, path, replaces)
    elif isinstance(old, Mapping | list) or isinstance(new, Mapping | list):
        yield change(path, old, new, replaces=replaces or _replaces_whole(known, path, old if new is None else new))
    elif not _same_scalar(known, place, old, new):
        yield change(path, old, new, replaces=replaces)


def _list(known: Facts, old: list[Any], new: list[Any], path: Path, replaces: bool) -> Iterator[PathChange]:
    for index in range(max(len(old), len(new))):
        a = old[index] if index < len(old) else None
        b = new[index] if index < len(new) else None
        yield from _property(known, a, b, (*path, index), replaces)


def _set(known: Facts, old: list[Any], new: list[Any], path: Path, replaces: bool) -> Iterator[PathChange]:
    before = {_key(item): (index, item) for index, item in enumerate(old)}
    after = {_key(item): (index, item) for index, item in enumerate(new)}
    gone = [before[key] for key in sorted(before.keys() - after.keys())]
    come = [after[key] for key in sorted(after.keys() - before.keys())]
    if len(gone) == len(come) == 1 and not any(isinstance(item, Mapping | list) for _, item in (*gone, *come)):
        # Of two plain values a reader sees one in place of the other.
        ((_, left),), ((index, right),) = gone, come
        yield change((*path, index), left, right, replaces=replaces or _replaces_whole(known, path, right))
        return
    for index, item in gone:
        yield change((*path, index), item, None, replaces=replaces or _replaces_whole(known, path, item))
    for index, item in come:
        yield change((*path, index), None, item, replaces=replaces or _replaces_whole(known, path, item))


def _key(item: Any) -> str:
    return json.dumps(item, sort_keys=True)


def _replaces_whole(known: Facts, path: Path, value: Any) -> bool:
    """Whether adding or removing this value replaces: by its own flag, or by what is set inside."""
    place = schema_path(path)
    if place in known.replaces or place in known.replaces_whole:
        return True
    if isinstance(value, Mapping):
        return any(_replaces_whole(known, (*path, key), item) for key, item in value.items() if _is_set(item))
    return isinstance(value, list) and any(_replaces_whole(known, path, item) for item in value)


def _is_set(value: Any) -> bool:
    return any(map(_is_set, value.values())) if isinstance(value, Mapping) else bool(value)


def _same_scalar(known: Facts, place: str, old: Any, new: Any) -> bool:
    if not old and not new:  # unset, false, zero and empty are one
        return True
    if isinstance(old, bool) or isinstance(new, bool):
        return str(old).lower() == str(new).lower()
    a, b = str(old or ""), str(new or "")
    if place in known.caseless:
        a, b = a.lower(), b.lower()
    return a == b or (place in known.suppressed and bool(a and b) and _same_reference(a, b))


def _same_reference(old: str, new: str) -> bool:
    """Whether two references mean the same: a URL and its path, or a path and the bare name at its end."""
    a, b = (value.partition("/v1/")[2] if value.startswith("https://") else value for value in (old, new))
    if "/" in a and "/" in b:
        return a == b
    return a.rpartition("/")[2] == b.rpartition("/")[2]


def _by_code(type_: str, found: PathChange) -> PathChange:
    rule = _CODE.get((type_, schema_path(found.path)))
    return found if rule is None else rule(found)


def _primary_range(found: PathChange) -> PathChange:
    """A subnet's primary range grows in place; any other change makes a new subnet."""
    return replace(found, replaces=not _grows(found.old, found.new))


def _grows(old: Any, new: Any) -> bool:
    try:
        a, b = ipaddress.IPv4Network(old), ipaddress.IPv4Network(new)
    except ValueError:
        return False
    return a.subnet_of(b)


_CODE: Mapping[tuple[str, str], Callable[[PathChange], PathChange]] = {
    (SUBNETWORK, "ipCidrRange"): _primary_range,
}


def sends_nothing(type_: str, found: PathChange) -> bool:
    """Whether the provider plans an update for this change and then sends nothing."""
    return (type_, schema_path(found.path)) in _NOTHING_SENT
