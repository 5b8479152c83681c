"""Google Cloud inputs judged by the provider's own schema, exported to one JSON file.

`PATHWAYS_GCP_SCHEMA` names the file. Its properties carry Pulumi's names; constraint paths are dotted and start at
the resource. A `flattened` property is a list of at most one in Terraform and one object in Pulumi.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.recording import Resource, is_opaque

VARIABLE = "PATHWAYS_GCP_SCHEMA"

# Properties that the Python SDK 10.2.0 has and the exported schema (provider 9.35) does not know yet.
_NEWER_BY_TYPE = {
    "gcp:container/cluster:Cluster": (
        "nodeConfig.hostMaintenancePolicy.opportunisticMaintenanceStrategy",
        "nodePools.nodeConfig.hostMaintenancePolicy.opportunisticMaintenanceStrategy",
        "nodePools.bestEffortProvisioning",
        "nodePools.networkConfig.additionalNodeNetworkConfigs.stackType",
    ),
    "gcp:container/nodePool:NodePool": (
        "nodeConfig.hostMaintenancePolicy.opportunisticMaintenanceStrategy",
        "bestEffortProvisioning",
        "networkConfig.additionalNodeNetworkConfigs.stackType",
    ),
    "gcp:secretmanager/secret:Secret": ("secretType",),
}
NEWER = frozenset((type_, path) for type_, paths in _NEWER_BY_TYPE.items() for path in paths)

_SCALARS: Mapping[str, tuple[type, ...]] = {"string": (str,), "int": (int,), "bool": (bool,), "float": (int, float)}


@dataclass(frozen=True)
class Property:
    """One property of a type, as the provider declares it."""

    kind: str
    flattened: bool
    required: bool
    settable: bool
    deprecated: bool
    enum: tuple[str, ...]
    counts: tuple[int, int | None]
    items: Property | None
    properties: Mapping[str, Property]
    conflicts_with: tuple[str, ...]
    exactly_one_of: tuple[str, ...]
    at_least_one_of: tuple[str, ...]
    required_with: tuple[str, ...]


@dataclass(frozen=True)
class ResourceType:
    """A resource type: its properties, and those that Pulumi cannot fill in itself."""

    required: tuple[str, ...]
    properties: Mapping[str, Property]


Schema = Mapping[str, ResourceType]


def _property(raw: Mapping[str, Any]) -> Property:
    return Property(
        kind=raw["type"],
        flattened=raw.get("flattened", False),
        required=raw.get("required", False),
        settable=bool(raw.get("required") or raw.get("optional") or not raw.get("computed")),
        deprecated=bool(raw.get("deprecated")),
        enum=tuple(raw.get("enum", ())),
        counts=(raw.get("minItems", 0), raw.get("maxItems")),
        items=_property(raw["items"]) if "items" in raw else None,
        properties=_properties(raw.get("properties", {})),
        conflicts_with=tuple(raw.get("conflictsWith", ())),
        exactly_one_of=tuple(raw.get("exactlyOneOf", ())),
        at_least_one_of=tuple(raw.get("atLeastOneOf", ())),
        required_with=tuple(raw.get("requiredWith", ())),
    )


def _properties(raw: Mapping[str, Mapping[str, Any]]) -> dict[str, Property]:
    return {name: _property(child) for name, child in raw.items()}


def parse(document: Mapping[str, Any]) -> Schema:
    """Read the exported schema's JSON document."""
    return {
        token: ResourceType(tuple(raw["requiredInputs"]), _properties(raw["properties"]))
        for token, raw in document["resources"].items()
    }


def from_environment() -> Schema | None:
    """The schema that `PATHWAYS_GCP_SCHEMA` names, or None where the variable is not set."""
    path = os.environ.get(VARIABLE)
    return parse(json.loads(Path(path).read_text(encoding="utf-8"))) if path else None


def problems(resources: Iterable[Resource], schema: Schema) -> list[str]:
    """What the provider would refuse in these inputs; other packages, and what is only read, are passed over.

    Returns:
        Lines `TYPE name: path: problem`, in the order of the resources.
    """
    found: list[str] = []
    for resource in resources:
        if resource.package != "gcp" or not resource.custom or resource.read:
            continue
        declared = schema.get(resource.type)
        if declared is None:
            found.append(f"{resource.label}: : the schema has no such type")
            continue
        judge = _Judge(resource.type)
        judge.block(declared.properties, resource.inputs, (), declared.required)
        judge.constraints(declared.properties, ())
        found.extend(f"{resource.label}: {line}" for line in judge.lines)
    return found


class _Judge:
    """The walk over one resource's inputs; remembers which paths are set, for the constraints between them."""

    def __init__(self, type_: str) -> None:
        self.lines: list[str] = []
        self._type = type_
        self._given: set[str] = set()
        self._blocks: set[str] = {""}  # the blocks whose inside is known; constraints inside others cannot be judged
        self._groups: set[tuple[str, ...]] = set()

    def block(
        self, declared: Mapping[str, Property], value: Mapping[str, Any], path: tuple[str, ...], required: Iterable[str]
    ) -> None:
        for name in required:
            if value.get(name) is None:
                self._say((*path, name), "required, but not given")
        for name, child in value.items():
            here = (*path, name)
            if name.startswith("__") or child is None or (self._type, _plain(here)) in NEWER:
                continue
            if name not in declared:
                self._say(here, "no such property")
                continue
            self._given.add(_plain(here))
            self._property(declared[name], child, here)

    def _property(self, declared: Property, value: object, path: tuple[str, ...]) -> None:
        if declared.deprecated:
            self._say(path, "deprecated")
        if not declared.settable:
            self._say(path, "is an output of the provider, not an input")
        self._value(declared, value, path)

    def _value(self, declared: Property, value: object, path: tuple[str, ...]) -> None:
        if is_opaque(value):
            return
        if declared.kind in _SCALARS:
            self._scalar(declared, value, path)
        elif declared.flattened:
            self._flattened(declared, value, path)
        elif declared.kind == "map":
            self._map(declared, value, path)
        else:
            self._list(declared, value, path)

    def _scalar(self, declared: Property, value: object, path: tuple[str, ...]) -> None:
        is_bool_for_number = isinstance(value, bool) and declared.kind != "bool"
        if not isinstance(value, _SCALARS[declared.kind]) or is_bool_for_number:
            self._say(path, f"{value!r} is no {declared.kind}")
        elif declared.enum and value not in declared.enum:
            self._say(path, f"{value!r} is none of {', '.join(map(repr, declared.enum))}")

    def _flattened(self, declared: Property, value: object, path: tuple[str, ...]) -> None:
        if isinstance(value, (list, tuple)):
            self._say(path, "is one value in Pulumi, not a list")
        else:
            self._element(declared, value, path)

    def _map(self, declared: Property, value: object, path: tuple[str, ...]) -> None:
        if not isinstance(value, Mapping):
            self._say(path, f"{value!r} is no map")
            return
        for key, child in value.items():
            if declared.items is not None:
                self._value(declared.items, child, (*path, f"[{key}]"))

    def _list(self, declared: Property, value: object, path: tuple[str, ...]) -> None:
        if not isinstance(value, (list, tuple)):
            self._say(path, "is a list in Pulumi")
            return
        least, most = declared.counts
        if len(value) < least:
            self._say(path, f"{len(value)} given, at least {least} needed")
        if most is not None and len(value) > most:
            self._say(path, f"{len(value)} given, at most {most} allowed")
        for index, child in enumerate(value):
            self._element(declared, child, (*path, f"[{index}]"))

    def _element(self, declared: Property, value: object, path: tuple[str, ...]) -> None:
        if is_opaque(value):
            return
        if declared.items is not None:
            self._value(declared.items, value, path)
        elif isinstance(value, Mapping):
            self._blocks.add(_plain(path))
            required = [name for name, child in declared.properties.items() if child.required]
            self.block(declared.properties, value, path, required)
        else:
            self._say(path, f"{value!r} is no object")

    def constraints(self, declared: Mapping[str, Property], path: tuple[str, ...]) -> None:
        """Judge what properties ask of each other, inside every block that is given."""
        for name, child in declared.items():
            here = _plain((*path, name))
            if here in self._given:
                self._pairs(child, here)
            self._group(child.exactly_one_of, exactly=True)
            self._group(child.at_least_one_of, exactly=False)
            if here in self._blocks:
                self.constraints(child.properties, (*path, name))

    def _pairs(self, declared: Property, here: str) -> None:
        for other in declared.conflicts_with:
            if other in self._given and self._once(("conflict", *sorted((here, other)))):
                self.lines.append(f"{here}: conflicts with {other}")
        for other in declared.required_with:
            if other not in self._given:
                self.lines.append(f"{here}: needs {other} beside it")

    def _group(self, members: tuple[str, ...], *, exactly: bool) -> None:
        if not members or not self._once((str(exactly), *sorted(members))):
            return
        given = [member for member in members if member in self._given]
        if exactly and len(given) != 1:
            self.lines.append(f"{members[0]}: exactly one of {', '.join(members)}; given: {', '.join(given) or 'none'}")
        if not exactly and not given:
            self.lines.append(f"{members[0]}: at least one of {', '.join(members)}")

    def _once(self, group: tuple[str, ...]) -> bool:
        if group in self._groups:
            return False
        self._groups.add(group)
        return True

    def _say(self, path: tuple[str, ...], problem: str) -> None:
        self.lines.append(f"{_shown(path)}: {problem}")


def _steps(path: tuple[str, ...]) -> Iterator[str]:
    return (step for step in path if not step.startswith("["))


def _plain(path: tuple[str, ...]) -> str:
    return ".".join(_steps(path))


def _shown(path: tuple[str, ...]) -> str:
    return ".".join(path).replace(".[", "[")
