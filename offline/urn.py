"""The engine's names for resources.

A URN is `urn:pulumi:<stack>::<project>::<types>::<name>`. `<types>` is the whole chain of the parents' types, joined
with `$`, without the Stack at its root (the SDK's own mock monitor keeps the nearest parent only).
"""

from __future__ import annotations

from functools import lru_cache

STACK_TYPE = "pulumi:pulumi:Stack"
PROVIDER_PREFIX = "pulumi:providers:"
_PREFIX = "urn:pulumi:"


def make(stack: str, project: str, parent: str, type_: str, name: str) -> str:
    """The URN of a resource of `type_` called `name` below the URN `parent` ("" for none)."""
    chain = _types(parent) if parent else ""
    types = type_ if chain in ("", STACK_TYPE) else f"{chain}${type_}"
    return f"{_PREFIX}{stack}::{project}::{types}::{name}"


def name_of(urn: str) -> str:
    """The logical name: what follows the third `::`, which may itself hold `::`."""
    return urn.split("::", 3)[3]


def type_of(urn: str) -> str:
    """The resource's own type, without its parents'."""
    return _types(urn).rsplit("$", 1)[-1]


def package_of(type_: str) -> str:
    """The provider package that serves a type: `gcp` for `gcp:container/cluster:Cluster`."""
    return type_.removeprefix(PROVIDER_PREFIX).split(":", 1)[0]


@lru_cache(maxsize=4096)
def _types(urn: str) -> str:
    return urn.split("::", 3)[2]
