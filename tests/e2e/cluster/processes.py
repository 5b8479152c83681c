"""Start and end the processes of a run, each with a log of its own, none outliving the run."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Protocol

_REAPER = Path(__file__).with_name("reaper.py")


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Child(Protocol):
    """What a process has to offer: `subprocess.Popen` does, and so does what is forked from another one."""

    @property
    def pid(self) -> int:
        """Its id; it leads a process group of its own."""

    def poll(self) -> int | None:
        """Its exit code, or None while it runs."""

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, once it is over; raises `subprocess.TimeoutExpired` after so many seconds."""


@dataclass(frozen=True)
class Process:
    """A running program.

    Attributes:
        name: Its name in the logs.
        child: The process; it leads a process group of its own.
        log: Where its output goes.
    """

    name: str
    child: Child
    log: Path

    def alive(self) -> bool:
        """Whether it still runs."""
        return self.child.poll() is None

    def tail(self, lines: int = 15) -> str:
        """The last lines of its log."""
        return _tail(self.log, lines)


@dataclass
class Processes:
    """All processes of a run and the run's one temporary folder.

    Every child is announced to a reaper process, which kills what is left and removes the folder when this process is
    gone, also after SIGKILL. `close` does the same in good order.
    """

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="pathways-e2e-")))
    _running: list[Process] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.logs.mkdir()
        self.temporary.mkdir()
        self._reaper = subprocess.Popen(
            [sys.executable, "-I", str(_REAPER), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def logs(self) -> Path:
        """The folder with one log for each process name."""
        return self.folder / "logs"

    @property
    def temporary(self) -> Path:
        """A folder for what programs leave behind where they put temporary files."""
        return self.folder / "tmp"

    def start(
        self, name: str, command: Sequence[str | Path], env: Mapping[str, str] | None = None, cwd: Path | None = None
    ) -> Process:
        """Start a program in the background.

        Args:
            name: Names its log; a program started again under the same name appends to it.
            command: Program and arguments.
            env: Variables on top of this process's own.
            cwd: Working folder; default: the run's folder.
        """
        log = self.logs / f"{name}.log"
        with log.open("ab") as output, self._lock:
            popen = subprocess.Popen(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=cwd or self.folder,
                env=os.environ | dict(env or {}),
                process_group=0,
            )
            return self._adopt(Process(name, popen, log))

    def adopt(self, process: Process) -> Process:
        """Take over a process that something else has started."""
        with self._lock:
            return self._adopt(process)

    def _adopt(self, process: Process) -> Process:
        self._tell(f"+{process.child.pid}")
        self._running.append(process)
        return process

    def stop(self, process: Process, patience: float = 5.0, sig: signal.Signals = signal.SIGTERM) -> None:
        """End a process and its group: `sig` first, SIGKILL after `patience` seconds."""
        if process.alive():
            _signal_group(process, sig)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.child.wait(patience)
        _signal_group(process, signal.SIGKILL)
        process.child.wait()
        with self._lock:
            if process in self._running:
                self._running.remove(process)
                self._tell(f"-{process.child.pid}")

    def tails(self, lines: int = 15) -> dict[str, str]:
        """The last lines of every log, by process name."""
        return {log.stem: _tail(log, lines) for log in sorted(self.logs.glob("*.log"))}

    def close(self, keep_logs: bool) -> None:
        """End everything, newest first, and remove the folder; the logs stay where they are if they are to be kept."""
        for process in reversed(list(self._running)):
            self.stop(process)
        if keep_logs:
            for entry in self.folder.iterdir():
                if entry != self.logs:
                    shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
            self._tell("keep")
        if self._reaper.stdin is not None:
            self._reaper.stdin.close()
        self._reaper.wait(10)

    def _tell(self, word: str) -> None:
        if self._reaper.stdin is not None:
            self._reaper.stdin.write(f"{word}\n".encode())
            self._reaper.stdin.flush()


def _tail(log: Path, lines: int) -> str:
    return "\n".join(line[:300] for line in log.read_text(errors="replace").splitlines()[-lines:])


def _signal_group(process: Process, sig: signal.Signals) -> None:
    try:
        os.killpg(process.child.pid, sig)
    except (ProcessLookupError, PermissionError):  # the group has gone; macOS answers EPERM for a zombie
        return
