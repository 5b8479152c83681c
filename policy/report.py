"""Findings for a person, within 100 columns."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from offline.page import Look, Page, Role, Span
from policy.model import Finding
from policy.rules import RULES

_NAMES = 4
_HANG = " " * 13


def report(found: Mapping[str, Sequence[Finding]], late: Sequence[str], idle: Sequence[str]) -> list[str]:
    """The lines for each stack's findings, then expired and unused waivers."""
    page = Page(Look.of(sys.stdout))
    for stack, findings in found.items():
        _stack(page, stack, findings)
    _waived(page, [each for findings in found.values() for each in findings])
    for title, lines in (("expired waivers", late), ("unused waivers", idle)):
        if lines:
            page.add(Span(title, "title"))
        for line in lines:
            page.add_wrapped([Span("  ")], line, "warning")
    return page.lines


def summary(findings: Sequence[Finding]) -> str:
    """One line that says how a stack stands."""
    stops = sum(each.stops for each in findings)
    waived = sum(each.waiver is not None for each in findings)
    counts = (("to mend", stops), ("advice", len(findings) - stops - waived), ("waived", waived))
    return ", ".join(f"{count} {what}" for what, count in counts if count) or "every rule holds"


def rules_page() -> str:
    """Every rule with its level, sources and fix."""
    page = Page(Look.of(sys.stdout))
    for rule in RULES:
        page.add(Span(rule.id, "name"), Span(f"  {rule.level}"))
        page.add_wrapped([Span("  ")], rule.sentence)
        page.add_wrapped([Span("  from: ", "dim")], ", ".join(rule.source), "dim")
        page.add_wrapped([Span("  fix:  ", "dim")], rule.fix)
    return "\n".join(page.lines) + "\n"


def names(findings: Sequence[Finding]) -> str:
    """The resources of some findings, folded where they are many."""
    shown = [each.name for each in findings[:_NAMES]]
    rest = len(findings) - len(shown)
    return ", ".join(shown) + (f" and {rest} more" if rest else "")


def _stack(page: Page, stack: str, findings: Sequence[Finding]) -> None:
    page.add(Span(stack, "title"), Span(f"  {summary(findings)}"))
    for alike in _alike([each for each in findings if each.waiver is None]):
        first = alike[0]
        role: Role = "warning" if first.stops else "plain"
        page.add(
            Span(f"  {first.level:11}", role), Span(first.rule, "name"), Span(f"  {', '.join(first.source)}", "dim")
        )
        page.add_wrapped([Span(_HANG)], first.sentence)
        page.add_wrapped([Span(_HANG)], f"{names(alike)}: {first.detail}", role)
        if first.file:
            page.add(Span(f"{_HANG}at    {first.file}", "dim"))
        page.add_wrapped([Span(f"{_HANG}write ", "dim")], first.fix)


def _alike(findings: Sequence[Finding]) -> Iterator[list[Finding]]:
    for _, group in groupby(findings, key=lambda each: (each.rule, each.detail)):
        yield list(group)


def _waived(page: Page, findings: Sequence[Finding]) -> None:
    """Each waiver in use once, with how often it was."""
    counts = Counter(each.waiver for each in findings if each.waiver is not None)
    if counts:
        page.add(Span("waived", "title"))
    for waiver, count in sorted(counts.items(), key=lambda pair: pair[0].rule):
        page.add(Span(f"  {waiver.rule}", "name"), Span(f"  {count} ×, until {waiver.until}", "dim"))
        page.add_wrapped([Span(_HANG)], waiver.reason, "dim")
