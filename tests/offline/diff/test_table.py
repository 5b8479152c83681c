from __future__ import annotations

import pytest

from offline.diff.model import Operation
from offline.stackfile import known_stacks
from tests.offline.diff.recordings import PROJECT, decided, difference, recorded, repeated
from tests.offline.diff.table import CASES, Case

pytestmark = pytest.mark.thorough


def test_the_table_is_long_enough() -> None:
    assert len(CASES) >= 40
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_change_has_its_verdict(case: Case) -> None:
    diff = decided(case)
    operations = {change.name: change.operation.value for change in diff.changes if change.custom}
    assert diff.impact.word == case.impact
    assert tuple(sorted(obstacle.rule for obstacle in diff.obstacles)) == case.stopped
    if case.operations or case.impact == "none":
        assert operations == dict(case.operations)
    else:
        assert operations


@pytest.mark.parametrize("stack", known_stacks(PROJECT))
def test_a_stack_compared_with_itself_is_the_same(stack: str) -> None:
    diff = repeated(stack)
    assert not diff.different
    assert not diff.steps
    assert not diff.obstacles
    assert diff.same == sum(resource.custom for resource in recorded(stack).resources)


@pytest.mark.parametrize("name", ["one slice more", "created bucket to an existing one", "job to interactive"])
def test_there_and_back_are_mirror_images(name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    there, return_ = decided(case), difference(case.stack, case.head, case.base)
    made = {change.urn for change in there.changes if change.operation is Operation.CREATE}
    gone = {change.urn for change in there.changes if change.operation is Operation.DELETE}
    assert made == {change.urn for change in return_.changes if change.operation is Operation.DELETE}
    assert gone == {change.urn for change in return_.changes if change.operation is Operation.CREATE}
    assert made or gone
    assert all(there.totals[key].old == return_.totals[key].new for key in there.totals)
