"""Recordings of this checkout's program, each made once in a process: no test changes one.

A recording costs a third of a second, and the same few stacks are asked for by tests of every room.
"""

from __future__ import annotations

import gc
import json
from functools import cache
from pathlib import Path

from offline.project import load_project
from offline.recording import Mode, Recording
from offline.runner import record_stack
from offline.stackfile import StackFile, load_stack

CHECKOUT = Path(__file__).parents[2]
PROJECT = load_project(CHECKOUT)

_made: dict[tuple[str, Mode], Recording] = {}


def committed(stack: str, mode: Mode = "preview") -> Recording:
    """What the program registers for a committed stack file."""
    return recorded(load_stack(PROJECT, stack), mode)


@cache
def committed_again(stack: str) -> Recording:
    """A second, independent preview of a committed stack file."""
    return record_stack(PROJECT, load_stack(PROJECT, stack))


def recorded(file: StackFile, mode: Mode) -> Recording:
    """What the program registers for any stack file; files of the same name and content share a recording."""
    content = json.dumps([file.stack, file.label, file.config, sorted(file.secret_keys)], default=dict)
    if (content, mode) not in _made:
        _made[content, mode] = record_stack(PROJECT, file, mode)
        # It stays to the end, and so does the SDK: the collector need not look at them ever again.
        gc.collect()
        gc.freeze()
    return _made[content, mode]
