"""Diff: what the provider plans between what it knows of a resource and the new inputs.

The reading of the schema facts: ``replaces`` on a block acts when the block is added or removed, a change inside
follows the child's own flag; what is optional and computed is no difference while unset; an unset scalar equals its
zero value; the order of a set does not count.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tests.e2e.cloud.facts import Property, ResourceFacts, Shape
from tests.e2e.cloud.wire import Props, Unknown, has_unknown

NODE_POOL = "gcp:container/nodePool:NodePool"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"


class Kind(Enum):
    """What happens to one property."""

    ADD = "add"
    DELETE = "delete"
    UPDATE = "update"


@dataclass(frozen=True, slots=True)
class Change:
    """One changed property: its path as the engine writes it, and whether it replaces the resource."""

    path: str
    kind: Kind
    replaces: bool


def diff(
    facts: ResourceFacts, olds: Props, news: Props, provider_labels: Mapping[str, str] | None = None
) -> list[Change]:
    """All changes from the old outputs to the new inputs, in a stable order."""
    changes: list[Change] = []
    _object(facts.properties, olds, news, "", changes)
    changes += _labels(facts, olds, news, provider_labels)
    return sorted(_custom(facts, olds, news, changes), key=lambda change: change.path)


def without_ignored(changes: list[Change], ignored: Iterable[str]) -> list[Change]:
    """The changes that are not at or inside an ignored path (``nodeConfig``, ``taints[0].key``, ``taints[*]``)."""
    patterns = [re.compile(re.escape(path).replace(r"\*", r"[^\].]+") + r"($|[.\[])") for path in ignored]
    return [change for change in changes if not any(pattern.match(change.path) for pattern in patterns)]


def delete_before_replace(facts: ResourceFacts, olds: Props, news: Props) -> bool:
    """True when the replacement would take the old one's name: it is the program's own and stays the same."""
    name = facts.autonamed
    if name is None or name not in news or name in news.get("__defaults", ()):
        return False
    return bool(olds.get(name) == news[name])


def _object(properties: Mapping[str, Property], olds: Props, news: Props, path: str, changes: list[Change]) -> None:
    for key, prop in properties.items():
        if not prop.output_only:
            _property(prop, olds.get(key), news.get(key), f"{path}{key}", changes)


def _property(prop: Property, old: Any, new: Any, path: str, changes: list[Change]) -> None:
    if new is None and (old is None or prop.computed):
        return
    if isinstance(new, Unknown):
        changes.append(Change(path, Kind.ADD if old is None else Kind.UPDATE, prop.replaces))
        return
    match prop.shape:
        case Shape.SCALAR:
            if not same_scalar(prop, old, new):
                changes.append(Change(path, _kind(old, new), prop.replaces))
        case Shape.MAP:
            _map(prop, old or {}, new or {}, path, changes)
        case Shape.BLOCK:
            _block(prop, old, new, path, changes)
        case Shape.LIST | Shape.BLOCKS:
            _list(prop, old or [], new or [], path, changes)
        case Shape.SET | Shape.BLOCK_SET:
            _set(prop, old or [], new or [], path, changes)


def _kind(old: Any, new: Any) -> Kind:
    if old is None:
        return Kind.ADD
    return Kind.DELETE if new is None else Kind.UPDATE


_ZERO: Mapping[str, Any] = {"bool": False, "int": 0, "float": 0.0}


def same_scalar(prop: Property, old: Any, new: Any) -> bool:
    """True when two values of a property are one to the provider: unset and zero, a name and its link."""
    zero = _ZERO.get(prop.type, "")
    a, b = (zero if value is None else value for value in (old, new))
    if a == b or str(a) == str(b):
        return True
    if prop.suppressed and isinstance(a, str) and isinstance(b, str) and a and b:
        return a.rpartition("/")[2] == b.rpartition("/")[2]
    return prop.caseless and str(a).lower() == str(b).lower()


def _map(prop: Property, old: Props, new: Props, path: str, changes: list[Change]) -> None:
    for key in sorted({*old, *new}):
        a, b = old.get(key), new.get(key)
        if b is None and prop.suppressed and ("goog" in key or "gke" in key):
            continue  # the services put their own keys there
        if a != b:
            changes.append(Change(f"{path}.{key}" if _plain(key) else f'{path}["{key}"]', _kind(a, b), prop.replaces))


def _plain(key: str) -> bool:
    return key.replace("_", "a").replace("-", "a").isalnum()


def _block(prop: Property, old: Any, new: Any, path: str, changes: list[Change]) -> None:
    if old is not None and new is not None:
        _object(prop.properties, old, new, f"{path}.", changes)
    elif new is None:
        if not (prop.suppressed and _empty(old)):
            changes.append(Change(path, Kind.DELETE, prop.replaces or _replaces_set(prop, old)))
    elif not (prop.suppressed and _empty(new)):
        changes.append(Change(path, Kind.ADD, prop.replaces or _replaces_set(prop, new)))


def _empty(value: Any) -> bool:
    if isinstance(value, dict):
        return all(_empty(item) for item in value.values())
    return not value


def _replaces_set(prop: Property, value: Any) -> bool:
    """True when something that is set inside an added or removed block replaces the resource."""
    if not isinstance(value, dict):
        return False
    for key, item in value.items():
        child = prop.properties.get(key)
        if child is not None and not _empty(item) and (child.replaces or _replaces_set(child, item)):
            return True
    return False


def _list(prop: Property, old: list[Any], new: list[Any], path: str, changes: list[Change]) -> None:
    for index in range(max(len(old), len(new))):
        a = old[index] if index < len(old) else None
        b = new[index] if index < len(new) else None
        where = f"{path}[{index}]"
        if prop.shape is Shape.BLOCKS and isinstance(a, dict) and isinstance(b, dict):
            _object(prop.properties, a, b, f"{where}.", changes)
        elif a != b and (a is None or b is None or prop.shape is Shape.BLOCKS or not same_scalar(prop, a, b)):
            item = b if b is not None else a
            changes.append(Change(where, _kind(a, b), prop.replaces or _replaces_set(prop, item)))


def _set(prop: Property, old: list[Any], new: list[Any], path: str, changes: list[Change]) -> None:
    before = {_key(prop, item): (index, item) for index, item in enumerate(old)}
    after = {_key(prop, item): (index, item) for index, item in enumerate(new)}
    for key in sorted(before.keys() - after.keys()):
        index, item = before[key]
        changes.append(Change(f"{path}[{index}]", Kind.DELETE, prop.replaces or _replaces_set(prop, item)))
    for key in sorted(after.keys() - before.keys()):
        index, item = after[key]
        changes.append(Change(f"{path}[{index}]", Kind.ADD, prop.replaces or _replaces_set(prop, item)))


def _key(prop: Property, item: Any) -> str:
    """An element of a set as text: computed children aside, sets inside in order, references by their last part."""
    return json.dumps(_canonical(prop, item), sort_keys=True, default=repr)


def _canonical(prop: Property, item: Any) -> Any:
    if isinstance(item, dict):
        known = {key: child for key, child in prop.properties.items() if not child.computed}
        values = {key: _canonical(child, item.get(key)) for key, child in known.items()}
        return {key: value for key, value in values.items() if not _empty(value)}
    if isinstance(item, list):
        parts = [_canonical(prop, part) for part in item]
        ordered = prop.shape in (Shape.LIST, Shape.BLOCKS)
        return parts if ordered else sorted(parts, key=lambda part: json.dumps(part, sort_keys=True, default=repr))
    if prop.suppressed and isinstance(item, str):
        return item.rpartition("/")[2]
    return item


def _labels(facts: ResourceFacts, olds: Props, news: Props, provider_labels: Mapping[str, str] | None) -> list[Change]:
    """The provider's own labels, merged into every resource that has labels."""
    if provider_labels is None or "pulumiLabels" not in facts.properties:
        return []
    own: Any = news.get("labels", news.get("resourceLabels", {}))
    if has_unknown(own) or {**provider_labels, **own} == olds.get("pulumiLabels", {}):
        return []
    return [Change(key, Kind.UPDATE, False) for key in ("effectiveLabels", "pulumiLabels")]


def _custom(facts: ResourceFacts, olds: Props, news: Props, changes: list[Change]) -> list[Change]:
    """What the provider's code adds to its schema."""
    inside = facts.token == NODE_POOL and any(change.path.startswith("nodeConfig.") for change in changes)
    if inside and "resourceManagerTags" not in news.get("nodeConfig", {}):
        # Noise of the real provider: any change inside nodeConfig shows these tags as unknown.
        changes = [*changes, Change("nodeConfig.resourceManagerTags", Kind.ADD, False)]
    if facts.token == SUBNETWORK and _shrinks(olds.get("ipCidrRange"), news.get("ipCidrRange")):
        changes = [Change(c.path, c.kind, c.replaces or c.path == "ipCidrRange") for c in changes]
    return changes


def _shrinks(old: Any, new: Any) -> bool:
    """True unless the new range holds the old one: a subnet's primary range can only grow."""
    if not isinstance(old, str) or not isinstance(new, str) or old == new:
        return False
    a, b = ipaddress.ip_network(old), ipaddress.ip_network(new)
    return not (isinstance(a, ipaddress.IPv4Network) and isinstance(b, ipaddress.IPv4Network) and a.subnet_of(b))
