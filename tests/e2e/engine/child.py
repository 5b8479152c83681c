"""One operation of the engine in a process of its own, forked from one that has the SDKs loaded.

The Automation API serves the language protocol for the unmodified `__main__.py`, so no language host is needed. A
process of its own for each run, so that it can be killed and leaves nothing behind; forked, since loading SDKs and
program takes seconds, several hundred times over.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import runpy
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock
from typing import Any

from pulumi import automation as auto
from pulumi.automation._stack import StackInitMode
from semver import VersionInfo

from tests.e2e.tools.programs import BY_NAME

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("components", "pathways")
"""What `__main__.py` runs."""
SDKS = "tests.e2e.engine.sdks"


@dataclass(frozen=True)
class Order:
    """What to run.

    Attributes:
        folder: The project.
        stack: Its stack.
        operation: `preview`, `up`, `refresh` or `destroy`.
        options: Of that method of the Automation API.
        environment: All variables of the process.
        log: Where its output goes.
        events: Where the engine's events go, one JSON object a line.
    """

    folder: Path
    stack: str
    operation: str
    options: Mapping[str, Any]
    environment: Mapping[str, str]
    log: Path
    events: Path


@dataclass(frozen=True)
class Forked:
    """The process of an order: as much of `subprocess.Popen` as the run's processes ask of one."""

    process: BaseProcess
    pid: int

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""
        with _ONE_AT_A_TIME:
            return self.process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it is over; raises `subprocess.TimeoutExpired` after so many seconds."""
        end = time.monotonic() + timeout if timeout is not None else None
        while (code := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                raise subprocess.TimeoutExpired(self.process.name, timeout or 0)
            time.sleep(0.02)
        return code


# `multiprocessing` looks at all children whenever one starts, and an exit code can be read only once.
_ONE_AT_A_TIME = Lock()


def start(order: Order) -> Forked:
    """Start it; the process leads a group of its own, in which engine and plugins run too."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([SDKS])
    process = context.Process(target=_main, args=(order,), name=f"{order.operation} {order.stack}")
    with _ONE_AT_A_TIME:
        process.start()
    assert process.pid is not None
    return Forked(process, process.pid)


def _main(order: Order) -> None:
    os.setpgid(0, 0)
    output = os.open(order.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.environ.clear()
    os.environ.update(order.environment)
    os.chdir(ROOT)
    gc.disable()  # it lives for seconds
    sys.exit(_run(order))


def _run(order: Order) -> int:
    workspace = _Workspace(
        work_dir=str(order.folder), program=lambda: _program(order.folder), pulumi_command=_Command()
    )
    stack = _Stack(order.stack, workspace, StackInitMode.SELECT)
    with order.events.open("a", encoding="utf-8", buffering=1) as events:

        def on_event(event: auto.EngineEvent) -> None:
            events.write(json.dumps({**_plain(event), "received": time.time()}) + "\n")

        try:
            getattr(stack, order.operation)(on_event=on_event, on_output=print, color="never", **order.options)
        except auto.CommandError as error:
            sys.stderr.write(str(error))
            return 1
    return 0


def _program(folder: Path) -> None:
    sys.path.insert(0, str(folder))
    if any((folder / name).resolve() != ROOT / name for name in PACKAGES):  # else these very files are loaded
        for name in [name for name in sys.modules if name.partition(".")[0] in PACKAGES]:
            del sys.modules[name]
    runpy.run_path(str(folder), run_name="__main__")


class _Command(auto.PulumiCommand):
    """The command on the PATH, which is the pinned one: it need not be asked each time."""

    def __init__(self) -> None:
        self.command = "pulumi"
        self.version = VersionInfo.parse(BY_NAME["pulumi"].version.removeprefix("v"))


class _Workspace(auto.LocalWorkspace):
    """A workspace whose stack exists: every command names it, so none has to be selected."""

    def select_stack(self, stack_name: str) -> None:
        """Do nothing."""


class _Stack(auto.Stack):
    """A stack of which only the operation is wanted: three runs of the command fewer after each."""

    def outputs(self) -> auto.OutputMap:
        """None; `Deployment.outputs` asks for them."""
        return {}

    def info(self, show_secrets: bool = False) -> auto.UpdateSummary:
        """A summary that says nothing."""
        del show_secrets
        return auto.UpdateSummary(kind="", start_time=_NEVER, message="", environment={}, config={}, result="")


_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def _plain(value: Any) -> Any:
    """An event as JSON: the objects of the Automation API by their attributes, those that are None left out."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "value") and hasattr(value, "name"):
        return value.value
    if hasattr(value, "__dict__"):
        return {key: _plain(each) for key, each in vars(value).items() if each is not None}
    return value
