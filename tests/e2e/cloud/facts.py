"""The provider's schema facts as typed values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

FACTS_FILE = Path(__file__).with_name("schema_facts.json")


class Shape(Enum):
    """How a property looks on the wire."""

    SCALAR = "scalar"
    MAP = "map"
    LIST = "list"
    SET = "set"
    BLOCK = "block"  # at most one object
    BLOCKS = "blocks"  # a list of objects, order counts
    BLOCK_SET = "block set"  # a list of objects, order does not count


@dataclass(frozen=True, slots=True)
class Property:
    """One property: what the schema says of it. ``type`` is the type of the value, or of an element of a collection."""

    shape: Shape
    type: str
    required: bool
    optional: bool
    computed: bool
    replaces: bool
    suppressed: bool
    caseless: bool
    deprecated: bool
    default: Any
    enum: tuple[str, ...]
    conflicts_with: tuple[str, ...]
    exactly_one_of: tuple[str, ...]
    at_least_one_of: tuple[str, ...]
    required_with: tuple[str, ...]
    min_items: int
    max_items: int | None
    properties: Mapping[str, Property]

    @property
    def output_only(self) -> bool:
        """True for what only the cloud sets."""
        return self.computed and not self.optional and not self.required

    def replaces_within(self) -> bool:
        """True when the property, or one inside it, replaces the resource on a change."""
        return self.replaces or any(child.replaces_within() for child in self.properties.values())


@dataclass(frozen=True, slots=True)
class ResourceFacts:
    """One resource type."""

    token: str
    updatable: bool
    required: frozenset[str]
    properties: Mapping[str, Property]

    @property
    def short(self) -> str:
        """``NodePool`` of ``gcp:container/nodePool:NodePool``."""
        return self.token.rpartition(":")[2]

    @property
    def autonamed(self) -> str | None:
        """The property that gets an invented value when it is left out: required, and yet no required input."""
        for name, prop in self.properties.items():
            if prop.required and name not in self.required:
                return name
        return "name" if "name" in self.properties and not self.properties["name"].output_only else None


def _shape(raw: Mapping[str, Any]) -> Shape:
    blocks = "properties" in raw
    if raw.get("flattened"):
        return Shape.BLOCK if blocks else Shape.SCALAR
    match raw["type"]:
        case "list":
            return Shape.BLOCKS if blocks else Shape.LIST
        case "set":
            return Shape.BLOCK_SET if blocks else Shape.SET
        case "map":
            return Shape.MAP
        case _:
            return Shape.SCALAR


def _property(raw: Mapping[str, Any]) -> Property:
    items = raw.get("items", {})
    return Property(
        shape=_shape(raw),
        type=items.get("type", raw["type"]),
        required=raw.get("required", False),
        optional=raw.get("optional", False),
        computed=raw.get("computed", False),
        replaces=raw.get("replaces", False),
        suppressed=raw.get("diffSuppressed", False),
        caseless=raw.get("normalised", False),
        deprecated=raw.get("deprecated", False),
        default=raw.get("default"),
        enum=tuple(raw.get("enum", items.get("enum", ()))),
        conflicts_with=tuple(raw.get("conflictsWith", ())),
        exactly_one_of=tuple(raw.get("exactlyOneOf", ())),
        at_least_one_of=tuple(raw.get("atLeastOneOf", ())),
        required_with=tuple(raw.get("requiredWith", ())),
        min_items=raw.get("minItems", 0),
        max_items=raw.get("maxItems"),
        properties={name: _property(child) for name, child in raw.get("properties", {}).items()},
    )


@cache
def load() -> Mapping[str, ResourceFacts]:
    """All known types by token."""
    raw = json.loads(FACTS_FILE.read_text(encoding="utf-8"))
    return {
        token: ResourceFacts(
            token=token,
            updatable=entry["updatable"],
            required=frozenset(entry["required"]),
            properties={name: _property(prop) for name, prop in entry["properties"].items()},
        )
        for token, entry in raw["types"].items()
    }
