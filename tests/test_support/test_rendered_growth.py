"""The rules about two recordings each find their fault."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.recording import Recording
from tests.support.rendered import problems
from tests.support.rendered_growth import nothing_changed, one_more_slice
from tests.test_support import sample
from tests.test_support.changes import Change, add, changed, drop, in_job, in_pod, set_input, set_output


def a_slice(document: dict[str, Any]) -> None:
    """Grows the sample from two slices to three."""
    shape = {"topology": "4x4", "hosts": 4, "chips": 16}
    document["resources"].append(sample.tpu_pool(2))
    document["outputs"]["slices"].append({"pool": "vision-dev-slice-2", **shape})
    document["outputs"]["totals"] = {"slices": 3, "hosts": 12, "chips": 48}
    in_job(1, "replicas", 3)(document)
    in_pod(0, "initContainers.0.args.1", "--instance_count=3")(document)


def three(*changes: Change) -> Recording:
    return changed(a_slice, *changes)


def test_a_slice_more_is_one_pool_more_and_another_jobset() -> None:
    assert problems(three()) == []
    assert one_more_slice(changed(), three()) == []


@pytest.mark.parametrize(
    ("after", "part"),
    [
        (changed(), "added [], not one TPU pool"),
        (three(add(sample.tpu_pool(3))), "added ['slice-2', 'slice-3']"),
        (three(set_input("slice-2", "inputs.nodeConfig.machineType", "n2-standard-8")), "not one TPU pool"),
        (three(set_input("slice-0", "inputs.nodeCount", 8)), "slice-0: : changes"),
        (three(set_input("slice-1", "options.protect", True)), "slice-1: : changes"),
        (three(set_input("head", "inputs.nodeCount", 2)), "head: : changes"),
        (three(drop("slice-1")), "slice-1: : is gone"),
        (three(drop("train")), "missing before or after"),
        (three(set_input("train", "inputs.spec", sample.jobset()["spec"])), "spec: does not change"),
        (three(lambda document: sample.find(document, "train").update(urn="urn:other")), "another resource"),
    ],
)
def test_growth_that_touches_more_or_less_is_found(after: Recording, part: str) -> None:
    lines = one_more_slice(changed(), after)
    assert any(part in line for line in lines), lines


def test_two_runs_of_one_file_are_the_same() -> None:
    assert nothing_changed(changed(), changed()) == []


@pytest.mark.parametrize(
    ("after", "part"),
    [
        (changed(drop("head")), "registered by one run only"),
        (three(), "registered by one run only"),
        (changed(set_input("head", "inputs.nodeCount", 2)), "head: : changes"),
        (changed(set_input("head", "options.protect", True)), "head: : changes"),
        (changed(set_output("location", "elsewhere")), "outputs: : change"),
    ],
)
def test_a_second_run_that_differs_is_found(after: Recording, part: str) -> None:
    lines = nothing_changed(changed(), after)
    assert any(part in line for line in lines), lines
