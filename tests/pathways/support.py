"""A valid stack file, changes to it, and what the core says about the result."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pathways.errors import StackFileError
from pathways.load import load
from pathways.plan import Plan, derive

FILE = "stack.yaml"
ABSENT = ...
"""In a change: this key is left out."""

BASE: Mapping[str, Any] = {
    "gcp:project": "demo-project",
    "team": "demo",
    "environment": "dev",
    "zone": "us-east5-b",
    "slices": {"tpu": "v6e", "machineType": "ct6e-standard-4t", "topology": "4x4", "count": 2},
    "workload": {
        "mode": "batch",
        "name": "train",
        "image": "us-docker.pkg.dev/demo-project/r/app:1.2.3",
        "command": ["python", "train.py"],
    },
}
INTERACTIVE: Mapping[str, Any] = {"workload": {"mode": "interactive", "image": ABSENT, "command": ABSENT}}
EXISTING_CLUSTER: Mapping[str, Any] = {"cluster": {"existing": {"name": "shared", "location": "us-east5"}}}
EXISTING_NETWORK: Mapping[str, Any] = {
    "network": {"existing": {"network": "n", "subnetwork": "s", "podRange": "pods", "serviceRange": "services"}}
}


@dataclass(frozen=True)
class Refused:
    """A change that is refused with one line: its key, and words of what is wrong, the rule and the fix."""

    changes: Mapping[str, Any]
    key: str
    words: tuple[str, ...]


def no(key: str, changes: Mapping[str, Any], *words: str) -> Refused:
    """A refused change."""
    return Refused(changes, key, words)


def merged(*changes: Mapping[str, Any]) -> dict[str, Any]:
    """Maps laid over each other, the last on top; `config` leaves out what is ABSENT."""
    found: dict[str, Any] = {}
    for each in changes:
        for key, value in each.items():
            if isinstance(value, Mapping) and isinstance(found.get(key), Mapping):
                found[key] = merged(found[key], value)
            else:
                found[key] = merged(value) if isinstance(value, dict) else copy.copy(value)
    return found


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _present(value) if isinstance(value, dict) else value
        for key, value in values.items()
        if value is not ABSENT
    }


def config(*changes: Mapping[str, Any]) -> dict[str, Any]:
    """The config of the base stack file with changes, under its full keys."""
    values = _present(merged(BASE, *changes))
    return {key if ":" in key else f"pathways:{key}": value for key, value in values.items()}


def plan(*changes: Mapping[str, Any]) -> Plan:
    """The plan of the base with changes, which has to be valid."""
    return derive(load(config(*changes), FILE))


def faults(*changes: Mapping[str, Any]) -> list[str]:
    """The lines about the base with changes, without the file's name; empty if it is valid."""
    return lines_of(config(*changes))


def lines_of(raw: Mapping[str, object]) -> list[str]:
    """The lines about a config, without the file's name; empty if it is valid."""
    try:
        load(raw, FILE)
    except StackFileError as error:
        return [line.removeprefix(f"{FILE}: ") for line in error.lines]
    return []


def check_refused(case: Refused) -> None:
    """The case is refused with exactly one line, and it says what it should."""
    lines = faults(case.changes)
    assert len(lines) == 1, lines
    assert lines[0].startswith(f"{case.key}: "), lines[0]
    assert lines[0].count("; ") >= 2, lines[0]
    for word in case.words:
        assert word in lines[0]
