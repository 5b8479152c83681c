"""The schema checker finds each kind of fault, against a small schema in the exported form and the real one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import google_schema
from tests.support.google_schema import NEWER, VARIABLE, from_environment, parse, problems
from tests.support.recording import BUCKET, CLUSTER, GCP_PROVIDER, NODE_POOL, read
from tests.test_support import sample
from tests.test_support.sample import UNKNOWN

TYPE = "gcp:test/thing:Thing"
STRING = {"type": "string", "optional": True}
RULE = {
    "type": "list",
    "optional": True,
    "maxItems": 2,
    "minItems": 1,
    "properties": {
        "action": {"type": "list", "flattened": True, "required": True, "properties": {"type": STRING}},
        "age": {"type": "int", "optional": True},
    },
}
PAIR = ["policy.first", "policy.second"]
ANY = ["window.daily", "window.weekly"]
PROPERTIES: dict[str, Any] = {
    "name": {"type": "string", "required": True},
    "zone": {"type": "string", "required": True},
    "size": {"type": "int", "optional": True},
    "ratio": {"type": "float", "optional": True},
    "on": {"type": "bool", "optional": True},
    "mode": {"type": "string", "optional": True, "enum": ["A", "B"]},
    "modes": {"type": "set", "optional": True, "items": {"type": "string", "enum": ["A", "B"]}},
    "labels": {"type": "map", "optional": True, "items": {"type": "string"}},
    "old": {"type": "string", "optional": True, "deprecated": True},
    "etag": {"type": "string", "computed": True},
    "chosen": {"type": "string", "optional": True, "computed": True},
    "rules": RULE,
    "this": {**STRING, "conflictsWith": ["policy.first", "that"]},
    "that": {**STRING, "conflictsWith": ["this"]},
    "friend": {**STRING, "requiredWith": ["policy.first"]},
    "policy": {
        "type": "list",
        "flattened": True,
        "optional": True,
        "properties": {
            "first": {**STRING, "exactlyOneOf": PAIR, "conflictsWith": ["this"]},
            "second": {**STRING, "exactlyOneOf": PAIR},
        },
    },
    "window": {
        "type": "list",
        "flattened": True,
        "optional": True,
        "properties": {"daily": {**STRING, "atLeastOneOf": ANY}, "weekly": {**STRING, "atLeastOneOf": ANY}},
    },
}
SCHEMA = parse({"resources": {TYPE: {"requiredInputs": ["zone"], "properties": PROPERTIES}}})


def judge(inputs: dict[str, Any], schema: google_schema.Schema = SCHEMA, type_: str = TYPE) -> list[str]:
    document = {"project": "p", "stack": "s", "outputs": {}, "resources": [sample.google(type_, "it", inputs)]}
    return problems(read(document).resources, schema)


@pytest.mark.parametrize(
    "inputs",
    [
        {},  # the name is Pulumi's to make up
        {"name": "n", "size": 3, "ratio": 3, "on": False, "mode": "A", "modes": ["A", "B"], "labels": {"a": "b"}},
        {"ratio": 0.5, "chosen": "mine", "rules": [{"action": {"type": "Delete"}, "age": 14}]},
        {"policy": {"first": "a"}, "friend": "b", "window": {"daily": "a", "weekly": "b"}},
        {"size": UNKNOWN, "on": UNKNOWN, "labels": UNKNOWN, "rules": UNKNOWN, "policy": UNKNOWN, "mode": UNKNOWN},
        {"rules": [UNKNOWN, {"action": UNKNOWN}], "labels": {"a": {"$secret": True}}, "modes": [UNKNOWN]},
        {"this": None, "that": "a", "old": None, "__defaults": []},
    ],
)
def test_right_inputs_have_no_problem(inputs: dict[str, Any]) -> None:
    assert judge({"zone": "z", **inputs}) == []


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({"zone": None}, "zone: required, but not given"),
        ({"nmae": "n"}, "nmae: no such property"),
        ({"name": 5}, "name: 5 is no string"),
        ({"size": "3"}, "size: '3' is no int"),
        ({"size": True}, "size: True is no int"),
        ({"size": 1.5}, "size: 1.5 is no int"),
        ({"ratio": False}, "ratio: False is no float"),
        ({"on": "true"}, "on: 'true' is no bool"),
        ({"on": 1}, "on: 1 is no bool"),
        ({"mode": "C"}, "mode: 'C' is none of 'A', 'B'"),
        ({"modes": ["A", "C"]}, "modes[1]: 'C' is none of 'A', 'B'"),
        ({"modes": "A"}, "modes: is a list in Pulumi"),
        ({"labels": {"a": 1}}, "labels[a]: 1 is no string"),
        ({"labels": ["a"]}, "labels: ['a'] is no map"),
        ({"old": "x"}, "old: deprecated"),
        ({"etag": "x"}, "etag: is an output of the provider, not an input"),
        ({"rules": []}, "rules: 0 given, at least 1 needed"),
        ({"rules": [{"action": {}}] * 3}, "rules: 3 given, at most 2 allowed"),
        ({"rules": [{"age": 1}]}, "rules[0].action: required, but not given"),
        ({"rules": [{"action": {}, "ago": 1}]}, "rules[0].ago: no such property"),
        ({"rules": [{"action": [{"type": "x"}]}]}, "rules[0].action: is one value in Pulumi, not a list"),
        ({"rules": {"action": {}}}, "rules: is a list in Pulumi"),
        ({"rules": ["x"]}, "rules[0]: 'x' is no object"),
        ({"policy": "x"}, "policy: 'x' is no object"),
        ({"this": "a", "that": "b"}, "this: conflicts with that"),
        ({"this": UNKNOWN, "that": "b"}, "this: conflicts with that"),
        ({"this": "a", "policy": {"first": "b"}}, "this: conflicts with policy.first"),
        ({"friend": "a"}, "friend: needs policy.first beside it"),
        (
            {"policy": {}},
            "policy.first: exactly one of policy.first, policy.second; given: none",
        ),
        (
            {"policy": {"first": "a", "second": "b"}},
            "policy.first: exactly one of policy.first, policy.second; given: policy.first, policy.second",
        ),
        ({"window": {}}, "window.daily: at least one of window.daily, window.weekly"),
    ],
)
def test_each_fault_is_one_problem(inputs: dict[str, Any], expected: str) -> None:
    assert judge({"zone": "z", **inputs}) == [f"{TYPE} it: {expected}"]


def test_a_type_that_the_schema_lacks_is_a_problem() -> None:
    assert judge({}, type_="gcp:test/other:Other") == ["gcp:test/other:Other it: : the schema has no such type"]


def test_properties_newer_than_the_schema_pass_where_they_are_and_nowhere_else() -> None:
    raw = {"requiredInputs": [], "properties": {"nested": {**RULE, "properties": {}}}}
    schema = parse({"resources": {NODE_POOL: raw}})
    assert (NODE_POOL, "bestEffortProvisioning") in NEWER
    assert judge({"bestEffortProvisioning": UNKNOWN}, schema, NODE_POOL) == []
    assert judge({"nested": [{"bestEffortProvisioning": True}]}, schema, NODE_POOL) != []


def test_other_packages_and_what_is_only_read_are_passed_over() -> None:
    entries = [
        sample.kubernetes("kubernetes:core/v1:Namespace", "n", {}),
        sample.resource(GCP_PROVIDER, "g", {}),
    ]
    entries.append({**sample.google(TYPE, "found", {"nothing": "known"}), "read": "an-id"})
    document = {"project": "p", "stack": "s", "outputs": {}, "resources": entries}
    assert problems(read(document).resources, SCHEMA) == []


def test_the_variable_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert from_environment() is None
    path = tmp_path / "schema.json"
    path.write_text(json.dumps({"resources": {TYPE: {"requiredInputs": ["zone"], "properties": PROPERTIES}}}))
    monkeypatch.setenv(VARIABLE, str(path))
    assert from_environment() == SCHEMA


@pytest.fixture(scope="module")
def real() -> google_schema.Schema:
    schema = from_environment()
    if schema is None:
        pytest.skip(f"{VARIABLE} names no exported provider schema")
    return schema


def test_the_sample_holds_against_the_real_schema(real: google_schema.Schema) -> None:
    assert problems(sample.recording().resources, real) == []


@pytest.mark.parametrize(
    ("type_", "inputs", "expected"),
    [
        (NODE_POOL, {"cluster": "c", "nodeConfig": {"flexStrat": True}}, "nodeConfig.flexStrat: no such property"),
        (NODE_POOL, {}, "cluster: required, but not given"),
        (
            NODE_POOL,
            {"cluster": "c", "autoscaling": {"locationPolicy": "ALL"}},
            "autoscaling.locationPolicy: 'ALL' is none of 'BALANCED', 'ANY'",
        ),
        (
            CLUSTER,
            {"clusterIpv4Cidr": "10.0.0.0/16", "ipAllocationPolicy": {"clusterSecondaryRangeName": "pods"}},
            "clusterIpv4Cidr: conflicts with ipAllocationPolicy",
        ),
        (CLUSTER, {"binaryAuthorization": {"enabled": True}}, "binaryAuthorization.enabled: deprecated"),
        (BUCKET, {"location": "US", "lifecycleRules": [{"condition": {"age": 1}}]}, "lifecycleRules[0].action"),
        (
            "gcp:compute/firewall:Firewall",
            {"network": "n"},
            "allows: exactly one of allows, denies; given: none",
        ),
    ],
)
def test_real_faults(real: google_schema.Schema, type_: str, inputs: dict[str, Any], expected: str) -> None:
    lines = judge(inputs, real, type_)
    assert len(lines) == 1
    assert lines[0].startswith(f"{type_} it: {expected}")


def test_the_newer_properties_are_those_that_the_real_schema_lacks(real: google_schema.Schema) -> None:
    for type_, path in NEWER:
        properties = real[type_].properties
        *parents, last = path.split(".")
        for parent in parents:
            properties = properties[parent].properties
        assert last not in properties
