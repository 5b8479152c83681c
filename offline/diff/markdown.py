"""A comparison as Markdown for a pull-request comment, or whole for a file.

Whatever comes from the compared files is escaped: no markup, no mention and no reference gets out of a value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from offline.diff.digest import Group, breaches, capacity, counts, groups, rest_of_policy, verdict
from offline.diff.model import Change, Diff, Impact
from offline.diff.paths import written
from offline.diff.words import full_value, value

MOST_CHARACTERS = 60_000
"""A comment is never longer; GitHub refuses more than 65,536 characters."""

_MOST_ROWS = 60
_LONGEST_SENTENCE = 400
_MARKUP = re.compile(r"([\\`*_{}\[\]|~!])")


def comment(diff: Diff) -> str:
    """For a comment: verdict, one table, details folded, cut to `MOST_CHARACTERS`."""
    head = _head(diff, _MOST_ROWS)
    if not any(group.first.paths or group.first.because for group in groups(diff.changes)):
        return head
    opening, closing = "\n<details><summary>Every changed input</summary>\n\n", "\n</details>\n"
    rest = "\nThe rest does not fit here: see the whole in the job's artifact.\n"
    room = MOST_CHARACTERS - len(head) - len(opening) - len(closing) - len(rest)
    body = ""
    for group in groups(diff.changes):
        piece = _details(group, whole_values=False)
        if len(body) + len(piece) > room:
            return head + opening + body + rest + closing
        body += piece
    return head + opening + body + closing


def whole(diff: Diff) -> str:
    """For a file: the same with every row and every value at full length."""
    body = "".join(_details(group, whole_values=True) for group in groups(diff.changes))
    order = "".join(f"{number}. {step.operation} {_code(step.urn)}\n" for number, step in enumerate(diff.steps, 1))
    return f"{_head(diff, None)}\n#### Every changed input\n\n{body}\n#### Order of an up\n\n{order}"


def _head(diff: Diff, rows: int | None) -> str:
    lines = [f"### {_code(diff.stack)}: {verdict(diff)}", ""]
    if diff.changes:
        lines += [f"{counts(diff)}{'; ' + change if (change := capacity(diff)) else ''}.", ""]
    for obstacle in diff.obstacles[:rows]:
        lines.append(f"- **{obstacle.rule}**: {_text(obstacle.sentence)}")
    lines += [f"- {_text(note)}" for note in diff.notes[:rows]]
    if diff.obstacles or diff.notes:
        lines.append("")
    lines += _policy(diff, rows)
    shown = groups(diff.changes)
    if shown:
        lines += ["| impact | operation | what happens |", "|---|---|---|", *map(_row, shown[:rows])]
    if rows is not None and len(shown) > rows:
        lines.append(f"| | | and {len(shown) - rows} more |")
    return "\n".join(lines) + "\n"


def _policy(diff: Diff, rows: int | None) -> Iterator[str]:
    """The rules that stop the change, and new advice, as a table; of what is known or waived, the number."""
    found = breaches(diff)
    if found:
        yield from ("| policy | level | what is wrong | write |", "|---|---|---|---|")
    for finding, names in found[:rows]:
        loud = "**" if finding.stops else ""
        rule, level = (f"{loud}{_text(each)}{loud}" for each in (finding.rule, finding.level))
        yield f"| {rule} | {level} | {_text(f'{names}: {finding.detail}')} | {_text(finding.fix)} |"
    if rows is not None and len(found) > rows:
        yield f"| and {len(found) - rows} more | | | |"
    if found:
        yield ""
    if (rest := rest_of_policy(diff)) and diff.different:
        yield from (f"Policy: {rest}.", "")


def _row(group: Group) -> str:
    first = group.first
    loud = f"**{first.impact.word}**" if first.impact < Impact.IN_PLACE else first.impact.word
    return f"| {loud} | {first.operation.value} | {_text(group.sentence)} |"


def _details(group: Group, *, whole_values: bool) -> str:
    first = group.first
    lines = list(_lines(first, whole_values=whole_values))
    if not lines:
        return ""
    place = f" · {_code(first.source)}" if first.source else ""
    more = f" and {len(group.changes) - 1} alike" if len(group.changes) > 1 else ""
    return f"**{first.operation.value}** {_code(first.label)}{more}{place}\n\n" + "\n".join(lines) + "\n\n"


def _lines(change: Change, *, whole_values: bool) -> Iterator[str]:
    show = full_value if whole_values else value
    for reason in change.because:
        yield f"- {_text(reason)}"
    for path in change.paths:
        mark = " (replaces)" if path.replaces else ""
        yield f"- {_code(written(path.path))}: {_code(show(path.old))} → {_code(show(path.new))}{mark}"


def _code(text: str) -> str:
    """A code span that holds whatever `text` is, also inside a table."""
    flat = " ".join(text.split()) or " "
    longest = max((len(run) for run in re.findall(r"`+", flat)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if longest else ""
    return f"{fence}{pad}{flat}{pad}{fence}".replace("|", "\\|")


def _text(text: str) -> str:
    """Plain text: an empty comment after `@`, `#`, `$` and `:` keeps GitHub from mentions, links and formulas."""
    flat = " ".join(text.split())
    short = flat if len(flat) <= _LONGEST_SENTENCE else f"{flat[: _LONGEST_SENTENCE - 1]}…"
    escaped = _MARKUP.sub(r"\\\1", short.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
    return re.sub(r"[@#$]|:(?=//)", r"\g<0><!-- -->", escaped)
