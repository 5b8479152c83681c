"""Rules about the JobSet: who waits for whom, who knows whom, and what runs where."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tests.support.recording import Recording, at, leaves
from tests.support.workload import (
    PROXY,
    RESOURCE_MANAGER,
    SPOT_LABEL,
    TPU_RESOURCE,
    Container,
    Job,
    Workload,
    env,
    flag,
    workload,
)

_REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)")  # `$$` escapes what follows
_PORT = re.compile(r":(\d+)(?:/|$)")
_NOT_ON_HEAD = re.compile(
    r"cloud\.google\.com/(gke-tpu|gke-spot|gke-provisioning|gke-flex-start|gke-queued|reservation)"
)
_EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
_POD_SECURITY = "pod-security.kubernetes.io/enforce"


def one_jobset(recording: Recording) -> list[str]:
    """A stack has one JobSet, of a head and workers."""
    return [] if workload(recording) else ["JobSet: : not exactly one, of pathways-head and worker"]


def references_declared(recording: Recording) -> list[str]:
    """`$(NAME)` is expanded only from the same container's env, and in a value only from an earlier entry."""
    return [
        f"{found.resource.label}: {path}.{line}"
        for found in _workloads(recording)
        for job in found.jobs()
        for path, container in job.containers()
        for line in _undeclared(container)
    ]


def _undeclared(container: Container) -> Iterator[str]:
    declared: set[str] = set()
    for index, entry in enumerate(container.get("env", ())):
        for name in _references(entry.get("value")) - declared:
            yield f"env[{index}].value: $({name}) is not declared before it"
        declared.add(entry["name"])
    for key in ("command", "args"):
        for index, text in enumerate(container.get(key, ())):
            for name in _references(text) - declared:
                yield f"{key}[{index}]: $({name}) is not declared in the container's env"


def _references(text: object) -> set[str]:
    return {match[1] for match in _REFERENCE.finditer(text) if match[1]} if isinstance(text, str) else set()


def sidecars(recording: Recording) -> list[str]:
    """RM, then proxy, are native sidecars with startup probes beside a user container, else plain containers."""
    return [
        f"{found.resource.label}: {found.head.path}: {line}"
        for found in _workloads(recording)
        for line in (_beside_user(found) if found.user_containers() else _headless(found))
    ] + [
        f"{found.resource.label}: {path}.restartPolicy: only a native sidecar has one"
        for found in _workloads(recording)
        for job in found.jobs()
        for path, container in job.containers()
        if ".containers[" in path and "restartPolicy" in container
    ]


def _beside_user(found: Workload) -> Iterator[str]:
    native = found.head_containers("initContainers")
    order = [name for name in native if name in {RESOURCE_MANAGER, PROXY}]
    if order != [RESOURCE_MANAGER, PROXY]:
        yield f"initContainers: {RESOURCE_MANAGER}, then {PROXY}, not {order}"
    for name in order:
        if native[name].get("restartPolicy") != "Always":
            yield f"{name}: restartPolicy {native[name].get('restartPolicy')!r}, not 'Always'"
        if at(native[name], "startupProbe.tcpSocket.port") is None:
            yield f"{name}: no TCP startup probe, so the next container does not wait for it"


def _headless(found: Workload) -> Iterator[str]:
    names = list(found.head_containers("containers"))
    if sorted(names) != sorted((RESOURCE_MANAGER, PROXY)):
        yield f"containers: without a user container {RESOURCE_MANAGER} and {PROXY} are plain ones, not {names}"
    for name, container in found.head_containers("initContainers").items():
        if "restartPolicy" in container:
            yield f"{name}: restartPolicy {container['restartPolicy']!r} on a head without a user container"


def user_environment(recording: Recording) -> list[str]:
    """The user container finds the proxy: JAX_PLATFORMS=proxy and JAX_BACKEND_TARGET, each once."""
    return [
        f"{found.resource.label}: {path}.env: {line}"
        for found in _workloads(recording)
        for path, container in found.user_containers()
        for line in _jax(found, container)
    ]


def _jax(found: Workload, container: Container) -> Iterator[str]:
    counts = Counter(entry["name"] for entry in container.get("env", ()))
    for name in ("JAX_PLATFORMS", "JAX_BACKEND_TARGET"):
        if counts[name] != 1:
            yield f"{name} is there {counts[name]} times, not once"
    if env(container).get("JAX_PLATFORMS") != "proxy":
        yield f"JAX_PLATFORMS is {env(container).get('JAX_PLATFORMS')!r}, not 'proxy'"
    proxy = found.head_container(PROXY)
    wanted = f"grpc://127.0.0.1:{flag(proxy, 'server_port')}" if proxy else None
    if env(container).get("JAX_BACKEND_TARGET") != wanted:
        yield f"JAX_BACKEND_TARGET is {env(container).get('JAX_BACKEND_TARGET')!r}, not {wanted!r}"


def head_is_plain(recording: Recording) -> list[str]:
    """The head runs on CPU nodes: no TPU, spot or reservation selector, toleration or resource."""
    return [
        f"{found.resource.label}: {found.head.path}: {line}"
        for found in _workloads(recording)
        for line in _claims(found.head)
    ]


def _claims(head: Job) -> Iterator[str]:
    selected = [*head.pod.get("nodeSelector", {}), *_expression_keys(head.pod.get("affinity", {}))]
    for key in selected:
        if _NOT_ON_HEAD.match(key) or key == TPU_RESOURCE:
            yield f"the head selects {key}"
    for toleration in head.pod.get("tolerations", ()):
        key = toleration.get("key")
        if key in {TPU_RESOURCE, SPOT_LABEL, None}:
            yield f"the head tolerates {key or 'every taint'}"
    for path, container in head.containers():
        for group in ("limits", "requests"):
            if TPU_RESOURCE in (at(container, f"resources.{group}") or {}):
                yield f"{path} takes {TPU_RESOURCE}"


def _expression_keys(value: object) -> Iterator[str]:
    if isinstance(value, Mapping):
        if "operator" in value and "key" in value:
            yield str(value["key"])
        for child in value.values():
            yield from _expression_keys(child)
    elif isinstance(value, list):
        for child in value:
            yield from _expression_keys(child)


def ports_agree(recording: Recording) -> list[str]:
    """A server's port is one number in its flag, containerPorts and probe, and in everyone who connects to it."""
    return [f"{found.resource.label}: {line}" for found in _workloads(recording) for line in _port_mismatches(found)]


def _port_mismatches(found: Workload) -> Iterator[str]:
    manager, proxy, worker = found.head_container(RESOURCE_MANAGER), found.head_container(PROXY), found.tpu_container()
    if manager is None or proxy is None or worker is None:
        yield f"spec.replicatedJobs: no {RESOURCE_MANAGER}, {PROXY} or container with {TPU_RESOURCE}"
        return
    for server in (manager, proxy, worker):
        yield from _server_port(server)
    manager_port = flag(manager, "server_port")
    for client in (proxy, worker):
        address = flag(client, "resource_manager_address") or ""
        match = _PORT.search(address)
        if match is None or match[1] != manager_port:
            yield f"{client['name']}: --resource_manager_address={address}, but {RESOURCE_MANAGER} is on {manager_port}"


def _server_port(server: Container) -> Iterator[str]:
    port = flag(server, "server_port")
    exposed = {str(entry.get("containerPort")) for entry in server.get("ports", ())}
    if port is None or port not in exposed:
        yield f"{server['name']}: --server_port={port} is not among its containerPorts {sorted(exposed)}"
    probed = at(server, "startupProbe.tcpSocket.port")
    named = {entry.get("name"): entry.get("containerPort") for entry in server.get("ports", ())}
    if probed is not None and str(named.get(probed, probed)) != port:
        yield f"{server['name']}: its startup probe is on {probed}, not on {port}"


def host_network(recording: Recording) -> list[str]:
    """Host network is on for head and workers or for neither, and DNS and the namespace's level follow it."""
    return [f"{found.resource.label}: {line}" for found in _workloads(recording) for line in _network(recording, found)]


def _network(recording: Recording, found: Workload) -> Iterator[str]:
    modes = {job.path: job.pod.get("hostNetwork", False) for job in found.jobs()}
    if len(set(modes.values())) > 1:
        yield f"spec.replicatedJobs: hostNetwork differs: {modes}"
    for job in found.jobs():
        policy = job.pod.get("dnsPolicy", "ClusterFirst")
        wanted = "ClusterFirstWithHostNet" if modes[job.path] else "ClusterFirst"
        if policy != wanted:
            yield f"{job.path}: dnsPolicy {policy}, not {wanted}, with hostNetwork {modes[job.path]}"
    level = _pod_security(recording, found.resource.input("metadata.namespace"))
    wanted = "privileged" if any(_is_privileged(job) for job in found.jobs()) else "baseline"
    if level != wanted:
        yield f"metadata.namespace: its Pod Security level is {level!r}; these pods need {wanted!r}"


def _is_privileged(job: Job) -> bool:
    escalated = any(at(container, "securityContext.privileged") is True for _, container in job.containers())
    on_host = any("hostPath" in volume for volume in job.pod.get("volumes", ()))
    return bool(job.pod.get("hostNetwork", False)) or escalated or on_host


def _pod_security(recording: Recording, name: Any) -> Any:
    for resource in recording.kubernetes_objects():
        if resource.inputs["kind"] == "Namespace" and resource.input("metadata.name") == name:
            return (resource.input("metadata.labels") or {}).get(_POD_SECURITY)
    return None


def exclusive_placement(recording: Recording) -> list[str]:
    """One head per node and one worker job per pool, asked for on each job template."""
    wanted = ("kubernetes.io/hostname", "cloud.google.com/gke-nodepool")
    return [
        f"{found.resource.label}: {job.path}.template.metadata.annotations: {_EXCLUSIVE} is not {topology}"
        for found in _workloads(recording)
        for job, topology in zip(found.jobs(), wanted, strict=True)
        if job.annotations.get(_EXCLUSIVE) != topology
    ]


def images_pinned(recording: Recording, *, mutable_tags: bool = False) -> list[str]:
    """No image is `latest` or has no tag, unless the stack file allows mutable tags."""
    if mutable_tags:
        return []
    return [
        f"{resource.label}: {path}: {image} has a tag that moves"
        for resource in recording.kubernetes_objects()
        for path, image in leaves(resource.inputs)
        if path.rpartition(".")[2] == "image" and isinstance(image, str) and _is_mutable(image)
    ]


def _is_mutable(image: str) -> bool:
    if "@sha256:" in image:
        return False
    # A colon before the last slash is a registry's port.
    return image.rpartition("/")[2].partition(":")[2] in {"", "latest"}


def _workloads(recording: Recording) -> list[Workload]:
    # A recording without a JobSet is `one_jobset`'s finding; the other rules have nothing to say about it.
    found = workload(recording)
    return [found] if found else []
