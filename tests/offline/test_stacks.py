"""The real program, for every stack that has a file."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import Any

import pytest

from offline.graph import graph
from offline.manifest import manifest
from offline.mermaid import mermaid
from offline.page import WIDTH, Look
from offline.recording import Recording
from offline.show import plan
from offline.stackfile import known_stacks
from offline.svg import svg
from tests.support.documents import documents
from tests.support.recordings import CHECKOUT, PROJECT, committed, committed_again

STACKS = known_stacks(PROJECT)


@pytest.fixture(params=STACKS)
def recording(request: pytest.FixtureRequest) -> Recording:
    return committed(request.param)


def test_two_runs_are_the_same(recording: Recording) -> None:
    assert committed_again(recording.stack) == recording


def test_an_up_registers_what_its_preview_showed_and_leaves_nothing_unknown(recording: Recording) -> None:
    after = committed(recording.stack, "up")
    assert [resource.urn for resource in after.resources] == [resource.urn for resource in recording.resources]
    assert "$unknown" not in json.dumps([resource.to_json() for resource in after.resources])


def test_the_page_fits_and_starts_with_totals(recording: Recording) -> None:
    page = plan(recording, Look()).splitlines()
    assert max(map(len, page)) <= WIDTH
    assert "TPU slice" in page[2]


def test_the_manifest_has_the_job_and_is_yaml(recording: Recording) -> None:
    objects: list[Any] = documents(manifest(recording))
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
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=CHECKOUT)
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["stack"] == STACKS[0]
