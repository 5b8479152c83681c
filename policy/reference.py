"""The table of rules in docs/policy.md."""

from __future__ import annotations

from pathlib import Path

from policy.model import Rule
from policy.rules import RULES

PAGE = Path("docs/policy.md")
_BEGIN, _END = "<!-- rules: written by make schema -->\n", "<!-- end of rules -->\n"


def table() -> str:
    """Every rule as a row, in the order of `RULES`."""
    head = "| rule | level | what has to hold | write | from |\n| --- | --- | --- | --- | --- |\n"
    return head + "".join(_row(rule) for rule in RULES)


def page(text: str) -> str:
    """A page with the table between its two marks made anew.

    Raises:
        ValueError: a mark is missing.
    """
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise ValueError(f"{PAGE}: no {(_BEGIN if not begin else _END).strip()}")
    return f"{before}{begin}{table()}{end}{after}"


def write(project: Path) -> Path:
    """Renew the table in a project's page."""
    file = project / PAGE
    file.write_text(page(file.read_text(encoding="utf-8")), encoding="utf-8")
    return file


def _row(rule: Rule) -> str:
    cells = (f"`{rule.id}`", rule.level, _text(rule.sentence), _text(rule.fix), _text(", ".join(rule.source)))
    return f"| {' | '.join(cells)} |\n"


def _text(text: str) -> str:
    """Text for a cell: nothing in it is markup but the code spans it has."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")
