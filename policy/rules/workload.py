"""Rules of the pods: their images, and the room they have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from offline.recording import Resource
from pathways.machines import cpu_machine
from policy.expect import JOB_SET, POOL, at, items, production
from policy.model import Each, Rule, Whole

_POOL_LABEL = "cloud.google.com/gke-nodepool"
_UNITS = {"m": 1e-3, "": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_UNITS |= {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
# What a container may not share with its host. hostNetwork is a rule of its own.
_HOST_PARTS = ("hostPID", "hostIPC")


@dataclass(frozen=True, slots=True)
class Pod:
    """The pods of one replicated job: its name, and the pod's spec."""

    job: str
    labels: Mapping[str, Any]
    spec: Mapping[str, Any]

    @property
    def containers(self) -> list[Any]:
        """Init containers (sidecars among them) and containers, in the order in which they start."""
        return [*items(self.spec, "initContainers"), *items(self.spec, "containers")]


def pods(job_set: Resource) -> list[Pod]:
    """The pods of each replicated job of a JobSet."""
    found: list[Pod] = []
    for job in items(job_set.inputs, "spec.replicatedJobs"):
        template = at(job, "template.spec.template")
        spec, labels = at(template, "spec"), at(template, "metadata.labels")
        if isinstance(spec, Mapping):
            found.append(Pod(str(at(job, "name")), labels if isinstance(labels, Mapping) else {}, spec))
    return found


def quantity(text: object) -> float:
    """A Kubernetes quantity (`500m`, `100G`, `64Gi`, 8) in its base unit: cores or bytes; 0 for what is none."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([A-Za-z]*)", str(text))
    return float(match[1]) * _UNITS.get(match[2], 0) if match else 0


def _images(job_set: Resource) -> Iterator[tuple[str, str]]:
    for pod in pods(job_set):
        for container in pod.containers:
            image = at(container, "image")
            if isinstance(image, str):
                yield f"{pod.job}: {at(container, 'name')}", image


def _mutable(job_set: Resource) -> str | None:
    for where, image in _images(job_set):
        tag = image.rpartition("/")[2].partition(":")[2]
        if "@sha256:" not in image and tag in ("", "latest"):
            return f"{where} runs {image}"
    return None


def _by_digest(job_set: Resource) -> str | None:
    if not production(job_set):
        return None
    tagged = [where for where, image in _images(job_set) if "@sha256:" not in image]
    return f"{', '.join(tagged)}: a tag, which may be moved" if tagged else None


def _privileged(job_set: Resource) -> str | None:
    for pod in pods(job_set):
        for container in pod.containers:
            context = at(container, "securityContext") or {}
            if at(context, "privileged") is True or at(context, "allowPrivilegeEscalation") is not False:
                return f"{pod.job}: {at(container, 'name')} may become root of its node"
    return None


def _shares_host(job_set: Resource) -> str | None:
    for pod in pods(job_set):
        mounted = [at(volume, "hostPath.path") for volume in items(pod.spec, "volumes") if at(volume, "hostPath")]
        shared = [part for part in _HOST_PARTS if at(pod.spec, part) is True]
        if mounted or shared:
            return f"{pod.job}: {shared[0] if shared else f'mounts {mounted[0]} of its node'}"
    return None


def _room(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """JobSets with a pod whose limits are more than its pool's machine has."""
    machines = {
        at(pool.inputs, "name"): at(pool.inputs, "nodeConfig.machineType")
        for pool in resources
        if pool.type == POOL and isinstance(at(pool.inputs, "name"), str)
    }
    for job_set in (resource for resource in resources if resource.type == JOB_SET):
        for pod in pods(job_set):
            selector = at(pod.spec, "nodeSelector")
            name = machines.get(selector.get(_POOL_LABEL)) if isinstance(selector, Mapping) else None
            detail = _too_much(pod, name) if isinstance(name, str) else None
            if detail:
                yield job_set, detail


def _too_much(pod: Pod, machine_name: str) -> str | None:
    machine = cpu_machine(machine_name)
    if machine is None:
        return None
    limits = [at(container, "resources.limits") or {} for container in pod.containers]
    cores = sum(quantity(at(limit, "cpu")) for limit in limits)
    memory = sum(quantity(at(limit, "memory")) for limit in limits)
    if cores > machine.vcpu:
        return f"{pod.job} may take {cores:g} cores, and {machine_name} has {machine.vcpu}"
    gib = memory / 2**30
    return (
        f"{pod.job} may take {gib:.0f} GiB, and {machine_name} has {machine.memory_gib:g}"
        if (gib > machine.memory_gib)
        else None
    )


RULES: tuple[Rule, ...] = (
    Rule(
        id="image-fixed",
        level="mandatory",
        source=("ours", "CKV_K8S_14"),
        sentence="An image has a version: what `latest` means may differ from one restart, and host, to the next.",
        fix="an image with a tag other than latest, or with a digest",
        check=Each((JOB_SET,), _mutable),
    ),
    Rule(
        id="image-by-digest",
        level="advisory",
        source=("ours", "CKV_K8S_43"),
        sentence="Production names its images by digest: a tag can be moved under a run.",
        fix="REPOSITORY/NAME@sha256:…",
        check=Each((JOB_SET,), _by_digest),
    ),
    Rule(
        id="pods-unprivileged",
        level="mandatory",
        source=("CKV_K8S_16", "CKV_K8S_20"),
        sentence="No container can become root of its node.",
        fix="securityContext: {privileged: false, allowPrivilegeEscalation: false}",
        check=Each((JOB_SET,), _privileged),
    ),
    Rule(
        id="pods-apart-from-host",
        level="mandatory",
        source=("ours", "CKV_K8S_17", "CKV_K8S_18"),
        sentence="Pods see neither files nor processes of their node.",
        fix="no hostPath, hostPID or hostIPC",
        check=Each((JOB_SET,), _shares_host),
    ),
    Rule(
        id="head-has-room",
        level="mandatory",
        source=("ours",),
        sentence="The head's machine holds the sum of the limits of what runs on it.",
        fix="pathways:head: {machineType: a larger one}, or smaller workload.resources",
        check=Whole(_room),
    ),
)
