"""The containers of head and worker pods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pathways.client import in_head_target
from pathways.containers import DEFAULT_ENV, SHARED_MEMORY_DIRECTORY, SIDECAR_PORT, Role
from pathways.flags import proxy_flags, resource_manager_flags, worker_flags
from pathways.head import PROXY, RESOURCE_MANAGER
from pathways.images import Image
from pathways.plan import Plan
from pathways.settings.workload import Batch, Resources

Container = dict[str, Any]

_COORDINATOR = "metadata.labels['jobset.sigs.k8s.io/coordinator']"
_HEAD = "$(PATHWAYS_HEAD)"
_SHARED_MEMORY = "shared-memory"
# A server that is up answers at once; five minutes cover a slow start, image pulls not included.
_STARTUP = {"periodSeconds": 2, "failureThreshold": 150}


def resource_manager(plan: Plan) -> Container:
    """The resource manager, which owns the slices."""
    port = plan.settings.runtime.ports.resource_manager
    env = [
        _from_field("HOST_ADDRESS", _COORDINATOR),
        *_job_names(),
        _value("TPU_SKIP_MDS_QUERY", "true"),
        *_values(plan.settings.runtime.env.resource_manager),
    ]
    return {
        **_server("pathways-rm", plan.images["server"], resource_manager_flags(plan), env),
        "ports": [_port("rm", port), _port("rm-second", port + 1)],
        "resources": _limits(RESOURCE_MANAGER),
        "startupProbe": {"tcpSocket": {"port": port}, **_STARTUP},
    }


def proxy(plan: Plan) -> Container:
    """The IFRT proxy server, which clients talk to."""
    port = plan.settings.runtime.ports.proxy
    env = [_from_field("PATHWAYS_HEAD", _COORDINATOR), *_values(plan.settings.runtime.env.proxy)]
    return {
        **_server("pathways-proxy", plan.images["proxy"], proxy_flags(plan, _HEAD, "gke"), env),
        "ports": [_port("proxy", port)],
        "resources": _limits(PROXY),
        "startupProbe": {"tcpSocket": {"port": port}, **_STARTUP},
    }


def user(plan: Plan, workload: Batch) -> Container:
    """The user's container: a JAX client of the proxy in its own pod."""
    env = [
        _from_field("PATHWAYS_HEAD", _COORDINATOR),
        _value("JAX_PLATFORMS", "proxy"),
        _value("JAX_BACKEND_TARGET", in_head_target(plan)),
        _value("XCLOUD_ENVIRONMENT", "GCP"),
        *_defaulted("user", workload.env),
    ]
    return {
        "name": "main",
        "image": workload.image,
        "imagePullPolicy": _pull_policy(workload.image),
        **({"command": list(workload.command)} if workload.command else {}),
        **({"args": list(workload.args)} if workload.args else {}),
        "env": env,
        "resources": _limits(workload.resources),
        "securityContext": _unprivileged(),
    }


def worker(plan: Plan) -> Container:
    """A worker: it takes all chips of its VM."""
    port = plan.settings.runtime.ports.worker
    env = [
        _from_field("PATHWAYS_HEAD", _COORDINATOR),
        *_job_names(),
        _from_field("MEGASCALE_NUM_SLICES", "metadata.labels['jobset.sigs.k8s.io/replicatedjob-replicas']"),
        _from_field("MEGASCALE_SLICE_ID", "metadata.labels['jobset.sigs.k8s.io/job-index']"),
        _value("MEGASCALE_COORDINATOR_ADDRESS", _HEAD),
        *_defaulted("worker", plan.settings.runtime.env.worker),
    ]
    mounts = {"volumeMounts": [_mount()]} if plan.settings.runtime.colocated_python else {}
    return {
        **_server("pathways-worker", plan.images["server"], worker_flags(plan, _HEAD), env),
        "ports": [_port("worker", port), _port("worker-second", port + 1)],
        "resources": {"limits": {"google.com/tpu": str(plan.shape.machine.chips)}},
        **mounts,
    }


def sidecar(plan: Plan) -> Container:
    """The colocated-python sidecar of a worker: it starts before the worker and ends with it."""
    env = [
        _value("GRPC_SERVER_ADDRESS", f"0.0.0.0:{SIDECAR_PORT}"),
        _value("CLOUD_PATHWAYS_SIDECAR_SHM_DIRECTORY", SHARED_MEMORY_DIRECTORY),
        _value("PYTHONUNBUFFERED", "1"),
    ]
    image = plan.images["sidecar"]
    return {
        "name": "colocated-python-sidecar",
        "image": image,
        "imagePullPolicy": _pull_policy(image),
        "env": env,
        "ports": [_port("sidecar", SIDECAR_PORT)],
        "volumeMounts": [_mount()],
        "securityContext": _unprivileged(),
        "restartPolicy": "Always",
    }


def shared_memory_volume(limit: str | None) -> dict[str, Any]:
    """The memory that worker and sidecar share; without a limit it is bounded by the host's."""
    size = {"sizeLimit": limit} if limit else {}
    return {"name": _SHARED_MEMORY, "emptyDir": {"medium": "Memory", **size}}


def _server(name: str, image: str, args: list[str], env: list[dict[str, Any]]) -> Container:
    """What the Pathways servers have in common; only `args`, since the images bring their own entry point."""
    return {
        "name": name,
        "image": image,
        "imagePullPolicy": _pull_policy(image),
        "args": args,
        "env": env,
        "securityContext": _unprivileged(),
    }


def _pull_policy(image: str) -> str:
    return "IfNotPresent" if Image.parse(image).digest else "Always"


def _unprivileged() -> dict[str, Any]:
    # No dropped capabilities and no fixed user: the proxy switches to its own user, and user images are the user's.
    return {"allowPrivilegeEscalation": False, "privileged": False}


def _limits(resources: Resources) -> dict[str, Any]:
    storage = {"ephemeral-storage": resources.ephemeral_storage} if resources.ephemeral_storage else {}
    return {"limits": {"cpu": str(resources.cpu), "memory": resources.memory, **storage}}


def _job_names() -> list[dict[str, Any]]:
    return [
        _from_field("REPLICATED_JOB_NAME", "metadata.annotations['jobset.sigs.k8s.io/replicatedjob-name']"),
        _from_field("JOBSET_NAME", "metadata.annotations['jobset.sigs.k8s.io/jobset-name']"),
    ]


def _from_field(name: str, path: str) -> dict[str, Any]:
    return {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}


def _value(name: str, value: str) -> dict[str, Any]:
    return {"name": name, "value": value}


def _values(env: Mapping[str, str]) -> list[dict[str, Any]]:
    return [_value(name, value) for name, value in env.items()]


def _defaulted(role: Role, env: Mapping[str, str]) -> list[dict[str, Any]]:
    """A container's variables after the managed ones: defaults that the file leaves alone, then the file's own.

    Kubernetes expands only what stands earlier, so a default that the file sets anew moves to where the file has it.
    """
    return _values({**{name: value for name, value in DEFAULT_ENV[role].items() if name not in env}, **env})


def _port(name: str, number: int) -> dict[str, Any]:
    return {"name": name, "containerPort": number, "protocol": "TCP"}


def _mount() -> dict[str, Any]:
    return {"name": _SHARED_MEMORY, "mountPath": SHARED_MEMORY_DIRECTORY}
