"""From decisions to the result: impacts, sentences, obstacles, notes and order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from offline.diff.decision import Decision
from offline.diff.impact import Situation, verdict
from offline.diff.model import Change, Diff, Operation
from offline.diff.obstacles import obstacles
from offline.diff.paths import written
from offline.diff.slices import slices, totals
from offline.diff.steps import steps
from offline.diff.words import item
from offline.recording import Recording
from offline.tree import natural

_RANK = {operation: rank for rank, operation in enumerate((Operation.REPLACE, Operation.DELETE, Operation.UPDATE))}


def report(
    base: Recording, head: Recording, decisions: Sequence[Decision], base_order: Sequence[str], base_name: str
) -> Diff:
    """The comparison's result; `decisions` in the program's order, what leaves at the end."""
    situation = Situation(slices(base), slices(head), base.by_urn() | head.by_urn())
    changes = [_change(each, situation) for each in decisions if each.operation is not Operation.SAME]
    changes.sort(key=lambda each: (each.impact, _RANK.get(each.operation, 3), not each.custom, natural(each.urn)))
    return Diff(
        project=head.project,
        stack=head.stack,
        base=base_name,
        changes=tuple(changes),
        same=sum(each.operation is Operation.SAME and each.resource.custom for each in decisions),
        totals=totals(base, head),
        obstacles=tuple(obstacles(decisions)),
        notes=tuple(_notes(decisions)),
        steps=tuple(steps(decisions, base_order)),
    )


def _change(decision: Decision, situation: Situation) -> Change:
    impact, sentence = verdict(decision, situation)
    resource, old = decision.resource, decision.old
    gone = decision.operation is Operation.DELETE
    return Change(
        urn=resource.urn,
        type=resource.type,
        name=resource.name,
        label=item(resource),
        custom=resource.custom,
        operation=decision.operation,
        impact=impact,
        sentence=sentence,
        old_urn=old.urn if old is not None and old.urn != resource.urn else None,
        because=decision.because,
        paths=tuple(path for path in decision.paths if not path.silent),
        delete_before_replace=decision.operation is Operation.REPLACE and decision.delete_first,
        goes_with=decision.goes_with,
        kept=bool(gone and old is not None and old.options.retain_on_delete),
        source=resource.source,
    )


def _notes(decisions: Sequence[Decision]) -> Iterator[str]:
    for decision in decisions:
        old, new = decision.old, decision.new
        if old is None or new is None:
            continue
        if bool(old.options.protect) != bool(new.options.protect):
            word = "is protected from now on" if new.options.protect else "is not protected any more"
            yield f"{item(new)} {word}"
        if bool(old.options.retain_on_delete) != bool(new.options.retain_on_delete):
            word = "stays in the cloud" if new.options.retain_on_delete else "is deleted in the cloud"
            yield f"{item(new)} {word} when it leaves the stack"
        if decision.operation is not Operation.REPLACE:
            for path in decision.paths:
                if path.silent:
                    yield f"{item(new)}: {written(path.path)} is left out; the provider keeps what the cloud has"
