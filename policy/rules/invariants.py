"""Rules of the program: what holds for every resource, whatever it is."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from offline.recording import Resource
from policy.expect import BUCKET, CLUSTER, KUBERNETES_PROVIDER, SERVICE, at, hidden, production, shown
from policy.model import Each, Rule, Whole

_MANAGED = ("gcp:*", "kubernetes:*")
# Kubernetes objects behind which something stands outside the cluster, which only their own deletion takes away.
_VOLUMES = ("kubernetes:core/v1:PersistentVolumeClaim", "kubernetes:core/v1:PersistentVolume")
_SECRET_NAME = re.compile(r"(?:PASSWORD|PASSWD|TOKEN|SECRET|API_?KEY|PRIVATE_?KEY|CREDENTIALS?)$", re.IGNORECASE)


def _explicit_provider(resource: Resource) -> str | None:
    provider = resource.options.provider
    if not resource.custom or (provider and not provider.split("::")[-1].startswith("default")):
        return None
    return "it has no provider of its own and would land wherever the shell's context points"


def _owns_cloud_objects(resource: Resource) -> bool:
    balancer = resource.type == SERVICE and at(resource.inputs, "spec.type") in ("LoadBalancer", None)
    return balancer or resource.type in _VOLUMES


def _goes_with_cluster(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    if not any(resource.type == CLUSTER for resource in resources):
        return
    for resource in resources:
        inside = resource.type.startswith("kubernetes:") and resource.custom and resource.read_id is None
        if inside and not resource.options.deleted_with and not _owns_cloud_objects(resource):
            yield resource, "deletedWith is not set"


def _option_paths(resource: Resource) -> str | None:
    options = resource.options
    for name, paths in (
        ("ignoreChanges", options.ignore_changes),
        ("replaceOnChanges", options.replace_on_changes),
        ("additionalSecretOutputs", options.additional_secret_outputs),
        ("hideDiffs", options.hide_diffs),
    ):
        wrong = [path for path in paths if "_" in path]
        if wrong:
            return f"{name} has {wrong[0]}"
    return None


def _protected(resource: Resource) -> str | None:
    if resource.type == CLUSTER and not production(resource):
        return None
    if resource.options.protect is not True:
        return f"protect is {shown(resource.options.protect)}"
    refused = at(resource.inputs, "deletionProtection") is False
    return "deletionProtection is false" if resource.type == CLUSTER and refused else None


def _physical_name(resource: Resource) -> tuple[str, ...] | None:
    """What the cloud tells resources apart by; None where a part is chosen there, or nothing is made."""
    if not resource.custom or resource.read_id is not None or not resource.type.startswith(("gcp:", "kubernetes:")):
        return None
    metadata = resource.type.startswith("kubernetes:") and "kind" in resource.inputs
    name = at(resource.inputs, "metadata.name" if metadata else "name") or at(resource.inputs, "accountId")
    where = ("metadata.namespace",) if metadata else ("project", "location", "region", "cluster", "namespace")
    place = [at(resource.inputs, path) for path in where]
    if not isinstance(name, str) or any(map(hidden, place)):
        return None
    return (resource.type, resource.options.provider or "", name, *(str(part or "") for part in place))


def _unique_names(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    by_name: dict[tuple[str, ...], list[Resource]] = defaultdict(list)
    for resource in resources:
        name = _physical_name(resource)
        if name is not None:
            by_name[name].append(resource)
    for name, sharing in by_name.items():
        for resource in sharing[1:]:
            yield resource, f"{name[2]} is the name of {sharing[0].name} too"


def _secret_places(value: Any, path: str = "") -> Iterator[str]:
    """Paths of environment variables whose name says secret and whose value stands there in plain text."""
    if isinstance(value, dict) and not hidden(value):
        name, plain = value.get("name"), value.get("value")
        if isinstance(name, str) and _SECRET_NAME.search(name) and isinstance(plain, str) and plain:
            yield f"{path} ({name})"
        for key, item in value.items():
            yield from _secret_places(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _secret_places(item, f"{path}[{index}]")


def _secrets_hidden(resource: Resource) -> str | None:
    if resource.type == "kubernetes:core/v1:Secret":
        for part in ("data", "stringData"):
            values = at(resource.inputs, part)
            known = values.items() if isinstance(values, dict) and not hidden(values) else ()
            plain = [key for key, value in known if not hidden(value)]
            if plain:
                return f"{part}.{plain[0]} is not marked as a secret"
    return next((f"{place} holds its value in plain text" for place in _secret_places(resource.inputs)), None)


def _kubernetes_provider(provider: Resource) -> str | None:
    identifier, config = at(provider.inputs, "clusterIdentifier"), provider.inputs.get("kubeconfig")
    if not isinstance(identifier, str) or not identifier:
        return f"clusterIdentifier is {'known to the cloud only' if hidden(identifier) else shown(identifier)}"
    users = at(_json(config), "users") if isinstance(config, str) else None
    for user in users or []:
        kept = sorted({"token", "password", "client-key-data"} & set(at(user, "user") or {}))
        if kept:
            return f"kubeconfig holds a {kept[0]}"
    return None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


RULES: tuple[Rule, ...] = (
    Rule(
        id="explicit-provider",
        level="mandatory",
        source=("ours",),
        sentence="Every resource names its provider.",
        fix="opts: provider=… or a parent that has providers",
        check=Each(_MANAGED, _explicit_provider),
    ),
    Rule(
        id="goes-with-cluster",
        level="mandatory",
        source=("ours",),
        sentence="What is in a cluster goes with it, without a call to a control plane that is no more.",
        fix="opts: deleted_with=the cluster",
        check=Whole(_goes_with_cluster),
        recorded_only=True,
    ),
    Rule(
        id="option-paths-camel-case",
        level="mandatory",
        source=("ours",),
        sentence="Option paths are camelCase: others match nothing, without a word.",
        fix="ignore_changes=['nodeConfig.machineType'] and not node_config.machine_type",
        check=Each(_MANAGED, _option_paths),
    ),
    Rule(
        id="protected",
        level="mandatory",
        source=("ours", "CKV_GCP_82"),
        sentence="Buckets, and the clusters of production, cannot be deleted by a mistake.",
        fix="opts: protect=True; pathways:cluster: {deletionProtection: true}",
        check=Each((CLUSTER, BUCKET), _protected),
    ),
    Rule(
        id="unique-names",
        level="mandatory",
        source=("ours",),
        sentence="No two resources have one physical name: the second would fail, or take the first over.",
        fix="a name from pathways.names",
        check=Whole(_unique_names),
    ),
    Rule(
        id="secrets-hidden",
        level="mandatory",
        source=("ours", "CKV_K8S_35"),
        sentence="A secret is marked as one, and never an environment variable in plain text.",
        fix="pulumi config set --secret, or a Kubernetes Secret that the pod mounts",
        check=Each(("kubernetes:*",), _secrets_hidden),
        recorded_only=True,
    ),
    Rule(
        id="kubernetes-provider-named",
        level="mandatory",
        source=("ours",),
        sentence="A Kubernetes provider names its cluster in plain text, and holds no credentials.",
        fix="cluster_identifier=PROJECT/LOCATION/NAME and a kubeconfig with the exec plugin",
        check=Each((KUBERNETES_PROVIDER,), _kubernetes_provider),
        recorded_only=True,
    ),
)
