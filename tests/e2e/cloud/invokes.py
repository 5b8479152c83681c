"""Data sources: reading what exists, as the provider's functions do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.e2e.cloud.cloud import Cloud
from tests.e2e.cloud.config import ProviderConfig
from tests.e2e.cloud.errors import ProviderError
from tests.e2e.cloud.facts import Property, Shape, load
from tests.e2e.cloud.services.base import project_of, tail
from tests.e2e.cloud.services.network import CLUSTER, NETWORK, SUBNETWORK
from tests.e2e.cloud.services.storage import BUCKET
from tests.e2e.cloud.wire import Props


def plural(name: str) -> str:
    """The name of a list of what the resource has one of: data sources show every block as a list."""
    if name.endswith("Status"):
        return f"{name}es"
    if name.endswith("s"):
        return name
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def listed(properties: Mapping[str, Property], props: Props) -> Props:
    """The properties with every block as a list of one."""
    result: Props = {}
    for key, value in props.items():
        prop = properties.get(key)
        if prop is None:
            continue
        if prop.shape is Shape.BLOCK and isinstance(value, dict):
            result[plural(key)] = [listed(prop.properties, value)]
        elif prop.shape in (Shape.BLOCKS, Shape.BLOCK_SET) and isinstance(value, list):
            result[key] = [listed(prop.properties, item) for item in value]
        else:
            result[key] = value
    return result


def _shown(cloud: Cloud, token: str, id_: str) -> Props:
    record = cloud.read(token, id_)
    if record is None or not cloud.await_visible(record):
        raise ProviderError(f"{id_} not found")
    return {**listed(load()[token].properties, record.props), "id": record.id}


def _cluster(cloud: Cloud, args: Props, config: ProviderConfig) -> Props:
    location = args.get("location") or config.zone or config.region
    project = args.get("project") or config.project
    return _shown(cloud, CLUSTER, f"projects/{project}/locations/{location}/clusters/{args['name']}")


def _named(args: Props, config: ProviderConfig) -> tuple[str, str]:
    reference = args.get("selfLink") or args.get("name")
    return args.get("project") or project_of(reference, config.project), tail(reference)


def _network(cloud: Cloud, args: Props, config: ProviderConfig) -> Props:
    project, name = _named(args, config)
    found = _shown(cloud, NETWORK, f"projects/{project}/global/networks/{name}")
    links = [s.props["selfLink"] for s in cloud.store.all(SUBNETWORK) if tail(s.props["network"]) == name]
    # The resource has it as text, the function as a number.
    return {**found, "networkId": int(found["networkId"]), "subnetworksSelfLinks": links}


def _subnetwork(cloud: Cloud, args: Props, config: ProviderConfig) -> Props:
    project, name = _named(args, config)
    link: str = args.get("selfLink", "")
    inside = link.partition("/regions/")[2].partition("/")[0]
    region = tail(args.get("region")) or inside or config.region
    return _shown(cloud, SUBNETWORK, f"projects/{project}/regions/{region}/subnetworks/{name}")


def _bucket(cloud: Cloud, args: Props, config: ProviderConfig) -> Props:
    return _shown(cloud, BUCKET, args["name"])


def _project(cloud: Cloud, args: Props, config: ProviderConfig) -> Props:
    project = args.get("projectId") or config.project
    if not project:
        raise ProviderError("project: required field is not set")
    number = cloud.project_number(project)
    return {"id": f"projects/{project}", "projectId": project, "name": project, "number": number, "labels": {}}


def _client(cloud: Cloud, args: Props, config: ProviderConfig) -> Props:
    place = {"project": config.project, "region": config.region, "zone": config.zone}
    id_ = 'projects/"{project}"/regions/"{region}"/zones/"{zone}"'.format(**place)
    return {**place, "id": id_, "accessToken": "simulated", "defaultLabels": dict(config.labels)}


FUNCTIONS: Mapping[str, Callable[[Cloud, Props, ProviderConfig], Props]] = {
    "gcp:container/getCluster:getCluster": _cluster,
    "gcp:compute/getNetwork:getNetwork": _network,
    "gcp:compute/getSubnetwork:getSubnetwork": _subnetwork,
    "gcp:storage/getBucket:getBucket": _bucket,
    "gcp:organizations/getProject:getProject": _project,
    "gcp:organizations/getClientConfig:getClientConfig": _client,
}


def invoke(cloud: Cloud, token: str, args: Props, config: ProviderConfig) -> dict[str, Any]:
    """The function's answer. Raises ProviderError for an unknown function and for what does not exist."""
    if token not in FUNCTIONS:
        raise ProviderError(f"the simulated cloud has no function {token}")
    return FUNCTIONS[token](cloud, args, config)
