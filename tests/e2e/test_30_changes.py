"""What the real engine decides about each change of a stack: creates, updates, replaces and deletes as promised."""

from __future__ import annotations

import pytest

from tests.e2e.changes.code import CODE_CHANGES, CodeChange
from tests.e2e.changes.decisions import Decisions, operations
from tests.e2e.changes.rows import BY_NAME, GUESTS, ON_A_COMMITTED_STACK, PLAIN
from tests.e2e.changes.walk import Walk
from tests.e2e.engine.runs import Run
from tests.e2e.lifecycle import Life
from tests.offline.diff.table import Case

ROWS = [pytest.param(case.stack, case.name, id=f"{case.stack}-{case.name}") for case in ON_A_COMMITTED_STACK]


def judge(run: Run, case: Case) -> None:
    """The engine's verdict is the table's, and the only thing that stops a preview is protection."""
    if case.operations or case.impact == "none":
        assert operations(run) == dict(case.operations)
    assert run.ok == ("protected" not in case.stopped), run.output[-3000:]
    assert ("To unprotect the resource" in run.diagnostics) == ("protected" in case.stopped)


@pytest.mark.parametrize(("life", "row"), ROWS, indirect=["life"], scope="session")
def test_a_change_of_a_committed_stack_does_what_is_promised(life: Life, decisions: Decisions, row: str) -> None:
    judge(decisions.of(BY_NAME[row]), BY_NAME[row])


@pytest.mark.parametrize("row", GUESTS)
def test_a_change_to_what_others_made_does_what_is_promised(walk: Walk, row: str) -> None:
    case = BY_NAME[row]
    judge(walk.preview(PLAIN, case, case.head), case)


@pytest.mark.parametrize("change", CODE_CHANGES, ids=lambda change: change.name)
def test_a_change_of_the_program_alone_does_what_is_promised(walk: Walk, change: CodeChange) -> None:
    _, run = walk.rewritten(change)
    assert operations(run) == dict(change.operations)
