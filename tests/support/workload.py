"""The Pathways JobSet and the TPU pools of a recording, read into types that the rules share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any

from tests.support.recording import NODE_POOL, Recording, Resource, at, is_opaque

HEAD_JOB = "pathways-head"
WORKER_JOB = "worker"
RESOURCE_MANAGER = "pathways-rm"
PROXY = "pathways-proxy"
TPU_RESOURCE = "google.com/tpu"
SPOT_LABEL = "cloud.google.com/gke-spot"
TOPOLOGY_LABEL = "cloud.google.com/gke-tpu-topology"

_TPU_MACHINE = re.compile(r"(ct\d|tpu)")  # ct4p-, ct5lp-, ct5p-, ct6e-, tpu7-, tpu7x-; no CPU family starts so

Container = Mapping[str, Any]


@dataclass(frozen=True)
class Job:
    """One replicated job of the JobSet."""

    path: str
    replicas: Any
    spec: Mapping[str, Any]
    pod: Mapping[str, Any]
    annotations: Mapping[str, Any]

    def containers(self) -> Iterator[tuple[str, Container]]:
        """Every container with its path, the native sidecars first."""
        pod_path = f"{self.path}.template.spec.template.spec"
        for group in ("initContainers", "containers"):
            for index, container in enumerate(self.pod.get(group, ())):
                yield f"{pod_path}.{group}[{index}]", container


@dataclass(frozen=True)
class Workload:
    """The JobSet of a recording with its head and worker jobs."""

    resource: Resource
    head: Job
    worker: Job

    def jobs(self) -> tuple[Job, Job]:
        """Head and worker."""
        return self.head, self.worker

    def head_containers(self, group: str) -> dict[str, Container]:
        """The head's `containers` or `initContainers` by name."""
        return {container["name"]: container for container in self.head.pod.get(group, ())}

    def head_container(self, name: str) -> Container | None:
        """A container of the head by name, wherever it stands."""
        return (self.head_containers("initContainers") | self.head_containers("containers")).get(name)

    def user_containers(self) -> list[tuple[str, Container]]:
        """The head's containers that are not Pathways' own; none in interactive mode."""
        return [
            (path, container)
            for path, container in self.head.containers()
            if ".containers[" in path and container["name"] not in {RESOURCE_MANAGER, PROXY}
        ]

    def tpu_container(self) -> Container | None:
        """The worker's container that takes the TPU chips."""
        for _, container in self.worker.containers():
            if at(container, "resources.limits") and TPU_RESOURCE in container["resources"]["limits"]:
                return container
        return None


@lru_cache(maxsize=16)  # a dozen rules ask in a row
def workload(recording: Recording) -> Workload | None:
    """The recording's only JobSet, or None where it does not have exactly one with the pods of head and workers."""
    jobsets = [resource for resource in recording.resources if resource.type.endswith(":JobSet")]
    if len(jobsets) != 1:
        return None
    jobs = {
        entry["name"]: _job(entry, f"spec.replicatedJobs[{index}]")
        for index, entry in enumerate(jobsets[0].input("spec.replicatedJobs") or ())
        if isinstance(at(entry, "template.spec.template.spec"), Mapping)
    }
    if set(jobs) != {HEAD_JOB, WORKER_JOB}:
        return None
    return Workload(jobsets[0], jobs[HEAD_JOB], jobs[WORKER_JOB])


def _job(entry: Mapping[str, Any], path: str) -> Job:
    return Job(
        path=path,
        replicas=entry.get("replicas", 1),
        spec=at(entry, "template.spec"),
        pod=at(entry, "template.spec.template.spec"),
        annotations=at(entry, "template.metadata.annotations") or {},
    )


def tpu_pools(recording: Recording) -> list[Resource]:
    """The node pools whose machines have TPU chips, in recorded order."""
    return [pool for pool in recording.of_type(NODE_POOL) if is_tpu_pool(pool)]


def is_tpu_pool(pool: Resource) -> bool:
    """Whether a node pool's machine type is a TPU VM."""
    return _TPU_MACHINE.match(str(pool.input("nodeConfig.machineType"))) is not None


def is_flex_start(pool: Resource) -> bool:
    """Whether a node pool is provisioned by flex-start."""
    return pool.input("nodeConfig.flexStart") is True


def hosts(pool: Resource) -> int | None:
    """The hosts of a TPU pool: its static node count, or what flex-start may scale it to; None where not stated."""
    count = pool.input("autoscaling.maxNodeCount") if is_flex_start(pool) else pool.input("nodeCount")
    return count if isinstance(count, int) else None


def flag(container: Container, name: str) -> str | None:
    """The value of `--name=value` among a container's args; None where absent or not known yet."""
    for argument in container.get("args", ()):
        if not is_opaque(argument) and str(argument).startswith(f"--{name}="):
            return str(argument).partition("=")[2]
    return None


def env(container: Container) -> dict[str, Any]:
    """A container's variables that have a plain value."""
    return {entry["name"]: entry["value"] for entry in container.get("env", ()) if "value" in entry}


def chips(topology: str) -> int:
    """The chips of a topology: the product of its dimensions.

    Raises:
        ValueError: the text is no topology.
    """
    return prod(int(size) for size in topology.split("x"))
