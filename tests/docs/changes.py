"""The pairs in the pages of an edit of a stack file and what `offline diff` prints about it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import yaml

from offline.cli import _parser
from offline.diff.engine import compare
from offline.diff.findings import findings
from offline.diff.markdown import comment
from offline.diff.model import Diff
from offline.diff.page import page
from offline.page import Look
from offline.stackfile import StackFile, load_stack
from tests.docs import pages
from tests.support.recordings import PROJECT, recorded

_PAIR = re.compile(r"^```diff\n(.*?)^```\n\n?(?:[^`\n]+\n\n?)?```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """A `diff` block and the `console` block behind it.

    Attributes:
        page: the page.
        edit: lines with `-` and `+` before them.
        command: the words behind `$`.
        shown: the lines of output.
    """

    page: Path
    edit: str
    command: tuple[str, ...]
    shown: tuple[str, ...]


def examples(path: Path) -> list[Example]:
    """Those of one page."""
    found = []
    for edit, console in _PAIR.findall(path.read_text("utf-8")):
        command, *shown = console.splitlines()
        found.append(Example(path, edit, tuple(shlex.split(command.removeprefix("$ "))), tuple(shown)))
    return found


EXAMPLES = [example for path in pages.PAGES for example in examples(path)]


def edited(text: str, edit: str) -> str:
    """A stack file's text after an edit, whose old lines stand in it once."""
    old, new = ("".join(f"{line[1:]}\n" for line in edit.splitlines() if line[0] == sign) for sign in "-+")
    assert text.count(old) == 1, f"not in the stack file: {old}"
    return text.replace(old, new)


def printed(example: Example) -> str:
    """What the command prints, on a terminal without colour, when the edit is all that is not committed."""
    options = _parser().parse_args(example.command[3:])
    diff = _difference(options.stack, example.edit, options.base)
    return comment(diff) if options.markdown else page(diff, Look())


@cache
def _difference(stack: str, edit: str, base: str) -> Diff:
    before = load_stack(PROJECT, stack)
    text = (PROJECT.stacks / f"Pulumi.{stack}.yaml").read_text("utf-8")
    # Read as plain YAML: what the stack file's own reader makes of such values is the same, and tested elsewhere.
    after = StackFile(before.stack, before.label, yaml.safe_load(edited(text, edit))["config"], before.secret_keys)
    old, new = recorded(before, "up"), recorded(after, "up")
    diff = compare(old, new, preview=partial(recorded, after, "preview"), base_name=base)
    return replace(diff, findings=findings(new, old))
