"""End what a run started, when the run itself can no longer do so.

Started once for each run with a pipe as stdin: lines `+ID` and `-ID` add and remove a process group, `keep` spares the
folder. The pipe ends when the run ends, however it ends (SIGKILL included): then every group that is left is killed
and the run's folder removed. A pipe, unlike a parent-death signal, also works on macOS, covers grandchildren, and does
not depend on which thread started the child.

This file runs as a script of its own and imports only the standard library.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys


def programs_in(folder: str) -> list[int]:
    """The processes of programs in this folder, as the engine's plugins are.

    Each has a group of its own, and outlives an engine that is killed.
    """
    told = subprocess.run(["ps", "-Aww", "-o", "pid=,args="], capture_output=True, text=True, check=False).stdout
    found = [line.split(maxsplit=1) for line in told.splitlines()]
    return [int(pid) for pid, command in found if command.startswith(f"{folder}/")]


def main() -> None:
    """Read until the run is over, then clean up."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):  # Ctrl-C ends the run; this process ends after it
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    groups: list[int] = []
    keep = False
    for line in sys.stdin:
        word = line.strip()
        if word == "keep":
            keep = True
        elif word.startswith("+"):
            groups.append(int(word[1:]))
        elif word.startswith("-") and int(word[1:]) in groups:
            groups.remove(int(word[1:]))
    for group in reversed(groups):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
    for process in programs_in(sys.argv[1]):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    if not keep:
        shutil.rmtree(sys.argv[1], ignore_errors=True)


if __name__ == "__main__":
    main()
