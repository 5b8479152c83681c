"""Admission: what the core makes, a real API server with JobSet's webhook takes; what they refuse, we refuse first."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from pathways import manifests
from pathways.plan import HEAD_TAINT, STACK_LABEL, Plan
from tests.e2e.admission.refusals import REFUSALS, Refusal
from tests.e2e.admission.rows import combinations, to_run, valid
from tests.e2e.cluster import workloads
from tests.e2e.cluster.control_plane import ControlPlane
from tests.e2e.cluster.kube import Kube, KubeError, Object, wait_for
from tests.e2e.cluster.nodes import NodeShape, add_nodes, remove_pool, tpu_shape

pytestmark = pytest.mark.usefixtures("jobset")
PLANS = list(combinations())
CREATED = 42
LOOKED_UP = "10.8.0.0/20"
"""The range of a network that exists."""


def objects(plan: Plan) -> list[Object]:
    """All Kubernetes objects of a stack's own namespace but the namespace itself."""
    clients = plan.client_range or LOOKED_UP if plan.outside_clients != "none" else None
    return manifests.objects(plan, clients)[1:]


def bare_pods(plan: Plan) -> Iterator[Object]:
    """The pod templates as pods, since the dry run of a JobSet does not judge them."""
    job_set = manifests.job_set(plan)
    for job in job_set["spec"]["replicatedJobs"]:
        template = job["template"]["spec"]["template"]
        metadata = {**template["metadata"], "name": f"bare-{job['name']}", "namespace": plan.names.namespace}
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


@pytest.fixture(scope="module")
def namespaces(control_plane: ControlPlane) -> Iterator[None]:
    """The two namespaces of the combinations (pod network and host network) with their service accounts."""
    kube = control_plane.kube
    first = {plan.names.namespace: plan for plan in PLANS}
    for plan in first.values():
        kube.create(manifests.namespace(plan))
        kube.create(manifests.service_account(plan))
    yield
    for name in first:
        kube.end_namespace(name)


def test_enough_combinations_are_tried() -> None:
    assert len(PLANS) >= 300
    assert {plan.settings.slices.tpu for plan in PLANS} == {"v4", "v5e", "v5p", "v6e", "tpu7x"}
    assert {plan.settings.runtime.host_network for plan in PLANS} == {True, False}
    assert {len(plan.names.job_set) for plan in PLANS} == {5, 22}


@pytest.mark.usefixtures("namespaces")
def test_no_manifest_of_a_valid_stack_is_refused_by_api_server_or_webhook(control_plane: ControlPlane) -> None:
    # Many stacks share a policy or a head: what is the same is asked once.
    asked = {json.dumps(each, sort_keys=True): each for plan in PLANS for each in (*objects(plan), *bare_pods(plan))}
    kubes = threading.local()

    def verdict(manifest: Object) -> str | None:
        kubes.own = getattr(kubes, "own", None) or control_plane.kube.copy()
        try:
            kubes.own.create(manifest, dry_run=True)
        except KubeError as error:
            return f"{manifest['kind']} {manifest['metadata']}: {error}"
        return None

    others = [each for each in asked.values() if each["kind"] != "ServiceAccount"]
    with ThreadPoolExecutor(4) as threads:
        assert [found for found in threads.map(verdict, others) if found] == []


def test_stacks_created_for_real_run_until_every_pod_is_up(control_plane: ControlPlane) -> None:
    plans = to_run(CREATED)
    assert len(plans) >= 40
    kube = control_plane.kube
    pools = [pool for plan in plans for pool in _pools(plan)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda pool: add_nodes(kube.copy(), *pool), pools))
        list(threads.map(lambda plan: _create(kube.copy(), plan), plans))
    for plan in plans:
        wanted = 1 + plan.hosts
        wait_for(f"{wanted} pods of {plan.names.namespace}", lambda p=plan, w=wanted: _up(kube, p) == w or None, 120)  # type: ignore[misc]
    placed = {plan.names.prefix: _slices_on_one_pool(kube, plan) for plan in plans}
    assert all(placed.values()), placed
    for plan in plans:
        kube.end_namespace(plan.names.namespace)
    wait_for("namespaces gone", lambda: not any(kube.get("Namespace", p.names.namespace) for p in plans) or None, 120)
    for shape, _ in pools:
        remove_pool(kube, shape.pool)


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda each: each.name)
@pytest.mark.usefixtures("namespaces")
def test_what_the_server_refuses_we_refuse_first(control_plane: ControlPlane, refusal: Refusal) -> None:
    right = valid({"team": "pod"})
    assert right is not None
    manifest: dict[str, Any] = manifests.namespace(right) if refusal.kind == "Namespace" else manifests.job_set(right)
    assert valid(refusal.changes) is None, "accepted by us"
    assert _refused(control_plane.kube, refusal.spoiled(manifest)) is refusal.server_refuses


def _refused(kube: Kube, manifest: Object) -> bool:
    """The server's verdict on an object and on the pods it would make, which are judged only when they are made."""
    pods = []
    for job in manifest.get("spec", {}).get("replicatedJobs", []):
        template = job["template"]["spec"]["template"]
        metadata = {**template["metadata"], "name": "bare", "namespace": manifest["metadata"]["namespace"]}
        pods.append({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]})
    try:
        for each in (manifest, *pods):
            kube.create(each, dry_run=True)
    except KubeError:
        return True
    return False


def _pools(plan: Plan) -> Iterator[tuple[NodeShape, int]]:
    """The node pools of a stack as GKE would register their nodes: the head's, and one a slice."""
    prefix, shape = plan.names.prefix, plan.shape
    taint = {"key": HEAD_TAINT, "value": prefix, "effect": "NoSchedule"}
    yield NodeShape(plan.names.head_pool, {STACK_LABEL: prefix}, (taint,), {"cpu": "64", "memory": "256Gi"}), 1
    spot = bool(plan.settings.slices.capacity.node_selector())
    for index in range(plan.slice_count):
        accelerator = shape.generation.accelerator
        host = tpu_shape(plan.names.slice_pool(index), accelerator, shape.topology, shape.machine.chips, spot=spot)
        yield NodeShape(host.pool, {**host.labels, STACK_LABEL: prefix}, host.taints, host.capacity), shape.hosts


def _create(kube: Kube, plan: Plan) -> None:
    for manifest in (manifests.namespace(plan), *objects(plan)):
        kube.create(manifest)


def _up(kube: Kube, plan: Plan) -> int:
    return len(workloads.running(workloads.pods_of(kube, plan.names.namespace, plan.names.job_set)))


def _slices_on_one_pool(kube: Kube, plan: Plan) -> bool:
    pods = workloads.pods_of(kube, plan.names.namespace, plan.names.job_set, "worker")
    found = workloads.pools_of_slices(kube, pods)
    return len(found) == plan.slice_count and all(len(pools) == 1 for pools in found.values())
