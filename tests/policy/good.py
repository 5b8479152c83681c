"""A stack that keeps every rule: one of the program's own, mended where it is waived, and what it does not make."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from offline.recording import Options, Recording, Resource
from tests.program.support import config, run

POD = "spec.replicatedJobs.0.template.spec.template.spec"
WORKER = "spec.replicatedJobs.1.template.spec.template.spec"
_DIGEST = "@sha256:" + "0123456789abcdef" * 4
_KEY = "projects/demo-keys/locations/us-east5/keyRings/ring/cryptoKeys/key"

_CONFIG = config(
    environment="prod",
    cluster={"securityGroup": "gke-security-groups@example.com", "kmsKey": _KEY},
    runtime={
        "images": {"server": f"us-docker.pkg.dev/p/r/server{_DIGEST}", "proxy": f"us-docker.pkg.dev/p/r/x{_DIGEST}"}
    },
    workload={"mode": "interactive", "image": None, "command": None, "access": "internal-load-balancer"},
)
_MENDED: Mapping[str, Mapping[str, Any]] = {
    "scratch-bucket": {
        "versioning.enabled": True,
        "logging": {"logBucket": "logs"},
        "encryption": {"defaultKmsKeyName": _KEY},
    },
    "cluster-cluster": {"binaryAuthorization": {"evaluationMode": "PROJECT_SINGLETON_POLICY_ENFORCE"}},
    **{pool: {"nodeConfig.bootDiskKmsKey": _KEY} for pool in ("head-pool", "system-pool", "slices-0", "slices-1")},
}
_NAME = "urn:pulumi:demo-prod::pathways"
PROVIDER = f"{_NAME}::pulumi:providers:gcp::google"


def made(type_: str, name: str, inputs: Mapping[str, Any], **options: Any) -> Resource:
    """A resource that the program does not make."""
    given = Options(**{"provider": PROVIDER, **options})
    return Resource(f"{_NAME}::{type_}::{name}", type_, name, None, True, inputs, given)


EXTRA = (
    made(
        "gcp:compute/firewall:Firewall",
        "firewall",
        {
            "name": "clients",
            "sourceRanges": ["10.0.0.0/8"],
            "allows": [{"protocol": "tcp", "ports": ["29000"]}],
        },
    ),
    made(
        "gcp:compute/firewall:Firewall",
        "egress",
        {
            "name": "out",
            "direction": "EGRESS",
            "destinationRanges": ["10.0.0.0/8"],
            "allows": [{"protocol": "tcp", "ports": ["443"]}],
        },
    ),
    made("gcp:kms/cryptoKey:CryptoKey", "key", {"name": "key", "rotationPeriod": "7776000s"}, protect=True),
    made(
        "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
        "federation",
        {"attributeCondition": "assertion.repository == 'acme/pathways'"},
    ),
    made(
        "kubernetes:core/v1:Secret",
        "secret",
        {
            "kind": "Secret",
            "metadata": {"name": "token", "namespace": "demo-prod"},
            "stringData": {"t": {"$secret": True}},
        },
        provider=f"{_NAME}::pulumi:providers:kubernetes::kubernetes",
        deleted_with="cluster",
    ),
)


@cache
def good() -> Recording:
    """The stack."""
    recorded = run(_CONFIG)
    mended = [edited(each, _MENDED.get(each.name, {})) for each in recorded.resources]
    return replace(recorded, resources=(*mended, *EXTRA))


def changed(
    recording: Recording, name: str, inputs: Mapping[str, Any], options: Mapping[str, Any] | None = None
) -> Recording:
    """The recording with one resource changed: inputs by dotted path, options by attribute."""
    assert any(each.name == name for each in recording.resources), name

    def one(resource: Resource) -> Resource:
        if resource.name != name:
            return resource
        return replace(edited(resource, inputs), options=replace(resource.options, **(options or {})))

    return replace(recording, resources=tuple(map(one, recording.resources)))


def edited(resource: Resource, changes: Mapping[str, Any]) -> Resource:
    """The resource with inputs set by dotted path; None removes one, a number is a position in a list."""
    inputs = copy.deepcopy(dict(resource.inputs))
    for path, value in changes.items():
        *above, last = path.split(".")
        place: Any = inputs
        for key in above:
            place = place[int(key)] if key.isdigit() else place.setdefault(key, {})
        if value is None:
            place.pop(last)
        else:
            place[int(last) if last.isdigit() and isinstance(place, list) else last] = value
    return replace(resource, inputs=inputs)
