"""For each rule a change that breaks it, and changes that look like it and do not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from offline.recording import Resource, Timeouts
from tests.policy.good import POD, WORKER, made

OPEN = "0.0.0.0/0"
_ACCOUNT = "123456-compute@developer.gserviceaccount.com"
_LABELS = {"team": "demo"}
_SCOPE = "principalSet://iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p.svc.id.goog/namespace/n"


@dataclass(frozen=True)
class Case:
    """A change to one resource (or one more resource), and the rule that it is about."""

    rule: str
    name: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    also: frozenset[str] = frozenset()
    more: tuple[Resource, ...] = ()

    def __str__(self) -> str:
        return f"{self.rule}-{'-'.join([*self.inputs, *self.options])[-40:]}"


def _case(rule: str, name: str, inputs: Mapping[str, Any] | None = None, *also: str, **options: Any) -> Case:
    return Case(rule, name, inputs or {}, options, frozenset(also))


def _more(rule: str, resource: Resource, *also: str) -> Case:
    return Case(rule, resource.name, also=frozenset(also), more=(resource,))


def _grant(rule: str, member: str, role: str, type_: str = "gcp:storage/bucketIAMMember:BucketIAMMember") -> Case:
    also = {"iam-no-project-grant", "iam-no-basic-role"} if "project" in type_ else set()
    grant = made(type_, "grant", {"member": member, "role": role})
    return Case(rule, "grant", also=frozenset(also), more=(grant,))


_PROJECT = "gcp:projects/iAMMember:IAMMember"
_ROBOT = "serviceAccount:robot@p.iam.gserviceaccount.com"
_CLUSTER = "cluster-cluster"
_POOL = "slices-0"
_BUCKET = "scratch-bucket"
_ENDPOINTS = {
    "privateClusterConfig.enablePrivateEndpoint": False,
    "controlPlaneEndpointsConfig.ipEndpointsConfig.enabled": True,
}
_NETWORKS = "masterAuthorizedNetworksConfig.cidrBlocks"

BROKEN: tuple[Case, ...] = (
    _case("cluster-logs", _CLUSTER, {"loggingConfig.enableComponents": ["SYSTEM_COMPONENTS"]}),
    _case("cluster-logs", _CLUSTER, {"loggingConfig": None}),
    _case("cluster-metrics", _CLUSTER, {"monitoringConfig.enableComponents": []}),
    _case("cluster-no-abac", _CLUSTER, {"enableLegacyAbac": True}),
    _case("cluster-network-policies-work", _CLUSTER, {"datapathProvider": "LEGACY_DATAPATH"}),
    _case(
        "cluster-no-client-certificate", _CLUSTER, {"masterAuth.clientCertificateConfig.issueClientCertificate": True}
    ),
    _case("cluster-no-password", _CLUSTER, {"masterAuth.username": "admin"}),
    _case("cluster-authorized-networks", _CLUSTER, _ENDPOINTS, "cluster-private-endpoint"),
    _case("cluster-private-endpoint", _CLUSTER, {**_ENDPOINTS, _NETWORKS: [{"cidrBlock": "10.0.0.0/8"}]}),
    _case("cluster-not-open-to-all", _CLUSTER, {_NETWORKS: [{"cidrBlock": OPEN}]}),
    _case("cluster-not-open-to-all", _CLUSTER, {"masterAuthorizedNetworksConfig.gcpPublicCidrsAccessEnabled": True}),
    _case("cluster-labels", _CLUSTER, {"resourceLabels": {"environment": "prod"}}),
    _case("cluster-vpc-native", _CLUSTER, {"ipAllocationPolicy": None}),
    _case("cluster-private-nodes", _CLUSTER, {"privateClusterConfig.enablePrivateNodes": False}),
    _case("cluster-intranode-visibility", _CLUSTER, {"enableIntranodeVisibility": False}),
    _case("cluster-google-groups", _CLUSTER, {"authenticatorGroupsConfig": None}),
    _case("cluster-binary-authorization", _CLUSTER, {"binaryAuthorization.evaluationMode": "DISABLED"}),
    _case("cluster-release-channel", _CLUSTER, {"releaseChannel.channel": "UNSPECIFIED"}),
    _case("cluster-shielded-nodes", _CLUSTER, {"enableShieldedNodes": False}),
    _case("cluster-pools-apart", _CLUSTER, {"nodePools": [{"name": "inline"}]}),
    _case("cluster-pools-apart", _CLUSTER, {"removeDefaultNodePool": False}),
    _case("cluster-no-alpha", _CLUSTER, {"enableKubernetesAlpha": True}),
    _case("cluster-workload-identity", _CLUSTER, {"workloadIdentityConfig": None}),
    _case("cluster-secrets-key", _CLUSTER, {"databaseEncryption": None}),
    _case("cluster-no-anonymous-roles", _CLUSTER, {"rbacBindingConfig.enableInsecureBindingSystemAuthenticated": True}),
    _case(
        "cluster-no-anonymous-roles", _CLUSTER, {"rbacBindingConfig.enableInsecureBindingSystemUnauthenticated": True}
    ),
    _case("pool-repair", _POOL, {"management.autoRepair": False}),
    _case("pool-upgrade", _POOL, {"management.autoUpgrade": False}),
    _case("pool-image", _POOL, {"nodeConfig.imageType": "UBUNTU_CONTAINERD"}),
    _case("pool-secure-boot", _POOL, {"nodeConfig.shieldedInstanceConfig.enableSecureBoot": False}),
    _case("pool-integrity", _POOL, {"nodeConfig.shieldedInstanceConfig.enableIntegrityMonitoring": False}),
    _case("pool-metadata-server", _POOL, {"nodeConfig.workloadMetadataConfig.mode": "GCE_METADATA"}),
    _case("pool-no-legacy-metadata", _POOL, {"nodeConfig.metadata": {}}),
    _case("nodes-own-account", _POOL, {"nodeConfig.serviceAccount": None}),
    _case("nodes-own-account", _CLUSTER, {"nodeConfig.serviceAccount": _ACCOUNT}),
    _case("pool-private-nodes", _POOL, {"networkConfig.enablePrivateNodes": False}),
    _case("pool-no-readonly-port", _POOL, {"nodeConfig.kubeletConfig.insecureKubeletReadonlyPortEnabled": "TRUE"}),
    _case("pool-labels", _POOL, {"nodeConfig.resourceLabels": _LABELS}),
    _case("pool-disk-key", _POOL, {"nodeConfig.bootDiskKmsKey": None}),
    _case("pool-timeouts", _POOL, custom_timeouts=None),
    _case("pool-timeouts", _POOL, custom_timeouts=Timeouts(create="120m")),
    _case("pool-no-spot-in-prod", _POOL, {"nodeConfig.spot": True}),
    _case("pool-no-spot-in-prod", "system-pool", {"nodeConfig.preemptible": True}),
    _case("slice-chips-match", _POOL, {"nodeCount": 3}),
    _case("slice-chips-match", _POOL, {"placementPolicy.tpuTopology": "4x8"}),
    _case("slice-one-zone", _POOL, {"nodeLocations": ["us-east5-a", "us-east5-b"]}),
    _case("bucket-uniform-access", _BUCKET, {"uniformBucketLevelAccess": False}),
    _case("bucket-not-public", _BUCKET, {"publicAccessPrevention": "inherited"}),
    _case("bucket-labels", _BUCKET, {"labels": _LABELS}),
    _case("bucket-versions", _BUCKET, {"versioning.enabled": False}),
    _case("bucket-access-logs", _BUCKET, {"logging": None}),
    _case("bucket-logs-elsewhere", _BUCKET, {"name": "logs"}),
    _case("bucket-key", _BUCKET, {"encryption": None}),
    _case("bucket-in-region", _BUCKET, {"location": "US"}),
    _case("key-rotates", "key", {"rotationPeriod": "7776001s"}),
    _case("key-rotates", "key", {"rotationPeriod": None}),
    _case("key-protected", "key", protect=None),
    _case("federation-condition", "federation", {"attributeCondition": None}),
    _grant("iam-not-everybody", "allUsers", "roles/storage.objectViewer"),
    _grant(
        "iam-not-everybody",
        "allAuthenticatedUsers",
        "roles/cloudkms.viewer",
        "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
    ),
    _grant("iam-no-person", "user:ada@example.com", "roles/storage.objectViewer"),
    _grant("iam-no-default-account", f"serviceAccount:{_ACCOUNT}", "roles/storage.objectViewer"),
    _grant("iam-no-default-account", "serviceAccount:p@appspot.gserviceaccount.com", "roles/storage.objectViewer"),
    _grant("iam-no-basic-role", _ROBOT, "roles/editor", _PROJECT),
    _grant("iam-no-project-impersonation", _ROBOT, "roles/iam.serviceAccountTokenCreator", _PROJECT),
    _grant("iam-no-project-administrator", _ROBOT, "roles/container.clusterAdmin", _PROJECT),
    _grant("iam-no-project-grant", _ROBOT, "roles/storage.objectViewer", _PROJECT),
    _more("iam-members-only", made("gcp:projects/iAMBinding:IAMBinding", "b", {"role": "roles/x", "members": []})),
    _more("iam-members-only", made("gcp:storage/bucketIAMPolicy:BucketIAMPolicy", "b", {"policyData": "{}"})),
    _more("iam-no-keys", made("gcp:serviceaccount/key:Key", "k", {"serviceAccountId": "robot"})),
    _grant("ksa-principal-is-one", _SCOPE, "roles/storage.objectViewer"),
    _case("network-own-subnets", "network-vpc", {"autoCreateSubnetworks": True}),
    _case("subnet-flow-logs", "network-nodes", {"logConfig": None}),
    _case("subnet-private-google-access", "network-nodes", {"privateIpGoogleAccess": False}),
    _case("subnet-private-google-access-ipv6", "network-nodes", {"stackType": "IPV4_IPV6"}),
    _case("firewall-ingress-named", "firewall", {"sourceRanges": ["10.0.0.0/8", "::/0"]}),
    _case("firewall-egress-named", "egress", {"destinationRanges": [OPEN]}),
    _case("firewall-ports-named", "firewall", {"allows": [{"protocol": "all"}]}),
    _case("explicit-provider", _BUCKET, provider=None),
    _case("explicit-provider", _BUCKET, provider="urn:pulumi:s::p::pulumi:providers:gcp::default_10_2_0"),
    _case("goes-with-cluster", "tenancy-account", deleted_with=None),
    _case("option-paths-camel-case", _POOL, ignore_changes=("node_config.machine_type",)),
    _case("option-paths-camel-case", _POOL, replace_on_changes=("node_count",)),
    _case("protected", _BUCKET, protect=False),
    _case("protected", _CLUSTER, protect=None),
    _case("protected", _CLUSTER, {"deletionProtection": False}),
    _case("unique-names", "slices-1", {"name": "demo-prod-slice-0"}),
    _case("secrets-hidden", "secret", {"stringData": {"t": "hunter2"}}),
    _case("secrets-hidden", "workload-jobset", {f"{POD}.containers.0.env.0": {"name": "API_TOKEN", "value": "x"}}),
    _case("kubernetes-provider-named", "kubernetes", {"clusterIdentifier": {"$unknown": True}}),
    _case("kubernetes-provider-named", "kubernetes", {"kubeconfig": '{"users": [{"user": {"token": "ya29"}}]}'}),
    _case("image-fixed", "workload-jobset", {f"{POD}.containers.0.image": "r/server:latest"}, "image-by-digest"),
    _case("image-fixed", "workload-jobset", {f"{WORKER}.containers.0.image": "host:5000/r/server"}, "image-by-digest"),
    _case("image-by-digest", "workload-jobset", {f"{POD}.containers.0.image": "r/server:1.2"}),
    _case("pods-unprivileged", "workload-jobset", {f"{WORKER}.containers.0.securityContext.privileged": True}),
    _case("pods-unprivileged", "workload-jobset", {f"{POD}.containers.0.securityContext": None}),
    _case("pods-apart-from-host", "workload-jobset", {f"{POD}.hostPID": True}),
    _case(
        "pods-apart-from-host", "workload-jobset", {f"{WORKER}.volumes": [{"name": "t", "hostPath": {"path": "/tmp"}}]}
    ),
    _case("head-has-room", "head-pool", {"nodeConfig.machineType": "n2-standard-16"}),
    _case("head-has-room", "workload-jobset", {f"{POD}.containers.0.resources.limits.memory": "900Gi"}),
    _case("proxy-closed", "tenancy-policy", {"spec.podSelector.matchLabels": {"app": "other"}}),
    _case("proxy-closed", "tenancy-policy", {"metadata.namespace": "default"}),
    _case("proxy-closed", "tenancy-policy", {"spec.policyTypes": ["Egress"]}),
    _case("proxy-not-open-to-all", "tenancy-policy", {"spec.ingress": [{}]}),
    _case("proxy-not-open-to-all", "tenancy-policy", {"spec.ingress": [{"from": [{"ipBlock": {"cidr": OPEN}}]}]}),
    _case("proxy-not-open-to-all", "tenancy-policy", {"spec.ingress": [{"from": [{"namespaceSelector": {}}]}]}),
    _case("proxy-on-host-network", "workload-jobset", {f"{POD}.hostNetwork": True}),
    _case("service-internal", "door-service", {"metadata.annotations": {}}),
    _case("service-internal", "door-service", {"spec.loadBalancerSourceRanges": [OPEN]}),
    _case("service-internal", "door-service", {"spec.loadBalancerSourceRanges": None}),
    _case("ksa-of-one-team", "workload-jobset", {f"{POD}.serviceAccountName": None}),
    _case("ksa-of-one-team", "tenancy-account", {"metadata.labels.team": "other"}),
    _case("ksa-of-one-team", "tenancy-account", {"metadata.namespace": "other"}),
)
"""Each breaks its rule, and no other but those in `also`."""

KEPT: tuple[Case, ...] = (
    _case("pool-repair", _POOL, {"management.autoRepair": False, "nodeConfig.flexStart": True}),
    _case("pool-repair", _POOL, {"management.autoRepair": False, "queuedProvisioning": {"enabled": True}}),
    _case("pool-no-spot-in-prod", _POOL, {"nodeConfig.spot": True, "nodeConfig.resourceLabels.environment": "dev"}),
    _case("protected", _CLUSTER, {"resourceLabels.environment": "dev"}, protect=None),
    _case("image-fixed", "workload-jobset", {f"{POD}.containers.0.image": "host:5000/r/server:1.2"}),
    _case(
        "image-by-digest",
        "workload-jobset",
        {f"{POD}.containers.0.image": "r:1", "metadata.labels.environment": "dev"},
    ),
    _case("cluster-network-policies-work", _CLUSTER, {"datapathProvider": None, "networkPolicy": {"enabled": True}}),
    _case("cluster-authorized-networks", _CLUSTER, {**_ENDPOINTS, _NETWORKS: [{"cidrBlock": "10.0.0.0/8"}]}),
    _case("firewall-ingress-named", "firewall", {"direction": "EGRESS", "sourceRanges": [OPEN]}),
    _case(
        "firewall-ingress-named", "firewall", {"sourceRanges": [OPEN], "allows": [], "denies": [{"protocol": "all"}]}
    ),
    _case("bucket-in-region", _BUCKET, {"location": "us-east5"}),
    _case("key-rotates", "key", {"rotationPeriod": None, "purpose": "ASYMMETRIC_SIGN"}),
    _case("subnet-flow-logs", "network-nodes", {"logConfig": None, "purpose": "REGIONAL_MANAGED_PROXY"}),
    _case("slice-one-zone", "system-pool", {"nodeLocations": ["us-east5-a", "us-east5-b"]}),
    _case("head-has-room", "head-pool", {"nodeConfig.machineType": "x9-unheard-of-1"}),
    _case("service-internal", "door-service", {"spec.type": "ClusterIP", "spec.loadBalancerSourceRanges": None}),
    _case("goes-with-cluster", "door-service", deleted_with=None),
    _grant("iam-no-project-administrator", "group:admins@example.com", "roles/container.clusterAdmin", _PROJECT),
    _grant(
        "iam-no-project-impersonation", _ROBOT, "roles/iam.serviceAccountUser", "gcp:serviceaccount/iAMMember:IAMMember"
    ),
    _grant("iam-no-project-grant", _ROBOT, "roles/container.defaultNodeServiceAccount", _PROJECT),
    _grant("iam-no-basic-role", _ROBOT, "roles/viewerish"),
)
"""Each looks like a breach of its rule and is none."""
