"""The command line of the workflows' steps: `python -m workflows STEP`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from workflows import artifacts, engine, pieces
from workflows.affected import STACK_NAME, Affected, affected_since, every_stack, one_stack
from workflows.body import MARKER, body, fenced
from workflows.comments import Done, Sticky
from workflows.engine import Drift
from workflows.errors import WorkflowError
from workflows.github import Client
from workflows.pull_request import finished, pull_request_of

_DRIFT_WORDS = {
    Drift.NONE: "the cloud is what the state says",
    Drift.DRIFTED: "the cloud is not what the state says: see docs/runbook.md",
    Drift.FAILED: "could not be compared with the cloud",
    Drift.UNKNOWN_STACK: "not deployed yet, nothing to compare",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one step; 0 is success, 1 a failure that was put into words, 2 a wrong command line."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.step(options))
    except WorkflowError as error:
        print(f"::error::{' '.join(str(error).split())}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m workflows", description="The steps of .github/workflows.")
    steps = parser.add_subparsers(title="steps", metavar="STEP", required=True)

    discover = steps.add_parser("discover", help="which stacks a change affects, as outputs stacks and present")
    which = discover.add_mutually_exclusive_group(required=True)
    which.add_argument("--base", metavar="REF", help="compare HEAD with this commit; every stack if it is not there")
    which.add_argument("--all", action="store_true", help="every stack that has a file")
    which.add_argument("--stack", metavar="STACK", type=_stack, help="this one, if it has a file")
    discover.add_argument("--into", type=Path, metavar="DIR", help="write the piece of the comment there")
    discover.set_defaults(step=_discover)

    diff = steps.add_parser("diff", help="the offline diff of a stack, as a piece of the comment")
    diff.add_argument("stack", metavar="STACK", type=_stack)
    diff.add_argument("--base", metavar="REF", required=True)
    diff.add_argument("--into", type=Path, metavar="DIR", required=True)
    diff.add_argument("--details", type=Path, metavar="DIR", required=True, help="where the whole comparison goes")
    diff.set_defaults(step=_diff)

    preview = steps.add_parser("preview", help="the engine's preview of a stack, as a piece of the comment")
    preview.add_argument("stack", metavar="STACK", type=_stack)
    preview.add_argument("--into", type=Path, metavar="DIR", required=True)
    preview.set_defaults(step=_preview)

    comment = steps.add_parser("comment", help="write or edit the comment of the pull request that was previewed")
    comment.set_defaults(step=_comment)

    up = steps.add_parser("up", help="apply a stack")
    up.add_argument("stack", metavar="STACK", type=_stack)
    up.set_defaults(step=_up)

    drift = steps.add_parser("drift", help="compare a deployed stack with the cloud; 1 if they differ")
    drift.add_argument("stack", metavar="STACK", type=_stack)
    drift.set_defaults(step=_drift)
    return parser


def _stack(text: str) -> str:
    if not STACK_NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(f"not a stack's name: {text!r}")
    return text


def _discover(options: argparse.Namespace) -> int:
    found = _found(options)
    lines = {"stacks": found.stacks, "present": found.present}
    _append("GITHUB_OUTPUT", "".join(f"{key}={json.dumps(list(value))}\n" for key, value in lines.items()))
    print(f"affected: {', '.join(found.stacks) or 'no stack'}")
    if options.into is not None:
        _put(options.into, pieces.scope_file(found.stacks))
    return 0


def _found(options: argparse.Namespace) -> Affected:
    checkout = Path.cwd()
    if options.all:
        return every_stack(checkout)
    return one_stack(checkout, options.stack) if options.stack else affected_since(checkout, options.base)


def _diff(options: argparse.Namespace) -> int:
    stack = options.stack
    options.details.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "offline", "diff", stack, "--base", options.base, "--json"]
    done = subprocess.run(  # noqa: S603 - this interpreter
        [*command, "--details", str(options.details / f"{stack}.md")],
        check=False,
        capture_output=True,
        text=True,
        errors="replace",
    )
    sys.stderr.write(done.stderr)
    if done.returncode:
        _put(options.into, pieces.refused_file(stack, done.stderr.splitlines()))
    else:
        _put(options.into, pieces.diff_file(stack, json.loads(done.stdout)))
    _summarize(options.into)
    return 1 if done.returncode else 0


def _preview(options: argparse.Namespace) -> int:
    outcome, text = engine.preview(options.stack, Path.cwd())
    _put(options.into, pieces.engine_file(options.stack, outcome, text))
    return 1 if outcome is pieces.Outcome.FAILED else 0


def _comment(_: argparse.Namespace) -> int:
    event = json.loads(Path(_variable("GITHUB_EVENT_PATH")).read_text(encoding="utf-8"))
    run = finished(event)
    client = Client(_variable("GITHUB_API_URL"), _variable("GITHUB_TOKEN"))
    number = pull_request_of(client, run)
    if number is None:
        print(f"{run.head_sha} is no longer the head of an open pull request: nothing to say")
        return 0
    found = pieces.read(artifacts.documents(client, run.repository, run.run))
    text = body(found, run=run.url)
    # A change that never affected a stack needs no comment; one that no longer does has to say so.
    done = Sticky(client, run.repository, number, MARKER).write(text, create=bool(found.scope.stacks))
    print(f"pull request {number}: comment {done.value}" if done is not Done.ABSENT else "no stack, no comment")
    return 0


def _up(options: argparse.Namespace) -> int:
    return 1 if engine.up(options.stack, Path.cwd(), f"commit {_variable('GITHUB_SHA')}") else 0


def _drift(options: argparse.Namespace) -> int:
    found, text = engine.drift(options.stack, Path.cwd())
    shown = f"\n{fenced(text[-pieces.LONGEST_TEXT :])}\n" if found in (Drift.DRIFTED, Drift.FAILED) else ""
    _append("GITHUB_STEP_SUMMARY", f"### `{options.stack}`: {_DRIFT_WORDS[found]}\n{shown}")
    print(f"{options.stack}: {_DRIFT_WORDS[found]}")
    return 0 if found in (Drift.NONE, Drift.UNKNOWN_STACK) else 1


def _summarize(folder: Path) -> None:
    """What the comment will say, on the page of the run; a fork's change may be read there first."""
    found = pieces.read(path.read_bytes() for path in sorted(folder.glob("*.json")))
    page = f"{os.environ.get('GITHUB_SERVER_URL', '')}/{os.environ.get('GITHUB_REPOSITORY', '')}/actions"
    _append("GITHUB_STEP_SUMMARY", body(found, run=page))


def _put(folder: Path, file: tuple[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / file[0]).write_text(file[1], encoding="utf-8")


def _append(variable: str, text: str) -> None:
    """Append to one of the runner's files; outside a runner there is none."""
    if path := os.environ.get(variable):
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


def _variable(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise WorkflowError(f"{name} is not set; the runner sets it; pass it to this step with env:")
    return value
