"""The pages for people, and what code stands in them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from textwrap import dedent
from typing import Any

from tests.project.checkout import ROOT

PAGES = (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")))
README = ROOT / "README.md"
_FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"([A-Z][A-Z0-9_]*=\S* )*(make|pulumi|gcloud|kubectl|git|gh|\S*python) \S")
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")


@dataclass(frozen=True)
class Block:
    """A fenced block: the language behind the fence, and the text within."""

    language: str
    text: str


def blocks(text: str, language: str) -> list[Block]:
    """The fenced blocks of a page in one language, those within lists too."""
    return [Block(found, dedent(inner)) for _, found, inner in _FENCE.findall(text) if found == language]


def spans(text: str) -> list[str]:
    """The code within the sentences and tables of a page."""
    return _SPAN.findall(_FENCE.sub("", text))


def links(text: str) -> list[str]:
    """Where the links and pictures of a page point."""
    return re.findall(r"\]\(([^)\s]+)\)", _FENCE.sub("", text))


@dataclass(frozen=True)
class Command:
    """A command line of a page.

    Attributes:
        words: without assignments before it and redirections behind it.
        whole: whether it stands in a block, to be run as it is; within a sentence, arguments may be left out.
    """

    words: list[str]
    whole: bool


def commands(text: str) -> Iterator[Command]:
    """Every command line of a page: of shell blocks, of console blocks behind `$`, and within sentences."""
    lines = [line for block in blocks(text, "sh") for line in _joined(block.text)]
    lines += [line[2:] for block in blocks(text, "console") for line in block.text.splitlines() if line[:2] == "$ "]
    within = [span for span in spans(text) if _COMMAND.match(span)]
    for line, whole in ((line, number < len(lines)) for number, line in enumerate([*lines, *within])):
        words = shlex.split(line, comments=True)
        while words and re.match(r"[A-Z][A-Z0-9_]*=", words[0]):
            del words[0]
        if ">" in words:
            del words[words.index(">") :]
        if words:
            yield Command(words, whole)


def values(words: list[str], *options: str) -> list[str]:
    """The values of an option in a command line."""
    found = [word.partition("=")[2] for word in words if word.partition("=")[0] in options and "=" in word]
    return found + [after for word, after in pairwise(words) if word in options]


def _joined(text: str) -> list[str]:
    """The lines of a shell block; one that ends in a backslash goes on in the next."""
    return text.replace("\\\n", " ").splitlines()


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
