"""Stack files from public fault reports, through the command line as a user has it: accepted ones and refused ones."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from offline.cli import main
from tests.program.support import CHECKOUT, INTERACTIVE, config
from tests.support import rendered
from tests.support.recording import Recording, read
from tests.support.workload import RESOURCE_MANAGER, flag, hosts, tpu_pools, workload

pytestmark = pytest.mark.usefixtures("remembering")

SERVER = "us-docker.pkg.dev/cloud-tpu-v2-images/cloud-pathways/server:latest"
V5E = {"tpu": "v5e", "machineType": "ct5lp-hightpu-4t"}
V5P = {"tpu": "v5p", "machineType": "ct5p-hightpu-4t"}
V4 = {"tpu": "v4", "machineType": "ct4p-hightpu-4t"}
TPU7X = {"tpu": "tpu7x", "machineType": "tpu7x-standard-4t"}
COMPACT, POLICY, NONE = "COMPACT", "", None


class Accepted(NamedTuple):
    """Slices, and what they come to; `chips` are those of one worker, `placement` is the type of the pool's policy."""

    slices: dict[str, Any]
    hosts: int
    chips: str
    instance_type: str
    accelerator: str
    placement: str | None


ACCEPTED = [
    Accepted({"topology": "2x4"}, 2, "4", "tpuv6e:2x4", "tpu-v6e-slice", COMPACT),
    Accepted({"topology": "4x4"}, 4, "4", "tpuv6e:4x4", "tpu-v6e-slice", COMPACT),
    Accepted({"topology": "16x16"}, 64, "4", "tpuv6e:16x16", "tpu-v6e-slice", COMPACT),
    Accepted({"topology": "2x4", "machineType": "ct6e-standard-8t"}, 1, "8", "tpuv6e1t:2x4", "tpu-v6e-slice", NONE),
    Accepted({"topology": "2x2"}, 1, "4", "tpuv6e:2x2", "tpu-v6e-slice", NONE),
    Accepted({**V5E, "topology": "2x4"}, 2, "4", "tpuv5e:2x4", "tpu-v5-lite-podslice", COMPACT),
    Accepted({**V5P, "topology": "4x4x4"}, 16, "4", "tpuv5:4x4x4", "tpu-v5p-slice", COMPACT),
    Accepted({**V5P, "topology": "4x8x16"}, 128, "4", "tpuv5:4x8x16", "tpu-v5p-slice", COMPACT),
    Accepted({**V4, "topology": "2x2x2"}, 2, "4", "tpuv4:2x2x2", "tpu-v4-podslice", COMPACT),
    Accepted({**TPU7X, "topology": "2x2x2"}, 2, "4", "tpu7x:2x2x2", "tpu7x", POLICY),
]

# Changes, the key that the line names, and what it says of value, rule and what to write.
REFUSED: list[tuple[dict[str, Any], str, tuple[str, ...]]] = [
    ({"slices": {**V5P, "topology": "2x2"}}, "slices.topology", ("2x2", "three dimensions", "2x2x1", "2x2x2")),
    ({"slices": {**V5P, "topology": "4x4x2"}}, "slices.topology", ("4x4x2", "non-decreasing", "write 2x4x4")),
    (
        {"slices": {"tpu": "v5e", "machineType": "ct5lp-hightpu-8t", "topology": "4x4"}},
        "slices.topology",
        ("4x4", "8-chip VM is a whole 2x4 slice", "write topology: 2x4"),
    ),
    ({"slices": {"topology": "1x1"}}, "slices.topology", ("one chip cannot fill a 4-chip VM", "2x2")),
    ({"slices": {"topology": "3x3"}}, "slices.topology", ("3x3", "2x2, 2x4, 4x4, 4x8, 8x8, 8x16, 16x16")),
    ({"slices": {"count": 0}}, "slices.count", ("0",)),
    ({"slices": {"count": True}}, "slices.count", ("true",)),
    ({"slices": {"topology": "4X4"}}, "slices.topology", ("4X4", "write 4x4")),
    ({"slices": {"topology": None, "topolgy": "4x4"}}, "slices.topolgy", ("unknown key", "topology")),
    ({"runtime": {"elasticSlices": 3}}, "runtime.elasticSlices", ("3", "2 slices", "at most 2")),
    ({"workload": {"name": "train-vision-transformer"}}, "workload.name", ("24 characters", "22", "63")),
    ({"workload": {"name": "Train_1"}}, "workload.name", ("Train_1", "write train-1")),
    (
        {"slices": {"capacity": {"type": "preemptible"}}},
        "slices.capacity.type",
        ("preemptible", "on-demand", "spot", "reservation", "flex-start"),
    ),
    ({"slices": {"capacity": {"type": "reservation"}}}, "slices.capacity.name", ("missing",)),
    ({"head": {"machineType": "n2-standard-32"}}, "head.machineType", ("n2-standard-32", "48 CPU", "232")),
    ({"runtime": {"images": {"server": SERVER}}}, "runtime.images.server", ("latest", "mutable tag", SERVER)),
]


def write(directory: Path, values: dict[str, Any]) -> Path:
    """A stack file of these values."""
    path = directory / "Pulumi.demo-dev.yaml"
    path.write_text(yaml.safe_dump({"config": values}, sort_keys=False))
    return path


def shown(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """What `python -m offline show PATH --json` answers, run in this process."""
    status = main(["show", str(path), "--json", "--project", str(CHECKOUT)])
    out, err = capsys.readouterr()
    return status, out, err


def accepted(directory: Path, values: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> Recording:
    status, out, err = shown(write(directory, values), capsys)
    assert (status, err) == (0, "")
    return read(json.loads(out))


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted(case: Accepted, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = accepted(tmp_path, config(slices=case.slices), capsys)
    pools, current = tpu_pools(recording), workload(recording)
    assert current is not None
    manager, worker = current.head_container(RESOURCE_MANAGER), current.tpu_container()
    assert manager is not None
    assert worker is not None
    assert [hosts(pool) for pool in pools] == [case.hosts] * 2
    assert [pool.input("placementPolicy.type") for pool in pools] == [case.placement] * 2
    assert worker["resources"]["limits"] == {"google.com/tpu": case.chips}
    assert flag(manager, "instance_type") == case.instance_type
    assert current.worker.pod["nodeSelector"]["cloud.google.com/gke-tpu-accelerator"] == case.accelerator
    assert rendered.problems(recording) == []


@pytest.mark.parametrize(("changes", "key", "says"), REFUSED, ids=[row[1] + "-" + row[2][0][:12] for row in REFUSED])
def test_refused(
    changes: dict[str, Any], key: str, says: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, config(**changes))
    status, out, err = shown(path, capsys)
    assert (status, out) == (1, "")
    lines = err.splitlines()
    (line,) = [line for line in lines if line.startswith(f"{path}: {key}: ")]
    for part in says:
        assert part in line
    assert all(re.fullmatch(rf"{re.escape(str(path))}: \S+: [^;]+; .+; .+", each) for each in lines), lines


def test_in_interactive_mode_the_servers_are_plain_containers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    current = workload(accepted(tmp_path, config(workload={**INTERACTIVE}), capsys))
    assert current is not None
    assert list(current.head_containers("containers")) == ["pathways-rm", "pathways-proxy"]
    assert "initContainers" not in current.head.pod
    assert not any("restartPolicy" in container for _, container in current.head.containers())


TEN_FAULTS = {
    "head": {"machineType": "n2-standard-32"},
    "runtime": {"elasticSlices": 3, "maxRestarts": -1, "jaxVersion": "new", "hostnetwork": True},
    "scratch": {"retentionDays": 0},
    "network": {"mtu": 9000},
    "slices": {"topology": "3x3", "capacity": {"type": "preemptible"}},
    "workload": {"name": "Train_1"},
}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """`python -m offline` as a process of its own."""
    command = [sys.executable, "-m", "offline", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    return subprocess.run(
        command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("command", ["show", "manifest"])
def test_ten_faults_in_one_file_are_ten_lines_on_stderr_and_nothing_else(command: str, tmp_path: Path) -> None:
    path = write(tmp_path, config(**TEN_FAULTS))
    done = run(command, str(path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" not in done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == len(set(lines)) == 10, done.stderr
    assert all(line.startswith(f"{path}: ") for line in lines)
