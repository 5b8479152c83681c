"""Small programs to record, and the toy project that has one of everything."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import offline
from offline.project import load_project
from offline.recording import Mode, Recording, Resource
from offline.runner import record_stack
from offline.stackfile import StackFile

TOY = Path(__file__).parent / "projects" / "toy"


@cache
def recorded(stack: str, project: Path, mode: Mode = "preview") -> Recording:
    """A recording of a project that no test changes, made once; recordings cannot be changed either."""
    return offline.record(stack, project=project, mode=mode)


def write_project(directory: Path, program: str, settings: str = "") -> Path:
    """A project called `small` with this program; `settings` is more of its Pulumi.yaml."""
    (directory / "Pulumi.yaml").write_text(f"name: small\nruntime: python\n{settings}")
    (directory / "__main__.py").write_text("import pulumi\n" + textwrap.dedent(program))
    return directory


def run(
    directory: Path,
    program: str,
    config: Mapping[str, object] | None = None,
    *,
    mode: Mode = "preview",
    settings: str = "",
) -> Recording:
    """Record a small program."""
    project = load_project(write_project(directory, program, settings))
    return record_stack(project, StackFile("dev", "Pulumi.dev.yaml", config or {}), mode)


def named(recording: Recording, name: str) -> Resource:
    """The one resource of this logical name."""
    (found,) = [resource for resource in recording.resources if resource.name == name]
    return found
