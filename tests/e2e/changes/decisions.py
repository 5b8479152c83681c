"""What the real engine decides about a change: one preview each, two at a time, of a stack that is deployed."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.e2e.engine.deployment import PROGRAM, Deployment
from tests.e2e.engine.runs import QUIET, Run
from tests.offline.diff.table import Case

_REPLACING = frozenset({"replace", "create-replacement", "delete-replaced", "discard-replaced"})
_AT_ONCE = min(4, os.cpu_count() or 1)


def operations(run: Run) -> dict[str, str]:
    """Operation by logical name of all resources that change; the steps of a replacement are one `replace`.

    Components are left out. Raises AssertionError where one name stands for two resources, or has two operations.
    """
    found: dict[str, tuple[str, str]] = {}
    for step in run.steps:
        if step.op in QUIET or step.type.startswith("pathways:") or step.type == "pulumi:pulumi:Stack":
            continue
        seen = (step.urn, "replace" if step.op in _REPLACING else step.op)
        assert found.setdefault(step.name, seen) == seen, f"{step} after {found[step.name]}"
    return {name: operation for name, (_, operation) in found.items()}


@dataclass(frozen=True)
class Rewrite:
    """A change of the program alone.

    Attributes:
        file: The file, below the project.
        old: What is there once.
        new: What is there instead.
    """

    file: str
    old: str
    new: str

    def write(self, project: Path) -> None:
        """Make the change in a copy whose folders are links: the one with the file becomes a copy."""
        folder = project / Path(self.file).parts[0]
        source = folder.resolve()
        folder.unlink()
        shutil.copytree(source, folder)
        text = (project / self.file).read_text(encoding="utf-8")
        assert text.count(self.old) == 1, f"{self.file} has {text.count(self.old)} times {self.old!r}"
        (project / self.file).write_text(text.replace(self.old, self.new), encoding="utf-8")


def variant(deployment: Deployment, name: str, config: Mapping[str, Any], program: Rewrite | None = None) -> Deployment:
    """The same deployed stack with another stack file or program, in a folder of its own beside it."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower())
    project = deployment.folder.parent / "variants" / f"{deployment.folder.parent.name}-{slug}" / "project"
    project.mkdir(parents=True)
    for each in PROGRAM:
        (project / each).symlink_to(deployment.folder / each)
    if program is not None:
        program.write(project)
    other = Deployment(deployment.processes, project, deployment.stack, deployment.environment)
    other.file.parent.mkdir()
    shutil.copy(deployment.file, other.file)
    other.configure(config)
    return other


@dataclass
class Decisions:
    """Previews of changes to one deployed stack; each is made once, in the background.

    Attributes:
        deployment: The stack, deployed with the base of all these changes.
    """

    deployment: Deployment
    _workers: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(_AT_ONCE))
    _runs: dict[str, Future[Run]] = field(default_factory=dict)

    def begin(self, changes: Iterable[tuple[Case, Mapping[str, Any]]]) -> None:
        """Start the previews of changes, each with the config after it."""
        for case, config in changes:
            if case.name not in self._runs:
                self._runs[case.name] = self._workers.submit(self._preview, case.name, config)

    def of(self, case: Case) -> Run:
        """The preview of a change that was begun."""
        return self._runs[case.name].result()

    def unprotected(self, case: Case, config: Mapping[str, Any]) -> Run:
        """The preview in full where protection stops it half-way: of a copy of the state that has none."""
        other = variant(self.deployment, f"{case.name} unprotected", config)
        state = other.folder.parent / "state"
        shutil.copytree(self.deployment.environment["PULUMI_BACKEND_URL"].removeprefix("file://"), state)
        copy = replace(other, environment={**other.environment, "PULUMI_BACKEND_URL": f"file://{state}"})
        copy.pulumi("state", "unprotect", "--all", "--yes", "--stack", copy.stack)
        return copy.preview().expect_ok()

    def close(self) -> None:
        """Start no more previews, and wait for those under way."""
        self._workers.shutdown(cancel_futures=True)

    def _preview(self, name: str, config: Mapping[str, Any]) -> Run:
        return variant(self.deployment, name, config).preview()
