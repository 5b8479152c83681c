"""A comparison for a person at a terminal."""

from __future__ import annotations

from offline.diff.digest import Group, breaches, capacity, counts, groups, rest_of_policy, verdict
from offline.diff.model import Diff, Impact
from offline.diff.words import arrow, short
from offline.page import WIDTH, Look, Page, Role, Span

_MOST_PATHS = 12
_IMPACT_WIDTH = 18


def page(diff: Diff, look: Look) -> str:
    """Verdict, totals, obstacles, changes by impact; at most `WIDTH` columns wide."""
    made = Page(look)
    made.add(Span(diff.stack, "title"), Span(f"  {verdict(diff)}", "plain"))
    made.add(Span(f"  compared with {diff.base}", "dim"))
    made.add(Span("─" * WIDTH, "dim"))
    if not diff.different and not diff.stopped:
        return made.text()
    if diff.changes:
        made.add_wrapped([Span("  ")], counts(diff))
    if change := capacity(diff):
        made.add_wrapped([Span("  ")], change, "name")
    for title, sentences in (("What would stop it", [o.sentence for o in diff.obstacles]), ("Notes", diff.notes)):
        if sentences:
            made.blank()
            made.add(Span(title, "title"))
        for sentence in sentences:
            made.add_wrapped([Span("  ! " if title != "Notes" else "  • ", "warning")], sentence, "warning")
    _policy(made, diff)
    for group in groups(diff.changes):
        _change(made, group)
    return made.text()


def _policy(made: Page, diff: Diff) -> None:
    """The rules that stop the change, and new advice; of what is known or waived, the number."""
    if not diff.findings:
        return
    made.blank()
    made.add(Span("Policy", "title"), Span(f"  {rest}" if (rest := rest_of_policy(diff)) else "", "dim"))
    for finding, names in breaches(diff):
        role: Role = "warning" if finding.stops else "plain"
        mark = "!" if finding.stops else "•"
        made.add_wrapped([Span(f"  {mark} ", role)], f"{finding.rule}, {names}: {finding.detail}", role)
        made.add_wrapped([Span("      ")], finding.sentence)
        made.add_wrapped([Span("      write ", "dim")], finding.fix, "dim")


def _change(made: Page, group: Group) -> None:
    first = group.first
    role: Role = "warning" if first.impact < Impact.IN_PLACE else "plain"
    made.blank()
    head = [Span(f"{first.impact.word:<{_IMPACT_WIDTH}}", role), Span(f"{first.operation.value:<9}", "title")]
    made.add_wrapped(head, group.sentence)
    for path in first.paths[:_MOST_PATHS]:
        mark = "!" if path.replaces else " "
        made.add_wrapped([Span(f"      {mark} ", role)], short(path.path), "name")
        made.add_wrapped([Span(" " * 12)], arrow(path))
    if len(first.paths) > _MOST_PATHS:
        made.add(Span(f"        and {len(first.paths) - _MOST_PATHS} more (--json has all)", "dim"))
    for reason in first.because:
        made.add_wrapped([Span("        because ", "dim")], reason, "dim")
    if first.source:
        made.add(Span(f"        {first.source}", "dim"))
