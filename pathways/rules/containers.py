"""Rules about the containers: what the head and the TPU VMs hold, ports, variables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic.alias_generators import to_camel

from pathways.containers import DEFAULT_ENV, MANAGED_ENV, SIDECAR_PORT
from pathways.errors import Problem
from pathways.head import DISK_BYTES, head_needs
from pathways.machines import GIB, cpu_machine, machines_that_hold
from pathways.model import memory_bytes
from pathways.settings.runtime import references
from pathways.settings.stack import Settings
from pathways.settings.workload import Batch

_TPU_PORTS = {8471: "the TPU mesh", 8080: "megascale", 8431: "the TPU runtime's metrics"}
_NODE_PORTS = {
    22: "SSH",
    988: "the metadata server",
    989: "the metadata server",
    10248: "kubelet",
    10250: "kubelet",
    10255: "kubelet",
    10256: "the node's health check",
}
MAX_TEXT = 131_071
"""Bytes of one argument, or of one variable as NAME=value: Linux's MAX_ARG_STRLEN of 32 pages, without its end."""
MAX_TEXTS = 1_000_000
"""Bytes of all of them: etcd takes 1.5 MiB in one request, and the JobSet is more than its texts."""


def elastic_within_slices(s: Settings) -> Iterator[Problem]:
    """No more slices can be missing than there are."""
    elastic, count = s.runtime.elastic_slices, s.slices.count
    if elastic > count:
        yield Problem(
            "runtime.elasticSlices",
            f"{elastic} is more than the {count} slices there are",
            "0 ≤ elasticSlices ≤ slices.count",
            f"write at most {count}",
        )


def head_holds_containers(s: Settings) -> Iterator[Problem]:
    """The head's machine has room for the limits of its containers beside the system."""
    machine, need = cpu_machine(s.head.machine_type), head_needs(s.workload)
    if machine is None or (
        machine.allocatable_milli_cpu >= need.milli_cpu and machine.allocatable_bytes >= need.memory_bytes
    ):
        return
    fitting = machines_that_hold(need.milli_cpu, need.memory_bytes, machine.name.split("-")[0])
    fix = f"write {fitting[0].name} or larger" if fitting else "lower workload.resources"
    yield Problem(
        "head.machineType",
        f"{machine.name} with {machine.vcpu} vCPU and {machine.memory_gib:g} GiB is too small",
        f"the head's containers need {need.cpu_text} CPU and {need.memory_text} beside the system",
        fix,
    )


def head_holds_storage(s: Settings) -> Iterator[Problem]:
    """The head's disk has room for what the user's container asks of it."""
    storage = s.workload.resources.ephemeral_storage if isinstance(s.workload, Batch) else None
    if storage and memory_bytes(storage) > DISK_BYTES:
        yield Problem(
            "workload.resources.ephemeralStorage",
            f"{storage} is too much",
            f"the head's disk leaves {DISK_BYTES // GIB}Gi to its pods",
            f"write at most {DISK_BYTES // GIB}Gi",
        )


def sidecar_memory_fits_host(s: Settings) -> Iterator[Problem]:
    """What worker and sidecar share comes out of the TPU VM's memory."""
    sidecar, machine = s.runtime.colocated_python, s.slices.shape.machine
    if sidecar and sidecar.shared_memory and memory_bytes(sidecar.shared_memory) >= machine.memory_gb * 10**9:
        yield Problem(
            "runtime.colocatedPython.sharedMemory",
            f"{sidecar.shared_memory} is too much",
            f"it comes out of the {machine.memory_gb} GB of {machine.name}",
            f"write at most {machine.memory_gb // 2}G",
        )


def ports_distinct(s: Settings) -> Iterator[Problem]:
    """No two servers of a pod listen on one port, nor on one that the TPU runtime or the node uses."""
    ports = s.runtime.ports
    head = {
        ports.resource_manager: "the resource manager",
        ports.resource_manager + 1: "the resource manager's second port",
    }
    if ports.proxy in head:
        yield Problem(
            "runtime.ports.proxy",
            f"{ports.proxy} is {head[ports.proxy]}",
            "ports of one pod are distinct",
            "write another port, for example 29000",
        )
    beside = _TPU_PORTS | ({SIDECAR_PORT: "the colocated-python sidecar"} if s.runtime.colocated_python else {})
    for port in (ports.worker, ports.worker + 1):
        if port in beside:
            yield Problem(
                "runtime.ports.worker",
                f"{ports.worker} takes {port}, which {beside[port]} uses",
                "ports of one pod are distinct",
                "write another port, for example 29001",
            )
    if s.runtime.host_network:
        named = (
            ("proxy", (ports.proxy,)),
            ("resourceManager", (ports.resource_manager, ports.resource_manager + 1)),
            ("worker", (ports.worker, ports.worker + 1)),
        )
        for key, taken in named:
            for port in taken:
                if port in _NODE_PORTS:
                    yield Problem(
                        f"runtime.ports.{key}",
                        f"{port} belongs to {_NODE_PORTS[port]} of the node",
                        "with hostNetwork pods share the node's ports",
                        "write another port, for example one from 29000",
                    )


def texts_fit(s: Settings) -> Iterator[Problem]:
    """No argument or variable is longer than Linux starts a program with, nor all of them than Kubernetes keeps."""
    texts = list(_texts(s))
    for key, text in texts:
        if len(text.encode()) > MAX_TEXT:
            yield Problem(
                key,
                f"{len(text.encode())} bytes are too many",
                f"an argument, and a variable with its name, has up to {MAX_TEXT} bytes",
                "put it into a file of the image or of the bucket",
            )
    total = sum(len(text.encode()) for _, text in texts)
    if total > MAX_TEXTS:
        longest, _ = max(texts, key=lambda each: len(each[1]))
        yield Problem(
            longest.partition(".")[0],
            f"{len(texts)} arguments and variables of {total} bytes in all are too many",
            f"together they have up to {MAX_TEXTS} bytes, since a JobSet is one object",
            "put them into a file of the image or of the bucket",
        )


def _texts(s: Settings) -> Iterator[tuple[str, str]]:
    """Arguments, and variables as NAME=value, by where they stand."""
    if isinstance(s.workload, Batch):
        for key, words in (("command", s.workload.command), ("args", s.workload.args)):
            yield from ((f"workload.{key}[{index}]", word) for index, word in enumerate(words))
        yield from ((f"workload.env.{name}", f"{name}={value}") for name, value in s.workload.env.items())
    for role in ("resource_manager", "proxy", "worker"):
        key = to_camel(role)
        for index, flag in enumerate(getattr(s.runtime.flags, role)):
            yield f"runtime.flags.{key}[{index}]", flag
        for name, value in getattr(s.runtime.env, role).items():
            yield f"runtime.env.{key}.{name}", f"{name}={value}"


def references_declared(s: Settings) -> Iterator[Problem]:
    """`$(NAME)` in command and arguments is declared, since Kubernetes would pass it on as it stands."""
    if isinstance(s.workload, Batch):
        for key, name in s.workload.undeclared():
            yield _undeclared(f"workload.{key}", name, "workload.env")


def flag_references_declared(s: Settings) -> Iterator[Problem]:
    """`$(NAME)` in a flag is declared too."""
    roles: tuple[Literal["resource_manager", "proxy", "worker"], ...] = ("resource_manager", "proxy", "worker")
    for role in roles:
        key = to_camel(role)
        own: dict[str, str] = getattr(s.runtime.env, role)
        declared = {*MANAGED_ENV[role], *DEFAULT_ENV[role], *own}
        for name in (name for flag in getattr(s.runtime.flags, role) for name in references(flag)):
            if name not in declared:
                yield _undeclared(f"runtime.flags.{key}", name, f"runtime.env.{key}")


def _undeclared(key: str, name: str, env: str) -> Problem:
    return Problem(
        key,
        f"$({name}) is not declared",
        "Kubernetes expands only variables of the same container",
        f"declare {name} in {env}, or write $$({name}) for the text itself",
    )
