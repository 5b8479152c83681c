"""What others do to the cloud: people at the console, the zone, other teams."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.e2e.cloud.cloud import Cloud
from tests.e2e.cloud.errors import ProviderError
from tests.e2e.cloud.facts import load
from tests.e2e.cloud.services.base import tail
from tests.e2e.cloud.services.network import FIREWALL, NODE_POOL
from tests.e2e.cloud.services.nodepool import lose, resize
from tests.e2e.cloud.services.storage import BUCKET
from tests.e2e.cloud.store import RUNNING, Record
from tests.e2e.cloud.wire import Props


def token_of(type_: str) -> str:
    """The token of a short type (``NodePool``) or of itself; raises ProviderError when there is no one such type."""
    found = [token for token in load() if token in (type_,) or token.rpartition(":")[2] == type_]
    if len(found) != 1:
        raise ProviderError(f"type {type_!r} is one of {sorted(found or load())}: write the whole token")
    return found[0]


def find(cloud: Cloud, type_: str, name: str) -> Record:
    """The one resource of this type and name (or id); raises ProviderError when there is none or several."""
    token = token_of(type_)
    found = [record for record in cloud.store.all(token) if name in (record.name, record.id)]
    if len(found) != 1:
        raise ProviderError(f"{len(found)} resources of type {token} are named {name!r}")
    return found[0]


def make(cloud: Cloud, type: str, inputs: Props, project: str = "") -> Any:
    """Create something outside the program, at once. Answers its id and properties."""
    record = cloud.make(token_of(type), inputs, project)
    return {"id": record.id, "props": record.props}


def delete(cloud: Cloud, type: str, name: str) -> Any:
    """Delete something, protected or not."""
    record = find(cloud, type, name)
    cloud.remove(record.type, record.id, None)
    return record.id


def change(cloud: Cloud, type: str, name: str, props: Props) -> Any:
    """Set properties of something (drift)."""
    record = find(cloud, type, name)
    with cloud.lock:
        record.props |= props
        cloud.store.put(record)
    return record.id


def resize_pool(cloud: Cloud, name: str, per_zone: int) -> Any:
    """Resize a pool at the console."""
    record = find(cloud, NODE_POOL, name)
    with cloud.lock:
        resize(cloud, record, per_zone)
        cloud.store.put(record)
    return len(record.meta["slots"])


def take_spot(cloud: Cloud, name: str, count: int | None = None) -> Any:
    """Preempt machines of a spot pool, by default all; answers their names. ``give_back`` brings them back."""
    record = find(cloud, NODE_POOL, name)
    if not record.props["nodeConfig"].get("spot"):
        raise ProviderError(f"node pool {name} is not spot")
    return _take(cloud, record, count)


def fail_hosts(cloud: Cloud, name: str, count: int = 1) -> Any:
    """Machines of a pool fail; answers their names. They come back with ``give_back`` (GKE's repair)."""
    return _take(cloud, find(cloud, NODE_POOL, name), count)


def _take(cloud: Cloud, record: Record, count: int | None) -> list[str]:
    with cloud.lock:
        names = lose(cloud, record, len(record.meta["slots"]) if count is None else count)
        cloud.store.put(record)
    return names


def give_back(cloud: Cloud, name: str) -> Any:
    """Capacity is there again: missing machines come under new names, a pool in ERROR comes up."""
    record = find(cloud, NODE_POOL, name)
    with cloud.lock:
        record.status = RUNNING
        record.meta.pop("message", None)
        resize(cloud, record, record.meta["target"])
        cloud.store.put(record)
    return len(record.meta["slots"])


def put_objects(cloud: Cloud, name: str, count: int) -> Any:
    """Make a bucket hold this many objects."""
    record = find(cloud, BUCKET, name)
    with cloud.lock:
        record.meta["objects"] = count
        cloud.store.put(record)
    return count


def leave_firewall(cloud: Cloud, network: str, name: str = "k8s-fw-leftover") -> Any:
    """A rule that a load balancer left behind in a network."""
    project = find(cloud, "Network", network).project
    props = {"name": name, "project": project, "network": f"projects/{project}/global/networks/{tail(network)}"}
    id_ = f"projects/{project}/global/firewalls/{name}"
    cloud.store.put(Record(FIREWALL, id_, name, project, props, RUNNING))
    return id_


def list_resources(cloud: Cloud, type: str | None = None) -> Any:
    """All that exists, GKE's own included: type, id, name, status, properties, and the cloud's notes."""
    records = cloud.store.all(None if type is None else token_of(type))
    return [
        {"type": r.type, "id": r.id, "name": r.name, "status": r.status, "props": r.props, "meta": r.meta}
        for r in records
    ]


ACTIONS: Mapping[str, Callable[..., Any]] = {
    action.__name__: action
    for action in (
        *(make, delete, change, resize_pool, take_spot, fail_hosts, give_back),
        *(put_objects, leave_firewall, list_resources),
    )
}
