"""After a killed run: take what was being created into the state, so that `pulumi refresh` can look for it.

The engine notes what it was about to create, but not the id that the cloud gives it. For all that this project creates
the id follows from the inputs, since every name is explicit. Pulumi's own `refresh --import-pending-creates` notes
an import that nothing carries out (3.276), and `pulumi import` wants type, name, parent and provider of each by hand.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from offline.errors import OfflineError

State = dict[str, Any]
_Inputs = Mapping[str, Any]


def _google(template: str) -> Callable[[_Inputs], str]:
    """An id made of inputs; of a reference such as a router's link, its last part."""
    return lambda inputs: template.format_map({key: str(value).rpartition("/")[2] for key, value in inputs.items()})


def _kubernetes(inputs: _Inputs) -> str:
    metadata = inputs["metadata"]
    return "/".join(part for part in (metadata.get("namespace"), metadata["name"]) if part)


_LOCATED = "projects/{project}/locations/{location}/clusters/"
_REGIONAL = "projects/{project}/regions/{region}/"
_IDS: Mapping[str, Callable[[_Inputs], str]] = {
    "gcp:compute/network:Network": _google("projects/{project}/global/networks/{name}"),
    "gcp:compute/subnetwork:Subnetwork": _google(_REGIONAL + "subnetworks/{name}"),
    "gcp:compute/router:Router": _google(_REGIONAL + "routers/{name}"),
    "gcp:compute/routerNat:RouterNat": _google("{project}/{region}/{router}/{name}"),
    "gcp:compute/resourcePolicy:ResourcePolicy": _google(_REGIONAL + "resourcePolicies/{name}"),
    "gcp:container/cluster:Cluster": _google(_LOCATED + "{name}"),
    "gcp:container/nodePool:NodePool": _google(_LOCATED + "{cluster}/nodePools/{name}"),
    "gcp:serviceaccount/account:Account": _google(
        "projects/{project}/serviceAccounts/{accountId}@{project}.iam.gserviceaccount.com"
    ),
    "gcp:storage/bucket:Bucket": _google("{name}"),
    "kubernetes:core/v1:Namespace": _kubernetes,
    "kubernetes:core/v1:Service": _kubernetes,
    "kubernetes:core/v1:ServiceAccount": _kubernetes,
    "kubernetes:networking.k8s.io/v1:NetworkPolicy": _kubernetes,
    "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet": _kubernetes,
}
_AGAIN = (
    "gcp:projects/service:Service",
    "gcp:projects/iAMMember:IAMMember",
    "gcp:storage/bucketIAMMember:BucketIAMMember",
    "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember",
    "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
    "kubernetes:helm.sh/v3:Release",
    "pulumi:providers:gcp",
    "pulumi:providers:kubernetes",
)
"""Creating these once more does no harm; a chart's, once Helm's note of the half-made release is removed."""


def read_state(file: Path) -> State:
    """What `pulumi stack export` wrote.

    Raises:
        OfflineError: It cannot be read, or it is something else.
    """
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        message = f"{file}: not a state ({error}); it takes what `pulumi stack export --file` writes"
        raise OfflineError(message) from None
    if not isinstance(found, dict) or not isinstance(found.get("deployment"), dict):
        raise OfflineError(f"{file}: deployment: missing; it takes what `pulumi stack export --file` writes")
    return found


def adopt(exported: State) -> State:
    """The state of `pulumi stack export`, without pending operations.

    What was being created is a resource of the state from now on, to be dropped by the next refresh if it is not there.
    What can be created again is left to the next `up`; an update or deletion under way has its resource in the state.

    Raises:
        OfflineError: Something under way has no known id.
    """
    deployment = exported["deployment"]
    creating = [op["resource"] for op in deployment.get("pending_operations") or () if op["type"] == "creating"]
    pending = [found for found in creating if found.get("custom")]  # a component is made by being registered again
    unknown = [found for found in pending if found["type"] not in (*_IDS, *_AGAIN)]
    if unknown:
        raise OfflineError(*(_no_id(found) for found in unknown))
    adopted = [
        {**found, "id": _IDS[found["type"]](found["inputs"]), "outputs": {}}
        for found in pending
        if found["type"] in _IDS
    ]
    urns = {found["urn"] for found in adopted}
    # A resource that is being replaced stays in the state until its successor is there.
    kept = [found for found in deployment.get("resources") or () if found["urn"] not in urns]
    changed = {**deployment, "resources": [*kept, *adopted]}
    changed.pop("pending_operations", None)
    return {**exported, "deployment": changed}


def _no_id(found: Mapping[str, Any]) -> str:
    return (
        f"state: {found['urn'].rpartition('::')[2]}: nothing tells the id of a {found['type']}; only what this project "
        "creates can be adopted; look whether it is there, and run `pulumi import` or `pulumi refresh "
        "--clear-pending-creates`"
    )
