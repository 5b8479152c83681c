"""Stacks to record: a valid base, changes to it, and the unmodified program run over the result."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from offline.recording import Mode
from offline.recording import Recording as Recorded
from offline.stackfile import StackFile
from tests.support import recordings
from tests.support.recording import Recording, read

CHECKOUT = recordings.CHECKOUT

BASE: Mapping[str, Any] = {
    "gcp:project": "demo-project",
    "pathways:team": "demo",
    "pathways:environment": "dev",
    "pathways:zone": "us-east5-b",
    "pathways:slices": {"tpu": "v6e", "topology": "4x4", "count": 2},
    "pathways:workload": {
        "mode": "batch",
        "name": "train",
        "image": "us-docker.pkg.dev/demo-project/r/app:1.2.3",
        "command": ["python", "train.py"],
    },
}
"""A valid stack file's config with nothing but what is required."""

INTERACTIVE: Mapping[str, Any] = {"mode": "interactive", "image": None, "command": None}
"""Change of the base's workload: no user container."""

EXISTING: Mapping[str, Any] = {
    "cluster": {"existing": {"name": "research", "location": "us-east5"}},
    "network": {
        "existing": {"network": "shared", "subnetwork": "nodes", "podRange": "pods", "serviceRange": "services"}
    },
}
"""Change: cluster and network that exist."""


def merged(base: Any, change: Any) -> Any:
    """`base` with `change` over it: maps merge, None removes a key, anything else replaces."""
    if not isinstance(base, Mapping) or not isinstance(change, Mapping):
        return change
    keys = [*base, *(key for key in change if key not in base)]
    found = {key: merged(base.get(key, {}), change[key]) if key in change else base[key] for key in keys}
    return {key: value for key, value in found.items() if value is not None}


def config(**changes: Any) -> dict[str, Any]:
    """The base's config with these sections changed."""
    return dict(merged(BASE, {f"pathways:{key}": value for key, value in changes.items()}))


def run(values: Mapping[str, Any], mode: Mode = "preview") -> Recorded:
    """What the unmodified program registers for a config, as the recorder has it."""
    stack = f"{values['pathways:team']}-{values['pathways:environment']}"
    return recordings.recorded(StackFile(stack, f"Pulumi.{stack}.yaml", values), mode)


def record(values: Mapping[str, Any], mode: Mode = "preview") -> Recording:
    """The same, read back from the JSON form that `show --json` prints."""
    return _read(json.dumps(values), mode)


@cache
def _read(values: str, mode: Mode) -> Recording:
    return read(json.loads(json.dumps(run(json.loads(values), mode).to_json())))


def jobset(recording: Recording) -> Any:
    """The spec of the recording's JobSet."""
    (found,) = [resource for resource in recording.resources if resource.type.endswith(":JobSet")]
    return found.inputs["spec"]


def named(recording: Recording, name: str) -> Any:
    """The one resource of this logical name."""
    (found,) = [resource for resource in recording.resources if resource.name == name]
    return found
