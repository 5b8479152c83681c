"""The life of one stack: what was seen before and after its first `up`, and questions to what runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.e2e.cloud.store import Call
from tests.e2e.cluster.kube import Kube, Object, wait_for
from tests.e2e.cluster.workloads import HEAD, WORKER, pods_of, running
from tests.e2e.engine.deployment import Deployment
from tests.e2e.engine.runs import Run
from tests.e2e.world import World
from tests.e2e.world_setup import prepare

WRITES = ("Create", "Update", "Delete")
_REFERENCE = re.compile(r"\$\((\w+)\)")


@dataclass(frozen=True)
class Size:
    """What a stack file asks for, worked out by hand: slices, and hosts and chips of each."""

    slices: int
    hosts: int
    chips: int


SIZES = {
    "llm-prod": Size(4, 16, 64),
    "llm-staging": Size(3, 16, 64),
    "research-dev": Size(1, 4, 16),
    "shared-dev": Size(2, 2, 8),
    "vision-dev": Size(2, 4, 16),
    "vision-prod": Size(2, 32, 128),
}


@dataclass(frozen=True)
class Life:
    """A stack that has been previewed on nothing and then brought up.

    Attributes:
        world: Where it lives.
        deployment: Its copy of the project.
        stack: Its name.
        size: What it asks for.
        beforehand: What the cloud had before.
        preview: The preview on nothing.
        after_preview: The writes to the cloud between start and `up`.
        namespaces_before: The namespaces of the control plane at that moment.
        up: The `up`.
    """

    world: World
    deployment: Deployment
    stack: str
    size: Size
    beforehand: list[dict[str, Any]]
    preview: Run
    after_preview: list[Call]
    namespaces_before: set[str]
    up: Run

    @classmethod
    def begin(cls, world: World, stack: str) -> Life:
        """Prepare the world, preview, bring up, and wait until every pod of the job runs."""
        prepare(world, stack)
        mark, beforehand = world.cloud.mark(), world.cloud.resources()
        deployment = world.deployment(stack)
        preview = deployment.preview().expect_ok()
        calls = writes(world, mark)
        namespaces = {n["metadata"]["name"] for n in world.plane.kube.objects("Namespace")}
        up = deployment.up().expect_ok()
        life = cls(world, deployment, stack, SIZES[stack], beforehand, preview, calls, namespaces, up)
        await_pods(world, stack, life.job, 1 + life.size.slices * life.size.hosts)
        return life

    @property
    def kube(self) -> Kube:
        """The API server."""
        return self.world.plane.kube

    @cached_property
    def config(self) -> dict[str, Any]:
        """The stack file's config."""
        return self.world.config(self.stack)

    @cached_property
    def outputs(self) -> dict[str, Any]:
        """The stack's outputs."""
        return self.deployment.outputs()

    @property
    def job(self) -> str:
        """The JobSet's name, which the stack file gives."""
        return str(self.config["pathways:workload"]["name"])

    @property
    def batch(self) -> bool:
        """Whether the head runs a container of the user's."""
        return bool(self.config["pathways:workload"]["mode"] == "batch")

    @property
    def host_network(self) -> bool:
        """Whether the pods use their nodes' network."""
        return bool(self.config.get("pathways:runtime", {}).get("hostNetwork", False))

    def pods(self, replicated_job: str | None = None) -> list[Object]:
        """The job's pods, or those of one of its replicated jobs."""
        return pods_of(self.kube, self.stack, self.job, replicated_job)

    @property
    def head(self) -> Object:
        """The head's pod."""
        (pod,) = self.pods(HEAD)
        return pod

    @property
    def workers(self) -> list[Object]:
        """The workers' pods."""
        return self.pods(WORKER)

    def cloud_resource(self, type_: str, name: str) -> dict[str, Any]:
        """What the cloud has under this type and name."""
        (found,) = [r for r in self.world.cloud.resources(type_) if r["name"] == name]
        return found


def await_pods(world: World, namespace: str, job: str, count: int, seconds: float = 120) -> list[Object]:
    """Wait until this many pods of a JobSet run and are ready; return them."""

    def all_of_them() -> list[Object] | None:
        pods = running(pods_of(world.plane.kube, namespace, job))
        return pods if len(pods) == count else None

    return wait_for(f"{count} pods of {job} running", all_of_them, seconds=seconds)


def writes(world: World, since: int) -> list[Call]:
    """The calls of an engine that changed the cloud."""
    return [call for call in world.cloud.audit(since=since) if call.method in WRITES]


def containers(pod: Object) -> Iterator[Object]:
    """All containers of a pod, native sidecars included."""
    yield from (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"])


def container(pod: Object, name: str) -> Object:
    """One container of a pod."""
    (found,) = [each for each in containers(pod) if each["name"] == name]
    return found


def references(text: str) -> list[str]:
    """The variables that a value or an argument refers to as `$(NAME)`."""
    return _REFERENCE.findall(text)


def environment(pod: Object, each: Object) -> dict[str, str]:
    """A container's variables as its kubelet would set them: fields looked up, `$(NAME)` of earlier ones expanded.

    Raises:
        AssertionError: A field that the pod does not have, or a name that is not declared earlier; the kubelet would
            leave both as they stand.
    """
    known: dict[str, str] = {}
    for variable in each.get("env", []):
        name, where = variable["name"], f"{pod['metadata']['name']}/{each['name']}/{variable['name']}"
        if "valueFrom" in variable:
            known[name] = _field(pod, variable["valueFrom"]["fieldRef"]["fieldPath"], where)
            continue
        value = variable.get("value", "")
        undeclared = [used for used in references(value) if used not in known]
        assert not undeclared, f"{where} refers to {undeclared}, which is not declared before it"
        known[name] = _expand(value, known)
    return known


def arguments(pod: Object, each: Object) -> list[str]:
    """A container's command and arguments with its variables expanded.

    Raises:
        AssertionError: One refers to a variable that the container does not have.
    """
    known = environment(pod, each)
    words = [*each.get("command", ()), *each.get("args", ())]
    undeclared = [used for word in words for used in references(word) if used not in known]
    assert not undeclared, f"{pod['metadata']['name']}/{each['name']} has no {undeclared}"
    return [_expand(word, known) for word in words]


def _expand(text: str, known: Mapping[str, str]) -> str:
    return _REFERENCE.sub(lambda match: known[match[1]], text)


def _field(pod: Object, path: str, where: str) -> str:
    found = re.fullmatch(r"metadata\.(labels|annotations)\['(.+)'\]", path)
    assert found, f"{where}: {path}"
    value = pod["metadata"].get(found[1], {}).get(found[2])
    assert value, f"{where}: the pod has no {path}"
    return str(value)
