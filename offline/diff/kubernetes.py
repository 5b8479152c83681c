"""How the Kubernetes provider sees two versions of an object, a Helm release, or its own configuration.

The lists are the provider's own (its `forceNew` tables, provider 4.x): everything else is an update, also where the API
server refuses it (a custom resource's immutable fields): such types need `replaceOnChanges`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from offline.diff.model import PathChange
from offline.diff.paths import Path, covers, parse
from offline.diff.trees import differences

RELEASE = "kubernetes:helm.sh/v3:Release"
JOB_SET_PREFIX = "kubernetes:jobset.x-k8s.io/"
NAMESPACE = "kubernetes:core/v1:Namespace"
SERVICE = "kubernetes:core/v1:Service"
SERVICE_ACCOUNT = "kubernetes:core/v1:ServiceAccount"
NETWORK_POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
CRD_PREFIX = "kubernetes:apiextensions.k8s.io/"
PROVIDER = "pulumi:providers:kubernetes"

_METADATA = ("metadata.name", "metadata.namespace")
_SELECTOR = ("spec.selector",)
_JOB = ("spec.completions", "spec.parallelism", "spec.selector", "spec.template")
_CLAIM = ("spec.accessModes", "spec.selector", "spec.storageClassName", "spec.volumeName")
_IMMUTABLE: Mapping[str, tuple[str, ...]] = {
    RELEASE: ("name", "namespace"),
    SERVICE: ("spec.clusterIP",),
    "kubernetes:core/v1:ConfigMap": ("data", "binaryData"),
    "kubernetes:core/v1:Secret": ("type", "data", "stringData"),
    "kubernetes:core/v1:PersistentVolumeClaim": _CLAIM,
    "kubernetes:core/v1:ResourceQuota": ("spec.scopes",),
    "kubernetes:apps/v1:Deployment": _SELECTOR,
    "kubernetes:apps/v1:DaemonSet": _SELECTOR,
    "kubernetes:apps/v1:StatefulSet": (*_SELECTOR, "spec.serviceName", "spec.volumeClaimTemplates"),
    "kubernetes:batch/v1:Job": _JOB,
    "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding": ("roleRef",),
    "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding": ("roleRef",),
    "kubernetes:storage.k8s.io/v1:StorageClass": ("parameters", "provisioner"),
}
_CONNECTION = ("context", "cluster")


def changes(type_: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[PathChange]:
    """All changes between two versions of an object."""
    immutable = [parse(pattern) for pattern in (*_METADATA, *_IMMUTABLE.get(type_, ()))]
    return [
        replace(found, replaces=any(covers(pattern, found.path) for pattern in immutable))
        for found in differences(old, new)
    ]


def takes_the_name(type_: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether the provider itself wants the old object gone first: same namespace and same explicit name."""
    if type_ == RELEASE:
        return False
    before, after = old.get("metadata") or {}, new.get("metadata") or {}
    same = all(before.get(key) == after.get(key) for key in ("name", "namespace"))
    return same and isinstance(after.get("name"), str)


def provider_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[PathChange]:
    """Changes of a provider's configuration; one that means another cluster replaces it with all its objects.

    A plain `clusterIdentifier` decides alone where both sides have one; adding or removing it replaces nothing. Without
    one, another server, CA or proxy of the active cluster replaces, and so does a kubeconfig that is not known yet.
    """
    before, after = old.get("clusterIdentifier"), new.get("clusterIdentifier")
    found = list(differences(old, new))
    if before or after:
        moved = bool(before and after and before != after)
        return [replace(item, replaces=moved and item.path == ("clusterIdentifier",)) for item in found]
    return [replace(item, replaces=_leads_elsewhere(item)) for item in found]


def _leads_elsewhere(found: PathChange) -> bool:
    path: Path = found.path
    if path[0] in _CONNECTION:
        return True
    return path[0] == "kubeconfig" and _server(found.old) != _server(found.new)


def _server(kubeconfig: Any) -> Any:
    """What tells one cluster from another in a kubeconfig; the whole of it where it cannot be read."""
    if not isinstance(kubeconfig, str):
        return kubeconfig
    try:
        document = json.loads(kubeconfig)
        contexts = {item["name"]: item["context"] for item in document["contexts"]}
        clusters = {item["name"]: item["cluster"] for item in document["clusters"]}
        active = clusters[contexts[document["current-context"]]["cluster"]]
    except (ValueError, KeyError, TypeError):
        return kubeconfig
    return {key: active.get(key) for key in ("server", "certificate-authority-data", "proxy-url")}
