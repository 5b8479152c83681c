"""What an error says to write is itself allowed: doing so leaves no fault at that key."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.pathways.support import ABSENT, FILE, config, faults, lines_of, merged

WRONG: list[dict[str, Any]] = [
    {"gcp:project": "Demo_Project"},
    {"gcp:project": 123456},
    {"team": " Vision_Team "},
    {"team": 12},
    {"team": "x" * 17},
    {"environment": "PROD"},
    {"zone": "US-EAST5-B"},
    {"zone": "us-east5"},
    *(
        {"slices": {"topology": each}}
        for each in ("4X4", "4 x 4", "04x04", "4*5", "0x4", "3x3", "8x4", "1x1", "4x4x4", "99999x99999")
    ),
    *(
        {"slices": {"tpu": "v5p", "machineType": ABSENT, "topology": each}}
        for each in ("2X2X1", "8x4x4", "4x4x2", "2x2", "6x6x6", "1x1x1", "20x20x28", "4x4x99999", "99999x99999x99999")
    ),
    *({"slices": {"count": each}} for each in (0, -5, "3", 2.0, 5000)),
    {"slices": {"machineType": 4}},
    {"slices": {"capacity": {"type": "flex-start", "maxRunDuration": "30d"}}},
    {"slices": {"capacity": {"type": "flex-start", "maxRunDuration": 5}}},
    {"slices": {"capacity": {"type": "reservation", "name": "a/b"}}},
    {"slices": {"maxPodsPerNode": 1}},
    *({"head": {"machineType": each}} for each in ("n2-standard-32", "e2-standard-8", "n4-highcpu-64", "m3-ultra")),
    {"runtime": {"jaxVersion": 0.11}},
    {"runtime": {"ports": {"proxy": 70000}}},
    {"runtime": {"ports": {"proxy": 29002}}},
    {"runtime": {"ports": {"worker": 8471}}},
    {"runtime": {"hostNetwork": "True"}},
    {"runtime": {"elasticSlices": 3}},
    {"runtime": {"images": {"repository": "Host/Path"}}},
    {"workload": {"name": "Train_1"}},
    {"workload": {"name": "train" * 5}},
    {"workload": {"runId": 5}},
    {"workload": {"runId": 1.30}},
    {"workload": {"image": "Repo/App:1"}},
    {"workload": {"ttl": "1 day"}},
    {"workload": {"resources": {"cpu": "24"}}},
    {"workload": {"resources": {"memory": 100}}},
    {"workload": {"resources": {"ephemeralStorage": "1Ti"}}},
    {"scratch": {"retentionDays": 0}},
    {"scratch": {"prefix": "/a/"}},
    {"cluster": {"minVersion": 1.30}},
    {"cluster": {"releaseChannel": "regular"}},
    {"cluster": {"maintenance": {"start": 240}}},
    {"cluster": {"maintenance": {"hours": 2}}},
    {"cluster": {"securityGroup": "x"}},
    {"network": {"nodes": "10.0.0.7/20"}},
    {"network": {"nodes": 10}},
    {"network": {"pods": "8.0.0.0/14"}},
    {"network": {"mtu": 1}},
    {"operators": {"jobset": {"version": 0.11}}},
    {"operators": {"jobset": {"install": "false"}}},
]


def suggestion(line: str) -> str | None:
    """The value that a line says to write, as it would stand in the file."""
    fix = line.rpartition("; ")[2]
    match = re.fullmatch(
        r"write (?:for example |one of |at most |it as text, for example |it in quotes: |another port, for example )?"
        r"(?:topology: )?([^,\s]+)(?:, .*| or larger.*)?",
        fix,
    )
    return match[1] if match else None


def parsed(text: str) -> Any:
    """A scalar of YAML, as far as the suggestions need it."""
    if re.fullmatch(r"\d+", text):
        return int(text)
    return {"true": True, "false": False}.get(text, text.strip('"'))


@pytest.mark.parametrize("changes", WRONG, ids=str)
def test_the_suggested_value_is_accepted(changes: dict[str, Any]) -> None:
    (line,) = faults(changes)
    key, value = line.partition(": ")[0], suggestion(line)
    assert value is not None, line
    section, *path = key.split(".") if ":" not in key else [key]
    written: Any = parsed(value)
    for part in reversed(path):
        written = {part: written}
    raw = merged(config(changes), {section if ":" in section else f"pathways:{section}": written})
    assert [each for each in lines_of(raw) if each.startswith(f"{key}: ")] == [], (line, FILE)


@pytest.mark.parametrize(
    ("left_out", "key"),
    [
        ({"team": ABSENT}, "team"),
        ({"environment": ABSENT}, "environment"),
        ({"gcp:project": ABSENT}, "gcp:project"),
        ({"slices": {"count": ABSENT}}, "slices.count"),
        ({"slices": {"tpu": ABSENT, "machineType": ABSENT}}, "slices.tpu"),
        ({"slices": {"topology": ABSENT}}, "slices.topology"),
        ({"workload": {"name": ABSENT}}, "workload.name"),
        ({"workload": {"image": ABSENT}}, "workload.image"),
    ],
)
def test_what_is_missing_is_shown_by_a_right_example(left_out: dict[str, Any], key: str) -> None:
    (line,) = faults(left_out)
    name = key.rpartition(".")[2]
    written = line.rpartition(f"; write {name}: ")[2]
    section, *path = key.split(".")
    value: Any = parsed(written)
    for part in reversed(path):
        value = {part: value}
    assert faults(left_out, {section: value}) == []
