"""The arguments of `python -m offline diff`, apart from the command so that other commands need not load it."""

from __future__ import annotations

import argparse
from pathlib import Path

DIFFERENT = 2
"""The exit status of `--exit-code` when there is a difference."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("stack", metavar="STACK", help="a stack's name or the path of a stack file")
    parser.add_argument(
        "--base",
        required=True,
        metavar="REF",
        help="what is deployed: a git ref, a directory with another checkout, or a file that show --json wrote",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON")
    form.add_argument("--markdown", action="store_true", help="as Markdown for a pull-request comment")
    parser.add_argument("--details", type=Path, metavar="FILE", help="write the whole comparison to FILE, as Markdown")
    parser.add_argument("--exit-code", action="store_true", help=f"exit with {DIFFERENT} when there is a difference")
