"""The program as a process that a command of the engine talks to, forked from one that has the SDKs loaded.

It serves the language protocol for the unmodified `__main__.py`, as the Automation API does for a program of its own
process, so no language host is needed. A process for each run, so that it can be killed and leaves nothing behind;
forked, since loading SDKs and program takes seconds, several hundred times over.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import runpy
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Lock

import grpc
from pulumi.automation._server import LanguageServer
from pulumi.runtime._grpc_settings import _GRPC_CHANNEL_OPTIONS
from pulumi.runtime.proto import language_pb2_grpc

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("components", "pathways")
"""What `__main__.py` runs."""
SDKS = "tests.e2e.engine.sdks"


@dataclass(frozen=True)
class Order:
    """What to run.

    Attributes:
        folder: The project.
        command: A command of the engine that runs its program.
        environment: All variables of the process.
        log: Where its output goes.
    """

    folder: Path
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path


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
    process = context.Process(target=_main, args=(order,), name=" ".join(order.command[:2]))
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
    server = grpc.server(ThreadPoolExecutor(4), options=_GRPC_CHANNEL_OPTIONS)
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(LanguageServer(lambda: _program(order.folder)), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    engine = [*order.command, f"--client=127.0.0.1:{port}", "--exec-kind=auto.inline"]
    code = subprocess.run(engine, cwd=order.folder, stdin=subprocess.DEVNULL, check=False).returncode
    sys.stdout.flush()
    os._exit(code)  # there is nothing to tidy up


def _program(folder: Path) -> None:
    sys.path.insert(0, str(folder))
    if any((folder / name).resolve() != ROOT / name for name in PACKAGES):  # else these very files are loaded
        for name in [name for name in sys.modules if name.partition(".")[0] in PACKAGES]:
            del sys.modules[name]
    runpy.run_path(str(folder), run_name="__main__")
