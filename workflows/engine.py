"""What the workflows ask of Pulumi's command line, and what its answers mean.

Its usual display names resources and the inputs that change, and no values; outputs are left out. Neither `--diff` nor
a log level is ever given, because logs and comments of a public repository are public.
"""

from __future__ import annotations

import subprocess
import sys
from enum import Enum
from pathlib import Path

from workflows.pieces import Outcome

_QUIET = ("--non-interactive", "--color", "never", "--suppress-outputs")
_NO_SUCH_STACK = "no stack named"
_DRIFTED = "no changes were expected"


class Drift(Enum):
    """What a look at the cloud found."""

    NONE = 0
    DRIFTED = 1
    FAILED = 2
    UNKNOWN_STACK = 3


def preview(stack: str, checkout: Path) -> tuple[Outcome, str]:
    """The engine's preview: how it ended and what it printed."""
    code, text = _captured(["pulumi", "preview", "--stack", stack, *_QUIET], checkout)
    if code == 0:
        return Outcome.DONE, text
    return (Outcome.UNKNOWN_STACK if is_unknown_stack(text) else Outcome.FAILED), text


def drift(stack: str, checkout: Path) -> tuple[Drift, str]:
    """Whether the cloud still is what the state says, and what was printed; the state is not written."""
    code, text = _captured(
        ["pulumi", "preview", "--stack", stack, "--refresh", "--expect-no-changes", *_QUIET], checkout
    )
    return judge_drift(code, text), text


def judge_drift(code: int, text: str) -> Drift:
    """What a preview that expects no changes says by its exit code and its words."""
    if code == 0:
        return Drift.NONE
    if is_unknown_stack(text):
        return Drift.UNKNOWN_STACK
    return Drift.DRIFTED if _DRIFTED in text else Drift.FAILED


def is_unknown_stack(text: str) -> bool:
    """Whether the command line says that the state has no such stack."""
    return _NO_SUCH_STACK in text


def up(stack: str, checkout: Path, message: str) -> int:
    """Apply; what is printed goes straight to the log, and the exit code is the engine's."""
    command = ["pulumi", "up", "--yes", "--stack", stack, "--message", message, *_QUIET]
    return subprocess.run(command, cwd=checkout, check=False, stdin=subprocess.DEVNULL).returncode  # noqa: S603


def _captured(command: list[str], checkout: Path) -> tuple[int, str]:
    done = subprocess.run(  # noqa: S603
        command,
        cwd=checkout,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    sys.stderr.write(done.stdout)
    return done.returncode, done.stdout
