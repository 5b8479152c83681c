"""What the cloud would answer, as tables: computed properties of new resources, and look-ups.

A preview uses the tables only to know which look-ups exist: all their results are unknown. An `up` gets these values.
Addresses are from the ranges reserved for documentation (RFC 5737).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from offline.errors import OfflineError

Inputs = Mapping[str, Any]

_PROJECT_NUMBER = "123456789012"
_CA_CERTIFICATE = base64.b64encode(b"-----BEGIN CERTIFICATE-----\n").decode()
_API = "https://www.googleapis.com"


@dataclass(frozen=True)
class Created:
    """The answer to a creation: the physical ID and what the cloud adds to the inputs."""

    id: str
    outputs: Mapping[str, Any] = field(default_factory=dict)


def created(type_: str, name: str, inputs: Inputs) -> Created:
    """What creating a resource of `type_` answers in an `up`; `name` is its logical name.

    `inputs` include the provider's own `project` and `region` where the resource gives none.
    """
    if type_.startswith("kubernetes:"):
        metadata = inputs.get("metadata") or {}
        balanced = (inputs.get("spec") or {}).get("type") == "LoadBalancer"
        status = {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.30"}]}}} if balanced else {}
        return Created("/".join(filter(None, (metadata.get("namespace"), metadata.get("name", name)))), status)
    answer = _CREATED.get(type_)
    return Created(f"{name}-id") if answer is None else answer(inputs)


def looked_up(token: str, arguments: Inputs) -> Mapping[str, Any]:
    """The result of the look-up `token`; `arguments` include the provider's `project` and `region`.

    Raises:
        OfflineError: the table has no such look-up.
    """
    answer = _LOOKED_UP.get(token)
    if answer is None:
        raise OfflineError(
            f"{token}: no answer is known for this look-up; answers stand in offline/answers.py; add it there"
        )
    return {**arguments, **answer(arguments)}


def reference_urn(reference: str) -> str | None:
    """The URN in a provider reference `urn::id`; None for ""."""
    return reference.rsplit("::", 1)[0] or None


def _path(inputs: Inputs, *parts: str) -> str:
    return "/".join(("projects", str(inputs.get("project", "project")), *parts))


def _cluster(inputs: Inputs) -> Created:
    return Created(_path(inputs, "locations", inputs["location"], "clusters", inputs["name"]), _cluster_state(inputs))


def _cluster_state(inputs: Inputs) -> Mapping[str, Any]:
    endpoints = inputs.get("controlPlaneEndpointsConfig") or {}
    dns = endpoints.get("dnsEndpointConfig") or {}
    return {
        "endpoint": "192.0.2.10",
        "privateClusterConfig": {**(inputs.get("privateClusterConfig") or {}), "privateEndpoint": "192.0.2.11"},
        "masterVersion": inputs.get("minMasterVersion", "1.35.0-gke.1"),
        "masterAuth": {**(inputs.get("masterAuth") or {}), "clusterCaCertificate": _CA_CERTIFICATE},
        "controlPlaneEndpointsConfig": {
            **endpoints,
            "dnsEndpointConfig": {
                **dns,
                "endpoint": f"gke-0123456789ab-{_PROJECT_NUMBER}.{inputs['location']}.gke.goog",
            },
        },
        "selfLink": f"{_API}/container/v1/{_path(inputs, 'locations', inputs['location'], 'clusters', inputs['name'])}",
    }


def _node_pool(inputs: Inputs) -> Created:
    parts = (inputs.get("project", "project"), inputs["location"], inputs["cluster"], inputs["name"])
    return Created("/".join(map(str, parts)), {"instanceGroupUrls": [], "version": "1.35.0-gke.1"})


def _compute(collection: str, scope: Callable[[Inputs], str], **more: Any) -> Callable[[Inputs], Created]:
    def answer(inputs: Inputs) -> Created:
        path = _path(inputs, scope(inputs), collection, inputs["name"])
        return Created(path, {"selfLink": f"{_API}/compute/v1/{path}", **more})

    return answer


def _global(_: Inputs) -> str:
    return "global"


def _regional(inputs: Inputs) -> str:
    return f"regions/{inputs.get('region', 'region')}"


def _service_account(inputs: Inputs) -> Created:
    email = f"{inputs['accountId']}@{inputs.get('project', 'project')}.iam.gserviceaccount.com"
    path = _path(inputs, "serviceAccounts", email)
    return Created(path, {"email": email, "name": path, "member": f"serviceAccount:{email}", "uniqueId": "1" * 21})


def _identity_pool(inputs: Inputs) -> Created:
    """The pool, or a provider of it: IAM writes the project's number where other services write its id."""
    name = f"projects/{_PROJECT_NUMBER}/locations/global/workloadIdentityPools/{inputs['workloadIdentityPoolId']}"
    if provider := inputs.get("workloadIdentityPoolProviderId"):
        name += f"/providers/{provider}"
    return Created(name, {"name": name})


def _key_ring(inputs: Inputs) -> Created:
    return Created(_path(inputs, "locations", inputs["location"], "keyRings", inputs["name"]))


def _crypto_key(inputs: Inputs) -> Created:
    return Created(f"{inputs['keyRing']}/cryptoKeys/{inputs['name']}")


def _bucket(inputs: Inputs) -> Created:
    name = inputs["name"]
    return Created(name, {"url": f"gs://{name}", "selfLink": f"{_API}/storage/v1/b/{name}"})


def _bucket_state(inputs: Inputs) -> Mapping[str, Any]:
    return {"id": inputs["name"], **_bucket(inputs).outputs, "location": str(inputs.get("region", "us")).upper()}


def _provider(_: Inputs) -> Created:
    return Created("00000000-0000-4000-8000-000000000000")


_CREATED: Mapping[str, Callable[[Inputs], Created]] = {
    "pulumi:providers:gcp": _provider,
    "pulumi:providers:kubernetes": _provider,
    "gcp:container/cluster:Cluster": _cluster,
    "gcp:container/nodePool:NodePool": _node_pool,
    "gcp:compute/network:Network": _compute("networks", _global, networkId="1" * 19),
    "gcp:compute/subnetwork:Subnetwork": _compute("subnetworks", _regional, gatewayAddress="192.0.2.1"),
    "gcp:compute/router:Router": _compute("routers", _regional),
    "gcp:compute/address:Address": _compute("addresses", _regional, address="192.0.2.20"),
    "gcp:compute/resourcePolicy:ResourcePolicy": _compute("resourcePolicies", _regional),
    "gcp:iam/workloadIdentityPool:WorkloadIdentityPool": _identity_pool,
    "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider": _identity_pool,
    "gcp:kms/cryptoKey:CryptoKey": _crypto_key,
    "gcp:kms/keyRing:KeyRing": _key_ring,
    "gcp:serviceaccount/account:Account": _service_account,
    "gcp:storage/bucket:Bucket": _bucket,
}

_LOOKED_UP: Mapping[str, Callable[[Inputs], Mapping[str, Any]]] = {
    "gcp:container/getCluster:getCluster": lambda inputs: {
        "id": _cluster(inputs).id,
        **_as_look_up(_cluster_state(inputs)),
        "network": _path(inputs, "global/networks/existing"),
        "subnetwork": _path(inputs, "regions/region/subnetworks/existing"),
    },
    "gcp:compute/getNetwork:getNetwork": lambda inputs: {
        "id": _path(inputs, "global/networks", inputs["name"]),
        "selfLink": f"{_API}/compute/v1/{_path(inputs, 'global/networks', inputs['name'])}",
    },
    "gcp:compute/getSubnetwork:getSubnetwork": lambda inputs: {
        "id": _path(inputs, _regional(inputs), "subnetworks", inputs["name"]),
        "selfLink": f"{_API}/compute/v1/{_path(inputs, _regional(inputs), 'subnetworks', inputs['name'])}",
        "ipCidrRange": "10.0.0.0/20",
        "secondaryIpRanges": [],
    },
    "gcp:storage/getBucket:getBucket": _bucket_state,
    "gcp:organizations/getProject:getProject": lambda inputs: {
        "id": _path(inputs),
        "projectId": inputs.get("projectId", "project"),
        "number": _PROJECT_NUMBER,
    },
}


def _as_look_up(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """A look-up answers a single nested block as a list of one, under a plural name."""
    return {
        f"{key}s" if isinstance(value, Mapping) else key: [_as_look_up(value)] if isinstance(value, Mapping) else value
        for key, value in state.items()
    }
