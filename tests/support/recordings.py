"""Recordings of this checkout's program, each made once in a process: no test changes one.

A recording costs a third of a second, and the same few stacks are asked for by tests of every room.
"""

from __future__ import annotations

import gc
import json
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from offline.project import Project, load_project
from offline.recording import Mode, Recording
from offline.runner import record_stack
from offline.stackfile import StackFile, load_stack

CHECKOUT = Path(__file__).parents[2]
PROJECT = load_project(CHECKOUT)

_THREAD = ThreadPoolExecutor(1)
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
    content = json.dumps([file.stack, file.config, sorted(file.secret_keys)], default=dict)
    if (content, mode) not in _made:
        # The SDK sends the whole call stack with each resource; on a thread of its own it has none of pytest's frames.
        _made[content, mode] = _THREAD.submit(record_stack, PROJECT, file, mode).result()
        # It stays to the end, and so does the SDK: the collector need not look at them ever again.
        gc.collect()
        gc.freeze()
    return _made[content, mode]


def remembered(project: Project, file: StackFile, mode: Mode = "preview") -> Recording:
    """`record_stack` for commands that run in this process, see the fixture `remembering`."""
    return recorded(file, mode) if project == PROJECT else record_stack(project, file, mode)
