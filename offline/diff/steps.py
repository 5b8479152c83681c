"""The order of an `up`.

Resources are made in the program's order. What is deleted before it is replaced goes at its turn, after those that
could not live through it, last user first. All other deletions come at the very end, last user first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from offline.diff.decision import Decision
from offline.diff.model import Operation, Step


def steps(decisions: Sequence[Decision], base_order: Sequence[str]) -> Iterator[Step]:
    """The steps; a replaced resource has two of them.

    Args:
        decisions: in the program's order, what leaves at the end.
        base_order: the URNs of the base, each after all that it depends on.
    """
    replaced = {decision.old.urn for decision in decisions if decision.old and decision.operation is Operation.REPLACE}
    gone: set[str] = set()
    for decision in decisions:
        if decision.operation is Operation.REPLACE and decision.delete_first and decision.old:
            for name in (*reversed(decision.takes_along), decision.old.urn):
                if name not in gone:
                    gone.add(name)
                    yield Step("delete-replaced" if name in replaced else "delete", name)
        if (made := _MADE.get(decision.operation)) is not None:
            yield Step(made, decision.resource.urn)
    yield from _last(decisions, base_order, gone)


_MADE: Mapping[Operation, str] = {
    Operation.CREATE: "create",
    Operation.UPDATE: "update",
    Operation.REPLACE: "create-replacement",
}


def _last(decisions: Sequence[Decision], base_order: Sequence[str], gone: set[str]) -> Iterator[Step]:
    leaving = {
        decision.old.urn: "delete" if decision.operation is Operation.DELETE else "delete-replaced"
        for decision in decisions
        if decision.old and decision.operation in (Operation.DELETE, Operation.REPLACE)
    }
    for name in reversed(base_order):
        if name in leaving and name not in gone:
            yield Step(leaving[name], name)
