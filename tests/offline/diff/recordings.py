"""Comparisons of edited stack files."""

from __future__ import annotations

from functools import partial

from offline.diff.engine import compare
from offline.diff.model import Diff
from offline.diff.recorder import deployed
from offline.recording import Recording
from offline.stackfile import StackFile, load_stack
from tests.offline.diff.table import Case, Edit, edited
from tests.support import recordings

CHECKOUT, PROJECT = recordings.CHECKOUT, recordings.PROJECT


def recorded(stack: str, edit: Edit | None = None) -> Recording:
    """The stack as it is after an `up` of its edited file."""
    return recordings.recorded(_file(stack, edit or {}), "up")


def difference(stack: str, base: Edit, head: Edit) -> Diff:
    """What the change from one edit to another does."""
    preview = partial(recordings.recorded, _file(stack, head), "preview")
    return compare(recorded(stack, base), recorded(stack, head), preview=preview)


def repeated(stack: str) -> Diff:
    """What a second, independent recording of a stack differs in from the first."""
    return compare(recorded(stack), deployed(PROJECT, _file(stack, {})))


def decided(case: Case) -> Diff:
    """What a case's change does."""
    return difference(case.stack, case.base, case.head)


def _file(stack: str, edit: Edit) -> StackFile:
    file = load_stack(PROJECT, stack)
    return StackFile(file.stack, file.label, edited(file.config, edit), file.secret_keys)
