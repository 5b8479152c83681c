"""What text and Markdown have in common: the verdict, the counts, and changes of one shape folded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from offline.diff.google import NODE_POOL
from offline.diff.model import Amount, Change, Diff, Finding, Impact, Operation
from offline.diff.paths import written

FOLD_ABOVE = 3
"""Changes of one shape are shown one by one up to this many."""

_VERDICTS: Mapping[Impact, str] = {
    Impact.DESTROYS_DATA: "destroys data",
    Impact.REPLACES_CLUSTER: "takes the cluster away",
    Impact.REPLACES_SLICE: "takes TPU slices away and needs their capacity again",
    Impact.RESTARTS_WORKLOAD: "restarts the workload",
    Impact.IN_PLACE: "changes in place, nothing restarts",
    Impact.NONE: "touches nothing that runs",
}
_TOTALS = (
    ("slices", "slices"),
    ("hosts", "hosts"),
    ("chips", "chips"),
    ("nodeAddresses", "node addresses"),
    ("podAddresses", "pod addresses"),
)
_DONE = {"create": "created", "update": "updated", "replace": "replaced", "delete": "deleted"}


@dataclass(frozen=True, slots=True)
class Group:
    """Changes that differ in their numbers only."""

    changes: tuple[Change, ...]

    @property
    def first(self) -> Change:
        """The one that stands for all."""
        return self.changes[0]

    @property
    def sentence(self) -> str:
        """The first one's sentence, and how many are alike or which go the same way."""
        others = self.changes[1:]
        if not others:
            return self.first.sentence
        if self.first.goes_with and len({change.type for change in self.changes}) > 1:
            return f"{self.first.sentence}; so do {', '.join(change.label for change in others)}"
        return f"{self.first.sentence} – and {len(others)} alike, to {others[-1].label}"


def verdict(diff: Diff) -> str:
    """The change in a few words."""
    words = _VERDICTS[diff.impact] if diff.changes else "no resource changes" if diff.notes else "no change"
    if not diff.stopped:
        return words
    rules = len({finding.rule for finding in diff.findings if finding.stops})
    ways = [_many(count, what) for count, what in ((len(diff.obstacles), "obstacle"), (rules, "broken rule")) if count]
    return f"would be stopped ({', '.join(ways)}); {words}"


def counts(diff: Diff) -> str:
    """`1 created, 1 replaced, 32 unchanged`."""
    made = [(diff.count(each), _DONE[each.value]) for each in Operation if each is not Operation.SAME]
    return ", ".join(f"{many} {word}" for many, word in (*made, (diff.same, "unchanged")) if many)


def capacity(diff: Diff, *, all_of_them: bool = False) -> str:
    """`slices 2 → 3, chips 32 → 48`; what stays is left out unless all are wanted."""
    amounts = ((word, diff.totals[key]) for key, word in _TOTALS if key in diff.totals)
    return ", ".join(_amount(word, amount) for word, amount in amounts if all_of_them or amount.old != amount.new)


def breaches(diff: Diff) -> list[tuple[Finding, str]]:
    """The findings to show, those that stop and new advice; alike ones once, with the names of their resources."""
    alike: dict[tuple[str, str], list[Finding]] = {}
    for finding in diff.findings:
        if finding.stops or (finding.new and finding.waived is None):
            alike.setdefault((finding.rule, finding.detail), []).append(finding)
    return [(found[0], _names([finding.name for finding in found])) for found in alike.values()]


def rest_of_policy(diff: Diff) -> str:
    """`1 advice as before, 9 waived`: the findings that are not shown; empty if all are."""
    waived = sum(finding.waived is not None for finding in diff.findings)
    known = sum(not finding.stops and not finding.new and finding.waived is None for finding in diff.findings)
    return ", ".join(words for words in (known and f"{known} advice as before", waived and f"{waived} waived") if words)


def groups(changes: Sequence[Change]) -> list[Group]:
    """The changes in order without components, those of one shape together where there are many."""
    shapes: dict[object, list[Change]] = {}
    shown = [change for change in changes if change.custom]
    for change in shown:
        shapes.setdefault(_shape(change), []).append(change)
    found: list[Group] = []
    for change in shown:
        same = shapes[_shape(change)]
        if len(same) <= FOLD_ABOVE and not (_is_taken_along(change) and len(same) > 1):
            found.append(Group((change,)))
        elif same[0] is change:
            found.append(Group(tuple(same)))
    return found


def _is_taken_along(change: Change) -> bool:
    """Whether a change is only the end of something else, in words that say no more than that."""
    return change.goes_with is not None and change.type != NODE_POOL


def _shape(change: Change) -> tuple[object, ...]:
    if _is_taken_along(change):
        return (change.operation, change.impact, change.goes_with)
    paths = tuple((written(path.path), repr(path.old), repr(path.new)) for path in change.paths)
    return (change.operation, change.impact, change.type, re.sub(r"\d+", "#", change.sentence), paths)


def _names(names: Sequence[str]) -> str:
    more = len(names) - FOLD_ABOVE
    return ", ".join(names[:FOLD_ABOVE]) + (f" and {more} more" if more > 0 else "")


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'s' if count > 1 else ''}"


def _amount(word: str, amount: Amount) -> str:
    if amount.old == amount.new:
        return f"{word} {_number(amount.new)}"
    difference = (amount.new or 0) - (amount.old or 0)
    return f"{word} {_number(amount.old)} → {_number(amount.new)} ({difference:+,})"


def _number(value: int | None) -> str:
    return "none" if value is None else f"{value:,}"
