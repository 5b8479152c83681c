"""The base of a comparison: a git ref, another checkout, or a saved `show --json`.

A git ref is exported (`git archive`) into a temporary directory: neither the working tree nor the index is touched.
Program and stack file of the base are run in a process of their own, with this checkout's recorder and interpreter,
while this process records the head.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from offline.errors import OfflineError
from offline.project import PROJECT_FILE, Project, load_project
from offline.recording import Recording

_CHECKOUT = Path(__file__).absolute().parents[2]


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be compared.

    Attributes:
        project: the head's project.
        stack: the stack's name.
        file: the head's stack file, which may be missing.
    """

    project: Project
    stack: str
    file: Path


class Saved:
    """A recording that is there already."""

    def __init__(self, recording: Recording | None) -> None:
        self._recording = recording

    def result(self) -> Recording | None:
        """The recording; None where the base has no such stack."""
        return self._recording


class Running:
    """A recording that another process is making."""

    def __init__(self, process: subprocess.Popen[bytes], answer: Path, name: str) -> None:
        self._process, self._answer, self._name = process, answer, name

    def result(self) -> Recording | None:
        """Wait for the recording.

        Raises:
            OfflineError: the base's program fails or refuses its stack file.
        """
        from offline.diff.wire import load  # noqa: PLC0415

        _, noise = self._process.communicate()
        if not self._answer.is_file():
            last = noise.decode(errors="replace").strip().splitlines()[-1:] or ["it ended without a word"]
            raise _useless(self._name, last)
        answer: dict[str, Any] = json.loads(self._answer.read_text())
        if "errors" in answer:
            raise _useless(self._name, answer["errors"])
        return load(answer["recording"])


@contextmanager
def base_of(ref: str, target: Target) -> Iterator[Saved | Running]:
    """Begin to record the base that `ref` names; call `result()` inside the block.

    Raises:
        OfflineError: `ref` names nothing.
    """
    path = Path(ref)
    if path.is_file():
        yield Saved(_saved(path, ref, target))
        return
    with tempfile.TemporaryDirectory(prefix="pathways-diff-") as temporary:
        work = Path(temporary)
        directory = path if (path / PROJECT_FILE).is_file() else _exported(ref, target.project.directory, work / "base")
        yield _started(ref, directory, target, work)


def _started(ref: str, directory: Path, target: Target, work: Path) -> Saved | Running:
    if not (directory / PROJECT_FILE).is_file():
        return Saved(None)
    project = load_project(directory.absolute())
    file = _same_file(project, target)
    if not file.is_file():
        return Saved(None)
    request = {
        "project": str(project.directory),
        "stackFile": str(file),
        "stack": target.stack,
        "label": f"{ref}:{file.relative_to(project.directory)}",
    }
    (work / "request.json").write_text(json.dumps(request))
    answer = work / "answer.json"
    command = [sys.executable, "-m", "offline.diff.recorder", str(work / "request.json"), str(answer)]
    process = subprocess.Popen(  # noqa: S603 - this interpreter and this module
        command, cwd=_CHECKOUT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    return Running(process, answer, ref)


def _same_file(project: Project, target: Target) -> Path:
    """The base's file of the stack: at the same place in its checkout, or by its name where the head's is elsewhere."""
    head = target.file.absolute()
    if head.is_relative_to(target.project.directory) and not head.is_relative_to(target.project.stacks):
        return project.directory / head.relative_to(target.project.directory)
    return project.stacks / f"Pulumi.{target.stack}.yaml"


def _exported(ref: str, directory: Path, into: Path) -> Path:
    into.mkdir()
    commit = _git(directory, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if commit is None:
        raise OfflineError(
            f"--base {ref}: no such base; it is a git ref, a directory with {PROJECT_FILE}, or a file that show --json "
            "wrote; write for example --base origin/main (in CI, fetch it first)"
        )
    archive = into.with_suffix(".tar")
    if _git(directory, "archive", "--format=tar", f"--output={archive}", commit) is None:
        return into  # the project's directory is not in that commit: nothing was there
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(into, filter="data")
    except tarfile.ReadError:
        pass  # an archive of nothing
    return into


def _git(directory: Path, *arguments: str) -> str | None:
    """What git prints; None where it fails or is not installed."""
    try:
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(directory), *arguments],  # noqa: S607 - the user's git
            capture_output=True,
            check=False,
            text=True,
        )
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _saved(path: Path, ref: str, target: Target) -> Recording | None:
    from offline.diff.wire import load  # noqa: PLC0415

    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        plans = document if isinstance(document, list) else [document]
        found = next((plan for plan in plans if plan["stack"] == target.stack), None)
        if found is not None:
            return load(found)
        stacks = ", ".join(plan["stack"] for plan in plans)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise OfflineError(
            f"--base {ref}: not a saved plan; a file given here is what `python -m offline show STACK --json` prints; "
            "write one, or name a git ref"
        ) from None
    raise OfflineError(
        f"--base {ref}: a plan of another stack ({stacks}); both sides are one stack; save {target.stack} instead"
    )


def _useless(name: str, errors: list[str]) -> OfflineError:
    return OfflineError(
        f"--base {name}: the base cannot be planned, so there is nothing to compare with; each side has to pass its "
        "own rules; choose another base, or read the plan alone (show). The base says:",
        *(f"  {shown_line}" for shown_line in errors),
    )
