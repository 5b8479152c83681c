"""Short phrases for resources and for what changes in them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from offline.diff.decision import Decision
from offline.diff.model import PathChange
from offline.diff.paths import Item, Path, written
from offline.glossary import noun, physical_name
from offline.recording import SECRET, Resource, is_unknown

_LONGEST_VALUE = 60
_CONTEXT = 12
_NAMED = 3

# What a person calls an input, by the end of its path; the rest is called by the end of its path itself.
_PHRASES: Mapping[str, str] = {
    "releaseChannel.channel": "release channel",
    "minMasterVersion": "least version of the control plane",
    "deletionProtection": "deletion protection",
    "masterAuthorizedNetworksConfig": "networks that may reach the control plane",
    "controlPlaneEndpointsConfig": "endpoint of the control plane",
    "privateClusterConfig": "endpoint of the control plane",
    "maintenancePolicy": "maintenance window",
    "databaseEncryption": "encryption key of the cluster's secrets",
    "authenticatorGroupsConfig": "group for RBAC",
    "resourceLabels": "labels",
    "effectiveLabels": "labels",
    "lifecycleRules": "lifecycle",
    "nodeLocations": "zone",
    "nodeConfig.machineType": "machine type",
    "placementPolicy.tpuTopology": "topology",
    "ipCidrRange": "node range",
    "secondaryIpRanges": "pod and service ranges",
    "spec.network": "network of the job",
}


def item(resource: Resource) -> str:
    """`GKE cluster vision-dev`."""
    return f"{noun(resource)} {physical_name(resource)}"


def changed(decision: Decision) -> str:
    """What changes: the first few inputs with old and new value; or why it is replaced, if it is for another's sake."""
    paths = [path for path in decision.paths if not path.silent]
    own = [path for path in paths if path.replaces] or paths
    if decision.because and not any(path.replaces and not is_unknown(path.new) for path in own):
        return "; ".join(decision.because)
    return _phrases(own)


def change_of(decision: Decision) -> str:
    """The same; for a resource that may be replaced without any change of its own."""
    return changed(decision) or "; ".join(decision.because)


def phrase(path: Path) -> str:
    """A short name for an input."""
    text = written(path)
    for known, words in _PHRASES.items():
        if text == known or text.startswith((f"{known}.", f"{known}[")):
            return words
    for known, words in _PHRASES.items():
        if text.endswith(f".{known}"):
            return words
    named = [segment.name for segment in path if isinstance(segment, Item)]
    keys = [segment for segment in path if isinstance(segment, str)]
    if "env" in keys and len(named) > 1:
        return f"variable {named[-1]} of {named[-2]}"
    if keys[-1] in ("image", "command", "args") and named:
        return f"{keys[-1]} of {named[-1]}"
    return keys[-1] if len(keys) == 1 or not named else f"{keys[-1]} of {named[-1]}"


def short(path: Path) -> str:
    """`path` as text without the wrappings of pods in jobs in a JobSet, which say nothing."""
    text = written(path)
    for wrapping in ("spec.replicatedJobs", ".template.spec.template.spec", ".template.spec"):
        text = text.replace(wrapping, "…" if wrapping.startswith("spec") else "")
    return text


def value(found: Any) -> str:
    """A value in one line, shortened."""
    return _cut(full_value(found))


def full_value(found: Any) -> str:
    """A value in one line."""
    if found is None:
        return "nothing"
    if is_unknown(found):
        return "known after up"
    if found == SECRET:
        return "secret"
    text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False, sort_keys=True)
    return " ".join(text.split())


def arrow(path: PathChange) -> str:
    """`old → new`; of long texts the end that differs."""
    old, new = full_value(path.old), full_value(path.new)
    if min(len(old), len(new)) > _LONGEST_VALUE:
        pairs = enumerate(zip(old, new, strict=False))
        common = next((index for index, (a, b) in pairs if a != b), min(len(old), len(new)))
        start = max(common - _CONTEXT, 0)
        old, new = (f"…{text[start:]}" if start else text for text in (old, new))
    return f"{_cut(old)} → {_cut(new)}"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _phrases(paths: Sequence[PathChange]) -> str:
    named: dict[str, str] = {}
    for path in paths:
        words = phrase(path.path)
        small = not any(isinstance(side, Mapping | list) and not is_unknown(side) for side in (path.old, path.new))
        named[words] = words if words in named or not small else f"{words} {arrow(path)}"
    shown = list(named.values())[:_NAMED]
    more = len(named) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")
