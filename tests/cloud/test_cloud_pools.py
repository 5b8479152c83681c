"""Node pools have consequences: nodes as GKE makes them, atomic slices, reservations, changes in place or not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cloud.engine import (
    ACCOUNT,
    CLUSTER,
    NODE_POOL,
    POLICY,
    PROJECT,
    REGION,
    ZONE,
    CallError,
    Engine,
    flex_pool,
    slice_pool,
)
from tests.e2e.cloud import by_hand
from tests.e2e.cloud.backend import Removal

pytestmark = pytest.mark.thorough

RESERVATION = "compute.googleapis.com/reservation-name"


def reserved(value: str) -> dict[str, Any]:
    affinity = {"consumeReservationType": "SPECIFIC_RESERVATION", "key": RESERVATION, "values": [value]}
    return {"reservationAffinity": affinity}


def workload_policy(engine: Engine, topology: str) -> str:
    name = f"wp-{topology}"
    workload = {"type": "HIGH_THROUGHPUT", "acceleratorTopology": topology}
    engine.up(POLICY, name, {"name": name, "workloadPolicy": workload, "region": REGION})
    return str(engine.outputs(POLICY, name)["selfLink"])


def tpu7x(policy: str, placement_type: str = "", **more: Any) -> dict[str, Any]:
    placement = {"type": placement_type, "policyName": policy}
    return slice_pool(nodeConfig={"machineType": "tpu7x-standard-4t"}, placementPolicy=placement, nodeCount=16, **more)


def test_a_slice_gets_the_nodes_that_gke_would_make(gke: Engine) -> None:
    gke.up(NODE_POOL, "slice-0", slice_pool(config={"labels": {"team": "vision"}}))
    nodes = gke.nodes()
    assert len(nodes) == 4
    name, node = next(iter(nodes.items()))
    assert name.startswith("gke-train-slice-0-")
    assert node["metadata"]["annotations"]["kwok.x-k8s.io/node"] == "fake"
    expected = {
        "cloud.google.com/gke-nodepool": "slice-0",
        "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
        "cloud.google.com/gke-tpu-topology": "4x4",
        "cloud.google.com/gke-accelerator-count": "4",
        "cloud.google.com/gke-provisioning": "standard",
        "node.kubernetes.io/instance-type": "ct6e-standard-4t",
        "topology.kubernetes.io/region": REGION,
        "topology.kubernetes.io/zone": ZONE,
        "kubernetes.io/hostname": name,
        "team": "vision",
    }
    assert expected.items() <= node["metadata"]["labels"].items()
    assert "cloud.google.com/gke-spot" not in node["metadata"]["labels"]
    assert node["spec"]["taints"] == [{"key": "google.com/tpu", "value": "present", "effect": "NoSchedule"}]
    assert node["spec"]["providerID"] == f"gce://{PROJECT}/{ZONE}/{name}"
    assert node["status"]["capacity"] == {
        "cpu": "180", "memory": "737280Mi", "google.com/tpu": "4", "pods": "16", "ephemeral-storage": "100Gi"
    }  # fmt: skip
    assert int(node["status"]["allocatable"]["memory"][:-2]) < 737280


@pytest.mark.parametrize(
    ("config", "labels", "taints"),
    [
        ({"spot": True}, {"gke-spot": "true", "gke-provisioning": "spot"}, {"google.com/tpu"}),
        ({"workloadMetadataConfig": {"mode": "GKE_METADATA"}}, {"gke-provisioning": "standard"}, {"google.com/tpu"}),
        (
            {"taints": [{"key": "team", "value": "x", "effect": "NO_EXECUTE"}]},
            {"gke-nodepool": "slice-0"},
            {"google.com/tpu", "team"},
        ),
    ],
)
def test_labels_and_taints_of_a_capacity(
    gke: Engine, config: dict[str, Any], labels: dict[str, str], taints: set[str]
) -> None:
    gke.up(NODE_POOL, "slice-0", slice_pool(config=config))
    for node in gke.nodes().values():
        found = node["metadata"]["labels"]
        assert {f"cloud.google.com/{key}": value for key, value in labels.items()}.items() <= found.items()
        assert {taint["key"] for taint in node["spec"]["taints"]} == taints


def test_a_head_pool_of_plain_machines_has_no_tpu(gke: Engine) -> None:
    pool = slice_pool("head", nodeConfig={"machineType": "n2-standard-64"}, nodeCount=1, maxPodsPerNode=110)
    del pool["placementPolicy"]
    gke.up(NODE_POOL, "head", pool)
    (node,) = gke.nodes().values()
    assert node["spec"]["taints"] == []
    assert "google.com/tpu" not in node["status"]["capacity"]
    assert node["status"]["allocatable"]["cpu"] == "63770m"
    assert node["status"]["capacity"]["memory"] == "262144Mi"


def test_a_pool_of_a_regional_cluster_counts_in_each_zone(gke: Engine) -> None:
    pool = slice_pool("system", nodeConfig={"machineType": "e2-standard-4"}, nodeCount=1, maxPodsPerNode=110)
    del pool["placementPolicy"], pool["nodeLocations"]
    gke.up(NODE_POOL, "system", pool)
    zones = {node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in gke.nodes().values()}
    assert zones == {f"{REGION}-a", f"{REGION}-b", f"{REGION}-c"}
    assert gke.outputs(NODE_POOL, "system")["nodeCount"] == 1


SMALL = {"machineType": "ct6e-standard-4t", "diskType": "pd-ssd"}
REFUSED = [
    (slice_pool(nodeCount=3), "topology 4x4 takes exactly 4"),
    (slice_pool(nodeCount=5), "topology 4x4 takes exactly 4"),
    (slice_pool(config={"machineType": "ct6e-standard-3t"}), "does not exist in zone"),
    (slice_pool(config={"machineType": "n2-standard-64"}), "has no TPU"),
    (slice_pool(placementPolicy={"type": "COMPACT", "tpuTopology": "4x4x4"}), "Invalid TPU topology 4x4x4"),
    (slice_pool(placementPolicy={"type": "COMPACT", "tpuTopology": "2x2"}, nodeCount=1), "single host"),
    (slice_pool(placementPolicy={"type": ""}), "Invalid placement policy type"),
    (slice_pool(placementPolicy={"type": "", "policyName": "none"}), "resourcePolicies/none' was not found"),
    (slice_pool(nodeConfig={"machineType": "tpu7x-standard-4t"}), "needs a workload policy by name"),
    (slice_pool(nodeLocations=["us-east5-a", "us-east5-b"]), "exactly one zone"),
    (slice_pool("p" * 41), "at most 40"),
    (slice_pool(initialNodeCount=4), "Cannot set both initial_node_count and node_count"),
    (slice_pool(nodeConfig=SMALL), "[pd-ssd] features are not compatible"),
    (slice_pool(cluster="none"), "Not found: projects/acme-ml-dev/locations/us-east5/clusters/none"),
    (slice_pool(maxPodsPerNode=4), "between 8 and 256"),
    (slice_pool(config={"serviceAccount": f"nobody@{PROJECT}.iam.gserviceaccount.com"}), "does not exist"),
    (slice_pool(config={"spot": True, **reserved("r")}), "Spot VMs cannot consume reservations"),
    (slice_pool(config=reserved("zones/x/r")), "Invalid reservation affinity"),
    (slice_pool(upgradeSettings={"strategy": "BLUE_GREEN"}), "Blue-green upgrades are not supported"),
    (slice_pool(autoscaling={"minNodeCount": 0, "maxNodeCount": 3}), "scales between 0 and 4 only"),
    (slice_pool(autoscaling={"minNodeCount": 0, "maxNodeCount": 0}), "at least 1"),
    ({**flex_pool(), "management": {"autoRepair": True}}, "flex-start does not go with: auto_repair"),
    (slice_pool(config={"flexStart": True}), "node_count without autoscaling"),
    (flex_pool(spot=True), "flex-start does not go with: spot"),
    (flex_pool(maxRunDuration="60s"), "between 600s and 604800s"),
]


@pytest.mark.parametrize(("inputs", "reason"), REFUSED, ids=[row[1][:40] for row in REFUSED])
def test_gke_refuses(gke: Engine, inputs: dict[str, Any], reason: str) -> None:
    with pytest.raises(CallError) as caught:
        gke.up(NODE_POOL, "p", inputs)
    assert reason in str(caught.value)
    assert caught.value.kept is None
    assert gke.cloud.store.all(NODE_POOL) == []
    assert gke.nodes() == {}


def test_a_tpu7x_slice_takes_its_shape_from_the_workload_policy(gke: Engine) -> None:
    gke.up(NODE_POOL, "slice-0", tpu7x(workload_policy(gke, "4x4x4")))
    assert {n["metadata"]["labels"]["cloud.google.com/gke-tpu-topology"] for n in gke.nodes().values()} == {"4x4x4"}
    assert len(gke.nodes()) == 16
    with pytest.raises(CallError, match="already being used by"):
        gke.delete(POLICY, "wp-4x4x4")


def test_compact_beside_a_policy_differs_for_ever_and_cannot_be_applied(gke: Engine) -> None:
    inputs = tpu7x(workload_policy(gke, "4x4x4"), "COMPACT")
    gke.up(NODE_POOL, "slice-0", inputs)
    assert set(gke.diff(NODE_POOL, "slice-0", inputs).detailedDiff) == {"placementPolicy.type"}
    with pytest.raises(CallError, match="not supported for the multi-host TPU node pool"):
        gke.up(NODE_POOL, "slice-0", inputs)


def test_a_changed_topology_is_an_update_that_does_nothing_every_time(gke: Engine) -> None:
    gke.up(NODE_POOL, "slice-0", slice_pool())
    before = set(gke.nodes())
    other = slice_pool(placementPolicy={"type": "COMPACT", "tpuTopology": "2x8"})
    for _ in range(2):
        assert gke.up(NODE_POOL, "slice-0", other) == "update"
        assert gke.outputs(NODE_POOL, "slice-0")["placementPolicy"]["tpuTopology"] == "4x4"
        assert gke.last("Update").detail == {"changes": ["placementPolicy.tpuTopology"], "writes": []}
    assert set(gke.nodes()) == before


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (slice_pool(nodeCount=16, placementPolicy={"type": "COMPACT", "tpuTopology": "8x8"}), "takes exactly 4"),
        (slice_pool(config={"diskSizeGb": 200}), "nodeConfig.diskSizeGb is not supported for the multi-host TPU"),
    ],
)
def test_a_slice_refuses_what_it_cannot_do_in_place(gke: Engine, changed: dict[str, Any], reason: str) -> None:
    gke.up(NODE_POOL, "slice-0", slice_pool())
    before = set(gke.nodes())
    with pytest.raises(CallError, match=reason):
        gke.up(NODE_POOL, "slice-0", changed)
    assert set(gke.nodes()) == before
    assert gke.up(NODE_POOL, "slice-0", slice_pool()) == "same"


def test_labels_change_on_the_nodes_in_place_and_a_machine_type_makes_them_anew(gke: Engine) -> None:
    pool = slice_pool("cpu", nodeConfig={"machineType": "n2-standard-8", "labels": {"a": "1"}}, nodeCount=2)
    del pool["placementPolicy"]
    gke.up(NODE_POOL, "cpu", pool)
    before = set(gke.nodes())
    pool["nodeConfig"] = {"machineType": "n2-standard-8", "labels": {"a": "2"}}
    assert gke.up(NODE_POOL, "cpu", pool) == "update"
    assert set(gke.nodes()) == before
    assert {node["metadata"]["labels"]["a"] for node in gke.nodes().values()} == {"2"}
    pool["nodeConfig"]["machineType"] = "n2-standard-16"
    assert gke.up(NODE_POOL, "cpu", pool) == "update"
    assert not set(gke.nodes()) & before
    assert {node["status"]["capacity"]["cpu"] for node in gke.nodes().values()} == {"16"}
    assert gke.up(NODE_POOL, "cpu", {**pool, "nodeCount": 3}) == "update"
    assert gke.last("Update").detail["writes"] == ["POST nodePools/cpu:setSize"]
    assert len(gke.nodes()) == 3


def test_a_deleted_pool_drains_its_nodes_and_leaves_other_pools_alone(gke: Engine) -> None:
    gke.up(NODE_POOL, "slice-0", slice_pool("slice-0"))
    kept = set(gke.nodes())
    gke.up(NODE_POOL, "slice-1", slice_pool("slice-1"))
    gke.delete(NODE_POOL, "slice-1")
    assert set(gke.nodes()) == kept
    assert {how for _, how in gke.backend.removed} == {Removal.DRAIN}


def test_a_pool_made_again_under_the_same_name_has_other_nodes(gke: Engine) -> None:
    gke.up(NODE_POOL, "slice-0", slice_pool())
    before = set(gke.nodes())
    assert gke.up(NODE_POOL, "slice-0", slice_pool(config={"spot": True})) == "replace"
    assert len(gke.nodes()) == 4
    assert not set(gke.nodes()) & before


@pytest.mark.parametrize(
    ("entry", "fits"),
    [
        ({"hosts": 8}, True),
        ({"hosts": 8, "machineType": "ct6e-standard-4t", "zone": ZONE, "project": PROJECT}, True),
        ({"hosts": 7}, False),
        ({"hosts": 8, "machineType": "ct5p-hightpu-4t"}, False),
        ({"hosts": 8, "zone": "us-east5-a"}, False),
        ({"hosts": 8, "project": "other"}, False),
        (None, False),
    ],
)
def test_a_reservation_has_so_many_hosts_and_refuses_more(
    gke: Engine, entry: dict[str, Any] | None, fits: bool
) -> None:
    gke.cloud.store.set_setting("reservations", {"r": {"hosts": 4}} if entry is None else {"r": entry})
    name = "other" if entry is None else "r"
    path = f"projects/{PROJECT}/reservations/{name}/reservationBlocks/b"
    if entry is None or fits or entry.get("hosts") == 7:
        first = slice_pool("slice-0", config=reserved("r"))
        gke.up(NODE_POOL, "slice-0", first)
    second = slice_pool("slice-1", config=reserved(path))
    if fits:
        gke.up(NODE_POOL, "slice-1", second)
        labels = [node["metadata"]["labels"] for node in gke.nodes().values()]
        assert {item["cloud.google.com/reservation-name"] for item in labels} == {"r"}
        return
    with pytest.raises(CallError, match="created in the error state") as caught:
        gke.up(NODE_POOL, "slice-1", second)
    assert caught.value.kept is not None
    pool = by_hand.find(gke.cloud, NODE_POOL, "slice-1")
    assert pool.status == "ERROR"
    assert "does not have available resources" in pool.meta["message"]


def test_a_pool_by_hand_resized_shows_on_refresh_and_is_brought_back(gke: Engine) -> None:
    gke.up(NODE_POOL, "slice-0", slice_pool())
    by_hand.resize_pool(gke.cloud, "slice-0", 0)
    assert gke.nodes() == {}
    assert gke.up(NODE_POOL, "slice-0", slice_pool()) == "same"
    assert gke.refresh(NODE_POOL, "slice-0")
    assert gke.outputs(NODE_POOL, "slice-0")["nodeCount"] == 0
    assert gke.states[gke.urn(NODE_POOL, "slice-0")].inputs["nodeCount"] == 0
    assert gke.up(NODE_POOL, "slice-0", slice_pool()) == "update"
    assert len(gke.nodes()) == 4


def test_spot_nodes_are_taken_away_and_come_back_under_new_names(gke: Engine) -> None:
    gke.up(NODE_POOL, "slice-0", slice_pool(config={"spot": True}))
    before = set(gke.nodes())
    taken = by_hand.take_spot(gke.cloud, "slice-0")
    assert set(taken) == before
    assert {how for _, how in gke.backend.removed} == {Removal.LOSE}
    assert by_hand.give_back(gke.cloud, "slice-0") == 4
    assert len(gke.nodes()) == 4
    assert not set(gke.nodes()) & before
    assert gke.refresh(NODE_POOL, "slice-0")
    assert gke.up(NODE_POOL, "slice-0", slice_pool(config={"spot": True})) == "same"


def test_a_failed_host_is_gone_alone(gke: Engine) -> None:
    gke.up(NODE_POOL, "slice-0", slice_pool())
    before = set(gke.nodes())
    (lost,) = by_hand.fail_hosts(gke.cloud, "slice-0")
    assert set(gke.nodes()) == before - {lost}
    by_hand.give_back(gke.cloud, "slice-0")
    assert set(gke.nodes()) > before - {lost}
    assert len(gke.nodes()) == 4


def test_the_node_account_must_exist(gke: Engine) -> None:
    gke.up(ACCOUNT, "nodes", {"accountId": "vision-dev-nodes"})
    email = gke.outputs(ACCOUNT, "nodes")["email"]
    assert gke.up(NODE_POOL, "slice-0", slice_pool(config={"serviceAccount": email})) == "create"


def test_the_deleted_cluster_takes_pools_and_nodes_along(gke: Engine) -> None:
    gke.up(NODE_POOL, "slice-0", slice_pool())
    gke.delete(CLUSTER, "train")
    assert gke.nodes() == {}
    assert gke.cloud.store.all(NODE_POOL) == []
    assert not gke.refresh(NODE_POOL, "slice-0")
