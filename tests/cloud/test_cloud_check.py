"""What Check refuses, and what it fills in."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from tests.cloud.engine import (
    ACCOUNT,
    BUCKET,
    BUCKET_MEMBER,
    CLUSTER,
    FIREWALL,
    NETWORK,
    NODE_POOL,
    POLICY,
    CallError,
    Engine,
    cluster,
    network,
    slice_pool,
)
from tests.e2e.cloud.wire import UNKNOWN

pytestmark = pytest.mark.thorough

ROUTER = "gcp:compute/router:Router"
WORKLOAD = {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "4x4x4"}

REFUSED = [
    (NODE_POOL, {"name": "p"}, "The argument \"cluster\" is required. Examine values at 'r.cluster'"),
    (NODE_POOL, slice_pool(nodeCuont=1), "Invalid or unknown key. `nodeCuont`"),
    (NODE_POOL, slice_pool(config={"machinetype": "x"}), "Examine values at 'r.nodeConfig.machinetype'"),
    (NODE_POOL, slice_pool(instanceGroupUrls=["x"]), 'Can\'t configure a value for "instanceGroupUrls"'),
    (NODE_POOL, slice_pool(nodeCount=-1), "to be at least (0), got -1. Examine values at 'r.nodeCount'"),
    (NODE_POOL, slice_pool(placementPolicy={"tpuTopology": "4x4"}), "r.placementPolicy.type"),
    (NODE_POOL, slice_pool(autoscaling={"locationPolicy": "SOME"}), 'to be one of ["BALANCED" "ANY"], got SOME'),
    (
        NODE_POOL,
        slice_pool(config={"reservationAffinity": {"consumeReservationType": "RESERVED"}}),
        "r.nodeConfig.reservationAffinity.consumeReservationType",
    ),
    (NODE_POOL, slice_pool(config={"taints": [{"key": "a", "value": "b"}]}), "r.nodeConfig.taints[0].effect"),
    (CLUSTER, cluster(name="a" * 41), "must be 1 to 40 characters"),
    (CLUSTER, cluster(clusterIpv4Cidr="10.4.0.0/14"), '"clusterIpv4Cidr": conflicts with ipAllocationPolicy'),
    (CLUSTER, cluster(privateClusterConfig={}), "one of `privateClusterConfig.enablePrivateEndpoint,"),
    (CLUSTER, cluster(maintenancePolicy={}), "only one of `maintenancePolicy.dailyMaintenanceWindow,"),
    (ROUTER, {"name": "r", "network": "net"}, "must be 2 to 63 characters long"),
    (NETWORK, {"name": "n"}, "must be 2 to 63 characters long"),
    (FIREWALL, {"name": "fw", "network": "net"}, "only one of `allows,denies` must be specified"),
    (
        FIREWALL,
        {"name": "fw", "network": "net", "allows": [{"protocol": "tcp"}], "denies": [{"protocol": "udp"}]},
        "only one of `allows,denies` can be specified",
    ),
    (
        POLICY,
        {"name": "wp", "workloadPolicy": {**WORKLOAD, "maxTopologyDistance": "BLOCK"}},
        "conflicts with workloadPolicy.maxTopologyDistance",
    ),
    (BUCKET, {"name": "b-1", "location": "us-east5", "labels": {"team": "Vision"}}, "label value (Vision)"),
    (BUCKET, {"name": "b-1", "location": "us-east5", "lifecycleRules": [{"condition": {"age": 1}}]}, "[0].action"),
    (BUCKET_MEMBER, {"bucket": "b", "role": "roles/x", "member": "nobody"}, "invalid value for member (nobody)"),
]


@pytest.mark.parametrize(("token", "inputs", "reason"), REFUSED, ids=[row[2][:50] for row in REFUSED])
def test_refused(bare: Engine, token: str, inputs: dict[str, Any], reason: str) -> None:
    _, failures = bare.check(token, "r", inputs)
    assert any(reason in failure for failure in failures), failures


@pytest.mark.parametrize(
    ("token", "inputs"),
    [
        (NODE_POOL, slice_pool()),
        (NODE_POOL, slice_pool(cluster=UNKNOWN, config={"serviceAccount": UNKNOWN})),
        (CLUSTER, cluster(network=UNKNOWN)),
        (CLUSTER, cluster(clusterIpv4Cidr=UNKNOWN)),
        (POLICY, {"name": "wp", "workloadPolicy": WORKLOAD}),
        (FIREWALL, {"name": "fw", "network": "net", "allows": UNKNOWN}),
    ],
)
def test_accepted(bare: Engine, token: str, inputs: dict[str, Any]) -> None:
    assert bare.check(token, "r", inputs)[1] == []


@pytest.mark.parametrize(
    "inputs",
    [
        slice_pool(nodeCount="four"),
        slice_pool(nodeConfig=[1]),
        slice_pool(nodeLocations=3),
        {**slice_pool(), "name": {}},
    ],
)
def test_a_wrong_type_fails_the_call(bare: Engine, inputs: dict[str, Any]) -> None:
    with pytest.raises(CallError) as caught:
        bare.check(NODE_POOL, "r", inputs)
    assert caught.value.code is grpc.StatusCode.INVALID_ARGUMENT


def test_defaults_are_filled_at_every_depth_and_remembered(bare: Engine) -> None:
    inputs, _ = bare.check(NODE_POOL, "r", slice_pool(config={"shieldedInstanceConfig": {"enableSecureBoot": True}}))
    config = inputs["nodeConfig"]
    assert config["spot"] is False
    assert config["shieldedInstanceConfig"] == {"enableSecureBoot": True, "enableIntegrityMonitoring": True}
    inputs, _ = bare.check(CLUSTER, "r", {"name": "c"})
    assert (inputs["network"], inputs["deletionProtection"]) == ("default", True)
    assert {"network", "deletionProtection"} <= set(inputs["__defaults"])


def test_a_default_stands_back_for_what_it_conflicts_with(bare: Engine) -> None:
    inputs, _ = bare.check(CLUSTER, "r", {"name": "c", "enableAutopilot": True})
    assert "enableShieldedNodes" not in inputs


def test_a_name_that_is_left_out_is_invented_once(bare: Engine) -> None:
    bare.up("gcp:projects/service:Service", "compute", {"service": "compute.googleapis.com"})
    bare.up(NETWORK, "net", {"autoCreateSubnetworks": False})
    name = bare.outputs(NETWORK, "net")["name"]
    assert name == "net-0123456"
    assert bare.up(NETWORK, "net", {"autoCreateSubnetworks": False}) == "same"
    assert bare.diff(NETWORK, "net", {"autoCreateSubnetworks": True}).deleteBeforeReplace is False


def test_an_account_without_an_id_gets_one(bare: Engine) -> None:
    assert bare.check(ACCOUNT, "nodes", {})[0]["accountId"] == "nodes-0123456"


def test_the_preview_of_a_create_knows_what_needs_no_cloud(bare: Engine) -> None:
    shown = bare.preview(CLUSTER, "c", cluster())
    assert (shown["name"], shown["project"], shown["deletionPolicy"]) == ("train", "acme-ml-dev", "DELETE")
    assert shown["endpoint"] is UNKNOWN
    assert shown["masterAuth"] is UNKNOWN
    assert shown["controlPlaneEndpointsConfig"]["dnsEndpointConfig"]["endpoint"] is UNKNOWN
    assert "description" not in bare.preview(NETWORK, "n", network())
    assert bare.cloud.store.all() == []
