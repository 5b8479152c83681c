"""Recordings of edited stack files, each made once."""

from __future__ import annotations

import json
from functools import cache, partial
from pathlib import Path

from offline.diff.engine import compare
from offline.diff.model import Diff
from offline.diff.recorder import deployed
from offline.project import load_project
from offline.recording import Recording
from offline.runner import record_stack
from offline.stackfile import StackFile, load_stack
from tests.offline.diff.table import Case, Edit, edited

CHECKOUT = Path(__file__).parents[3]
PROJECT = load_project(CHECKOUT)


def recorded(stack: str, edit: Edit | None = None) -> Recording:
    """The stack as it is after an `up` of its edited file."""
    return _recorded(stack, json.dumps(edit or {}))


def difference(stack: str, base: Edit, head: Edit) -> Diff:
    """What the change from one edit to another does."""
    preview = partial(record_stack, PROJECT, _file(stack, head), "preview")
    return compare(recorded(stack, base), recorded(stack, head), preview=preview)


def repeated(stack: str) -> Diff:
    """What a second, independent recording of a stack differs in from the first."""
    return compare(recorded(stack), deployed(PROJECT, _file(stack, {})))


def decided(case: Case) -> Diff:
    """What a case's change does."""
    return difference(case.stack, case.base, case.head)


@cache
def _recorded(stack: str, edit: str) -> Recording:
    return deployed(PROJECT, _file(stack, json.loads(edit)))


def _file(stack: str, edit: Edit) -> StackFile:
    file = load_stack(PROJECT, stack)
    return StackFile(file.stack, file.label, edited(file.config, edit), file.secret_keys)
