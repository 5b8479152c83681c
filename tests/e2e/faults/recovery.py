"""A killed run, and what brings its stack back: the commands that the runbook gives to people, run as they stand."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.e2e.cloud.client import SimulatedCloud
from tests.e2e.cloud.store import PROVISIONING, STOPPING
from tests.e2e.cluster.kube import wait_for
from tests.e2e.engine.deployment import ROOT, Deployment
from tests.e2e.engine.runs import Run

ONE_SLICE = {"tpu": "v6e", "topology": "2x4", "count": 1}
"""Two hosts: the smallest slice that has several."""
_GRANTS = ("IAMMember", "IamMember", "projects/service:Service")


def one_slice(config: dict[str, Any]) -> None:
    """Make a stack small."""
    config["pathways:slices"] = dict(ONE_SLICE)


def killed_after(steps: int, deployment: Deployment, operation: str, **options: Any) -> Run:
    """Start an operation and kill engine and plugins once so many resources are finished, before it is over."""
    engine = deployment.start(operation, **options)
    while engine.alive() and engine.finished_steps() < steps:
        time.sleep(0.01)
    under_way = engine.alive()
    run = engine.kill()
    assert under_way, f"{operation} was over before {steps} steps: {run.output[-2000:]}"
    drop_cut_off_metadata(deployment)
    return run


def drop_cut_off_metadata(deployment: Deployment) -> None:
    """`find STATE -name '*.attrs' -empty -delete`: a state in files has a note beside it, which a kill can cut off.

    The state itself is written anew and renamed. With an empty note every command ends in `failed to load checkpoint:
    EOF`; without one, all is well. A state in a bucket has none.
    """
    state = Path(deployment.environment["PULUMI_BACKEND_URL"].removeprefix("file://"))
    for note in state.rglob("*.attrs"):
        if note.stat().st_size == 0:
            note.unlink()


def resume(deployment: Deployment, cloud: SimulatedCloud) -> frozenset[str]:
    """Bring the state of a killed run back to what is true: the lock, what was being made, and what is there.

    Returns the URNs of what was under way.
    """
    stack = f"--stack={deployment.stack}"
    deployment.pulumi("cancel", "--yes", stack)
    wait_for("operations over", lambda: not under_way(cloud))  # gcloud container operations list
    exported, adopted = deployment.folder / "state.json", deployment.folder / "adopted.json"
    deployment.pulumi("stack", "export", stack, f"--file={exported}")
    command = [sys.executable, "-m", "offline", "adopt", str(exported)]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    adopted.write_text(done.stdout)
    deployment.pulumi("stack", "import", stack, f"--file={adopted}")
    deployment.pulumi("refresh", "--yes", "--skip-preview", "--suppress-progress", stack)
    interrupted = json.loads(exported.read_text())["deployment"].get("pending_operations") or ()
    return frozenset(operation["resource"]["urn"] for operation in interrupted)


def under_way(cloud: SimulatedCloud) -> list[str]:
    """What the cloud is still making or deleting."""
    return [found["name"] for found in cloud.resources() if found["status"] in (PROVISIONING, STOPPING)]


def things(cloud: SimulatedCloud) -> set[tuple[str, str, str]]:
    """All that exists: type, id and status; GKE's own names without their random part."""
    return {(found["type"], _steady(found["id"]), found["status"]) for found in cloud.resources()}


def orphans(deployment: Deployment, cloud: SimulatedCloud) -> set[str]:
    """What is in the cloud and not in the state, without what GKE makes itself and what can be granted twice."""
    known = {resource.get("id") for resource in deployment.resources()}
    return {found["id"] for found in cloud.resources() if _owned(found) and found["id"] not in known}


def _owned(found: Mapping[str, Any]) -> bool:
    made_by_gke = found["type"].startswith("cloud:") or found["name"].startswith("gke-")
    return not made_by_gke and not found["type"].endswith(_GRANTS)


def _steady(id_: str) -> str:
    return re.sub(r"-[0-9a-f]{8}-", "-…-", id_)
