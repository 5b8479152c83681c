"""Rules about options, providers, names and rights: what holds for every resource (design §6)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tests.support.recording import BUCKET, CLUSTER, GCP_PROVIDER, KUBERNETES_PROVIDER, Recording, Resource, is_opaque

_PROVIDERS = {"gcp": GCP_PROVIDER, "kubernetes": KUBERNETES_PROVIDER}
_QUOTED_KEY = re.compile(r'\["[^"]*"\]')
_AUTHORITATIVE_IAM = re.compile(r"iam(?!member$|customrole$)", re.IGNORECASE)
_WIDE_ROLE = re.compile(r"roles/(owner|editor|viewer|storage\..*|iam\.serviceAccount.*)")
_NAME_INPUTS = ("name", "accountId", "repositoryId", "secretId", "roleId")
_SCOPE_INPUTS = ("project", "location", "region", "zone", "cluster", "router", "bucket", "keyRing")

# The resources of gcp that have no name of their own: members, an enabled API.
_NAMELESS = re.compile(r"(iammember|:service)$", re.IGNORECASE)


def providers_explicit(recording: Recording) -> list[str]:
    """Every custom resource of gcp and kubernetes names a provider of its package that the stack declares."""
    declared = {resource.urn: resource.type for resource in recording.resources if resource.package == "pulumi"}
    found = []
    for package, type_ in _PROVIDERS.items():
        for resource in recording.resources:
            if resource.package != package or not resource.custom:
                continue
            reference = resource.options.get("provider")
            # A reference is the provider's URN, with `::` and its id behind it where the recorder keeps that.
            urns = [urn for urn, kind in declared.items() if kind == type_ and _refers(reference, urn)]
            if not urns:
                found.append(f"{resource.label}: options.provider: {reference!r} is no {type_} of the stack")
    return found


def _refers(reference: object, urn: str) -> bool:
    return isinstance(reference, str) and (reference == urn or reference.startswith(f"{urn}::"))


def cluster_identifier(recording: Recording) -> list[str]:
    """The Kubernetes provider has a plain identifier and a kubeconfig with the exec plugin, never a token."""
    providers = recording.of_type(KUBERNETES_PROVIDER)
    return [f"{provider.label}: {line}" for provider in providers for line in _provider_lines(provider)]


def _provider_lines(provider: Resource) -> Iterator[str]:
    identifier = provider.inputs.get("clusterIdentifier")
    if not isinstance(identifier, str) or not identifier:
        yield f"clusterIdentifier: {identifier!r} is no plain text"
    if "deleteUnreachable" in provider.inputs:
        yield "deleteUnreachable: must stay unset, or a network fault empties the state"
    kubeconfig = provider.inputs.get("kubeconfig")
    if kubeconfig is None:
        yield "kubeconfig: not given, so the developer's own would be used"
    elif isinstance(kubeconfig, str):
        if "gke-gcloud-auth-plugin" not in kubeconfig:
            yield "kubeconfig: does not use gke-gcloud-auth-plugin"
        if re.search(r"\btoken\b", kubeconfig):
            yield "kubeconfig: holds a token"


def deleted_with(recording: Recording) -> list[str]:
    """What is inside a cluster of this stack goes with it, but for a Service that owns a load balancer outside."""
    clusters = {cluster.urn for cluster in recording.of_type(CLUSTER)}
    if not clusters:
        return []
    found = []
    for resource in recording.of_package("kubernetes"):
        target = resource.options.get("deletedWith")
        owns_outside = resource.inputs.get("kind") == "Service" and resource.input("spec.type") == "LoadBalancer"
        if owns_outside and target is not None:
            found.append(f"{resource.label}: options.deletedWith: would strand the load balancer")
        if not owns_outside and target not in clusters:
            found.append(f"{resource.label}: options.deletedWith: {target!r} is not the stack's cluster")
    return found


def names_explicit(recording: Recording) -> list[str]:
    """Every named resource states its name, once in its scope, and is deleted before it is replaced."""
    found = []
    taken: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for resource in recording.of_package("gcp"):
        if _NAMELESS.search(resource.type):
            continue
        name = _gcp_name(resource)
        if name is None:
            found.append(f"{resource.label}: name: not given, so the engine would make one up")
            continue
        taken[resource.type, name, *_scope(resource)].append(resource.name)
        if resource.options.get("deleteBeforeReplace") is not True:
            found.append(f"{resource.label}: options.deleteBeforeReplace: not set on a named resource")
    for resource in recording.kubernetes_objects():
        name = resource.input("metadata.name")
        if name is None:
            found.append(f"{resource.label}: metadata.name: not given, so the provider would make one up")
            continue
        taken[resource.type, str(name), str(resource.input("metadata.namespace"))].append(resource.name)
    return found + [
        f"{key[0]} {', '.join(resources)}: name: {key[1]} is there {len(resources)} times"
        for key, resources in taken.items()
        if len(resources) > 1
    ]


def _gcp_name(resource: Resource) -> str | None:
    for key in _NAME_INPUTS:
        if isinstance(resource.inputs.get(key), str):
            return str(resource.inputs[key])
    return None


def _scope(resource: Resource) -> tuple[str, ...]:
    # Scopes that are not known yet come from one resource each, so two unknown ones are taken for the same.
    return tuple(f"{key}={_plain(resource.inputs.get(key))}" for key in _SCOPE_INPUTS)


def _plain(value: Any) -> str:
    return "?" if value is None or is_opaque(value) else str(value)


def iam_members_only(recording: Recording) -> list[str]:
    """Rights are given by members, never by a binding or policy, and no wide role on the whole project."""
    found = [
        f"{resource.label}: : authoritative for others' rights too; use the *IAMMember type"
        for resource in recording.of_package("gcp")
        if _AUTHORITATIVE_IAM.search(resource.type.rpartition(":")[2])
    ]
    return found + [
        f"{member.label}: role: {member.inputs.get('role')} on the whole project"
        for member in recording.of_type("gcp:projects/iAMMember:IAMMember")
        if _WIDE_ROLE.fullmatch(str(member.inputs.get("role")))
    ]


def option_paths(recording: Recording) -> list[str]:
    """Nested option paths travel as written: one in snake_case would silently match nothing."""
    return [
        f"{resource.label}: options.{key}: {path} is not camelCase"
        for resource in recording.resources
        for key in ("ignoreChanges", "replaceOnChanges")
        for path in resource.options.get(key, ())
        if "_" in _QUOTED_KEY.sub("", path)
    ]


def protected(recording: Recording, *, environment: str | None = None) -> list[str]:
    """Buckets are protected, a production cluster too, and a cluster's deletion protection is the same switch.

    Args:
        recording: the stack.
        environment: `prod`, `staging` or `dev`; by default the last part of the stack's name.
    """
    environment = environment or recording.stack.rpartition("-")[2]
    found = [
        f"{bucket.label}: options.protect: not set"
        for bucket in recording.of_type(BUCKET)
        if bucket.options.get("protect") is not True
    ]
    for cluster in recording.of_type(CLUSTER):
        protect, guarded = cluster.options.get("protect", False), cluster.inputs.get("deletionProtection")
        if guarded is not protect:
            found.append(f"{cluster.label}: deletionProtection: {guarded!r}, but options.protect is {protect!r}")
        if environment == "prod" and protect is not True:
            found.append(f"{cluster.label}: options.protect: not set in prod")
    return found


def jobset_replaced(recording: Recording) -> list[str]:
    """A JobSet's spec cannot change: any change replaces it, the old one first."""
    return [
        f"{resource.label}: options: needs replaceOnChanges of spec and deleteBeforeReplace"
        for resource in recording.resources
        if resource.type.endswith(":JobSet")
        and not ("spec" in resource.options.get("replaceOnChanges", ()) and resource.options.get("deleteBeforeReplace"))
    ]
