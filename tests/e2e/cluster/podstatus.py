"""Pod statuses as a kubelet would report them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.e2e.cluster.kube import Kube, Object


def running(pod: Object, address: str, *, ready: bool, restarts: int = 0) -> Object:
    """The status of a pod whose containers run."""
    now = _now()
    state = {"running": {"startedAt": now}}
    status: Object = {
        "phase": "Running",
        "podIP": address,
        "podIPs": [{"ip": address}],
        "hostIP": address,
        "startTime": now,
        "conditions": [_condition("Initialized", True)]
        + [_condition(kind, ready) for kind in ("Ready", "ContainersReady")]
        + [_condition("PodScheduled", True)],
        "containerStatuses": [
            _container(c, state, ready=ready, started=True, restarts=restarts) for c in pod["spec"]["containers"]
        ],
    }
    return status


def waiting(pod: Object, reason: str, message: str) -> Object:
    """The status of a pod whose containers cannot start."""
    state = {"waiting": {"reason": reason, "message": message}}
    containers = [_container(c, state, ready=False, started=False) for c in pod["spec"]["containers"]]
    return {"phase": "Pending", "containerStatuses": containers}


def succeed(kube: Kube, pod: Object) -> Object:
    """Let every container of a pod end with 0: the pod becomes Succeeded."""
    return _end(kube, pod, "Succeeded", {c["name"]: 0 for c in pod["spec"]["containers"]})


def fail(kube: Kube, pod: Object, exit_code: int = 1, container: str | None = None) -> Object:
    """Let a container (default: the first) end with `exit_code`, and with it the pod: it becomes Failed."""
    names = [c["name"] for c in pod["spec"]["containers"]]
    failing = container or names[0]
    return _end(kube, pod, "Failed", {name: exit_code if name == failing else 137 for name in names})


def _end(kube: Kube, pod: Object, phase: str, exit_codes: dict[str, int]) -> Object:
    now = _now()

    def ended(container: Object, code: int) -> Object:
        reason = "Completed" if code == 0 else "Error"
        state = {"terminated": {"exitCode": code, "reason": reason, "startedAt": now, "finishedAt": now}}
        return _container(container, state, ready=False, started=False)

    status: Object = {
        "phase": phase,
        "conditions": [
            {**c, **_condition(c["type"], False)} if c["type"] in {"Ready", "ContainersReady"} else c
            for c in pod.get("status", {}).get("conditions", [])
        ],
        "containerStatuses": [ended(c, exit_codes[c["name"]]) for c in pod["spec"]["containers"]],
        "initContainerStatuses": [ended(c, 0) for c in pod["spec"].get("initContainers", [])],
    }
    meta = pod["metadata"]
    return kube.patch("Pod", meta["name"], meta["namespace"], {"status": status}, sub="status")


def _container(container: Object, state: Object, *, ready: bool, started: bool, restarts: int = 0) -> Object:
    return {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "ready": ready,
        "started": started,
        "restartCount": restarts,
        "state": state,
    }


def _condition(kind: str, value: bool) -> dict[str, Any]:
    return {"type": kind, "status": str(value), "lastTransitionTime": _now()}


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
