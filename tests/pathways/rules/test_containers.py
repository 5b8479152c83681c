from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.pathways.support import INTERACTIVE, Refused, check_refused, faults, merged, no

SIDECAR = "us-docker.pkg.dev/demo-project/p/sidecar:jax-0.11.1"


@pytest.mark.parametrize(
    "case",
    [
        no("runtime.elasticSlices", {"runtime": {"elasticSlices": 3}}, "3 is more than", "≤ slices.count", "at most 2"),
        no(
            "head.machineType", {"head": {"machineType": "n2-standard-48"}}, "48 vCPU", "48 CPU", "write n2-standard-64"
        ),
        no("head.machineType", {"head": {"machineType": "n2-highcpu-64"}}, "64 GiB", "232 GB", "write n2-standard-64"),
        no("head.machineType", {"head": {"machineType": "e2-standard-32"}}, "write n2-"),
        no(
            "head.machineType",
            {"workload": {"resources": {"cpu": 500, "memory": "8Gi"}}},
            *("need 524 CPU", "lower workload.resources"),
        ),
        no("head.machineType", {"workload": {"resources": {"memory": "2Ti"}}}, "lower workload.resources"),
        no(
            "head.machineType",
            merged(INTERACTIVE, {"head": {"machineType": "n2-standard-16"}}),
            *("24 CPU and 132 GB", "write n2-"),
        ),
        no(
            "workload.resources.ephemeralStorage",
            {"workload": {"resources": {"ephemeralStorage": "46Gi"}}},
            *("46Gi is too much", "leaves 45Gi", "write at most 45Gi"),
        ),
        no(
            "runtime.colocatedPython.sharedMemory",
            {"runtime": {"colocatedPython": {"image": SIDECAR, "sharedMemory": "720G"}}},
            *("720G is too much", "720 GB of ct6e-standard-4t", "write at most 360G"),
        ),
        no(
            "runtime.ports.proxy", {"runtime": {"ports": {"proxy": 29001}}}, "the resource manager", "distinct", "29000"
        ),
        no("runtime.ports.proxy", {"runtime": {"ports": {"proxy": 29002}}}, "second port", "distinct"),
        no("runtime.ports.worker", {"runtime": {"ports": {"worker": 8471}}}, "TPU mesh", "distinct", "write another"),
        no("runtime.ports.worker", {"runtime": {"ports": {"worker": 8470}}}, "8470 takes 8471", "TPU mesh"),
        no("runtime.ports.worker", {"runtime": {"ports": {"worker": 8431}}}, "metrics", "write another"),
        no("runtime.ports.worker", {"runtime": {"ports": {"worker": 8079}}}, "8079 takes 8080", "megascale"),
        no(
            "runtime.ports.worker",
            {"runtime": {"ports": {"worker": 50050}, "colocatedPython": {"image": SIDECAR}}},
            *("50050 takes 50051", "sidecar", "distinct"),
        ),
        no(
            "runtime.ports.worker",
            {"runtime": {"hostNetwork": True, "ports": {"worker": 10249}}},
            *("10250 belongs to kubelet", "hostNetwork", "write another port"),
        ),
        no("runtime.ports.proxy", {"runtime": {"hostNetwork": True, "ports": {"proxy": 22}}}, "22 belongs to SSH"),
        no("runtime.ports.proxy", {"runtime": {"hostNetwork": True, "ports": {"proxy": 988}}}, "the metadata server"),
        no("workload.args[1]", {"workload": {"args": ["a", "x" * 131_072]}}, "131072 bytes", "up to 131071", "a file"),
        no("workload.env.A", {"workload": {"env": {"A": "é" * 65_535}}}, "131072 bytes are too many"),
        no("runtime.env.worker.A", {"runtime": {"env": {"worker": {"A": "x" * 131_070}}}}, "131072 bytes"),
        no("runtime.flags.proxy[0]", {"runtime": {"flags": {"proxy": ["--a=" + "x" * 131_068]}}}, "131072 bytes"),
        no("workload", {"workload": {"args": ["x" * 100_000] * 11}}, "in all are too many", "up to 1000000 bytes"),
        no(
            "runtime.ports.resourceManager",
            {"runtime": {"hostNetwork": True, "ports": {"resourceManager": 10254}}},
            *("10255 belongs to kubelet",),
        ),
        no(
            "workload.args",
            {"workload": {"args": ["--host=$(NOPE)"]}},
            *("$(NOPE) is not declared", "same container", "declare NOPE in workload.env", "$$(NOPE)"),
        ),
        no("workload.command", {"workload": {"command": ["sh", "-c", "echo $(X) $$(Y)"]}}, "$(X) is not declared"),
        no("workload.args", {"workload": {"args": ["$$$(X)"]}}, "$(X) is not declared"),
        no("workload.args", {"workload": {"args": ["$(HOST_ADDRESS)"]}}, "not declared"),
        no(
            "runtime.flags.resourceManager",
            {"runtime": {"flags": {"resourceManager": ["--vmodule=$(PATHWAYS_HEAD)"]}}},
            *("$(PATHWAYS_HEAD) is not declared", "same container", "runtime.env.resourceManager"),
        ),
        no(
            "runtime.flags.worker",
            {"runtime": {"flags": {"worker": ["--log_dir=$(DIR)"]}, "env": {"proxy": {"DIR": "/d"}}}},
            *("$(DIR) is not declared", "declare DIR in runtime.env.worker"),
        ),
    ],
)
def test_refused(case: Refused) -> None:
    check_refused(case)


@pytest.mark.parametrize(
    "changes",
    [
        {"runtime": {"elasticSlices": 2}},
        {"head": {"machineType": "n4-standard-64"}},
        {"head": {"machineType": "c3-standard-88"}},
        {"head": {"machineType": "n2-highmem-32"}, "workload": {"resources": {"cpu": "500m", "memory": "1G"}}},
        merged(INTERACTIVE, {"head": {"machineType": "n2-standard-48"}}),
        {"workload": {"resources": {"ephemeralStorage": "45Gi"}}},
        {"runtime": {"colocatedPython": {"image": SIDECAR, "sharedMemory": "670Gi"}}},
        {"runtime": {"ports": {"proxy": 29003}}},
        {"runtime": {"ports": {"proxy": 988}}},
        {"workload": {"args": ["x" * 131_071], "env": {"A": "x" * 131_069}}},
        {"runtime": {"ports": {"proxy": 65535, "resourceManager": 65533}}},
        {"runtime": {"ports": {"worker": 29005}}},
        {"runtime": {"ports": {"worker": 8472}}},
        {"runtime": {"ports": {"worker": 50051}}},
        {"runtime": {"ports": {"worker": 10250}}},
        {"runtime": {"hostNetwork": True}},
        {
            "workload": {
                "args": ["$(PATHWAYS_HEAD)", "$(JAX_BACKEND_TARGET)", "$(PYTHONUNBUFFERED)", "$$(NOPE)", "$NOPE"]
            }
        },
        {"workload": {"args": ["$(MINE)"], "env": {"MINE": "1"}}},
        {"runtime": {"flags": {"worker": ["--log_dir=$(DIR)"]}, "env": {"worker": {"DIR": "/d"}}}},
        {"runtime": {"flags": {"worker": ["--vmodule=$(TPU_MIN_LOG_LEVEL)"], "proxy": ["--vmodule=$$(NOPE)"]}}},
    ],
)
def test_accepted(changes: Mapping[str, Any]) -> None:
    assert faults(changes) == []


def test_both_machines_that_are_too_small_are_named_once_each() -> None:
    lines = faults({"workload": {"resources": {"ephemeralStorage": "1Ti", "memory": "2Ti"}}})
    assert [line.partition(": ")[0] for line in lines] == ["head.machineType", "workload.resources.ephemeralStorage"]
