"""In what order a run did its steps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from tests.e2e.engine.runs import Run


@dataclass(frozen=True)
class Moment:
    """A step of a run that began (`begun`) or ended (`done`)."""

    when: str
    op: str
    name: str


def moments(run: Run) -> list[Moment]:
    """Beginnings and ends of all steps, in the order in which the engine told of them."""
    kinds = {"resourcePreEvent": "begun", "resOutputsEvent": "done"}
    found = []
    for event in run.events:
        for key, when in kinds.items():
            metadata = (event.get(key) or {}).get("metadata")
            if metadata:
                found.append(Moment(when, metadata["op"], metadata["urn"].rpartition("::")[2]))
    return found


def in_order(run: Run, *steps: tuple[str, str]) -> bool:
    """Whether each of these steps (operation, name) was over before the next began.

    Raises:
        ValueError: One of them did not occur.
    """
    order = moments(run)
    return all(
        order.index(Moment("done", *first)) < order.index(Moment("begun", *second)) for first, second in pairwise(steps)
    )


def ended(run: Run, first: tuple[str, str], second: tuple[str, str]) -> bool:
    """Whether one step was over before another was, not caring for their beginnings."""
    order = moments(run)
    return order.index(Moment("done", *first)) < order.index(Moment("done", *second))
