"""The offline comparison's verdict on the same two stack files, or programs, that the engine is given."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from offline.diff.engine import compare
from offline.diff.recorder import deployed
from offline.project import load_project
from offline.recording import Recording
from offline.runner import record_stack
from offline.stackfile import StackFile
from tests.e2e.engine.deployment import ROOT


def verdict(
    stack: str, base: Mapping[str, Any], head: Mapping[str, Any], base_program: Path = ROOT, program: Path = ROOT
) -> dict[str, str]:
    """Operation by logical name of all resources that change from one config (and program) to another."""
    file = StackFile(stack, f"Pulumi.{stack}.yaml", head)
    preview = partial(record_stack, load_project(program), file, "preview")
    diff = compare(
        _recorded(base_program, stack, json.dumps(base)), _recorded(program, stack, json.dumps(head)), preview=preview
    )
    return {change.name: change.operation.value for change in diff.changes if change.custom}


@cache
def _recorded(program: Path, stack: str, config: str) -> Recording:
    return deployed(load_project(program), StackFile(stack, f"Pulumi.{stack}.yaml", json.loads(config)))
