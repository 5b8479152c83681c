"""Rules of a node pool and of a node's configuration."""

from __future__ import annotations

import re

from offline.recording import Resource
from policy.expect import CLUSTER, POOL, Problem, at, must_be, must_have, production, shown
from policy.model import Each, Level, Rule

# Compute Engine's own account, which has Editor on the project unless somebody took it away.
DEFAULT_ACCOUNT = re.compile(r"\d+-compute@developer\.gserviceaccount\.com")


def _rule(
    id: str, source: tuple[str, ...], sentence: str, fix: str, problem: Problem, *, level: Level = "mandatory"
) -> Rule:
    return Rule(id=id, level=level, source=source, sentence=sentence, fix=fix, check=Each((POOL,), problem))


def _repair(resource: Resource) -> str | None:
    node = resource.inputs.get("nodeConfig")
    if at(node, "flexStart") is True or at(resource.inputs, "queuedProvisioning.enabled") is True:
        return None  # GKE refuses repair here: a node that leaves is not found again
    return must_be("management.autoRepair", True)(resource)


def _image(resource: Resource) -> str | None:
    image = at(resource.inputs, "nodeConfig.imageType")
    fine = image is None or not isinstance(image, str) or image.upper().startswith("COS")
    return None if fine else f"nodeConfig.imageType is {image}"


def _account(resource: Resource) -> str | None:
    account = at(resource.inputs, "nodeConfig.serviceAccount")
    if account in (None, "", "default") or (isinstance(account, str) and DEFAULT_ACCOUNT.fullmatch(account)):
        return f"nodeConfig.serviceAccount is {shown(account or None)}"
    return None


def _timeouts(resource: Resource) -> str | None:
    given = resource.options.custom_timeouts
    missing = [name for name in ("create", "update", "delete") if given is None or getattr(given, name) is None]
    return f"customTimeouts lacks {', '.join(missing)}" if missing else None


def _spot(resource: Resource) -> str | None:
    kinds = [kind for kind in ("spot", "preemptible") if at(resource.inputs, f"nodeConfig.{kind}") is True]
    return f"nodeConfig.{kinds[0]} is true, and environment is prod" if kinds and production(resource) else None


RULES: tuple[Rule, ...] = (
    _rule(
        "pool-repair",
        ("CIS GKE 5.5.2", "CKV_GCP_9", "GCP-0063"),
        "GKE repairs a node that is broken (but where nodes come by flex-start).",
        "management.autoRepair: true",
        _repair,
    ),
    _rule(
        "pool-upgrade",
        ("CIS GKE 5.5.3", "CKV_GCP_10", "GCP-0058"),
        "GKE upgrades nodes within the cluster's maintenance windows.",
        "management.autoUpgrade: true",
        must_be("management.autoUpgrade", True),
    ),
    _rule(
        "pool-image",
        ("CIS GKE 5.5.1", "CKV_GCP_22", "GCP-0054"),
        "Nodes run Container-Optimized OS.",
        "nodeConfig.imageType: COS_CONTAINERD",
        _image,
    ),
    _rule(
        "pool-secure-boot",
        ("CIS GKE 5.5.7", "CKV_GCP_68"),
        "Nodes boot signed software only.",
        "nodeConfig.shieldedInstanceConfig.enableSecureBoot: true",
        must_be("nodeConfig.shieldedInstanceConfig.enableSecureBoot", True),
    ),
    _rule(
        "pool-integrity",
        ("CIS GKE 5.5.6", "CKV_GCP_72"),
        "A node that boots something else is noticed.",
        "nodeConfig.shieldedInstanceConfig.enableIntegrityMonitoring: true",
        must_be("nodeConfig.shieldedInstanceConfig.enableIntegrityMonitoring", True),
    ),
    _rule(
        "pool-metadata-server",
        ("CIS GKE 5.2.2", "CKV_GCP_69", "GCP-0057"),
        "Pods ask GKE's metadata server, which does not give them the node's identity.",
        "nodeConfig.workloadMetadataConfig.mode: GKE_METADATA",
        must_be("nodeConfig.workloadMetadataConfig.mode", "GKE_METADATA"),
    ),
    _rule(
        "pool-no-legacy-metadata",
        ("GCP-0048",),
        "The metadata server's first version, which asks for no header, is off.",
        'nodeConfig.metadata: {disable-legacy-endpoints: "true"}',
        must_be("nodeConfig.metadata.disable-legacy-endpoints", "true", True),
    ),
    Rule(
        id="nodes-own-account",
        level="mandatory",
        source=("CIS GKE 5.2.1", "CKV2_GCP_1", "GCP-0050"),
        sentence="Nodes have a service account of their own; Compute Engine's has Editor on the whole project.",
        fix="nodeConfig.serviceAccount: the stack's own account",
        check=Each((CLUSTER, POOL), _account),
    ),
    _rule(
        "pool-private-nodes",
        ("CIS GKE 5.6.5", "CKV_GCP_64", "GCP-0059"),
        "Nodes have no public address, in a pool of another's cluster too.",
        "networkConfig.enablePrivateNodes: true",
        must_be("networkConfig.enablePrivateNodes", True),
    ),
    _rule(
        "pool-no-readonly-port",
        ("ours",),
        "The kubelet's port without authentication (10255) is closed.",
        'nodeConfig.kubeletConfig.insecureKubeletReadonlyPortEnabled: "FALSE"',
        must_be("nodeConfig.kubeletConfig.insecureKubeletReadonlyPortEnabled", "FALSE"),
    ),
    _rule(
        "pool-labels",
        ("CKV_GCP_21", "GCP-0051"),
        "A pool's VMs and disks say whose they are.",
        "nodeConfig.resourceLabels: {team: …, environment: …}",
        must_have("nodeConfig.resourceLabels.team", "nodeConfig.resourceLabels.environment"),
    ),
    _rule(
        "pool-disk-key",
        ("CIS GKE 5.9.1",),
        "Boot disks are encrypted with a key of yours.",
        "nodeConfig.bootDiskKmsKey",
        must_have("nodeConfig.bootDiskKmsKey"),
        level="advisory",
    ),
    _rule(
        "pool-timeouts",
        ("ours",),
        "A pool says how long it may take: the provider gives up after 30 minutes, before a slice has its capacity.",
        'custom_timeouts=CustomTimeouts(create="120m", update="60m", delete="60m")',
        _timeouts,
    ),
    _rule(
        "pool-no-spot-in-prod",
        ("ours",),
        "Production does not run on capacity that may be taken away at any time.",
        "pathways:slices: {capacity: {type: reservation, name: …}} or {type: on-demand}",
        _spot,
    ),
)
