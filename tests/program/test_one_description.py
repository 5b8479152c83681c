"""A stack is described once: what people are shown is what the program registers, and nothing beside it knows of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from offline.manifest import manifest, planned, written
from offline.project import given_config
from offline.recording import Recording
from offline.stackfile import known_stacks, load_stack
from pathways.load import load
from pathways.plan import derive
from tests.program.support import CHECKOUT, EXISTING, INTERACTIVE, config, merged, record, run
from tests.support import recordings
from tests.support.documents import documents

STACKS: list[dict[str, Any]] = [
    {},
    {"workload": {**INTERACTIVE, "access": "internal-load-balancer"}},
    {"runtime": {"hostNetwork": True}},
]
COMMITTED = known_stacks(recordings.PROJECT)
PROGRAM_LINES = 25


@pytest.mark.parametrize("changes", STACKS)
def test_the_manifest_has_the_objects_that_the_program_registers(changes: dict[str, Any]) -> None:
    values = config(**changes)
    written = documents(manifest(run(values)))
    registered = [resource.inputs for resource in record(values).kubernetes_objects()]

    def key(each: Any) -> tuple[str, str]:
        return each["kind"], each["metadata"]["name"]

    assert sorted(written, key=key) == sorted(registered, key=key)
    assert key(written[0])[0] == "Namespace"


def _both_ways(values: Mapping[str, Any], recorded: Recording) -> tuple[list[Any], list[Any]]:
    objects = planned(derive(load(values, "stack")))
    assert objects is not None
    return documents(written(objects)), documents(manifest(recorded))


@pytest.mark.parametrize("changes", [*STACKS, {"operators": {"jobset": {"install": False}}}])
def test_the_objects_that_are_printed_without_the_sdk_are_the_recorded_ones(changes: dict[str, Any]) -> None:
    values = config(**changes)
    without, recorded = _both_ways(values, run(values))
    assert without == recorded


@pytest.mark.parametrize("stack", COMMITTED)
def test_so_they_are_for_every_committed_stack(stack: str) -> None:
    file = load_stack(recordings.PROJECT, stack)
    values = given_config(recordings.PROJECT, file.config)
    without, recorded = _both_ways(values, recordings.committed(stack))
    assert without == recorded


def test_an_object_with_what_only_the_cloud_knows_is_left_to_the_recording() -> None:
    """The range of a network that exists; see `test_what_cannot_be_written_is_refused_with_its_path`."""
    changes = merged({"workload": {**INTERACTIVE, "access": "internal-load-balancer"}}, EXISTING)
    assert planned(derive(load(config(**changes), "stack"))) is None


def test_the_program_is_short_and_has_no_second_way_in() -> None:
    program = (CHECKOUT / "__main__.py").read_text()
    code = [line for line in program.splitlines() if line.strip() and not line.strip().startswith("#")]
    assert len(code) <= PROGRAM_LINES
    assert "__name__" not in program


@cache
def _types_of_ours() -> set[str]:
    every = [record(config(**changes)) for changes in STACKS]
    return {resource.name for recording in every for resource in recording.resources if resource.custom}


# Names that are words of their own: a provider, and what a wide word would match.
_WORDS = {"google", "kubernetes"}


@pytest.mark.parametrize("path", sorted((CHECKOUT / "offline").rglob("*.py")), ids=lambda path: path.name)
def test_nothing_offline_names_a_resource_of_ours(path: Path) -> None:
    quoted = set(re.findall(r"[\"']([a-z0-9-]+)[\"']", path.read_text()))
    assert quoted & (_types_of_ours() - _WORDS) == set()


@pytest.mark.parametrize("room", ["offline", "tests/support", "tests/offline"])
def test_only_the_program_imports_the_components(room: str) -> None:
    importing = [
        path.name
        for path in (CHECKOUT / room).rglob("*.py")
        if re.search(r"^\s*(from|import) components\b(?!\.crds)", path.read_text(), re.MULTILINE)
    ]
    assert importing == []
