"""The pages for people, and what code stands in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.project.checkout import ROOT

PAGES = (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")))
README = ROOT / "README.md"
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


@dataclass(frozen=True)
class Block:
    """A fenced block: the language behind the fence, and the text within."""

    language: str
    text: str


def blocks(text: str, language: str) -> list[Block]:
    """The fenced blocks of a page in one language."""
    return [Block(*found) for found in _FENCE.findall(text) if found[0] == language]


def spans(text: str) -> list[str]:
    """The code within the sentences and tables of a page."""
    return _SPAN.findall(_FENCE.sub("", text))


def links(text: str) -> list[str]:
    """Where the links and pictures of a page point."""
    return re.findall(r"\]\(([^)\s]+)\)", _FENCE.sub("", text))


def commands(text: str) -> Iterator[list[str]]:
    """Every command line of a page, as words: of shell blocks, of console blocks behind `$`, and within sentences."""
    lines = [line for block in blocks(text, "sh") for line in block.text.splitlines()]
    lines += [line[2:] for block in blocks(text, "console") for line in block.text.splitlines() if line[:2] == "$ "]
    lines += [span for span in spans(text) if re.match(r"(make|pulumi|\S*python) \S", span)]
    for line in lines:
        words = shlex.split(line, comments=True)
        if words:
            yield words


def keys(schema: dict[str, Any]) -> set[str]:
    """The dotted path of every key of a stack file that a schema allows, without `pathways:`."""
    config = schema["properties"]["config"]
    return {path.removeprefix("pathways:") for path in _keys(schema["$defs"], config)}


def _keys(definitions: dict[str, Any], node: dict[str, Any]) -> Iterator[str]:
    forms = [node, *node.get("oneOf", ())]
    for form in forms:
        known = definitions[form["$ref"].rpartition("/")[2]] if "$ref" in form else form
        for key, value in known.get("properties", {}).items():
            yield key
            yield from (f"{key}.{below}" for below in _keys(definitions, value))


def relative(path: Path) -> str:
    """A page's name in the checkout, for test ids."""
    return str(path.relative_to(ROOT))
