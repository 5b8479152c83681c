"""A stack is described once: what people are shown is what the program registers, and nothing beside it knows of it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from offline.manifest import manifest
from tests.program.support import CHECKOUT, INTERACTIVE, config, record, run
from tests.support.documents import documents

STACKS: list[dict[str, Any]] = [
    {},
    {"workload": {**INTERACTIVE, "access": "internal-load-balancer"}},
    {"runtime": {"hostNetwork": True}},
]
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
        if re.search(r"^\s*(from|import) components\b", path.read_text(), re.MULTILINE)
    ]
    assert importing == []
