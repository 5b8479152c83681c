"""After a killed run: take what was being created into the state, so that `pulumi refresh` can look for it.

The engine notes what it was about to create, but not the id that the cloud gives it. For all that this project creates
the id follows from the inputs, since every name is explicit. Pulumi's own `refresh --import-pending-creates` notes
an import that nothing carries out (3.276), and `pulumi import` wants type, name, parent and provider of each by hand.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from string import Formatter
from typing import Any, Literal

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from offline.errors import OfflineError
from offline.text import shortened

State = dict[str, Any]
_Inputs = Mapping[str, Any]


class _Resource(BaseModel, strict=True):
    """A resource of the state, as far as its id depends on it."""

    urn: str
    type: str
    custom: bool = False
    inputs: dict[str, Any] = {}


class _Operation(BaseModel, strict=True):
    """An operation that was under way, of the kinds that Pulumi notes."""

    type: Literal["creating", "updating", "deleting", "reading", "importing"]
    resource: _Resource


class _Deployment(BaseModel, strict=True):
    resources: list[_Resource] | None = None
    pending_operations: list[_Operation] | None = None


class _Exported(BaseModel, strict=True):
    """What `pulumi stack export` writes."""

    deployment: _Deployment


class _NoIdError(Exception):
    """Why there is no id, in words."""


def _text(inputs: object, key: str) -> str:
    value = inputs.get(key) if isinstance(inputs, Mapping) else None
    if not isinstance(value, str) or not value:
        raise _NoIdError(f"its {key} is no text")
    return value


def _google(template: str) -> Callable[[_Inputs], str]:
    """An id made of inputs; of a reference such as a router's link, its last part."""
    keys = [key for _, key, _, _ in Formatter().parse(template) if key]
    return lambda inputs: template.format_map({key: _text(inputs, key).rpartition("/")[2] for key in keys})


def _kubernetes(inputs: _Inputs) -> str:
    metadata = inputs.get("metadata")
    name = _text(metadata, "name")
    return f"{_text(metadata, 'namespace')}/{name}" if "namespace" in inputs["metadata"] else name


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
        found: State = json.loads(file.read_text(encoding="utf-8"))
        _Exported.model_validate(found)
    except ValidationError as error:
        raise OfflineError(*(_not_a_state(file, each) for each in error.errors(include_url=False))) from None
    except (OSError, ValueError, RecursionError) as error:
        message = f"{file}: not a state ({shortened(error)}); it takes what `pulumi stack export --file` writes"
        raise OfflineError(message) from None
    return found


def _not_a_state(file: Path, error: ErrorDetails) -> str:
    key = ".".join(map(str, error["loc"])) or "the file"
    what = "missing" if error["type"] == "missing" else f"not as Pulumi writes it ({error['msg'].lower()})"
    return f"{file}: {key}: {what}; it takes what `pulumi stack export --file` writes; export the stack again"


def adopt(exported: State) -> State:
    """The state of `pulumi stack export`, without pending operations.

    What was being created is a resource of the state from now on, to be dropped by the next refresh if it is not there.
    What can be created again is left to the next `up`; an update or deletion under way has its resource in the state.

    Raises:
        OfflineError: Something under way has no known id.
    """
    deployment = exported["deployment"]
    creating = [op["resource"] for op in deployment.get("pending_operations") or () if op["type"] == "creating"]
    # A component is made by being registered again; what was interrupted several times is there once.
    pending = {found["urn"]: found for found in creating if found.get("custom")}
    adopted: dict[str, State] = {}
    refused: list[str] = []
    for urn, found in pending.items():
        try:
            if found["type"] not in _AGAIN:
                adopted[urn] = {**found, "id": _id(found), "outputs": {}}
        except _NoIdError as error:
            refused.append(_no_id(found, str(error)))
    if refused:
        raise OfflineError(*refused)
    # A resource that is being replaced stays in the state until its successor is there.
    kept = [found for found in deployment.get("resources") or () if found["urn"] not in adopted]
    changed = {**deployment, "resources": [*kept, *adopted.values()]}
    changed.pop("pending_operations", None)
    return {**exported, "deployment": changed}


def _id(found: State) -> str:
    if found["type"] not in _IDS:
        raise _NoIdError("only what this project creates can be adopted")
    return _IDS[found["type"]](found.get("inputs") or {})


def _no_id(found: State, why: str) -> str:
    return (
        f"state: {found['urn'].rpartition('::')[2]}: nothing tells the id of a {found['type']}; {why}; look whether it "
        "is there, and run `pulumi import` or `pulumi refresh --clear-pending-creates`"
    )
