"""Flex-start and autoscaled pools get machines only when pods wait for them."""

from __future__ import annotations

import pytest

from tests.cloud.engine import NODE_POOL, PROJECT, REGION, Engine, flex_pool, slice_pool
from tests.e2e.cloud import autoscaler
from tests.e2e.cloud.backend import PendingPod

pytestmark = pytest.mark.thorough

CLUSTER_PATH = f"projects/{PROJECT}/locations/{REGION}/clusters/train"
TPU = frozenset({"google.com/tpu"})
SELECTOR = {"cloud.google.com/gke-tpu-topology": "4x4", "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice"}
WORKER = PendingPod("default", "worker", SELECTOR, TPU, tpu_chips=4)


def system_pool() -> dict[str, object]:
    pool = slice_pool("system", nodeConfig={"machineType": "e2-standard-4"}, maxPodsPerNode=110)
    del pool["placementPolicy"], pool["nodeCount"]
    return {**pool, "autoscaling": {"minNodeCount": 1, "maxNodeCount": 3}}


def count(engine: Engine, pool: str) -> int:
    labels = [node["metadata"]["labels"] for node in engine.nodes().values()]
    return sum(item["cloud.google.com/gke-nodepool"] == pool for item in labels)


def wait_for(engine: Engine, *pods: PendingPod) -> None:
    engine.backend.pods[CLUSTER_PATH] = list(pods)
    autoscaler.scale(engine.cloud)


def test_a_flex_start_slice_comes_whole_when_a_worker_waits(gke: Engine) -> None:
    gke.up(NODE_POOL, "slice-0", flex_pool())
    assert gke.nodes() == {}
    wait_for(gke)
    assert gke.nodes() == {}
    wait_for(gke, WORKER)
    assert count(gke, "slice-0") == 4
    labels = next(iter(gke.nodes().values()))["metadata"]["labels"]
    assert labels["cloud.google.com/gke-provisioning"] == "flex-start"
    assert labels["cloud.google.com/gke-flex-start"] == "true"
    assert gke.up(NODE_POOL, "slice-0", flex_pool()) == "same"
    assert gke.refresh(NODE_POOL, "slice-0")
    assert gke.up(NODE_POOL, "slice-0", flex_pool()) == "same"


def test_one_waiting_slice_brings_one_pool(gke: Engine) -> None:
    for name in ("slice-0", "slice-1"):
        gke.up(NODE_POOL, name, flex_pool(name))
    wait_for(gke, WORKER)
    assert (count(gke, "slice-0"), count(gke, "slice-1")) == (4, 0)
    wait_for(gke, WORKER)
    assert (count(gke, "slice-0"), count(gke, "slice-1")) == (4, 4)


@pytest.mark.parametrize(
    "pod",
    [
        PendingPod("default", "no-toleration", SELECTOR, frozenset(), tpu_chips=4),
        PendingPod(
            "default", "other-shape", {**SELECTOR, "cloud.google.com/gke-tpu-topology": "2x4"}, TPU, tpu_chips=4
        ),
        PendingPod("default", "too-many-chips", SELECTOR, TPU, tpu_chips=8),
        PendingPod("default", "too-much-memory", SELECTOR, TPU, tpu_chips=4, memory_gib=720),
        PendingPod("default", "unknown-label", {"team": "vision"}, TPU, tpu_chips=4),
    ],
    ids=lambda pod: pod.name,
)
def test_a_pod_that_no_node_would_take_brings_none(gke: Engine, pod: PendingPod) -> None:
    gke.up(NODE_POOL, "slice-0", flex_pool())
    wait_for(gke, pod)
    assert gke.nodes() == {}


def test_a_queued_pool_takes_only_what_tolerates_its_taint(gke: Engine) -> None:
    gke.up(NODE_POOL, "slice-0", {**flex_pool(), "queuedProvisioning": {"enabled": True}})
    wait_for(gke, WORKER)
    assert gke.nodes() == {}
    wait_for(gke, PendingPod("default", "w", SELECTOR, TPU | {"cloud.google.com/gke-queued"}, tpu_chips=4))
    assert count(gke, "slice-0") == 4


def test_a_system_pool_starts_at_its_least_and_grows_to_its_most(gke: Engine) -> None:
    gke.up(NODE_POOL, "system", system_pool())
    assert count(gke, "system") == 1
    pods = [PendingPod("kube-system", f"p{i}", cpu=1) for i in range(5)]
    wait_for(gke, *pods[:1])
    assert count(gke, "system") == 2
    wait_for(gke, *pods)
    assert count(gke, "system") == 3
    assert gke.up(NODE_POOL, "system", system_pool()) == "same"


def test_an_idle_pool_shrinks_only_when_told_so_and_never_a_busy_one(gke: Engine) -> None:
    gke.up(NODE_POOL, "slice-0", flex_pool())
    wait_for(gke, WORKER)
    wait_for(gke)
    assert count(gke, "slice-0") == 4
    gke.cloud.store.set_setting("scale_down_after", 0)
    gke.backend.busy = set(list(gke.nodes())[:1])
    wait_for(gke)
    assert count(gke, "slice-0") == 4
    gke.backend.busy = set()
    wait_for(gke)
    assert gke.nodes() == {}
