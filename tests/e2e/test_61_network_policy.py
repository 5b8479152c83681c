"""NetworkPolicy: who reaches the job's pods, judged over the live policies, namespaces and pods."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.e2e.cluster.kube import Kube, Object
from tests.e2e.cluster.load_balancers import internal_load_balancers
from tests.e2e.cluster.workloads import HEAD, WORKER, pods_of
from tests.e2e.engine.deployment import Deployment
from tests.e2e.lifecycle import Life, await_pods, containers
from tests.e2e.world import World
from tests.e2e.world_setup import prepare
from tests.support.network_policy import Pod, allows

PROXY = 29000
OUTSIDE = "203.0.113.7"


@dataclass(frozen=True)
class Reach:
    """The live policies and namespaces, asked about connections."""

    kube: Kube

    def __call__(self, source: Pod | str, target: Pod, port: int) -> bool:
        """Whether `source` reaches a port of `target`."""
        namespaces = {n["metadata"]["name"]: n["metadata"]["labels"] for n in self.kube.objects("Namespace")}
        if isinstance(source, Pod):
            namespaces.setdefault(source.namespace, {})
        return allows(self.kube.objects("NetworkPolicy"), namespaces, source, target, port)


def seen(pod: Object) -> Pod:
    """A live pod as a policy sees it."""
    found = Pod.from_template(pod, pod["metadata"]["namespace"])
    return replace(found, node_address=pod["status"].get("hostIP"))


def ports(pod: Object) -> set[int]:
    """All ports that its containers declare."""
    return {port["containerPort"] for each in containers(pod) for port in each.get("ports", ())}


def outsiders(stack: str, job: Pod) -> dict[str, Pod | str]:
    """Who is none of the job's own."""
    return {
        "a pod of the same namespace": Pod(stack, {"app": "other"}),
        "a pod of another namespace": Pod("default", {"app": "other"}),
        "a pod of another namespace under the job's labels": Pod("default", job.labels),
        "another job of the namespace": Pod(stack, {**job.labels, "jobset.sigs.k8s.io/jobset-name": "other"}),
        "an address outside": OUTSIDE,
    }


def test_no_outsider_reaches_any_port_of_the_job(life: Life) -> None:
    reach = Reach(life.kube)
    if life.host_network:
        # No policy reaches such pods, which the stack says in a warning of every preview.
        assert life.kube.objects("NetworkPolicy", life.stack) == []
        assert f"whoever reaches the node reaches the proxy on port {PROXY}" in life.preview.diagnostics
        return
    for pod in (life.head, life.workers[0], life.workers[-1]):
        target = seen(pod)
        for who, source in outsiders(life.stack, target).items():
            for port in {PROXY, *ports(pod)}:
                assert not reach(source, target, port), f"{who} reaches {pod['metadata']['name']}:{port}"


def test_the_jobs_own_pods_reach_each_other_at_every_port(life: Life) -> None:
    reach = Reach(life.kube)
    some = [life.head, life.workers[0], life.workers[-1]]
    for source in some:
        for target in some:
            for port in ports(target):
                assert reach(seen(source), seen(target), port)


def test_every_pod_of_the_job_is_covered_by_the_one_policy(life: Life) -> None:
    policies = life.kube.objects("NetworkPolicy", life.stack)
    if life.host_network:
        assert policies == []
        return
    (policy,) = policies
    selector = policy["spec"]["podSelector"]["matchLabels"]
    text = ",".join(f"{key}={value}" for key, value in selector.items())
    covered = {pod["metadata"]["uid"] for pod in life.kube.objects("Pod", life.stack, labels=text)}
    assert covered == {pod["metadata"]["uid"] for pod in life.pods()}


@dataclass(frozen=True)
class Open:
    """A stack for clients in the VPC, brought up with one kind of access."""

    access: str
    world: World
    deployment: Deployment
    stack: str = "research-dev"
    job: str = "lab"

    @property
    def head(self) -> Object:
        """The head's pod."""
        (pod,) = pods_of(self.world.plane.kube, self.stack, self.job, HEAD)
        return pod

    @property
    def clients(self) -> ipaddress.IPv4Network:
        """The range of the nodes' subnet, as the cloud has it."""
        (subnet,) = self.world.cloud.resources("Subnetwork")
        return ipaddress.IPv4Network(subnet["props"]["ipCidrRange"])


@pytest.fixture(scope="module", params=["internal-load-balancer", "dns"])
def opened(request: pytest.FixtureRequest, world: World) -> Open:
    """The interactive stack with clients outside its cluster, by each way of access."""
    prepare(world, "research-dev")

    def access(config: dict[str, Any]) -> None:
        config["pathways:workload"]["access"] = request.param

    deployment = world.deployment("research-dev", access)
    with internal_load_balancers(world.plane.kube, iter(["10.0.0.5"])):
        deployment.up().expect_ok()
    await_pods(world, "research-dev", "lab", 1 + 4)
    return Open(request.param, world, deployment)


class TestInteractiveAccess:
    def test_opens_the_proxy_to_the_client_range_and_to_nobody_else(self, opened: Open) -> None:
        reach, target = Reach(opened.world.plane.kube), seen(opened.head)
        clients = opened.clients
        assert reach(str(clients[10]), target, PROXY)
        assert reach(str(clients[-2]), target, PROXY)
        assert not reach(str(clients.broadcast_address + 1), target, PROXY)
        for who, source in outsiders(opened.stack, target).items():
            assert not reach(source, target, PROXY), who

    def test_opens_no_other_port_of_the_head(self, opened: Open) -> None:
        reach, target = Reach(opened.world.plane.kube), seen(opened.head)
        for port in ports(opened.head) - {PROXY}:
            assert not reach(str(opened.clients[10]), target, port), port

    def test_opens_no_port_that_a_worker_listens_on(self, opened: Open) -> None:
        kube = opened.world.plane.kube
        for pod in pods_of(kube, opened.stack, opened.job, WORKER):
            for port in ports(pod):
                assert not Reach(kube)(str(opened.clients[10]), seen(pod), port), port

    def test_gives_clients_the_address_that_leads_to_the_head(self, opened: Open) -> None:
        address, head = opened.deployment.outputs()["proxyAddress"], opened.head
        services = {s["metadata"]["name"]: s for s in opened.world.plane.kube.objects("Service", opened.stack)}
        if opened.access == "dns":
            spec = head["spec"]
            domain = opened.world.cloud.resources("Cluster")[0]["props"]["dnsConfig"]["additiveVpcScopeDnsDomain"]
            assert address == f"{spec['hostname']}.{spec['subdomain']}.{opened.stack}.svc.{domain}:{PROXY}"
            assert services[spec["subdomain"]]["spec"]["clusterIP"] == "None"
            return
        door = services["lab-proxy"]
        assert address == f"10.0.0.5:{PROXY}"
        assert door["spec"]["loadBalancerSourceRanges"] == [str(opened.clients)]
        selector = ",".join(f"{key}={value}" for key, value in door["spec"]["selector"].items())
        behind = opened.world.plane.kube.objects("Pod", opened.stack, labels=selector)
        assert [pod["metadata"]["name"] for pod in behind] == [head["metadata"]["name"]]
