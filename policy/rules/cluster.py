"""Rules of a GKE cluster."""

from __future__ import annotations

import ipaddress

from offline.recording import Resource
from policy.expect import CLUSTER, Problem, at, hidden, items, must_be, must_have, must_hold, must_not_be
from policy.model import Each, Level, Rule


def _rule(
    id: str, source: tuple[str, ...], sentence: str, fix: str, problem: Problem, *, level: Level = "mandatory"
) -> Rule:
    return Rule(id=id, level=level, source=source, sentence=sentence, fix=fix, check=Each((CLUSTER,), problem))


def _reached_by_address(resource: Resource) -> bool:
    """Whether the control plane answers at a public address; not so where that is not known."""
    private = at(resource.inputs, "privateClusterConfig.enablePrivateEndpoint")
    by_address = at(resource.inputs, "controlPlaneEndpointsConfig.ipEndpointsConfig.enabled")
    return private is not True and by_address is not False and not hidden(private) and not hidden(by_address)


def _authorized_networks(resource: Resource) -> str | None:
    blocks = at(resource.inputs, "masterAuthorizedNetworksConfig.cidrBlocks")
    if not _reached_by_address(resource) or blocks:
        return None
    return "the control plane has a public address, and masterAuthorizedNetworksConfig.cidrBlocks is empty"


def _whole_internet(resource: Resource) -> str | None:
    config = "masterAuthorizedNetworksConfig"
    for block in items(resource.inputs, f"{config}.cidrBlocks"):
        cidr = at(block, "cidrBlock")
        if isinstance(cidr, str) and ipaddress.ip_network(cidr, strict=False).prefixlen == 0:
            return f"{config}.cidrBlocks has {cidr}"
    if at(resource.inputs, f"{config}.gcpPublicCidrsAccessEnabled") is True:
        return f"{config}.gcpPublicCidrsAccessEnabled is true: every VM of Google Cloud may connect"
    return None


def _private_endpoint(resource: Resource) -> str | None:
    return "the control plane has a public address" if _reached_by_address(resource) else None


def _network_policy(resource: Resource) -> str | None:
    datapath = at(resource.inputs, "datapathProvider")
    if hidden(datapath) or datapath == "ADVANCED_DATAPATH" or at(resource.inputs, "networkPolicy.enabled") is True:
        return None
    return "neither datapathProvider ADVANCED_DATAPATH nor networkPolicy.enabled: network policies do nothing"


def _own_pools(resource: Resource) -> str | None:
    if items(resource.inputs, "nodePools"):
        return "nodePools is set"
    return must_be("removeDefaultNodePool", True)(resource)


def _basic_authentication(resource: Resource) -> str | None:
    name = at(resource.inputs, "masterAuth.username")
    return "masterAuth.username is set" if name and not hidden(name) else None


RULES: tuple[Rule, ...] = (
    _rule(
        "cluster-logs",
        ("CIS GKE 5.7.1", "CKV_GCP_1", "GCP-0060"),
        "A cluster sends its own and its workloads' logs to Cloud Logging.",
        "loggingConfig.enableComponents: [SYSTEM_COMPONENTS, WORKLOADS]",
        must_hold("loggingConfig.enableComponents", "SYSTEM_COMPONENTS", "WORKLOADS"),
    ),
    _rule(
        "cluster-metrics",
        ("CIS GKE 5.7.1", "CKV_GCP_8", "GCP-0052"),
        "A cluster sends its metrics to Cloud Monitoring.",
        "monitoringConfig.enableComponents: [SYSTEM_COMPONENTS, …]",
        must_hold("monitoringConfig.enableComponents", "SYSTEM_COMPONENTS"),
    ),
    _rule(
        "cluster-no-abac",
        ("CIS GKE 5.8.4", "CKV_GCP_7", "GCP-0062"),
        "Access inside the cluster is given by RBAC alone; the older ABAC gives every node and pod too much.",
        "enableLegacyAbac: false",
        must_not_be("enableLegacyAbac", True),
    ),
    _rule(
        "cluster-network-policies-work",
        ("CIS GKE 5.6.7", "CKV_GCP_12", "GCP-0056"),
        "Network policies take effect; without Dataplane V2 or Calico they are accepted and ignored.",
        "datapathProvider: ADVANCED_DATAPATH",
        _network_policy,
    ),
    _rule(
        "cluster-no-client-certificate",
        ("CIS GKE 5.8.2", "CKV_GCP_13"),
        "No client certificate is issued: it cannot be revoked.",
        "masterAuth.clientCertificateConfig.issueClientCertificate: false",
        must_not_be("masterAuth.clientCertificateConfig.issueClientCertificate", True),
    ),
    _rule(
        "cluster-no-password",
        ("CIS GKE 5.8.1", "GCP-0064"),
        "Nobody signs in with a static password.",
        "leave masterAuth.username and masterAuth.password out",
        _basic_authentication,
    ),
    _rule(
        "cluster-authorized-networks",
        ("CIS GKE 5.6.3", "CKV_GCP_20", "GCP-0061"),
        "A control plane with a public address answers named networks only.",
        "pathways:cluster: {endpoint: dns}, or endpoint: authorized with authorizedNetworks",
        _authorized_networks,
    ),
    _rule(
        "cluster-not-open-to-all",
        ("CIS GKE 5.6.3", "CKV_GCP_20", "GCP-0053", "GCP-0061"),
        "The control plane is not open to the whole internet, nor to all of Google Cloud.",
        "pathways:cluster: {authorizedNetworks: [your networks]}",
        _whole_internet,
    ),
    _rule(
        "cluster-private-endpoint",
        ("CIS GKE 5.6.4", "CKV_GCP_18", "GCP-0053"),
        "The control plane is reached by its DNS name or from inside the network, not at a public address.",
        "pathways:cluster: {endpoint: dns} or {endpoint: private}",
        _private_endpoint,
        level="advisory",
    ),
    _rule(
        "cluster-labels",
        ("CKV_GCP_21", "GCP-0051"),
        "A cluster says whose it is.",
        "resourceLabels: {team: …, environment: …}",
        must_have("resourceLabels.team", "resourceLabels.environment"),
    ),
    _rule(
        "cluster-vpc-native",
        ("CIS GKE 5.6.2", "CKV_GCP_23", "GCP-0049"),
        "Pods have addresses of the network (alias ranges).",
        "networkingMode: VPC_NATIVE with ipAllocationPolicy",
        must_have("ipAllocationPolicy"),
    ),
    _rule(
        "cluster-private-nodes",
        ("CIS GKE 5.6.5", "CKV_GCP_25", "CKV_GCP_64", "GCP-0059"),
        "Nodes have no public address.",
        "privateClusterConfig.enablePrivateNodes: true",
        must_be("privateClusterConfig.enablePrivateNodes", True),
    ),
    _rule(
        "cluster-intranode-visibility",
        ("CIS GKE 5.6.1", "CKV_GCP_61"),
        "Flow logs and firewalls see traffic between pods of one node.",
        "enableIntranodeVisibility: true",
        must_be("enableIntranodeVisibility", True),
    ),
    _rule(
        "cluster-google-groups",
        ("CIS GKE 5.8.3", "CKV_GCP_65"),
        "RBAC can name Google Groups, so that access ends with a membership.",
        "pathways:cluster: {securityGroup: gke-security-groups@your-domain}",
        must_have("authenticatorGroupsConfig.securityGroup"),
        level="advisory",
    ),
    _rule(
        "cluster-binary-authorization",
        ("CIS GKE 5.10.5", "CKV_GCP_66"),
        "Only images that a policy admits run.",
        "binaryAuthorization.evaluationMode: PROJECT_SINGLETON_POLICY_ENFORCE",
        must_be("binaryAuthorization.evaluationMode", "PROJECT_SINGLETON_POLICY_ENFORCE", "POLICY_BINDINGS"),
        level="advisory",
    ),
    _rule(
        "cluster-release-channel",
        ("CIS GKE 5.5.4", "CKV_GCP_70"),
        "Google keeps the cluster's version supported.",
        "releaseChannel.channel: REGULAR",
        must_be("releaseChannel.channel", "RAPID", "REGULAR", "STABLE", "EXTENDED"),
    ),
    _rule(
        "cluster-shielded-nodes",
        ("CIS GKE 5.5.5", "CKV_GCP_71", "GCP-0055"),
        "A node proves what it is before it joins.",
        "enableShieldedNodes: true",
        must_be("enableShieldedNodes", True),
    ),
    _rule(
        "cluster-pools-apart",
        ("CKV_GCP_123",),
        "Pools are resources of their own: an inline pool is changed by replacing the cluster.",
        "removeDefaultNodePool: true and no nodePools",
        _own_pools,
    ),
    _rule(
        "cluster-no-alpha",
        ("CKV2_GCP_19",),
        "No alpha cluster: it cannot be upgraded and is deleted after 30 days.",
        "leave enableKubernetesAlpha out",
        must_not_be("enableKubernetesAlpha", True),
    ),
    _rule(
        "cluster-workload-identity",
        ("CIS GKE 5.2.2",),
        "Pods have identities of their own and not the node's.",
        "workloadIdentityConfig.workloadPool: PROJECT.svc.id.goog",
        must_have("workloadIdentityConfig.workloadPool"),
    ),
    _rule(
        "cluster-secrets-key",
        ("CIS GKE 5.3.1",),
        "Kubernetes Secrets are encrypted with a key of yours.",
        "pathways:cluster: {kmsKey: projects/…/cryptoKeys/…}",
        must_be("databaseEncryption.state", "ENCRYPTED"),
        level="advisory",
    ),
    _rule(
        "cluster-no-anonymous-roles",
        ("ours",),
        "No role binding can name everybody or everybody signed in.",
        "rbacBindingConfig: both enableInsecureBinding… false",
        lambda resource: (
            must_be("rbacBindingConfig.enableInsecureBindingSystemAuthenticated", False)(resource)
            or must_be("rbacBindingConfig.enableInsecureBindingSystemUnauthenticated", False)(resource)
        ),
    ),
)
