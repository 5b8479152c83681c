"""The command line: `python -m policy STACK… | --all`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import offline
from offline.errors import OfflineError
from offline.project import find_project
from offline.stackfile import known_stacks
from offline.text import shown_path
from policy.evaluate import evaluate
from policy.model import Finding, Waiver
from policy.reference import PAGE, write
from policy.report import report, rules_page
from policy.waivers import FILE, expired, is_scanner_rule, load, this_day, unused


def main(arguments: Sequence[str] | None = None, *, today: date | None = None) -> int:
    """Check stacks; 1 if a mandatory rule is broken without a waiver, or a waiver has expired, else 0."""
    options = _parser().parse_args(arguments)
    if options.rules:
        print(rules_page(), end="")
        return 0
    if options.write:
        print(f"wrote {shown_path(write(find_project(options.project).directory))}")
        return 0
    try:
        return _check(options, today or this_day())
    except OfflineError as error:
        print(*error.lines, sep="\n", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m policy",
        description="Hold what `pulumi up` would make against the rules, without a cloud or an account.",
        epilog="STACK is the name of a stack, such as vision-dev, or the path of any stack file. "
        "Exit 1: a mandatory rule is broken without a waiver, or a waiver has expired.",
    )
    parser.add_argument("stack", nargs="*", metavar="STACK", help="a stack's name or the path of a stack file")
    parser.add_argument("--all", action="store_true", help="every stack that has a file")
    parser.add_argument("--json", action="store_true", help="as JSON: findings, expired and unused waivers")
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument("--rules", action="store_true", help="list the rules instead")
    instead.add_argument("--write", action="store_true", help=f"write the table of rules in {PAGE} instead")
    parser.add_argument("--project", type=Path, metavar="DIR", help="the project's directory (default: the current)")
    parser.add_argument("--waivers", type=Path, metavar="FILE", default=FILE, help="default: policy/waivers.yaml")
    parser.set_defaults(parser=parser)
    return parser


def _check(options: argparse.Namespace, today: date) -> int:
    if bool(options.stack) == options.all:
        options.parser.error("name at least one STACK, or write --all, but not both")
    waivers = load(options.waivers)
    stacks = options.stack or known_stacks(find_project(options.project))
    found: dict[str, list[Finding]] = {}
    for stack in stacks:
        recording = offline.record(stack, project=options.project)
        found[recording.stack] = evaluate(recording, waivers, today)
    every = [finding for findings in found.values() for finding in findings]
    late = expired(waivers, today)
    idle = _idle(waivers, every, today) if options.all else []
    if options.json:
        print(json.dumps(_form(found, late, idle), indent=2))
    else:
        print("\n".join(report(found, late, idle)))
    return int(bool(late) or any(finding.stops for finding in every))


def _idle(waivers: Sequence[Waiver], findings: Sequence[Finding], today: date) -> list[str]:
    """Unused waivers of our rules; those of Checkov's are `make scan`'s affair, expired ones are named anyway."""
    ours = [each for each in waivers if not is_scanner_rule(each.rule) and each.until >= today]
    return unused(ours, [finding.waiver for finding in findings if finding.waiver is not None])


def _form(found: dict[str, list[Finding]], late: Sequence[str], idle: Sequence[str]) -> dict[str, Any]:
    return {
        "stacks": list(found),
        "findings": [finding.to_json() for findings in found.values() for finding in findings],
        "expired": list(late),
        "unused": list(idle),
    }
