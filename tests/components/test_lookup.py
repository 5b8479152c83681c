"""A name that nothing answers to is one sentence about the stack file, and no traceback."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from offline.errors import OfflineError
from offline.monitor import RecordingMonitor
from tests.program.support import EXISTING, config, merged, run

BUCKET = {"scratch": {"existing": "acme-scratch"}}
LOOK_UPS: list[tuple[str, Mapping[str, Any], str, str]] = [
    ("gcp:compute/getNetwork:getNetwork", EXISTING, "network.existing.network: shared", "compute networks list"),
    (
        "gcp:compute/getSubnetwork:getSubnetwork",
        EXISTING,
        "network.existing.subnetwork: nodes",
        "compute networks subnets list",
    ),
    ("gcp:container/getCluster:getCluster", EXISTING, "cluster.existing.name: research", "container clusters list"),
    ("gcp:storage/getBucket:getBucket", BUCKET, "scratch.existing: acme-scratch", "storage buckets list"),
    ("gcp:organizations/getProject:getProject", {}, "gcp:project: demo-project", "projects list"),
]


def _absent(token: str) -> Callable[[RecordingMonitor, Any], Any]:
    """The monitor's `Invoke`, which for this look-up answers as the engine does when a provider finds nothing."""
    answered = RecordingMonitor.Invoke

    def invoke(monitor: RecordingMonitor, request: Any) -> Any:
        response = answered(monitor, request)
        if request.tok == token:
            response.ClearField("return")
            response.failures.add(reason="1 error occurred:\n\t* it was not found")
        return response

    return invoke


@pytest.mark.parametrize(("token", "changes", "what", "fix"), LOOK_UPS, ids=[row[0] for row in LOOK_UPS])
def test_what_is_not_there_is_said_where_it_stands(
    monkeypatch: pytest.MonkeyPatch, token: str, changes: Mapping[str, Any], what: str, fix: str
) -> None:
    monkeypatch.setattr(RecordingMonitor, "Invoke", _absent(token))
    # Not one of the other tests' recordings, and none for them.
    values = config(**merged(changes, {"workload": {"name": "absent"}}))
    with pytest.raises(OfflineError) as raised:
        run(values, "up")
    (line,) = raised.value.lines
    assert line.startswith(f"stacks/Pulumi.demo-dev.yaml: {what} is not there or may not be seen (Google Cloud: ")
    assert "* it was not found" in line
    assert "; the " in line
    assert f"gcloud {fix}" in line.rpartition("; write ")[2]
