"""Rules applied to a recording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from offline.recording import Recording, Resource
from offline.tree import natural
from policy.model import Each, Finding, Rule, Waiver
from policy.rules import RULES
from policy.waivers import waiver_for


def evaluate(recording: Recording, waivers: Sequence[Waiver], today: date) -> list[Finding]:
    """All findings, in the order of `policy.findings`."""
    found: list[Finding] = []
    for rule in RULES:
        for resource, detail in broken(rule, recording.resources):
            waiver = waiver_for(waivers, rule.id, recording.stack, resource.name, today)
            found.append(_finding(rule, resource, detail, stack=recording.stack, waiver=waiver))
    return sorted(found, key=_rank)


def broken(rule: Rule, resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """The resources that break a rule, and how; what is only read is not ours to judge."""
    check = rule.check
    if not isinstance(check, Each):
        yield from check.problems(resources)
        return
    for resource in resources:
        detail = check.problem(resource) if resource.read_id is None and check.looks_at(resource.type) else None
        if detail is not None:
            yield resource, detail


def _finding(rule: Rule, resource: Resource, detail: str, *, stack: str, waiver: Waiver | None) -> Finding:
    return Finding(
        rule=rule.id,
        level=rule.level,
        source=rule.source,
        stack=stack,
        urn=resource.urn,
        type=resource.type,
        name=resource.name,
        detail=detail,
        sentence=rule.sentence,
        fix=rule.fix,
        waiver=waiver,
        file=resource.source,
    )


def _rank(found: Finding) -> tuple[bool, bool, str, object]:
    return not found.stops, found.waiver is not None, found.rule, natural(found.urn)
