"""The real program, for every stack that has a file."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import offline
from offline.graph import graph
from offline.manifest import manifest
from offline.mermaid import mermaid
from offline.page import WIDTH, Look
from offline.project import load_project
from offline.recording import Recording
from offline.show import plan
from offline.stackfile import known_stacks
from offline.svg import svg
from tests.offline.support import recorded

ROOT = Path(offline.__file__).parents[1]
STACKS = known_stacks(load_project(ROOT))


@pytest.fixture(params=STACKS)
def recording(request: pytest.FixtureRequest) -> Recording:
    return recorded(request.param, ROOT)


def test_two_runs_are_the_same(recording: Recording) -> None:
    assert offline.record(recording.stack, project=ROOT) == recording


def test_an_up_registers_what_its_preview_showed_and_leaves_nothing_unknown(recording: Recording) -> None:
    after = recorded(recording.stack, ROOT, "up")
    assert [resource.urn for resource in after.resources] == [resource.urn for resource in recording.resources]
    assert "$unknown" not in json.dumps([resource.to_json() for resource in after.resources])


def test_the_page_fits_and_starts_with_totals(recording: Recording) -> None:
    page = plan(recording, Look()).splitlines()
    assert max(map(len, page)) <= WIDTH
    assert "TPU slice" in page[2]


def test_the_manifest_has_the_job_and_is_yaml(recording: Recording) -> None:
    objects: list[Any] = list(yaml.safe_load_all(manifest(recording)))
    kinds = [each["kind"] for each in objects]
    assert kinds[0] == "Namespace"
    assert kinds[-1] == "JobSet"
    assert "$" not in {key for each in objects for key in each}


def test_the_graph_folds_slices(recording: Recording) -> None:
    drawn = graph(recording)
    (slices,) = [box for box in drawn.root.boxes() if "slice" in box.name and box.noun == "node pool"]
    assert slices.count == recording.outputs["totals"]["slices"]
    assert mermaid(drawn).isascii()
    assert svg(drawn).isascii()


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare to take the network away")
def test_a_machine_without_any_network_will_do() -> None:
    command = ["unshare", "--map-root-user", "--net", sys.executable, "-m", "offline", "show", STACKS[0], "--json"]
    if subprocess.run([*command[:3], "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine does not let a process give up its network")
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["stack"] == STACKS[0]
