"""The Google resources of a recording as a Terraform plan, for scanners that read nothing else.

Types, properties and nesting are the provider's own; `terraform.json` holds what does not follow from Pulumi's names,
and `scripts/terraform_names.py` checks it against the provider's schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from offline.recording import SECRET, UNKNOWN, Recording, Resource

TABLE = Path(__file__).with_name("terraform.json")
_PROVIDER = "registry.terraform.io/hashicorp/google"


@dataclass(frozen=True, slots=True)
class Names:
    """One type's Terraform type, and the dotted paths of `terraform.json`, without list positions."""

    type: str
    names: Mapping[str, str]
    single: frozenset[str]
    maps: frozenset[str]


@cache
def table() -> Mapping[str, Names]:
    """The table by Pulumi's type token."""
    raw = json.loads(TABLE.read_text(encoding="utf-8"))
    return {
        token: Names(
            each["type"], each.get("names", {}), frozenset(each.get("single", ())), frozenset(each.get("maps", ()))
        )
        for token, each in raw.items()
    }


def snake(name: str) -> str:
    """`privateIpGoogleAccess` as `private_ip_google_access`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def plan(recording: Recording) -> dict[str, Any]:
    """The plan as `terraform show -json` prints it: all resources are created."""
    known = [each for each in recording.resources if each.type in table() and each.read_id is None]
    addresses = {each.urn: _address(each) for each in known}
    return {
        "format_version": "1.2",
        "terraform_version": "1.9.0",
        "planned_values": {"root_module": {"resources": [_planned(each) for each in known]}},
        "resource_changes": [_change(each) for each in known],
        "configuration": {"root_module": {"resources": [_configured(each, addresses) for each in known]}},
    }


def _address(resource: Resource) -> str:
    return f"{table()[resource.type].type}.{resource.name}"


def _identity(resource: Resource) -> dict[str, Any]:
    return {
        "address": _address(resource),
        "mode": "managed",
        "type": table()[resource.type].type,
        "name": resource.name,
        "provider_name": _PROVIDER,
    }


def _planned(resource: Resource) -> dict[str, Any]:
    return {**_identity(resource), "schema_version": 0, "values": _values(resource)}


def _change(resource: Resource) -> dict[str, Any]:
    change = {"actions": ["create"], "before": None, "after": _values(resource), "after_unknown": {}}
    return {**_identity(resource), "change": change}


def _configured(resource: Resource, addresses: Mapping[str, str]) -> dict[str, Any]:
    """Which resources each property's value came from; scanners follow these references."""
    expressions = {
        _name(table()[resource.type], key): {"references": [addresses[urn] for urn in urns if urn in addresses]}
        for key, urns in resource.property_dependencies.items()
    }
    return {
        **_identity(resource),
        "expressions": {key: each for key, each in expressions.items() if each["references"]},
    }


def _values(resource: Resource) -> dict[str, Any]:
    values: dict[str, Any] = _block(table()[resource.type], resource.inputs, "")
    return values


def _block(names: Names, block: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {
        _name(names, prefix + key): _value(names, value, prefix + key)
        for key, value in block.items()
        if not key.startswith("__") and value not in (UNKNOWN, SECRET)
    }


def _name(names: Names, path: str) -> str:
    return names.names.get(path) or snake(path.rpartition(".")[2])


def _value(names: Names, value: Any, path: str) -> Any:
    if path in names.maps:
        return value
    if isinstance(value, Mapping):
        inner = _block(names, value, f"{path}.")
        return [inner] if path in names.single else inner
    if isinstance(value, (list, tuple)):
        return [_value(names, item, path) for item in value]
    return [value] if path in names.single else value
