"""Changes of stack files and what they do: one table for the offline comparison and for the real engine.

A case edits the configuration of a committed stack file, the base, the head or both. Keys are dotted paths below
`pathways:` (or `gcp:project`); the value None removes a key. `operations` names every resource that does not stay as it
is, by its logical name; components are left out.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Edit = Mapping[str, Any]


@dataclass(frozen=True)
class Case:
    """One change.

    Attributes:
        name: what changes.
        head: edits of the head's stack file.
        operations: operation by logical name, of all resources that change; a trailing `*` stands for the rest.
        impact: the worst.
        stack: the stack file.
        base: edits of the base's stack file.
        stopped: rules of the obstacles, sorted.
    """

    name: str
    head: Edit
    operations: Mapping[str, str]
    impact: str
    stack: str = "vision-dev"
    base: Edit = field(default_factory=dict)
    stopped: tuple[str, ...] = ()


def edited(config: Mapping[str, Any], edit: Edit) -> dict[str, Any]:
    """A stack file's configuration with the edits made."""
    result: dict[str, Any] = copy.deepcopy(dict(config))
    for path, value in edit.items():
        first, *rest = path.split(".")
        keys = [first if ":" in first else f"pathways:{first}", *rest]
        inner = result
        for key in keys[:-1]:
            inner = inner.setdefault(key, {})
        if value is None:
            inner.pop(keys[-1], None)
        else:
            inner[keys[-1]] = value
    return result
