"""Whole requests of the components that make Google Cloud resources: what each says where a default would be wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.services import APIS
from tests.program.support import EXISTING, config, named, record, run
from tests.support.recording import CLUSTER, NODE_POOL, Resource

LABELS = {"team": "demo", "environment": "dev", "managed-by": "pulumi"}


def one(name: str, **changes: Any) -> Resource:
    """A resource of the base with these changes."""
    found: Resource = named(record(config(**changes)), name)
    return found


def test_the_apis_are_switched_on_and_never_off() -> None:
    services = record(config()).of_type("gcp:projects/service:Service")
    assert {each.input("service") for each in services} == {f"{api}.googleapis.com" for api in APIS}
    assert {"container", "compute", "iam", "storage", "tpu", "artifactregistry"} <= set(APIS)
    assert all(each.inputs["disableOnDestroy"] is False for each in services)


def test_the_subnet_is_private_logged_and_has_the_ranges_of_the_plan() -> None:
    assert one("network-vpc").inputs == {
        "name": "demo-dev",
        "project": "demo-project",
        "autoCreateSubnetworks": False,
        "routingMode": "REGIONAL",
        "mtu": 8896,
    }
    subnet = one("network-nodes").inputs
    assert subnet["privateIpGoogleAccess"] is True
    assert subnet["logConfig"]["metadata"] == "INCLUDE_ALL_METADATA"
    assert subnet["ipCidrRange"] == "10.0.0.0/18"
    assert subnet["secondaryIpRanges"] == [
        {"rangeName": "demo-dev-pods", "ipCidrRange": "10.4.0.0/14"},
        {"rangeName": "demo-dev-services", "ipCidrRange": "10.1.0.0/20"},
    ]
    nat = one("network-nat").inputs
    assert nat["logConfig"] == {"enable": True, "filter": "ERRORS_ONLY"}
    assert nat["sourceSubnetworkIpRangesToNat"] == "LIST_OF_SUBNETWORKS"


def test_the_bucket_is_closed_short_lived_and_kept() -> None:
    bucket = one("scratch-bucket", scratch={"retentionDays": 5, "prefix": "team-a/runs"})
    matches = {"matchesPrefixes": ["team-a/"]}
    assert bucket.inputs == {
        "name": "demo-project-demo-dev-scratch",
        "project": "demo-project",
        "location": "US-EAST5",
        "storageClass": "STANDARD",
        "uniformBucketLevelAccess": True,
        "publicAccessPrevention": "enforced",
        "forceDestroy": False,
        "softDeletePolicy": {"retentionDurationSeconds": 0},
        "versioning": {"enabled": False},
        "lifecycleRules": [
            {"action": {"type": "Delete"}, "condition": {"age": 5, **matches}},
            {"action": {"type": "AbortIncompleteMultipartUpload"}, "condition": {"age": 1, **matches}},
        ],
        "labels": LABELS,
    }
    assert bucket.options["protect"] is True


BASELINE: dict[str, Any] = {
    "workloadIdentityConfig": {"workloadPool": "demo-project.svc.id.goog"},
    "datapathProvider": "ADVANCED_DATAPATH",
    "addonsConfig": {"networkPolicyConfig": {"disabled": True}},
    "enableIntranodeVisibility": True,
    "enableShieldedNodes": True,
    "enableLegacyAbac": False,
    "masterAuth": {"clientCertificateConfig": {"issueClientCertificate": False}},
    "rbacBindingConfig": {
        "enableInsecureBindingSystemAuthenticated": False,
        "enableInsecureBindingSystemUnauthenticated": False,
    },
    "removeDefaultNodePool": True,
    "initialNodeCount": 1,
    "nodeLocations": ["us-east5-b"],
    "location": "us-east5",
    "releaseChannel": {"channel": "REGULAR"},
    "resourceLabels": LABELS,
}


def test_the_cluster_has_the_security_baseline() -> None:
    inputs = one("cluster-cluster").inputs
    assert {key: inputs.get(key) for key in BASELINE} == BASELINE
    assert "JOBSET" in inputs["monitoringConfig"]["enableComponents"]
    assert inputs["monitoringConfig"]["managedPrometheus"] == {"enabled": True}
    (hold,) = inputs["maintenancePolicy"]["maintenanceExclusions"]
    assert hold["exclusionOptions"] == {
        "scope": "NO_MINOR_OR_NODE_UPGRADES",
        "endTimeBehavior": "UNTIL_END_OF_SUPPORT",
    }
    # Nothing of the default pool that GKE writes may be followed.
    assert {"initialNodeCount", "nodeConfig", "nodePools"} <= set(one("cluster-cluster").options["ignoreChanges"])
    for absent in ("authenticatorGroupsConfig", "databaseEncryption", "minMasterVersion"):
        assert absent not in inputs


KEY = "projects/acme-keys/locations/us-east5/keyRings/gke/cryptoKeys/k"
ENDPOINTS: list[tuple[dict[str, Any], bool, bool, bool, list[str]]] = [
    # Settings; DNS endpoint open, IP endpoint on, no public address, networks.
    ({}, True, False, True, []),
    ({"endpoint": "private"}, False, True, True, []),
    ({"endpoint": "private", "authorizedNetworks": ["10.9.0.0/24"]}, False, True, True, ["10.9.0.0/24"]),
    ({"endpoint": "authorized", "authorizedNetworks": ["203.0.113.0/24"]}, False, True, False, ["203.0.113.0/24"]),
]


@pytest.mark.parametrize(("cluster", "dns", "ip", "private", "networks"), ENDPOINTS)
def test_the_control_plane_is_reached_in_one_way(
    cluster: dict[str, Any], *, dns: bool, ip: bool, private: bool, networks: list[str]
) -> None:
    inputs = one("cluster-cluster", cluster=cluster).inputs
    assert inputs["controlPlaneEndpointsConfig"] == {
        "dnsEndpointConfig": {"allowExternalTraffic": dns},
        "ipEndpointsConfig": {"enabled": ip},
    }
    # The provider reads `true` back where the IP endpoint is off: anything else would be a change in every preview.
    assert inputs["privateClusterConfig"] == {"enablePrivateNodes": True, "enablePrivateEndpoint": private}
    given = inputs["masterAuthorizedNetworksConfig"].get("cidrBlocks", [])
    assert [each["cidrBlock"] for each in given] == networks


def test_what_a_cluster_has_only_where_it_is_asked_for() -> None:
    group = "gke-security-groups@acme.com"
    asked = {"securityGroup": group, "kmsKey": KEY, "minVersion": "1.34.1-gke.2541000"}
    inputs = one("cluster-cluster", cluster=asked).inputs
    assert inputs["authenticatorGroupsConfig"] == {"securityGroup": group}
    assert inputs["databaseEncryption"] == {"state": "ENCRYPTED", "keyName": KEY}
    assert inputs["minMasterVersion"] == "1.34.1-gke.2541000"
    free = one("cluster-cluster", cluster={"maintenance": {"holdNodes": False}}).inputs["maintenancePolicy"]
    assert not free.get("maintenanceExclusions")


def test_every_pool_is_hardened_and_has_the_stacks_own_identity() -> None:
    for pool in record(config(), "up").of_type(NODE_POOL):
        node = pool.inputs["nodeConfig"]
        assert node["serviceAccount"] == "demo-dev-nodes@demo-project.iam.gserviceaccount.com"
        assert node["workloadMetadataConfig"] == {"mode": "GKE_METADATA"}
        assert node["shieldedInstanceConfig"] == {"enableSecureBoot": True, "enableIntegrityMonitoring": True}
        assert node["gvnic"] == {"enabled": True}
        assert node["gcfsConfig"] == {"enabled": True}
        assert node["imageType"] == "COS_CONTAINERD"
        assert node["labels"] == {"pathways/stack": "demo-dev"}
        assert node["resourceLabels"] == LABELS
        assert pool.inputs["networkConfig"]["enablePrivateNodes"] is True
        assert pool.inputs["nodeLocations"] == ["us-east5-b"]
        # GKE puts the accelerator's own taint on TPU nodes; a second one would be refused.
        assert all(taint["key"] != "google.com/tpu" for taint in node.get("taints", ()))


def test_the_head_keeps_its_node_for_itself_and_the_system_pool_takes_what_is_left() -> None:
    head, system = one("head-pool").inputs, one("system-pool").inputs
    assert head["nodeConfig"]["taints"] == [{"key": "pathways/head", "value": "demo-dev", "effect": "NO_SCHEDULE"}]
    assert head["nodeCount"] == 1
    assert "taints" not in system["nodeConfig"]
    assert "placementPolicy" not in head


@pytest.mark.parametrize(
    ("tpu", "topology", "disk"),
    [("v6e", "4x4", "hyperdisk-balanced"), ("v5e", "4x4", "pd-balanced"), ("v5p", "2x2x2", "pd-balanced")],
)
def test_a_slice_boots_from_a_disk_that_its_machine_takes(tpu: str, topology: str, disk: str) -> None:
    node = one("slices-0", slices={"tpu": tpu, "topology": topology}).inputs["nodeConfig"]
    assert node["diskType"] == disk


def test_on_a_cluster_that_exists_the_stack_adds_pools_and_no_cluster() -> None:
    recording = record(config(**EXISTING), "up")
    assert recording.of_type(CLUSTER) == ()
    pools = recording.of_type(NODE_POOL)
    assert {pool.input("cluster") for pool in pools} == {"research"}
    assert {pool.input("networkConfig.podRange") for pool in pools} == {"pods"}
    assert not any("system" in pool.name for pool in pools)
    assert all("deletedWith" not in resource.options for resource in recording.resources)
    (cluster,) = [each for each in run(config(**EXISTING)).invokes if each.token.endswith(":getCluster")]
    assert cluster.arguments == {"name": "research", "location": "us-east5", "project": "demo-project"}


def test_the_kubeconfig_of_a_cluster_that_exists_comes_from_its_look_up() -> None:
    (cluster,) = json.loads(named(record(config(**EXISTING), "up"), "kubernetes").inputs["kubeconfig"])["clusters"]
    assert cluster["cluster"]["server"] == "https://192.0.2.10"
    assert cluster["cluster"]["certificate-authority-data"]


def test_rights_are_members_on_the_narrowest_resource() -> None:
    recording = record(config(), "up")
    roles = {
        (each.type.rpartition(":")[2], each.inputs["role"]): each.inputs["member"]
        for each in recording.resources
        if each.type.lower().endswith("iammember")
    }
    nodes = "serviceAccount:demo-dev-nodes@demo-project.iam.gserviceaccount.com"
    pods = (
        "principal://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/"
        "demo-project.svc.id.goog/subject/ns/demo-dev/sa/pathways"
    )
    assert roles == {
        ("IAMMember", "roles/container.defaultNodeServiceAccount"): nodes,
        ("RepositoryIamMember", "roles/artifactregistry.reader"): nodes,
        ("BucketIAMMember", "roles/storage.objectAdmin"): pods,
        ("BucketIAMMember", "roles/storage.legacyBucketReader"): pods,
    }


def test_under_host_network_the_pods_act_as_the_node() -> None:
    recording = record(config(runtime={"hostNetwork": True}), "up")
    members = {each.inputs["member"] for each in recording.of_type("gcp:storage/bucketIAMMember:BucketIAMMember")}
    assert members == {"serviceAccount:demo-dev-nodes@demo-project.iam.gserviceaccount.com"}


def test_images_of_another_project_get_no_member_of_ours() -> None:
    image = "europe-docker.pkg.dev/other-project/train/app:1.2.3"
    recording = record(config(workload={"image": image}))
    assert not [each for each in recording.resources if each.type.endswith(":RepositoryIamMember")]
