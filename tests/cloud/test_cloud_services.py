"""What the other services refuse, compute and remember."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
    PROJECT,
    REGION,
    SERVICE,
    SUBNETWORK,
    CallError,
    Engine,
    cluster,
    network,
    slice_pool,
    subnetwork,
)
from tests.e2e.cloud import by_hand

pytestmark = pytest.mark.thorough

ROUTER = "gcp:compute/router:Router"
NAT = "gcp:compute/routerNat:RouterNat"
PROJECT_MEMBER = "gcp:projects/iAMMember:IAMMember"
BUCKET_INPUTS = {"name": "scratch-1", "location": REGION}


def nat(name: str = "nat") -> dict[str, Any]:
    ranges = {"sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES", "natIpAllocateOption": "AUTO_ONLY"}
    return {"name": name, "router": "router", "region": REGION, **ranges}


def principal(engine: Engine, number: str | None = None, pool: str = f"{PROJECT}.svc.id.goog") -> str:
    number = number or engine.cloud.project_number(PROJECT)
    place = f"projects/{number}/locations/global/workloadIdentityPools/{pool}"
    return f"principal://iam.googleapis.com/{place}/subject/ns/default/sa/train"


def grant(member: str, role: str = "roles/storage.objectAdmin", bucket: str = "scratch-1") -> dict[str, Any]:
    return {"bucket": bucket, "role": role, "member": member}


def test_a_service_must_be_on_before_it_is_used(bare: Engine) -> None:
    with pytest.raises(CallError, match=r"compute.googleapis.com has not been used in project \d{12} before"):
        bare.up(NETWORK, "net", network())
    bare.up(SERVICE, "compute", {"service": "compute.googleapis.com", "disableOnDestroy": True})
    assert bare.up(NETWORK, "net", network()) == "create"
    bare.delete(SERVICE, "compute")
    with pytest.raises(CallError, match="has not been used"):
        bare.up(FIREWALL, "fw", {"name": "fw", "network": "net", "allows": [{"protocol": "tcp"}]})


def test_a_service_left_on_at_destroy_stays_on(engine: Engine) -> None:
    engine.delete(SERVICE, "compute")
    assert engine.up(ROUTER, "router", {"name": "router", "network": "net"}) == "create"


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    (NETWORK, network(), "Error creating Network: googleapi: Error 409: The resource 'projects/acme-ml-dev/global/net"),
    (SUBNETWORK, {**subnetwork(), "name": "more"}, "conflicts with existing subnetwork 'nodes' in region 'us-east5'"),
    (SUBNETWORK, {**subnetwork(), "name": "more", "network": "none"}, "networks/none' was not found"),
    (ROUTER, {"name": "router", "network": "none"}, "networks/none' was not found"),
    (NAT, nat(), "routers/router' was not found"),
    (FIREWALL, {"name": "fw", "network": "none", "allows": [{"protocol": "tcp"}]}, "networks/none' was not found"),
    (CLUSTER, cluster(network="none"), "networks/none' was not found"),
    (CLUSTER, cluster(subnetwork="none"), "subnetworks/none' was not found"),
    (CLUSTER, cluster(location="us-east1"), "projects/acme-ml-dev/regions/us-east1/subnetworks/nodes' was not found"),
    (CLUSTER, cluster(ipAllocationPolicy={"clusterSecondaryRangeName": "pod"}), '"pod" does not exist in subnetwork'),
    (CLUSTER, cluster(workloadIdentityConfig={"workloadPool": "x.svc.id.goog"}), "must be acme-ml-dev.svc.id.goog"),
    (CLUSTER, cluster(enableMultiNetworking=True), "requires ADVANCED_DATAPATH"),
    (BUCKET, {**BUCKET_INPUTS, "name": "taken"}, "The requested bucket name is not available"),
    (BUCKET, {**BUCKET_INPUTS, "name": "my-google-bucket"}, "Invalid bucket name"),
    (BUCKET, {**BUCKET_INPUTS, "name": "Upper"}, "Invalid bucket name"),
    (BUCKET, {**BUCKET_INPUTS, "softDeletePolicy": {"retentionDurationSeconds": 60}}, "0 or between 7 and 90 days"),
    (BUCKET_MEMBER, grant("user:a@b.c"), "The specified bucket does not exist"),
    (PROJECT_MEMBER, {"project": PROJECT, "role": "storage.admin", "member": "user:a@b.c"}, "is not supported"),
    (
        PROJECT_MEMBER,
        {"project": PROJECT, "role": "roles/viewer", "member": f"serviceAccount:no@{PROJECT}.iam.gserviceaccount.com"},
        "does not exist",
    ),
]


@pytest.mark.parametrize(("token", "inputs", "reason"), REFUSED, ids=[row[2][-45:] for row in REFUSED])
def test_refused(engine: Engine, token: str, inputs: dict[str, Any], reason: str) -> None:
    engine.cloud.store.set_setting("taken_buckets", ["taken"])
    before = len(engine.cloud.store.all())
    with pytest.raises(CallError) as caught:
        engine.up(token, "again", inputs)
    assert reason in str(caught.value)
    assert len(engine.cloud.store.all()) == before


def _add_router(engine: Engine) -> None:
    engine.up(ROUTER, "router", {"name": "router", "network": "net"})


def _leave_rule(engine: Engine) -> None:
    by_hand.leave_firewall(engine.cloud, "net")


@pytest.mark.parametrize(
    ("prepare", "user"),
    [
        (lambda _: None, "regions/us-east5/subnetworks/nodes"),
        (_add_router, "regions/us-east5/"),
        (_leave_rule, ""),
    ],
)
def test_a_network_with_leftovers_stays(engine: Engine, prepare: Callable[[Engine], None], user: str) -> None:
    prepare(engine)
    with pytest.raises(CallError, match=f"networks/net' is already being used by 'projects/{PROJECT}/{user}"):
        engine.delete(NETWORK, "net")
    assert engine.refresh(NETWORK, "net")


def test_a_rule_that_gke_left_behind_keeps_the_network(engine: Engine) -> None:
    engine.delete(SUBNETWORK, "nodes")
    _leave_rule(engine)
    with pytest.raises(CallError, match="global/firewalls/k8s-fw-leftover"):
        engine.delete(NETWORK, "net")
    by_hand.delete(engine.cloud, "Firewall", "k8s-fw-leftover")
    engine.delete(NETWORK, "net")
    assert by_hand.list_resources(engine.cloud, "Network") == []


def test_a_cluster_keeps_its_subnet_and_takes_its_rules_along(gke: Engine) -> None:
    assert len(gke.cloud.store.all(FIREWALL)) == 4
    with pytest.raises(CallError, match="already being used by"):
        gke.delete(SUBNETWORK, "nodes")
    gke.delete(CLUSTER, "train")
    assert gke.cloud.store.all(FIREWALL) == []
    gke.delete(SUBNETWORK, "nodes")
    gke.delete(NETWORK, "net")


def test_a_router_takes_its_nat_along(engine: Engine) -> None:
    _add_router(engine)
    engine.up(NAT, "nat", nat())
    engine.delete(ROUTER, "router")
    assert not engine.refresh(NAT, "nat")


def test_deletion_protection_must_be_lifted_by_an_update_first(engine: Engine) -> None:
    engine.up(CLUSTER, "train", cluster(deletionProtection=True))
    with pytest.raises(CallError, match="deletion_protection is set to true"):
        engine.delete(CLUSTER, "train")
    assert engine.up(CLUSTER, "train", cluster(deletionProtection=False)) == "update"
    assert engine.last("Update").detail["writes"] == []
    engine.delete(CLUSTER, "train")


def test_a_cluster_reads_back_what_only_the_cloud_knows(gke: Engine) -> None:
    outputs = gke.outputs(CLUSTER, "train")
    assert outputs["endpoint"]
    assert outputs["masterAuth"]["clusterCaCertificate"]
    assert outputs["controlPlaneEndpointsConfig"]["dnsEndpointConfig"]["endpoint"].endswith(".gke.goog")
    assert outputs["network"] == f"projects/{PROJECT}/global/networks/net"
    assert gke.refresh(CLUSTER, "train")
    assert gke.up(CLUSTER, "train", cluster()) == "same"


def test_a_node_config_of_the_cluster_reads_back_as_that_of_the_first_pool(engine: Engine) -> None:
    inputs = cluster(nodeConfig={"machineType": "e2-small", "spot": True})
    engine.up(CLUSTER, "train", inputs)
    assert engine.up(CLUSTER, "train", inputs) == "same"
    engine.up(NODE_POOL, "slice-0", slice_pool())
    assert engine.refresh(CLUSTER, "train")
    assert [pool["name"] for pool in engine.outputs(CLUSTER, "train")["nodePools"]] == ["slice-0"]
    assert {"nodeConfig.machineType", "nodeConfig.spot"} <= set(engine.diff(CLUSTER, "train", inputs).detailedDiff)
    assert engine.up(CLUSTER, "train", cluster()) == "same"


def test_the_default_pool_stays_unless_it_is_removed(engine: Engine) -> None:
    engine.up(CLUSTER, "train", cluster(removeDefaultNodePool=False))
    assert [pool.name for pool in engine.cloud.store.all(NODE_POOL)] == ["default-pool"]
    assert len(engine.nodes()) == 3


def test_a_bucket_with_objects_stays_unless_forced_by_an_update_first(engine: Engine) -> None:
    engine.up(BUCKET, "scratch", BUCKET_INPUTS)
    by_hand.put_objects(engine.cloud, "scratch-1", 3)
    with pytest.raises(CallError, match="containing objects without `force_destroy`"):
        engine.delete(BUCKET, "scratch")
    engine.up(BUCKET, "scratch", {**BUCKET_INPUTS, "forceDestroy": True})
    engine.delete(BUCKET, "scratch")
    assert engine.cloud.store.all(BUCKET) == []


@pytest.mark.parametrize(("policy", "left"), [("PREVENT", True), ("ABANDON", True), ("DELETE", False)])
def test_the_deletion_policy_decides(engine: Engine, policy: str, left: bool) -> None:
    engine.up(BUCKET, "scratch", {**BUCKET_INPUTS, "deletionPolicy": policy})
    if policy == "PREVENT":
        with pytest.raises(CallError, match="PREVENT"):
            engine.delete(BUCKET, "scratch")
    else:
        engine.delete(BUCKET, "scratch")
    assert bool(engine.cloud.store.all(BUCKET)) is left


def test_what_was_deleted_by_hand_reads_as_gone_with_its_grants(gke: Engine) -> None:
    gke.up(BUCKET, "scratch", BUCKET_INPUTS)
    gke.up(BUCKET_MEMBER, "ksa", grant(principal(gke)))
    by_hand.delete(gke.cloud, "Bucket", "scratch-1")
    assert not gke.refresh(BUCKET_MEMBER, "ksa")
    assert not gke.refresh(BUCKET, "scratch")
    by_hand.delete(gke.cloud, "Cluster", "train")
    assert not gke.refresh(CLUSTER, "train")
    gke.up(CLUSTER, "train", cluster())


def test_drift_shows_on_refresh_only(engine: Engine) -> None:
    by_hand.change(engine.cloud, "Network", "net", {"mtu": 1460})
    assert engine.up(NETWORK, "net", network()) == "same"
    assert engine.refresh(NETWORK, "net")
    assert engine.states[engine.urn(NETWORK, "net")].inputs["mtu"] == 1460
    assert engine.up(NETWORK, "net", network()) == "update"
    assert engine.up(NETWORK, "net", network()) == "same"


def test_a_workload_identity_needs_a_cluster_with_it_first(engine: Engine) -> None:
    engine.up(BUCKET, "scratch", BUCKET_INPUTS)
    with pytest.raises(CallError, match=rf"Identity Pool does not exist \({PROJECT}.svc.id.goog\)"):
        engine.up(BUCKET_MEMBER, "ksa", grant(principal(engine)))
    engine.up(CLUSTER, "train", cluster())
    assert engine.up(BUCKET_MEMBER, "ksa", grant(principal(engine))) == "create"
    engine.delete(CLUSTER, "train")
    assert engine.up(BUCKET_MEMBER, "other", grant(principal(engine), "roles/storage.legacyBucketReader")) == "create"


@pytest.mark.parametrize(
    ("number", "pool"),
    [(PROJECT, f"{PROJECT}.svc.id.goog"), ("1", f"{PROJECT}.svc.id.goog"), (None, "other.svc.id.goog")],
)
def test_a_principal_names_the_project_by_number_and_the_pool_by_id(gke: Engine, number: str | None, pool: str) -> None:
    gke.up(BUCKET, "scratch", BUCKET_INPUTS)
    with pytest.raises(CallError, match="Identity Pool does not exist"):
        gke.up(BUCKET_MEMBER, "ksa", grant(principal(gke, number, pool)))


def test_the_old_workload_member_needs_the_pool_too(engine: Engine) -> None:
    engine.up(ACCOUNT, "gsa", {"accountId": "train-gsa"})
    member = {
        "serviceAccountId": engine.outputs(ACCOUNT, "gsa")["name"],
        "role": "roles/iam.workloadIdentityUser",
        "member": f"serviceAccount:{PROJECT}.svc.id.goog[default/train]",
    }
    token = "gcp:serviceaccount/iAMMember:IAMMember"
    with pytest.raises(CallError, match="Identity Pool does not exist"):
        engine.up(token, "wi", member)
    engine.up(CLUSTER, "train", cluster())
    assert engine.up(token, "wi", member) == "create"


def test_keys_are_forgotten_not_deleted(engine: Engine) -> None:
    ring, key = "gcp:kms/keyRing:KeyRing", "gcp:kms/cryptoKey:CryptoKey"
    engine.up(ring, "ring", {"name": "ring", "location": REGION})
    id_ = engine.states[engine.urn(ring, "ring")].id
    engine.up(key, "key", {"name": "key", "keyRing": id_, "rotationPeriod": "7776000s"})
    agent = (
        f"serviceAccount:service-{engine.cloud.project_number(PROJECT)}@container-engine-robot.iam.gserviceaccount.com"
    )
    role = "roles/cloudkms.cryptoKeyEncrypterDecrypter"
    member = {"cryptoKeyId": f"{id_}/cryptoKeys/key", "role": role, "member": agent}
    assert engine.up("gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember", "agent", member) == "create"
    engine.delete(key, "key")
    with pytest.raises(CallError, match="Error 409"):
        engine.up(key, "key", {"name": "key", "keyRing": id_})


def test_a_renamed_policy_is_planned_in_place_and_then_not_found(engine: Engine) -> None:
    workload = {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "4x4x4"}
    engine.up(POLICY, "wp", {"name": "wp-1", "workloadPolicy": workload})
    with pytest.raises(CallError, match="resourcePolicies/wp-2' was not found"):
        engine.up(POLICY, "wp", {"name": "wp-2", "workloadPolicy": workload})


def test_granting_twice_is_no_conflict(gke: Engine) -> None:
    gke.up(BUCKET, "scratch", BUCKET_INPUTS)
    for name in ("one", "two"):
        assert gke.up(BUCKET_MEMBER, name, grant(principal(gke))) == "create"


def test_functions_read_what_exists(gke: Engine) -> None:
    gke.up(BUCKET, "scratch", BUCKET_INPUTS)
    number = gke.invoke("gcp:organizations/getProject:getProject")["number"]
    assert number == gke.cloud.project_number(PROJECT) != PROJECT
    found = gke.invoke("gcp:container/getCluster:getCluster", name="train", location=REGION)
    assert found["masterAuths"][0]["clusterCaCertificate"]
    assert found["controlPlaneEndpointsConfigs"][0]["dnsEndpointConfigs"][0]["endpoint"]
    link = gke.outputs(SUBNETWORK, "nodes")["selfLink"]
    by_link = gke.invoke("gcp:compute/getSubnetwork:getSubnetwork", selfLink=link)
    by_name = gke.invoke("gcp:compute/getSubnetwork:getSubnetwork", name="nodes")
    assert by_link == by_name
    assert {item["rangeName"] for item in by_link["secondaryIpRanges"]} == {"pods", "services"}
    assert gke.invoke("gcp:compute/getNetwork:getNetwork", name="net")["subnetworksSelfLinks"] == [link]
    assert gke.invoke("gcp:storage/getBucket:getBucket", name="scratch-1")["location"] == "US-EAST5"
    assert gke.invoke("gcp:organizations/getClientConfig:getClientConfig")["zone"] == "us-east5-b"
    with pytest.raises(CallError, match="clusters/none not found"):
        gke.invoke("gcp:container/getCluster:getCluster", name="none", location=REGION)
    with pytest.raises(CallError, match="has no function"):
        gke.invoke("gcp:compute/getZones:getZones")


def test_the_pool_of_a_type_that_is_not_known_is_refused(bare: Engine) -> None:
    with pytest.raises(CallError, match="has no resource type gcp:sql/user:User"):
        bare.check("gcp:sql/user:User", "u", {})


def test_a_pool_name_that_is_taken(gke: Engine) -> None:
    by_hand.make(gke.cloud, "NodePool", slice_pool("slice-0"), PROJECT)
    with pytest.raises(CallError, match="nodePools/slice-0 - already exists"):
        gke.up(NODE_POOL, "slice-0", slice_pool("slice-0"))
