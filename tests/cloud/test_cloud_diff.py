"""What the provider plans for a change: the table of the real provider's verdicts."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from pulumi.runtime.proto import provider_pb2

from tests.cloud.engine import (
    BUCKET,
    CLUSTER,
    FIREWALL,
    NETWORK,
    NODE_POOL,
    POLICY,
    PROJECT,
    SUBNETWORK,
    Engine,
    cluster,
    network,
    slice_pool,
    subnetwork,
)
from tests.e2e.cloud.wire import UNKNOWN

pytestmark = pytest.mark.thorough

KIND = provider_pb2.PropertyDiff.Kind


def _changed(inputs: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    result = copy.deepcopy(inputs)
    target = result
    *parents, last = path.split(".")
    for parent in parents:
        target = target.setdefault(parent, {})
    if value is None:
        del target[last]
    else:
        target[last] = value
    return result


POOL = slice_pool(config={"labels": {"a": "1"}, "taints": [{"key": "k", "value": "v", "effect": "NO_SCHEDULE"}]})
RESERVED = {"consumeReservationType": "NO_RESERVATION"}

NODE_POOL_ROWS = [
    ("nodeConfig.machineType", "ct6e-standard-8t", "update"),
    ("placementPolicy.tpuTopology", "8x8", "update"),
    ("placementPolicy", None, "replace"),
    ("placementPolicy.policyName", "wp", "replace"),
    ("nodeConfig.spot", True, "replace"),
    ("nodeConfig.reservationAffinity", RESERVED, "replace"),
    ("queuedProvisioning", {"enabled": True}, "replace"),
    ("location", "us-east5-b", "replace"),
    ("cluster", "other", "replace"),
    ("cluster", UNKNOWN, "replace"),
    ("cluster", f"projects/{PROJECT}/locations/us-east5/clusters/train", "replace"),
    ("name", "slice-9", "replace"),
    ("nodeConfig.labels", {"a": "2"}, "update"),
    ("nodeConfig.taints", [], "update"),
    ("autoscaling", {"minNodeCount": 0, "maxNodeCount": 4}, "update"),
    ("nodeCount", 16, "update"),
    ("nodeLocations", ["us-east5-c"], "update"),
    ("nodeCount", None, "same"),
    ("maxPodsPerNode", None, "same"),
    ("maxPodsPerNode", 32, "replace"),
    ("nodeConfig.labels", None, "same"),
]


def _verdict(answer: Any) -> str:
    if answer.changes == provider_pb2.DiffResponse.DIFF_NONE:
        assert not answer.detailedDiff
        return "same"
    return "replace" if answer.replaces else "update"


@pytest.mark.parametrize(("path", "value", "verdict"), NODE_POOL_ROWS, ids=[f"{r[0]}={r[1]}" for r in NODE_POOL_ROWS])
def test_node_pool(gke: Engine, path: str, value: Any, verdict: str) -> None:
    gke.up(NODE_POOL, "slice-0", POOL)
    answer = gke.diff(NODE_POOL, "slice-0", _changed(POOL, path, value))
    assert _verdict(answer) == verdict
    if verdict != "same":
        assert any(key.startswith(path) for key in answer.detailedDiff)


BUCKET_INPUTS = {"name": "scratch-1", "location": "us-east5", "forceDestroy": False, "labels": {"team": "vision"}}
FIREWALL_INPUTS = {
    "name": "internal",
    "network": "net",
    "allows": [{"protocol": "tcp", "ports": ["1", "2"]}, {"protocol": "udp"}],
    "sourceRanges": ["10.0.0.0/20", "10.4.0.0/18"],
}
POLICY_INPUTS = {"name": "wp", "workloadPolicy": {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "4x4x4"}}
NO_ENDPOINT = {"enablePrivateNodes": True}

OTHER_ROWS = [
    (NETWORK, network(), "mtu", 1460, "update"),
    (NETWORK, network(), "autoCreateSubnetworks", True, "replace"),
    (NETWORK, network(), "deleteDefaultRoutesOnCreate", False, "same"),
    (SUBNETWORK, subnetwork(), "network", "net", "same"),
    (
        SUBNETWORK,
        subnetwork(),
        "network",
        "https://www.googleapis.com/compute/v1/projects/p/global/networks/net",
        "same",
    ),
    (SUBNETWORK, subnetwork(), "ipCidrRange", "10.0.0.0/19", "update"),
    (SUBNETWORK, subnetwork(), "ipCidrRange", "10.0.0.0/21", "replace"),
    (SUBNETWORK, subnetwork(), "secondaryIpRanges", [{"rangeName": "more", "ipCidrRange": "10.16.0.0/20"}], "update"),
    (FIREWALL, FIREWALL_INPUTS, "sourceRanges", ["10.4.0.0/18", "10.0.0.0/20"], "same"),
    (FIREWALL, FIREWALL_INPUTS, "allows", list(reversed(FIREWALL_INPUTS["allows"])), "same"),
    (FIREWALL, FIREWALL_INPUTS, "allows", [{"protocol": "tcp", "ports": ["2", "1"]}, {"protocol": "udp"}], "update"),
    (FIREWALL, FIREWALL_INPUTS, "allows", [{"protocol": "tcp"}], "update"),
    (POLICY, POLICY_INPUTS, "workloadPolicy.acceleratorTopology", "4x4x8", "replace"),
    (POLICY, POLICY_INPUTS, "workloadPolicy", None, "replace"),
    (POLICY, POLICY_INPUTS, "name", "wp-2", "update"),
    (BUCKET, BUCKET_INPUTS, "location", "US-EAST5", "same"),
    (BUCKET, BUCKET_INPUTS, "location", "us-east1", "replace"),
    (BUCKET, BUCKET_INPUTS, "forceDestroy", True, "update"),
    (BUCKET, BUCKET_INPUTS, "labels", {"team": "speech"}, "update"),
    (BUCKET, BUCKET_INPUTS, "hierarchicalNamespace", {"enabled": True}, "replace"),
    (BUCKET, BUCKET_INPUTS, "hierarchicalNamespace", {"enabled": False}, "same"),
    (CLUSTER, cluster(), "location", "us-east5-b", "replace"),
    (CLUSTER, cluster(), "deletionProtection", True, "update"),
    (CLUSTER, cluster(), "network", "net", "same"),
    (CLUSTER, cluster(), "datapathProvider", "ADVANCED_DATAPATH", "replace"),
    (CLUSTER, cluster(), "masterAuth", {"clientCertificateConfig": {"issueClientCertificate": True}}, "replace"),
    (CLUSTER, cluster(), "privateClusterConfig", NO_ENDPOINT, "update"),
    (CLUSTER, cluster(), "privateClusterConfig", None, "same"),
]


@pytest.mark.parametrize("row", OTHER_ROWS, ids=[f"{r[0].rpartition(':')[2]} {r[2]}={r[3]}"[:70] for r in OTHER_ROWS])
def test_other_types(engine: Engine, row: tuple[str, dict[str, Any], str, Any, str]) -> None:
    token, inputs, path, value, verdict = row
    name = {NETWORK: "net", SUBNETWORK: "nodes"}.get(token, "r")
    engine.up(token, name, inputs)
    assert engine.up(token, name, inputs) == "same"
    assert _verdict(engine.diff(token, name, _changed(inputs, path, value))) == verdict


def test_the_private_endpoint_that_is_left_out_shows_for_ever(engine: Engine) -> None:
    inputs = cluster(privateClusterConfig=NO_ENDPOINT)
    engine.up(CLUSTER, "train", inputs)
    answer = engine.diff(CLUSTER, "train", inputs)
    assert {k: KIND.Name(v.kind) for k, v in answer.detailedDiff.items()} == {
        "privateClusterConfig.enablePrivateEndpoint": "DELETE"
    }


def test_a_change_inside_node_config_shows_the_tags_as_noise(gke: Engine) -> None:
    gke.up(NODE_POOL, "slice-0", POOL)
    answer = gke.diff(NODE_POOL, "slice-0", _changed(POOL, "nodeConfig.labels", {"a": "2"}))
    assert set(answer.detailedDiff) == {"nodeConfig.labels.a", "nodeConfig.resourceManagerTags"}
    assert not gke.diff(NODE_POOL, "slice-0", _changed(POOL, "nodeCount", 8)).detailedDiff.keys() & {
        "nodeConfig.resourceManagerTags"
    }


def test_replacing_what_keeps_its_own_name_deletes_first_and_a_rename_does_not(gke: Engine) -> None:
    gke.up(NODE_POOL, "slice-0", POOL)
    assert gke.diff(NODE_POOL, "slice-0", _changed(POOL, "nodeConfig.spot", True)).deleteBeforeReplace
    assert not gke.diff(NODE_POOL, "slice-0", _changed(POOL, "name", "slice-9")).deleteBeforeReplace


@pytest.mark.parametrize(
    ("ignored", "left"),
    [
        ((), {"nodeConfig.spot", "nodeConfig.taints[0].value", "nodeConfig.resourceManagerTags", "nodeCount"}),
        (("nodeConfig",), {"nodeCount"}),
        (("nodeConfig.taints", "node"), {"nodeConfig.spot", "nodeConfig.resourceManagerTags", "nodeCount"}),
        (("nodeConfig.taints[*].value", "nodeCount"), {"nodeConfig.spot", "nodeConfig.resourceManagerTags"}),
        (
            ("nodeConfig.taints[1]", "nodeConfig.spot"),
            {"nodeConfig.taints[0].value", "nodeConfig.resourceManagerTags", "nodeCount"},
        ),
    ],
)
def test_ignored_paths_are_no_change(gke: Engine, ignored: tuple[str, ...], left: set[str]) -> None:
    gke.up(NODE_POOL, "slice-0", POOL)
    changed = slice_pool(nodeCount=8, config={**POOL["nodeConfig"], "spot": True})
    changed["nodeConfig"]["taints"] = [{"key": "k", "value": "w", "effect": "NO_SCHEDULE"}]
    assert set(gke.diff(NODE_POOL, "slice-0", changed, ignored).detailedDiff) == left


def test_provider_labels_reach_what_has_labels_and_their_change_is_an_update(engine: Engine) -> None:
    engine.up(BUCKET, "b", BUCKET_INPUTS)
    labels = {"goog-pulumi-provisioned": "true", "team": "vision"}
    assert engine.outputs(BUCKET, "b")["pulumiLabels"] == labels
    engine.provider.config = type(engine.provider.config)(PROJECT, "us-east5", "us-east5-b", {"owner": "x"})
    assert set(engine.diff(BUCKET, "b", BUCKET_INPUTS).detailedDiff) == {"pulumiLabels", "effectiveLabels"}
    assert engine.up(BUCKET, "b", BUCKET_INPUTS) == "update"
    assert engine.up(BUCKET, "b", BUCKET_INPUTS) == "same"
