"""Whatever a file holds, `load` gives settings or says every fault, each in one line of one form."""

from __future__ import annotations

import datetime
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pathways.errors import StackFileError
from pathways.load import decoded, load
from tests.pathways.support import ABSENT, BASE, FILE, INTERACTIVE, config, faults, lines_of, merged

FORM = re.compile(rf"{re.escape(FILE)}: [^:].*?: .+; .+; .+")

ANYTHING = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.just(5000).map(lambda digits: 10**digits),
        st.sampled_from([-1, 0, float("nan"), float("inf"), 1e3, datetime.date(2026, 12, 1), b"\x00"]),
        st.floats(),
        st.text(max_size=12),
        st.sampled_from(
            ["", " ", "\n", "a\nb", "\x1b[31m", "\u2028", "\ud800", "$(X)", "4x4", "a" * 5000, "۴x۴", "--a"]
        ),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.text(max_size=6), st.integers(), st.none(), st.dates()), inner, max_size=3),
    ),
    max_leaves=6,
)
FULL: Mapping[str, Any] = merged(
    BASE,
    {
        "slices": {"capacity": {"type": "flex-start", "maxRunDuration": "1d"}, "maxPodsPerNode": 16},
        "head": {"machineType": "n2-standard-64"},
        "runtime": {
            "jaxVersion": "0.11.1",
            "images": {"repository": "a/b", "server": "a/s:jax-0.11.1", "pullSecret": "s", "allowMutableTags": False},
            "ports": {"proxy": 29000, "resourceManager": 29001, "worker": 29001},
            "hostNetwork": False,
            "elasticSlices": 1,
            "flags": {"proxy": ["--xla_a=1"], "worker": [], "resourceManager": []},
            "env": {"worker": {"A": "1"}, "proxy": {}, "resourceManager": {}},
            "colocatedPython": {"image": "a/c:jax-0.11.1", "sharedMemory": "1Gi"},
        },
        "workload": {
            "args": ["a"],
            "env": {"A": "1"},
            "resources": {"cpu": 1, "memory": "1Gi"},
            "ttl": "1d",
            "runId": "r",
        },
        "scratch": {"retentionDays": 14, "prefix": "a"},
        "cluster": {
            "minVersion": "1.35",
            "endpoint": "private",
            "authorizedNetworks": ["10.0.0.0/8"],
            "maintenance": {"days": ["SA"], "start": "04:00", "hours": 24},
        },
        "network": {"nodes": "10.0.0.0/20", "pods": "10.4.0.0/14", "services": "10.1.0.0/20", "mtu": 1500},
        "operators": {"jobset": {"install": True, "version": "0.11.1"}},
    },
)


def paths(values: Mapping[str, Any], above: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for key, value in values.items():
        found.append((*above, key))
        if isinstance(value, Mapping):
            found += paths(value, (*above, key))
    return found


def put(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    for key in reversed(path):
        value = {key: value}
    return dict(value)


def check_lines(raw: Mapping[str, object]) -> tuple[str, ...]:
    """The lines about a config, each of which is one line of the promised form."""
    refused: StackFileError | None = None
    try:
        load(raw, FILE)
    except StackFileError as error:
        refused = error
    lines = refused.lines if refused else ()
    assert lines or not refused
    assert len(set(lines)) == len(lines)
    for line in lines:
        assert FORM.fullmatch(line), line
        assert line.splitlines() == [line]
        assert line.isprintable()
    return lines


def test_the_full_file_is_valid() -> None:
    assert faults(FULL) == []


@settings(max_examples=200, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(where=st.lists(st.tuples(st.sampled_from(paths(FULL)), ANYTHING), min_size=1, max_size=4))
def test_hostile_values_are_refused_in_whole_lines(where: list[tuple[tuple[str, ...], Any]]) -> None:
    raw = config(FULL)
    for path, value in where:
        raw = merged(raw, put((path[0] if ":" in path[0] else f"pathways:{path[0]}", *path[1:]), value))
    check_lines(raw)


@settings(max_examples=80, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(raw=st.dictionaries(st.one_of(st.sampled_from(list(config(FULL))), st.text(max_size=20)), ANYTHING, max_size=4))
def test_hostile_files_are_refused_in_whole_lines(raw: dict[str, Any]) -> None:
    assert check_lines(raw)


@pytest.mark.parametrize("path", [path for path in paths(FULL) if len(path) > 1 or ":" in path[0]])
def test_a_key_without_a_value_is_refused(path: tuple[str, ...]) -> None:
    lines = faults(FULL, put(path, None))
    assert [line.partition(": ")[0] for line in lines] == [".".join(path)] if path[-1] != "mode" else lines
    assert "null" in lines[0]


def loop() -> dict[str, Any]:
    values: dict[str, Any] = {}
    values["loop"] = values
    return values


def deep() -> Any:
    value: Any = "end"
    for _ in range(5000):
        value = [value]
    return value


@pytest.mark.parametrize(
    "section",
    [
        lambda value: {"pathways:head": value},
        lambda value: {"pathways:head": {"machineType": value}},
        lambda value: {"pathways:slices": {"tpu": "v6e", "topology": "4x4", "count": 1, "capacity": value}},
        lambda value: {"pathways:runtime": {"env": {"worker": value}}},
        lambda value: {"pathways:operators": {"jobset": {"version": value}}},
    ],
)
@pytest.mark.parametrize(
    "value",
    [loop(), deep(), {"a": deep()}, {datetime.date(2026, 1, 1): 1}, {1: 2}, {"x" * 10_000: {}}],
    ids=["loop", "deep", "deep-in-map", "date-key", "number-key", "long-key"],
)
def test_values_that_json_cannot_say_are_refused(value: Any, section: Callable[[Any], dict[str, Any]]) -> None:
    assert check_lines({**config(), **section(value)})


@pytest.mark.parametrize(
    "path",
    [
        ("slices", "count"),
        ("runtime", "elasticSlices"),
        ("workload", "resources", "cpu"),
        ("slices", "capacity", "type"),
        ("workload", "mode"),
    ],
)
def test_numbers_too_long_to_print_are_refused(path: tuple[str, ...]) -> None:
    assert check_lines(config(put(path, 10**5000)))


def test_ten_faults_are_ten_lines() -> None:
    lines = faults(
        {
            "gcp:region": "us-east5",
            "team": "Vision",
            "slices": {"count": 0, "topology": "3x3"},
            "head": {"machineType": "n2-standard-32"},
            "runtime": {"jaxversion": "1", "images": {"server": "a/b:latest"}, "ports": {"proxy": 29001}},
            "workload": {"name": "Train_1", "args": ["$(NOPE)"]},
            "cluster": {"endpoint": "authorized"},
        }
    )
    assert sorted(line.partition(": ")[0] for line in lines) == [
        "cluster.authorizedNetworks",
        "gcp:region",
        "head.machineType",
        "runtime.images.server",
        "runtime.jaxversion",
        "runtime.ports.proxy",
        "slices.count",
        "slices.topology",
        "team",
        "workload.args",
        "workload.name",
    ]


@pytest.mark.parametrize(
    ("wrong", "key"),
    [
        ({"slices": {"count": 0}}, "slices.count"),
        ({"slices": 5}, "slices"),
        ({"workload": {"image": 5}}, "workload.image"),
        ({"runtime": {"images": {"proxy": "A B"}}}, "runtime.images.proxy"),
        ({"network": {"mtu": 1}}, "network.mtu"),
        ({"network": {"nodes": None}}, "network.nodes"),
        ({"team": ABSENT}, "team"),
    ],
)
def test_a_wrong_value_hides_no_fault_of_others(wrong: Mapping[str, Any], key: str) -> None:
    crossing: Mapping[str, Any] = {
        "runtime": {"ports": {"proxy": 29001}},
        "cluster": {"maintenance": {"days": ["SA"], "hours": 4}},
        "network": {"pods": "10.0.0.0/14", "services": "10.0.0.0/20"},
    }
    lines = faults(merged(crossing, wrong))
    assert sorted(line.partition(": ")[0] for line in lines) == sorted(
        [key, "runtime.ports.proxy", "cluster.maintenance.hours", "network.services"]
    )


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("pathways:tpu", "unknown key (tpu)"),
        ("pathways:Team", "did you mean team?"),
        ("pathways:queue", "not supported yet"),
        ("pathways:gcp:project", "unknown key (pathways:gcp:project)"),
        ("pathways:", "unknown key"),
        ("team", "did you mean pathways:team?"),
        ("project", "unknown key (project)"),
        ("gcp:zone", "has no effect"),
        ("kubernetes:namespace", "remove kubernetes:namespace"),
        ("aws:region", "keys are written gcp:project or pathways:NAME"),
    ],
)
def test_keys_that_would_be_ignored_are_refused(key: str, words: str) -> None:
    lines = lines_of({**config(), key: "x"})
    assert len(lines) == 1, lines
    assert words in lines[0]


def test_pulumis_own_keys_pass() -> None:
    assert lines_of({**config(), "pulumi:disable-default-providers": ["*"], "pulumi:tags": {}}) == []


def test_the_config_that_pulumi_hands_over_is_read_as_yaml_is() -> None:
    given_by_pulumi = {
        "gcp:project": "demo-project",
        "pathways:team": "demo",
        "pathways:slices": '{"count":2,"topology":"4x4","tpu":"v6e"}',
        "pathways:head": "{",
        "pathways:zone": "5",
    }
    assert decoded(given_by_pulumi) == {
        "gcp:project": "demo-project",
        "pathways:team": "demo",
        "pathways:slices": {"count": 2, "topology": "4x4", "tpu": "v6e"},
        "pathways:head": "{",
        "pathways:zone": "5",
    }


def test_modes_have_their_own_keys() -> None:
    assert faults(INTERACTIVE) == []
    lines = faults(INTERACTIVE, {"workload": {"command": ["a"], "access": "dns"}})
    assert [line.partition(": ")[0] for line in lines] == ["workload.command"]


def test_a_file_is_refused_without_the_modules_that_only_a_plan_needs() -> None:
    code = "import sys, pathways.load; print(sorted({name.partition('.')[0] for name in sys.modules}))"
    modules = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert not {"pulumi", "pulumi_gcp", "yaml", "grpc", "google"} & set(re.findall(r"\w+", modules))
