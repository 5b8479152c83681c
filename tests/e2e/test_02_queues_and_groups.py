"""Kueue and LeaderWorkerSet run for real: a queue holds back what is beyond its quota, a group has all its pods."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.cluster import podstatus, workloads
from tests.e2e.cluster.charts import Chart
from tests.e2e.cluster.control_plane import ControlPlane
from tests.e2e.cluster.kube import Kube, Object, wait_for


@pytest.fixture
def queue(control_plane: ControlPlane, namespace: str, kueue: Chart) -> Iterator[None]:
    """A queue of four vCPUs; its finalizers need Kueue, so it is gone before Kueue is."""
    kube = control_plane.kube
    made = [kube.create(obj) for obj in queue_objects(namespace, cpu="4")]
    yield
    for job in kube.objects("Job", namespace):
        kube.delete("Job", job["metadata"]["name"], namespace)
    for obj in reversed(made):
        kube.delete(obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace"))
    wait_for("its quota gone", lambda: not kube.objects("ClusterQueue") + kube.objects("ResourceFlavor"))


@pytest.mark.usefixtures("queue")
def test_a_queue_admits_a_job_within_its_quota_and_holds_back_one_beyond_it(
    control_plane: ControlPlane, namespace: str
) -> None:
    kube = control_plane.kube
    for name, cpu in (("fits", "3"), ("waits", "2")):
        kube.create(queued_job(namespace, name, cpu))
        if name == "fits":
            wait_for("admitted", lambda: admitted(kube, namespace).get("fits"))
    wait_for("both known", lambda: len(admitted(kube, namespace)) == 2)
    assert admitted(kube, namespace) == {"fits": True, "waits": False}
    pods = wait_for("its pod running", lambda: workloads.running(kube.objects("Pod", namespace)))
    assert [p["metadata"]["labels"]["job-name"] for p in pods] == ["fits"]
    podstatus.succeed(kube, pods[0])
    wait_for("the second admitted", lambda: admitted(kube, namespace).get("waits"))


def test_a_leader_worker_set_runs_every_group_with_all_its_pods(
    control_plane: ControlPlane, namespace: str, lws: Chart
) -> None:
    kube = control_plane.kube
    pod = {"spec": {"containers": [{"name": "c", "image": "example.invalid/server:1"}]}}
    template = {"size": 3, "workerTemplate": pod}
    kube.create(
        {
            "apiVersion": "leaderworkerset.x-k8s.io/v1",
            "kind": "LeaderWorkerSet",
            "metadata": {"name": "serve", "namespace": namespace},
            "spec": {"replicas": 2, "leaderWorkerTemplate": template},
        }
    )
    wait_for("six pods running", lambda: len(workloads.running(kube.objects("Pod", namespace))) == 6)
    wait_for("Available", lambda: workloads.condition(kube.get("LeaderWorkerSet", "serve", namespace), "Available"))


def admitted(kube: Kube, namespace: str) -> dict[str, bool]:
    """For each queued job by name: whether its workload is admitted."""
    return {
        w["metadata"]["ownerReferences"][0]["name"]: workloads.condition(w, "Admitted")
        for w in kube.objects("Workload.kueue.x-k8s.io", namespace)
    }


def queue_objects(namespace: str, cpu: str) -> list[Object]:
    """A flavor, a cluster queue with this quota and the namespace's queue in it."""
    api = "kueue.x-k8s.io/v1beta2"
    quota = {"name": "default", "resources": [{"name": "cpu", "nominalQuota": cpu}]}
    return [
        {"apiVersion": api, "kind": "ResourceFlavor", "metadata": {"name": "default"}},
        {
            "apiVersion": api,
            "kind": "ClusterQueue",
            "metadata": {"name": "team"},
            "spec": {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [quota]}]},
        },
        {
            "apiVersion": api,
            "kind": "LocalQueue",
            "metadata": {"name": "team", "namespace": namespace},
            "spec": {"clusterQueue": "team"},
        },
    ]


def queued_job(namespace: str, name: str, cpu: str) -> Object:
    container = {"name": "c", "image": "example.invalid/job:1", "resources": {"requests": {"cpu": cpu}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "labels": {"kueue.x-k8s.io/queue-name": "team"}},
        "spec": {"suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }
