"""Which stacks a change affects."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from workflows.errors import WorkflowError

STACK_FILES = "stacks"
STACK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
"""What a stack may be called here; the engine's own rule, without a leading dot or dash."""

MOST_STACKS = 256
"""A matrix has at most this many jobs."""

_STACK_FILE = re.compile(rf"{STACK_FILES}/Pulumi\.(.+)\.yaml")
# Files that no program and no plan is made of. What is not listed counts as code: better one plan too many.
_NO_CODE_FOLDERS = frozenset(
    {".ci", ".github", "bootstrap", "docs", "offline", "policy", "scripts", "tests", "workflows"}
)
_NO_CODE_FILES = frozenset(
    {
        ".gitignore",
        "LICENSE",
        "Makefile",
        "pyproject.toml",
        "requirements-dev.in",
        "requirements-dev.txt",
        "requirements-scan.in",
        "requirements-scan.txt",
        "requirements.in",
        f"{STACK_FILES}/schema.json",
    }
)


@dataclass(frozen=True, slots=True)
class Affected:
    """The stacks of a change, sorted.

    Attributes:
        stacks: all of them.
        present: those that still have a file, so that the engine can be asked about them.
    """

    stacks: tuple[str, ...]
    present: tuple[str, ...]


def affected(changed: Iterable[str], before: Iterable[str], now: Iterable[str]) -> Affected:
    """Judge a change by its paths: a stack file affects its stack, code every stack, documents none.

    Args:
        changed: paths from the top of the checkout, with `/`.
        before: the stacks that had a file before the change.
        now: the stacks that have one after it.

    Raises:
        WorkflowError: a stack's name is none, or there are more than a matrix can hold.
    """
    present, every = set(now), set(now) | set(before)
    touched: set[str] = set()
    for path in changed:
        if match := _STACK_FILE.fullmatch(path):
            touched.add(match[1])
        elif is_code(path):
            touched |= every
    found = sorted(touched & every)
    for name in found:
        if not STACK_NAME.fullmatch(name):
            raise WorkflowError(
                f"{STACK_FILES}/Pulumi.{name}.yaml: the stack's name ({name}) is none; a name has letters, digits, "
                "-, _ and . and begins with a letter or digit; rename the file"
            )
    if len(found) > MOST_STACKS:
        raise WorkflowError(
            f"{len(found)} stacks are affected; a matrix has at most {MOST_STACKS} jobs; split the change"
        )
    return Affected(tuple(found), tuple(name for name in found if name in present))


def is_code(path: str) -> bool:
    """Whether a change of this file can change what a stack is made of."""
    where = PurePosixPath(path)
    if where.parts[0] in _NO_CODE_FOLDERS and len(where.parts) > 1:
        return False
    return path not in _NO_CODE_FILES and where.suffix != ".md"


def affected_since(checkout: Path, base: str) -> Affected:
    """The same for what is committed in `checkout`, compared with `base`; every stack where `base` is not there.

    Raises:
        WorkflowError: git cannot say.
    """
    commit = _git(checkout, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{base}^{{commit}}", check=False)
    now = _stacks(checkout, "HEAD")
    if not commit:
        # A new branch, or a history that was rewritten: nothing is known to be unchanged.
        return affected((f"{STACK_FILES}/Pulumi.{name}.yaml" for name in now), (), now)
    changed = _git(checkout, "diff", "--name-only", "--no-renames", "-z", commit.strip(), "HEAD").split("\0")
    return affected(filter(None, changed), _stacks(checkout, commit.strip()), now)


def every_stack(checkout: Path) -> Affected:
    """All stacks that have a file."""
    now = _stacks(checkout, "HEAD")
    return affected((f"{STACK_FILES}/Pulumi.{name}.yaml" for name in now), (), now)


def one_stack(checkout: Path, name: str) -> Affected:
    """The stack that a person asked for.

    Raises:
        WorkflowError: it has no file.
    """
    known = _stacks(checkout, "HEAD")
    if name not in known:
        raise WorkflowError(
            f"{name}: no such stack; each has a file in {STACK_FILES}/; write one of {', '.join(known)}"
        )
    return Affected((name,), (name,))


def _stacks(checkout: Path, commit: str) -> list[str]:
    listing = _git(checkout, "ls-tree", "--name-only", "-z", commit, f"{STACK_FILES}/")
    return sorted(match[1] for path in listing.split("\0") if (match := _STACK_FILE.fullmatch(path)))


def _git(checkout: Path, *arguments: str, check: bool = True) -> str:
    done = subprocess.run(  # noqa: S603
        ["git", "-C", str(checkout), *arguments],  # noqa: S607 - the runner's git
        capture_output=True,
        check=False,
        text=True,
    )
    if check and done.returncode:
        raise WorkflowError(
            f"git {' '.join(arguments)} failed ({done.stderr.strip()}); the step needs the base and the head of the "
            "change; check the checkout's fetch-depth"
        )
    return done.stdout if done.returncode == 0 else ""
