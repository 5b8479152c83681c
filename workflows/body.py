"""The body of the sticky comment, from pieces that are not trusted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from offline.diff.markdown import comment as section
from offline.diff.model import Diff, Impact, Operation
from workflows.pieces import Engine, Outcome, Pieces, Planned, Refused

MARKER = "<!-- pathways-preview -->"
"""The first line of the comment, by which it is found again."""

MOST_CHARACTERS = 60_000
"""Room is left below the 65,536 characters that GitHub takes."""

_MOST_ENGINE_CHARACTERS = 8_000
_MOST_ERROR_LINES = 20
_MOST_ROWS = 100
_MOST_ALARMS = 20
# What holds data or costs hours to have again.
_PRECIOUS = {
    "gcp:container/cluster:Cluster": "cluster",
    "gcp:container/nodePool:NodePool": "node pool",
    "gcp:storage/bucket:Bucket": "bucket",
}
_DONE = {Operation.REPLACE: "replaced", Operation.DELETE: "deleted"}
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")


def body(pieces: Pieces, *, run: str) -> str:
    """The whole comment; `run` is the address of the workflow run that made the pieces."""
    top = "\n".join([MARKER, *_alarms(pieces), *_table(pieces)]) + "\n"
    end = _end(pieces, run)
    text = top
    left_out: list[str] = []
    room = MOST_CHARACTERS - len(end) - sum(len(stack) + 2 for stack in pieces.scope.stacks) - 100
    for stack in pieces.scope.stacks:
        part = next((each for each in _forms(stack, pieces) if len(text) + len(each) < room), None)
        if part is None:
            left_out.append(stack)
        else:
            text += part
    if left_out:
        text += f"\nNot shown for want of room: {', '.join(left_out)}.\n"
    return text + end


def _forms(stack: str, pieces: Pieces) -> Iterator[str]:
    """What is said of a stack, at length and shorter."""
    plan = f"\n{_stack(stack, pieces)}"
    if engine := pieces.engines.get(stack):
        yield f"{plan}\n{_engine(engine)}"
    yield plan


def _alarms(pieces: Pieces) -> Iterator[str]:
    """A loud line per stack that loses a cluster, a pool or a bucket; in words of ours only."""
    lines = [
        f"> **{stack}**: {words}"
        for stack in pieces.scope.stacks
        if isinstance(plan := pieces.plans.get(stack), Planned) and (words := _losses(plan.diff))
    ]
    if lines:
        more = [f"> and {len(lines) - _MOST_ALARMS} stacks more"] if len(lines) > _MOST_ALARMS else []
        yield from ("> [!CAUTION]", "\\\n".join([*lines[:_MOST_ALARMS], *more]), "")


def _losses(diff: Diff) -> str:
    losses = Counter(
        (_PRECIOUS[change.type], _DONE[change.operation])
        for change in diff.changes
        if change.type in _PRECIOUS and change.operation in _DONE
    )
    return ", ".join(f"{many} {noun}{'s' if many > 1 else ''} {done}" for (noun, done), many in losses.items())


def _table(pieces: Pieces) -> Iterator[str]:
    """One row a stack, worst first, where there are several."""
    if not pieces.scope.stacks:
        yield "No stack is affected by this change."
    if len(pieces.scope.stacks) < 2:
        return
    yield from ("| stack | impact | create | update | replace | delete |", "|---|---|---|---|---|---|")
    for stack in sorted(pieces.scope.stacks, key=lambda name: (_rank(pieces, name), name))[:_MOST_ROWS]:
        plan = pieces.plans.get(stack)
        if isinstance(plan, Planned):
            diff = plan.diff
            loud = "**" if diff.impact < Impact.IN_PLACE else ""
            counts = (Operation.CREATE, Operation.UPDATE, Operation.REPLACE, Operation.DELETE)
            cells = [f"{loud}{diff.impact.word}{loud}", *(str(diff.count(each) or "") for each in counts)]
        else:
            cells = ["**cannot be planned**" if plan else "**no result**", "", "", "", ""]
        yield f"| {stack} | {' | '.join(cells)} |"
    if len(pieces.scope.stacks) > _MOST_ROWS:
        yield f"| and {len(pieces.scope.stacks) - _MOST_ROWS} more | | | | | |"


def _rank(pieces: Pieces, stack: str) -> int:
    plan = pieces.plans.get(stack)
    return plan.diff.impact if isinstance(plan, Planned) else -1


def _stack(stack: str, pieces: Pieces) -> str:
    plan = pieces.plans.get(stack)
    if isinstance(plan, Planned):
        text = section(plan.diff)
    elif isinstance(plan, Refused):
        lines = "\n".join(plan.errors[:_MOST_ERROR_LINES])
        text = f"### `{stack}`: cannot be planned\n\n{fenced(lines)}\n"
    else:
        text = f"### `{stack}`: no result\n\nIts job failed before there was one, or wrote what cannot be read.\n"
    return text


def _engine(engine: Engine) -> str:
    if engine.outcome is Outcome.UNKNOWN_STACK:
        return "The engine does not know this stack yet: see docs/bootstrap.md, “A new stack”.\n"
    title = "The engine's own preview" + (" <b>failed</b>" if engine.outcome is Outcome.FAILED else "")
    return f"<details><summary>{title}</summary>\n\n{fenced(engine.text[-_MOST_ENGINE_CHARACTERS:])}\n</details>\n"


def fenced(text: str) -> str:
    """`text` in a code block that it cannot end, without what a terminal would act on."""
    plain = _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    plain = "".join(char for char in plain if char in "\n\t" or char.isprintable()).strip("\n")
    longest = max((len(run) for run in re.findall(r"`+", plain)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{plain}\n{fence}"


def _end(pieces: Pieces, run: str) -> str:
    lost = f"{pieces.unreadable} file{'s' if pieces.unreadable > 1 else ''} of the run could not be read. "
    return (
        f"\n<sub>{lost if pieces.unreadable else ''}Planned without an account by this change's own code; "
        f"nothing was applied. Whole comparison: artifacts of [the run]({run}).</sub>\n"
    )
