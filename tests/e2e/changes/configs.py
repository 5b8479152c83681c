"""A stack file with edits, so that the engine here can run it: charts come from the programs' folders."""

from __future__ import annotations

import copy
import shutil
from typing import Any

import yaml

from pathways.settings.platform import JobSetOperator
from tests.e2e.engine.deployment import ROOT
from tests.e2e.world import JOBSET_KEY, World
from tests.offline.diff.table import Edit, edited

CURRENT = str(JobSetOperator.model_fields["version"].default)
"""The JobSet release that is installed where a stack file names none."""
MIRROR = "oci://mirror.example.com/jobset"
"""The mirror that the table names; here a second folder with the same chart."""


def config(world: World, stack: str, *edits: Edit) -> dict[str, Any]:
    """The config of a committed stack file with these edits made, one after the other."""
    found: dict[str, Any] = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text())["config"]
    for edit in edits:
        found = edited(found, copy.deepcopy(dict(edit)))
    jobset = found.setdefault(JOBSET_KEY, {}).setdefault("jobset", {})
    if jobset.get("install", True):
        jobset["chart"] = _chart(world, jobset.get("version", CURRENT), jobset.get("chart"))
    return found


def _chart(world: World, version: str, wanted: str | None) -> str:
    """The chart's folder: releases of it lie beside the programs they belong to."""
    folder = world.chart("jobset" if version == CURRENT else "jobset-previous")
    if wanted is None:
        return str(folder)
    assert wanted == MIRROR, f"no stand-in for the chart {wanted}"
    mirror = world.processes.folder / "mirror" / "jobset"
    if not mirror.exists():
        shutil.copytree(folder, mirror)
    return str(mirror)
