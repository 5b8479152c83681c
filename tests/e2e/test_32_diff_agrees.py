"""The offline comparison and the real engine decide each change alike, given the same two stack files."""

from __future__ import annotations

import pytest

from tests.e2e.changes.code import CODE_CHANGES, CodeChange
from tests.e2e.changes.configs import config
from tests.e2e.changes.decisions import Decisions, operations
from tests.e2e.changes.offline import verdict
from tests.e2e.changes.rows import BASES, BY_NAME, GUESTS, ON_ANOTHER_BASE, PLAIN, base_of, head_of
from tests.e2e.changes.walk import Walk
from tests.e2e.lifecycle import Life
from tests.e2e.test_30_changes import ROWS, judge

FROM_OTHERS = sorted(ON_ANOTHER_BASE, key=lambda case: BASES.index(base_of(case)))


@pytest.mark.parametrize(("life", "row"), ROWS, indirect=["life"], scope="session")
def test_on_a_change_of_a_committed_stack(life: Life, decisions: Decisions, row: str) -> None:
    case = BY_NAME[row]
    before, after = (config(life.world, life.stack, edit) for edit in (PLAIN, case.head))
    # At a protected cluster the engine's preview ends; at a protected bucket it goes on.
    halted = "deletion-protection" in case.stopped
    run = decisions.unprotected(case, after) if halted else decisions.of(case)
    assert verdict(life.stack, before, after) == operations(run)


@pytest.mark.parametrize("row", GUESTS)
def test_on_a_change_to_what_others_made(walk: Walk, row: str) -> None:
    case = BY_NAME[row]
    before, after = (config(walk.world, case.stack, edit) for edit in (PLAIN, case.head))
    assert verdict(case.stack, before, after) == operations(walk.preview(PLAIN, case, case.head))


@pytest.mark.parametrize("change", CODE_CHANGES, ids=lambda change: change.name)
def test_on_a_change_of_the_program_alone(walk: Walk, change: CodeChange) -> None:
    other, run = walk.rewritten(change)
    same = config(walk.world, walk.deployment.stack)
    assert verdict(walk.deployment.stack, same, same, walk.deployment.folder, other.folder) == operations(run)


@pytest.mark.parametrize("row", [case.name for case in FROM_OTHERS])
def test_on_a_change_from_another_base_which_is_as_promised(walk: Walk, row: str) -> None:
    case = BY_NAME[row]
    base, head = base_of(case), head_of(case)
    run = walk.preview(base, case, head)
    judge(run, case)
    before, after = (config(walk.world, case.stack, edit) for edit in (base, head))
    assert verdict(case.stack, before, after) == operations(run)
