"""What is said when a stack file is wrong: one line an error, naming file, key, value, rule and what to write."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic_core import PydanticCustomError

RULE = "pathways_rule"
"""The pydantic error type under which our own rules are raised inside a model."""


@dataclass(frozen=True)
class Problem:
    """One fault of a stack file: where it is (`key`, dotted), what is wrong, the rule, and what to write instead."""

    key: str
    what: str
    rule: str
    fix: str

    def line(self, file: str) -> str:
        """The fault as the one line a user sees; what does not print inside a quoted value is shown escaped."""
        return printable(f"{file}: {self.key}: {self.what}; {self.rule}; {self.fix}")


class StackFileError(Exception):
    """A stack file that is refused; `lines` has every fault of it, ready to print."""

    def __init__(self, file: str, problems: Iterable[Problem]) -> None:
        """Keep the faults of `file` in the order they were found, each once."""
        self.problems = tuple(dict.fromkeys(problems))
        self.lines = tuple(problem.line(file) for problem in self.problems)
        super().__init__("\n".join(self.lines))


def violation(what: str, rule: str, fix: str) -> PydanticCustomError:
    """The exception a validator raises: pydantic adds the location, `explain` turns it into a `Problem`."""
    return PydanticCustomError(RULE, "{what}", {"what": what, "rule": rule, "fix": fix})


def shown(value: object, limit: int = 80) -> str:
    """A value as it stands in a stack file: text bare, the rest as JSON; long ones are cut at `limit` characters."""
    text = value if isinstance(value, str) else _as_json(value)
    if text != text.strip() or text == "":
        text = json.dumps(text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def printable(text: str) -> str:
    """A text with line breaks, control characters and other invisible ones escaped, so that it prints as one line."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def _as_json(value: object) -> str:
    try:
        return json.dumps(value, default=str)
    except (TypeError, ValueError, RecursionError):
        # What YAML can say and JSON cannot: a key that is a date, a value that holds itself, a number of 5,000 digits.
        return f"a {type(value).__name__}"


def listed(values: Iterable[object]) -> str:
    """Values as a list in a sentence: `a, b, c`."""
    return ", ".join(str(value) for value in values)


def one_of(values: Iterable[object]) -> str:
    """What to choose from in a sentence: `one of a, b, c`, or the only choice."""
    options = list(values)
    return f"one of {listed(options)}" if len(options) > 1 else listed(options)


def nearest(value: str, known: Iterable[str]) -> str | None:
    """The known spelling that `value` was probably meant to be, or None; case and blanks are no difference."""
    options = list(known)
    folded = {option.casefold(): option for option in options}
    plain = "".join(value.split()).casefold()
    if plain in folded:
        return folded[plain]
    close = difflib.get_close_matches(plain, list(folded), n=1, cutoff=0.6)
    return folded[close[0]] if close else None
