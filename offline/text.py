"""Small helpers for messages."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def shown_path(path: Path) -> str:
    """`path` as a person in the current directory would write it."""
    absolute, here = path.absolute(), Path.cwd()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else str(path)


def shortened(value: object) -> str:
    """`value` on one line, cut at 60 characters."""
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else f"{text[:59]}…"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean X? ` for the nearest of `known`, or nothing."""
    import difflib  # noqa: PLC0415 - only a mistake pays for it

    near = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {near[0]}? " if near else ""
