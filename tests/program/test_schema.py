"""The JSON Schema of a stack file beside the models: what both accept, what both refuse, what only the models can."""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from offline.project import load_project
from offline.stackfile import known_stacks
from pathways.errors import StackFileError
from pathways.load import load
from pathways.schema import schema
from tests.program.product import CAPACITIES, RUNTIMES, SHAPES, WORKLOADS, ZONES, slices
from tests.program.support import CHECKOUT, EXISTING, config

PROJECT = load_project(CHECKOUT)
SCHEMA = schema()
VALIDATOR = Draft202012Validator(SCHEMA)
IMAGES = "us-docker.pkg.dev/demo-project/r"


def in_schema(values: dict[str, Any]) -> bool:
    """Whether the schema accepts a stack file with this config."""
    return bool(VALIDATOR.is_valid({"config": values}))


def in_models(values: dict[str, Any]) -> bool:
    """Whether the models and the rules between values accept it."""
    try:
        load(deepcopy(values), "stack")
    except StackFileError:
        return False
    return True


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("stack", known_stacks(PROJECT))
def test_it_accepts_the_stack_files(stack: str) -> None:
    document = yaml.safe_load((PROJECT.stacks / f"Pulumi.{stack}.yaml").read_text())
    assert [error.message for error in VALIDATOR.iter_errors(document)] == []


GOOD: list[Mapping[str, Any]] = [
    *({"slices": slices(*key, shapes[-1], "on-demand"), "zone": ZONES[key[0]]} for key, shapes in SHAPES.items()),
    *({"slices": {"capacity": dict(capacity)}} for capacity in CAPACITIES.values()),
    *({"workload": dict(workload)} for workload in WORKLOADS.values()),
    *({"runtime": dict(runtime)} for runtime in RUNTIMES.values()),
    EXISTING,
    {"scratch": {"existing": "acme-scratch"}},
    {"scratch": {"retentionDays": 30, "prefix": "a/b"}},
    {"cluster": {"endpoint": "authorized", "authorizedNetworks": ["203.0.113.0/24"], "releaseChannel": "RAPID"}},
    {"network": {"nodes": "10.0.0.0/18", "pods": "10.64.0.0/14", "services": "10.1.0.0/20", "mtu": 1460}},
    {"operators": {"jobset": {"install": False}}},
]


@pytest.mark.parametrize("changes", GOOD)
def test_both_accept(changes: Mapping[str, Any]) -> None:
    values = config(**changes)
    assert in_models(values)
    assert [error.message for error in VALIDATOR.iter_errors({"config": values})] == []


BOTH_REFUSE: list[dict[str, Any]] = [
    {"team": None},
    {"team": "Vision"},
    {"team": "a-team-of-seventeen"},
    {"team": 7},
    {"environment": "test"},
    {"environment": "Prod"},
    {"zone": "us-east5"},
    {"zone": "US-EAST5-B"},
    {"slices": None},
    {"slices": {"tpu": "v7"}},
    {"slices": {"topology": "4X4"}},
    {"slices": {"topology": "3x3"}},
    {"slices": {"topology": "4x4x4"}},
    {"slices": {"topology": None, "topolgy": "4x4"}},
    {"slices": {"tpu": "v5p", "topology": "2x2"}},
    {"slices": {"machineType": "ct5lp-hightpu-4t"}},
    {"slices": {"count": 0}},
    {"slices": {"count": True}},
    {"slices": {"count": "2"}},
    {"slices": {"count": 2.5}},
    {"slices": {"maxPodsPerNode": 300}},
    {"slices": {"capacity": {"type": "preemptible"}}},
    {"slices": {"capacity": {"type": "reservation"}}},
    {"slices": {"capacity": {"type": "reservation", "name": "projects/x"}}},
    {"slices": {"capacity": {"type": "flex-start"}}},
    {"slices": {"capacity": {"type": "spot", "maxRunDuration": "1h"}}},
    {"slices": {"capacity": {"type": "flex-start", "maxRunDuration": "1 h"}}},
    {"head": {"machine": "n2-standard-64"}},
    {"runtime": {"hostNetwork": "true"}},
    {"runtime": {"elasticSlices": -1}},
    {"runtime": {"maxRestarts": 1.5}},
    {"runtime": {"jaxVersion": 0.11}},
    {"runtime": {"ports": {"proxy": 0}}},
    {"runtime": {"ports": {"proxy": "29000"}}},
    {"runtime": {"images": {"server": "Server:1"}}},
    {"runtime": {"env": {"worker": {"A": 1}}}},
    {"runtime": {"flags": {"proxy": "--a=b"}}},
    {"workload": None},
    {"workload": {"mode": "serving"}},
    {"workload": {"name": "Train_1"}},
    {"workload": {"name": "train-vision-transformer"}},
    {"workload": {"image": None}},
    {"workload": {"image": f"{IMAGES}/App:1"}},
    {"workload": {"command": "python train.py"}},
    {"workload": {"ttl": 60}},
    {"workload": {"runId": 2}},
    {"workload": {"mode": "interactive", "image": None, "command": None, "access": "ssh"}},
    {"workload": {"mode": "interactive", "access": "dns"}},
    {"scratch": {"retentionDays": 0}},
    {"scratch": {"existing": "gs://bucket"}},
    {"scratch": {"existing": "bucket", "retentionDays": 3}},
    {"cluster": {"endpoint": "public"}},
    {"cluster": {"endpoint": "authorized"}},
    {"cluster": {"endpoint": "dns", "authorizedNetworks": ["203.0.113.0/24"]}},
    {"cluster": {"minVersion": 1.34}},
    {"cluster": {"existing": "research"}},
    {"cluster": {"existing": {"name": "research"}}},
    {"cluster": {"existing": {"name": "research", "location": "us-east5"}, "releaseChannel": "RAPID"}},
    {"cluster": {"maintenance": {"hours": 1}}},
    {"cluster": {"maintenance": {"days": ["Sunday"]}}},
    {"cluster": {"securityGroup": "admins@acme.com"}},
    {"network": {"mtu": 9000}},
    {"network": {"nodes": "10.0.0.0"}},
    {"network": {"existing": {"network": "shared"}}},
    {"operators": {"jobset": {"version": "latest"}}},
    {"operators": {"kueue": {"install": True}}},
    {"queue": {"name": "q"}},
    {"unknown": 1},
]


@pytest.mark.parametrize("changes", BOTH_REFUSE, ids=lambda changes: json.dumps(changes)[:60])
def test_both_refuse(changes: dict[str, Any]) -> None:
    values = config(**changes)
    assert not in_models(values)
    assert not in_schema(values)


# Rules between values, and those of arithmetic: JSON Schema has no words for them.
ONLY_MODELS_REFUSE: list[dict[str, Any]] = [
    {"slices": {"tpu": "v5p", "topology": "4x8x4"}},
    {"slices": {"tpu": "v5p", "topology": "6x6x6"}},
    {"slices": {"capacity": {"type": "flex-start", "maxRunDuration": "8d"}}},
    {"runtime": {"elasticSlices": 3}},
    {"runtime": {"ports": {"proxy": 29001}}},
    {"runtime": {"flags": {"proxy": ["--server_port=1"]}}},
    {"runtime": {"env": {"worker": {"PATHWAYS_HEAD": "x"}}}},
    {"head": {"machineType": "n2-standard-32"}},
    {"network": {"nodes": "10.0.0.0/30"}},
    {"network": {"nodes": "10.0.0.1/18"}},
    {"cluster": {"minVersion": "1.30.1-gke.100"}},
    {"workload": {"image": f"{IMAGES}/app:latest"}},
    {"workload": {"args": ["$(NOWHERE)"]}},
]


@pytest.mark.parametrize("changes", ONLY_MODELS_REFUSE, ids=lambda changes: json.dumps(changes)[:60])
def test_what_only_the_models_can_refuse(changes: dict[str, Any]) -> None:
    values = config(**changes)
    assert not in_models(values)
    assert in_schema(values), "the schema can say it: move the row to BOTH_REFUSE"


@pytest.mark.parametrize("document", [{}, {"config": None}, {"config": []}, {"config": {}, "configs": {}}])
def test_a_file_without_config_is_refused(document: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(document)
