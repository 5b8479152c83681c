"""The pieces of a preview that one workflow hands to another, as JSON files; they are read as what a stranger wrote.

scope.json        {"kind": "scope", "stacks": […]}
diff.STACK.json   {"kind": "diff", "stack": …, "diff": `offline diff --json`} or {…, "errors": […]}
engine.STACK.json {"kind": "engine", "stack": …, "outcome": …, "text": what the engine printed}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from offline.diff.model import Diff
from workflows.affected import MOST_STACKS, STACK_NAME
from workflows.diff_form import load

LONGEST_TEXT = 100_000
_MOST_ERRORS = 50


class Outcome(Enum):
    """How an engine's preview ended."""

    DONE = "done"
    FAILED = "failed"
    UNKNOWN_STACK = "unknown-stack"


@dataclass(frozen=True, slots=True)
class Scope:
    """The stacks that a change affects, whether or not there is a piece for each."""

    stacks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Planned:
    """The offline diff of one stack."""

    stack: str
    diff: Diff


@dataclass(frozen=True, slots=True)
class Refused:
    """A stack that cannot be planned, and why."""

    stack: str
    errors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Engine:
    """What the real engine's preview of one stack printed."""

    stack: str
    outcome: Outcome
    text: str


Piece = Scope | Planned | Refused | Engine


@dataclass(frozen=True, slots=True)
class Pieces:
    """All pieces of one run; `unreadable` counts the files that are none."""

    scope: Scope
    plans: Mapping[str, Planned | Refused]
    engines: Mapping[str, Engine]
    unreadable: int


def scope_file(stacks: Iterable[str]) -> tuple[str, str]:
    """Name and text of the file."""
    return "scope.json", _text({"kind": "scope", "stacks": list(stacks)})


def diff_file(stack: str, diff: Any) -> tuple[str, str]:
    """Name and text of the file; `diff` is what `offline diff --json` printed."""
    return f"diff.{stack}.json", _text({"kind": "diff", "stack": stack, "diff": diff})


def refused_file(stack: str, errors: Iterable[str]) -> tuple[str, str]:
    """Name and text of the file of a stack that cannot be planned."""
    return f"diff.{stack}.json", _text({"kind": "diff", "stack": stack, "errors": list(errors)[:_MOST_ERRORS]})


def engine_file(stack: str, outcome: Outcome, text: str) -> tuple[str, str]:
    """Name and text of the file; too long a text keeps its end, where the result stands."""
    return f"engine.{stack}.json", _text(
        {"kind": "engine", "stack": stack, "outcome": outcome.value, "text": text[-LONGEST_TEXT:]}
    )


def read(documents: Iterable[bytes]) -> Pieces:
    """Sort the files of a run; the names of the files do not matter, and of two for one thing the first counts."""
    scope: Scope | None = None
    plans: dict[str, Planned | Refused] = {}
    engines: dict[str, Engine] = {}
    unreadable = 0
    for document in documents:
        match piece := parse(document):
            case None:
                unreadable += 1
            case Scope():
                scope = scope or piece
            case Engine():
                engines.setdefault(piece.stack, piece)
            case Planned() | Refused():
                plans.setdefault(piece.stack, piece)
    return Pieces(scope or Scope(tuple(sorted({*plans, *engines}))), plans, engines, unreadable)


def parse(document: bytes) -> Piece | None:
    """The piece in a file; None where it is not exactly one."""
    try:
        raw = json.loads(document)
        return _PARSERS[raw["kind"]](raw)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _scope(raw: Mapping[str, Any]) -> Scope:
    stacks = tuple(_stack(name) for name in raw["stacks"])
    if len(stacks) > MOST_STACKS:
        raise ValueError
    return Scope(tuple(sorted(set(stacks))))


def _plan(raw: Mapping[str, Any]) -> Planned | Refused:
    stack = _stack(raw["stack"])
    if "errors" in raw:
        return Refused(stack, tuple(_string(line) for line in raw["errors"][:_MOST_ERRORS]))
    diff = load(raw["diff"])
    if diff.stack != stack:
        raise ValueError
    return Planned(stack, diff)


def _engine(raw: Mapping[str, Any]) -> Engine:
    return Engine(_stack(raw["stack"]), Outcome(raw["outcome"]), _string(raw["text"])[-LONGEST_TEXT:])


_PARSERS = {"scope": _scope, "diff": _plan, "engine": _engine}


def _stack(value: object) -> str:
    if not STACK_NAME.fullmatch(_string(value)):
        raise ValueError
    return _string(value)


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"
