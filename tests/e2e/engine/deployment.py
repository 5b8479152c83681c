"""A folder with the project's program and one stack, and the operations on it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.e2e.cluster.processes import Process, Processes
from tests.e2e.engine import child, keys
from tests.e2e.engine.runs import Run

ROOT = child.ROOT
PROGRAM = ("__main__.py", "Pulumi.yaml", *child.PACKAGES)
_RUNS_THE_PROGRAM = ("preview", "up")
_ASKS_NOTHING = dict.fromkeys(("up", "refresh", "destroy"), ("--yes", "--skip-preview"))
_PATIENCE = 300.0
"""Seconds after which a run counts as hung."""


@dataclass
class Deployment:
    """One stack of the project.

    Attributes:
        processes: Where its runs are started, so that none of them outlives the tests.
        folder: Where the engine finds the project: the program by links, the stack file as its own.
        stack: Its stack.
        environment: Variables that select engine, plugins, cloud, credentials and state.
    """

    processes: Processes
    folder: Path
    stack: str
    environment: Mapping[str, str]
    runs: int = field(default=0, init=False)

    @classmethod
    def create(
        cls, processes: Processes, folder: Path, stack: str, config: Mapping[str, Any], environment: Mapping[str, str]
    ) -> Deployment:
        """Link the program into `folder` and write the stack file; the state is kept in the folder too."""
        project, state = folder / "project", folder / "state"
        project.mkdir(parents=True)
        state.mkdir()
        for name in PROGRAM:
            (project / name).symlink_to(ROOT / name)
        own = {
            "PULUMI_BACKEND_URL": f"file://{state}",
            "PULUMI_ERROR_OUTPUT_STRING": "true",
        }
        deployment = cls(processes, project, stack, {**own, **environment})
        deployment.configure(config)
        deployment.pulumi("stack", "init", stack, f"--secrets-provider={keys.PROVIDER}")
        return deployment

    @property
    def file(self) -> Path:
        """The stack file of the copy."""
        return self.folder / "stacks" / f"Pulumi.{self.stack}.yaml"

    def configure(self, config: Mapping[str, Any]) -> None:
        """Write the `config` of the stack file, as an editor would; what the engine wrote beside it stays."""
        self.file.parent.mkdir(exist_ok=True)
        kept = yaml.safe_load(self.file.read_text()) if self.file.exists() else {}
        self.file.write_text(yaml.safe_dump({**kept, "config": dict(config)}, sort_keys=False))

    def preview(self, **options: Any) -> Run:
        """Preview; `expect_no_changes=True` makes any change a failure, `refresh=True` looks at the cloud first.

        Options are those of the command, a list standing for as many of the same name; with `host=True` the language
        host of an installed Pulumi runs the program.
        """
        return self.run("preview", **options)

    def up(self, **options: Any) -> Run:
        """Create and change."""
        return self.run("up", **options)

    def refresh(self, **options: Any) -> Run:
        """Take over what the cloud says."""
        return self.run("refresh", **options)

    def destroy(self, **options: Any) -> Run:
        """Delete all; protected resources stop it unless `exclude_protected=True`."""
        return self.run("destroy", **options)

    def run(self, operation: str, *, extra: Mapping[str, str] | None = None, **options: Any) -> Run:
        """Run one operation to its end. `extra` are variables for this run alone."""
        return self.start(operation, extra=extra, **options).wait()

    def start(
        self, operation: str, *, extra: Mapping[str, str] | None = None, host: bool = False, **options: Any
    ) -> RunningEngine:
        """Start an operation and return at once."""
        self.runs += 1
        base = self.folder.parent / f"{self.runs:02}-{operation}"
        name = f"{self.folder.parent.name}-{base.name}"
        events = base.with_suffix(".events")
        environment = {**self.environment, "PULUMI_DEBUG_COMMANDS": "true", **(extra or {})}  # for `--event-log`
        command = ["pulumi", operation, f"--stack={self.stack}", f"--event-log={events}", "--color=never"]
        command += [*_ASKS_NOTHING.get(operation, ()), "--non-interactive", *_flags(options)]
        if host:
            self._link_environment()
        if operation in _RUNS_THE_PROGRAM and not host:
            log = self.processes.logs / f"{name}.log"
            log.touch()
            order = child.Order(self.folder, command, {**os.environ, **environment}, log)
            process = self.processes.adopt(Process(name, child.start(order), log))
        else:
            process = self.processes.start(name, command, environment, self.folder)
        return RunningEngine(operation, self.processes, process, events, time.monotonic())

    def _link_environment(self) -> None:
        """The virtual environment that `Pulumi.yaml` names: the one of the tests."""
        link = self.folder / ".venv"
        if not link.is_symlink():
            link.symlink_to(sys.prefix)

    def pulumi(self, *words: str, expect: int | None = 0) -> str:
        """Run the `pulumi` command itself, for what needs no program; what it printed, both streams."""
        done = self._command(*words)
        output = done.stdout + done.stderr
        assert expect is None or done.returncode == expect, f"pulumi {' '.join(words)}: {output[-4000:]}"
        return output

    def outputs(self) -> dict[str, Any]:
        """The stack's outputs."""
        found: dict[str, Any] = json.loads(self._pulumi_json("stack", "output", "--json"))
        return found

    def resources(self) -> list[dict[str, Any]]:
        """The resources in the state."""
        state = json.loads(self._pulumi_json("stack", "export"))
        return list(state["deployment"].get("resources") or [])

    def pending(self) -> list[dict[str, Any]]:
        """Operations that were under way when the engine ended."""
        state = json.loads(self._pulumi_json("stack", "export"))
        return list(state["deployment"].get("pending_operations") or [])

    def _pulumi_json(self, *words: str) -> str:
        done = self._command(*words, "--stack", self.stack)
        assert done.returncode == 0, f"pulumi {' '.join(words)}: {done.stderr[-4000:]}"
        return done.stdout

    def _command(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["pulumi", *words, "--non-interactive"],
            cwd=self.folder,
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )


def _flags(options: Mapping[str, Any]) -> Iterator[str]:
    """The flags of a command: `refresh=True` is `--refresh`, `replace=[urn]` is `--replace=URN`."""
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        yield from (f"{flag}={each}" for each in value) if isinstance(value, list) else [f"{flag}={str(value).lower()}"]


@dataclass(frozen=True)
class RunningEngine:
    """An operation under way."""

    operation: str
    processes: Processes
    process: Process
    events_file: Path
    started: float

    def wait(self, patience: float = _PATIENCE) -> Run:
        """Wait for its end; a run that hangs is killed and fails."""
        try:
            code = self.process.child.wait(timeout=patience)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.operation} hangs:\n{self._output()[-6000:]}") from None
        self.processes.stop(self.process)
        return Run(self.operation, code == 0, self.events_file, self._output(), time.monotonic() - self.started)

    def kill(self) -> Run:
        """End the engine with its plugins as a crash would (SIGKILL to all of them)."""
        self.processes.stop(self.process, sig=signal.SIGKILL)
        return Run(self.operation, False, self.events_file, self._output(), time.monotonic() - self.started)

    def alive(self) -> bool:
        """Whether it is still under way."""
        return self.process.alive()

    def followed(self) -> Iterator[tuple[float, dict[str, Any]]]:
        """The engine's events as it writes them, each with the time at which it was seen, until the run is over."""
        with self.events_file.open(encoding="utf-8") as file:
            rest = ""
            while True:
                over = not self.alive()
                *lines, rest = (rest + file.read()).split("\n")
                yield from ((time.time(), json.loads(line)) for line in lines)
                if over:
                    return
                time.sleep(0.02)

    def finished_steps(self) -> int:
        """How many resources the engine has finished so far."""
        if not self.events_file.exists():
            return 0
        return self.events_file.read_text(encoding="utf-8").count('"resOutputsEvent"')

    def _output(self) -> str:
        return self.process.log.read_text(encoding="utf-8", errors="replace")
