"""Who reaches the proxy: the rendered NetworkPolicy, judged by what Kubernetes makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.program.support import EXISTING, INTERACTIVE, config, merged, record, run
from tests.support.network_policy import Pod, allows
from tests.support.recording import Recording
from tests.support.workload import HEAD_JOB, workload

PROXY_PORT = 29000
CLIENT, STRANGER = "10.0.5.6", "10.9.9.9"
"""An address in the subnet's range 10.0.0.0/18 (looked up: 10.0.0.0/20), and one of the VPC outside it."""


@dataclass(frozen=True)
class Scene:
    """The pods and policies of a recording."""

    policies: list[Any]
    namespaces: dict[str, dict[str, str]]
    head: Pod
    worker: Pod
    outsider: Pod
    neighbour: Pod

    def open(self, source: Pod | str, target: Pod, port: int = PROXY_PORT) -> bool:
        """Whether `source` reaches `port` of `target`."""
        return allows(self.policies, self.namespaces, source, target, port)


def scene(recording: Recording) -> Scene:
    objects = recording.kubernetes_objects()
    found = workload(recording)
    assert found is not None
    name = found.resource.input("metadata.name")
    space = found.resource.input("metadata.namespace")

    def pod(job: Any, replicated: str) -> Pod:
        labels = {"jobset.sigs.k8s.io/jobset-name": name, "jobset.sigs.k8s.io/replicatedjob-name": replicated}
        return Pod.from_template(job.spec["template"], space, labels)

    return Scene(
        policies=[each.inputs for each in objects if each.inputs["kind"] == "NetworkPolicy"],
        namespaces={space: {}, "default": {}},
        head=pod(found.head, HEAD_JOB),
        worker=pod(found.worker, "worker"),
        outsider=Pod("default", {"jobset.sigs.k8s.io/jobset-name": name}),
        neighbour=Pod(space, {"app": "notebook"}),
    )


LOAD_BALANCER = {**INTERACTIVE, "access": "internal-load-balancer"}
ACCESS: list[tuple[str, dict[str, Any], bool]] = [
    ("batch", {}, False),
    ("port-forward", {"workload": {**INTERACTIVE, "access": "port-forward"}}, False),
    ("internal-load-balancer", {"workload": LOAD_BALANCER}, True),
    ("dns", {"workload": {**INTERACTIVE, "access": "dns"}}, True),
    ("dns in a network that exists", merged({"workload": {**INTERACTIVE, "access": "dns"}}, EXISTING), True),
]


def recorded(changes: dict[str, Any]) -> Recording:
    """A created network's range is known before the `up`, one that is looked up only by it."""
    return record(config(**changes), "up" if "cluster" in changes else "preview")


@pytest.mark.parametrize(("changes", "clients"), [row[1:] for row in ACCESS], ids=[row[0] for row in ACCESS])
def test_only_the_jobs_own_pods_and_the_clients_that_access_allows_reach_the_proxy(
    changes: dict[str, Any], clients: bool
) -> None:
    current = scene(recorded(changes))
    assert current.open(current.worker, current.head)
    assert current.open(current.head, current.head)
    assert not current.open(current.outsider, current.head)
    assert not current.open(current.neighbour, current.head)
    assert not current.open(STRANGER, current.head)
    assert current.open(CLIENT, current.head) is clients


@pytest.mark.parametrize("changes", [row[1] for row in ACCESS], ids=[row[0] for row in ACCESS])
@pytest.mark.parametrize("port", [22, 8080, 8471, 29001, 29002, 50051])
def test_every_other_port_is_open_among_the_jobs_pods_only(changes: dict[str, Any], port: int) -> None:
    current = scene(recorded(changes))
    for target in (current.head, current.worker):
        assert current.open(current.worker, target, port)
        assert current.open(current.head, target, port)
        for source in (current.outsider, current.neighbour, CLIENT, STRANGER):
            assert not current.open(source, target, port)


def test_the_clients_port_follows_the_setting() -> None:
    changes = {"runtime": {"ports": {"proxy": 31000}}, "workload": {**INTERACTIVE, "access": "dns"}}
    current = scene(recorded(changes))
    assert current.open(CLIENT, current.head, 31000)
    assert not current.open(CLIENT, current.head, PROXY_PORT)


def test_in_a_preview_the_range_of_a_network_that_exists_is_unknown_and_nothing_else() -> None:
    recording = record(config(**merged({"workload": LOAD_BALANCER}, EXISTING)))
    (policy,) = [each for each in recording.kubernetes_objects() if each.inputs["kind"] == "NetworkPolicy"]
    own, clients = policy.inputs["spec"]["ingress"]
    assert own["from"] == [{"podSelector": {"matchLabels": {"jobset.sigs.k8s.io/jobset-name": "train"}}}]
    assert clients == {"$unknown": True}


@pytest.mark.parametrize("mode", [{}, {"workload": LOAD_BALANCER}])
def test_under_host_network_there_is_no_policy_and_a_warning_says_so(mode: dict[str, Any]) -> None:
    values = config(**mode, runtime={"hostNetwork": True})
    assert scene(record(values)).policies == []
    (warning,) = [line for line in run(values).warnings if line.startswith("runtime.hostNetwork")]
    assert "no NetworkPolicy" in warning
    assert "29000" in warning


def test_the_load_balancer_is_internal_selects_the_head_alone_and_is_open_to_the_clients_alone() -> None:
    recording = record(config(workload=LOAD_BALANCER))
    (service,) = [each for each in recording.kubernetes_objects() if each.inputs["kind"] == "Service"]
    current = scene(recording)
    assert service.inputs["metadata"]["annotations"] == {"networking.gke.io/load-balancer-type": "Internal"}
    spec = service.inputs["spec"]
    assert spec["loadBalancerSourceRanges"] == ["10.0.0.0/18"]
    assert spec["ports"] == [{"name": "proxy", "protocol": "TCP", "port": PROXY_PORT, "targetPort": PROXY_PORT}]
    assert spec["selector"].items() <= current.head.labels.items()
    assert not spec["selector"].items() <= current.worker.labels.items()
    # With Local the client's own address reaches the policy.
    assert spec["externalTrafficPolicy"] == "Local"
