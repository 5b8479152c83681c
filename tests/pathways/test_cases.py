"""Inputs with the right answer, from public fault reports of the tools people use for this job."""

from __future__ import annotations

from typing import Any

import pytest

from pathways.capacity import SPOT_LABEL
from pathways.manifests import job_set
from tests.pathways.support import ABSENT, Refused, check_refused, faults, merged, no, plan

V5E: dict[str, Any] = {"tpu": "v5e", "machineType": "ct5lp-hightpu-4t"}
V5P: dict[str, Any] = {"tpu": "v5p", "machineType": "ct5p-hightpu-4t"}


@pytest.mark.parametrize(
    ("slices", "hosts", "chips", "instance_type", "accelerator"),
    [
        ({"topology": "2x4"}, 2, "4", "tpuv6e:2x4", "tpu-v6e-slice"),
        ({"topology": "4x4"}, 4, "4", "tpuv6e:4x4", "tpu-v6e-slice"),
        ({"topology": "16x16"}, 64, "4", "tpuv6e:16x16", "tpu-v6e-slice"),
        ({"machineType": "ct6e-standard-8t", "topology": "2x4"}, 1, "8", "tpuv6e1t:2x4", "tpu-v6e-slice"),
        ({"topology": "2x2"}, 1, "4", "tpuv6e:2x2", "tpu-v6e-slice"),
        (V5E | {"topology": "2x4"}, 2, "4", "tpuv5e:2x4", "tpu-v5-lite-podslice"),
        (V5P | {"topology": "4x4x4"}, 16, "4", "tpuv5:4x4x4", "tpu-v5p-slice"),
        (V5P | {"topology": "4x8x16"}, 128, "4", "tpuv5:4x8x16", "tpu-v5p-slice"),
        (
            {"tpu": "v4", "machineType": "ct4p-hightpu-4t", "topology": "2x2x2"},
            *(2, "4", "tpuv4:2x2x2", "tpu-v4-podslice"),
        ),
        (
            {"tpu": "tpu7x", "machineType": "tpu7x-standard-4t", "topology": "2x2x2"},
            *(2, "4", "tpu7x:2x2x2", "tpu7x"),
        ),
    ],
)
def test_accepted(slices: dict[str, Any], hosts: int, chips: str, instance_type: str, accelerator: str) -> None:
    made = plan({"slices": slices})
    head, worker = job_set(made)["spec"]["replicatedJobs"]
    pod = worker["template"]["spec"]["template"]["spec"]
    assert made.shape.hosts == hosts
    assert made.shape.multi_host == (hosts > 1)
    assert made.totals["hosts"] == 2 * hosts
    assert worker["template"]["spec"]["completions"] == worker["template"]["spec"]["parallelism"] == hosts
    assert pod["containers"][0]["resources"]["limits"] == {"google.com/tpu": chips}
    assert pod["nodeSelector"]["cloud.google.com/gke-tpu-accelerator"] == accelerator
    assert pod["nodeSelector"]["cloud.google.com/gke-tpu-topology"] == slices["topology"]
    resource_manager = head["template"]["spec"]["template"]["spec"]["initContainers"][0]
    assert f"--instance_type={instance_type}" in resource_manager["args"]
    assert "--instance_count=2" in resource_manager["args"]


def test_only_newer_slices_of_several_hosts_have_a_workload_policy() -> None:
    of_7x = {"tpu": "tpu7x", "machineType": "tpu7x-standard-4t"}
    assert plan({"slices": of_7x | {"topology": "2x2x2"}}).workload_policy == "demo-dev-tpu7x-2x2x2"
    assert plan({"slices": of_7x | {"topology": "2x2x1"}}).workload_policy is None
    assert plan({"slices": {"topology": "4x4"}}).workload_policy is None


@pytest.mark.parametrize(
    "case",
    [
        no("slices.topology", {"slices": V5P | {"topology": "2x2"}}, "2x2 has two", "v5p", "three", "2x2x1", "2x2x2"),
        no("slices.topology", {"slices": V5P | {"topology": "4x4x2"}}, "non-decreasing", "write 2x4x4"),
        no(
            "slices.topology",
            {"slices": {"tpu": "v5e", "machineType": "ct5lp-hightpu-8t", "topology": "4x4"}},
            *("8-chip VM is a whole 2x4 slice", "write topology: 2x4"),
        ),
        no("slices.topology", {"slices": {"topology": "1x1"}}, "one chip cannot fill a 4-chip VM", "write one of 2x2"),
        no("slices.topology", {"slices": {"topology": "3x3"}}, "not a v6e", "2x2, 2x4, 4x4, 4x8, 8x8, 8x16, 16x16"),
        no("slices.count", {"slices": {"count": 0}}, "0 is out of range", "from 1 to"),
        no("slices.count", {"slices": {"count": True}}, "(true)", "a whole number", "write the number"),
        no("slices.topology", {"slices": {"topology": "4X4"}}, "4X4", "lower case", "write 4x4"),
        no("runtime.elasticSlices", {"runtime": {"elasticSlices": 3}}, "3 is more than the 2 slices", "at most 2"),
        no(
            "workload.name",
            {"workload": {"name": "train-vision-transformer"}},
            *("24 characters", "at most 22", "coordinator label of 63", "write"),
        ),
        no("workload.name", {"workload": {"name": "Train_1"}}, "Train_1", "lower-case", "write train-1"),
        no(
            "slices.capacity.type",
            {"slices": {"capacity": {"type": "preemptible"}}},
            *("preemptible", "on-demand, spot, reservation, flex-start", "write"),
        ),
        no("slices.capacity.name", {"slices": {"capacity": {"type": "reservation"}}}, "is missing", "write name: "),
        no(
            "head.machineType",
            {"head": {"machineType": "n2-standard-32"}},
            *("n2-standard-32", "need 48 CPU and 232 GB beside the system", "write n2-"),
        ),
        no(
            "runtime.images.server",
            {"runtime": {"images": {"server": "us-docker.pkg.dev/cloud-tpu-v2-images/cloud-pathways/server:latest"}}},
            *("latest is a mutable tag", "write a fixed tag"),
        ),
    ],
)
def test_refused(case: Refused) -> None:
    check_refused(case)


def test_a_misspelt_key_is_refused_with_the_right_one_beside_what_it_leaves_out() -> None:
    lines = faults({"slices": {"topology": ABSENT, "topolgy": "4x4"}})
    assert [line.partition(": ")[0] for line in lines] == ["slices.topology", "slices.topolgy"]
    assert lines[1].endswith("did you mean topology?")
    lines = faults({"slices": {"topolgy": "4x4"}})
    assert len(lines) == 1
    assert lines[0].endswith("did you mean topology?")


def test_spot_is_selected_and_tolerated_by_workers_only() -> None:
    head, worker = job_set(plan({"slices": {"capacity": {"type": "spot"}}}))["spec"]["replicatedJobs"]
    on_demand = job_set(plan())["spec"]["replicatedJobs"][1]
    selector = worker["template"]["spec"]["template"]["spec"]["nodeSelector"]
    assert selector[SPOT_LABEL] == "true"
    assert SPOT_LABEL in str(worker["template"]["spec"]["template"]["spec"]["tolerations"])
    assert SPOT_LABEL not in str(head)
    assert SPOT_LABEL not in str(on_demand)


def test_one_slice_more_changes_the_number_of_workers_and_nothing_else_of_the_job() -> None:
    two, three = job_set(plan()), job_set(plan({"slices": {"count": 3}}))
    assert two != three
    for each in (two, three):
        each["spec"]["replicatedJobs"][1]["replicas"] = 0
        containers = each["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["initContainers"]
        containers[0]["args"] = [arg for arg in containers[0]["args"] if not arg.startswith("--instance_count=")]
    assert two == three


def test_changes_leave_the_base_alone() -> None:
    before = merged({"slices": {"count": 2}})
    merged(before, {"slices": {"count": 3}})
    assert before == {"slices": {"count": 2}}
