"""Words to write checks with. Whatever only the cloud knows, and every secret, is taken to be right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from offline.recording import SECRET, UNKNOWN, Resource

Problem = Callable[[Resource], str | None]

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
BUCKET = "gcp:storage/bucket:Bucket"
NETWORK_POLICY = "kubernetes:networking.k8s.io/v1:NetworkPolicy"
SERVICE = "kubernetes:core/v1:Service"
SERVICE_ACCOUNT = "kubernetes:core/v1:ServiceAccount"
JOB_SET = "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet"
GCP_PROVIDER = "pulumi:providers:gcp"
KUBERNETES_PROVIDER = "pulumi:providers:kubernetes"


def hidden(value: object) -> bool:
    """Whether a value is unknown or secret."""
    return value in (UNKNOWN, SECRET)


def at(value: Any, path: str) -> Any:
    """The value at a dotted path; None where it is absent, `UNKNOWN` where it, or what it is in, is hidden."""
    for key in path.split("."):
        if hidden(value):
            return UNKNOWN
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return UNKNOWN if hidden(value) else value


def items(value: Any, path: str) -> list[Any]:
    """The known elements of the list at a dotted path, none where there is no list."""
    found = at(value, path)
    return [item for item in found if not hidden(item)] if isinstance(found, (list, tuple)) else []


def shown(value: object) -> str:
    """A value as a stack file or the program would write it."""
    if value is None:
        return "not set"
    return str(value).lower() if isinstance(value, bool) else str(value)


def must_be(path: str, *wanted: object) -> Problem:
    """The input at `path` is one of `wanted`; not set is wrong."""

    def problem(resource: Resource) -> str | None:
        value = at(resource.inputs, path)
        if hidden(value) or any(_same(value, each) for each in wanted):
            return None
        return f"{path} is {shown(value)}, not {' or '.join(map(shown, wanted))}"

    return problem


def must_not_be(path: str, *refused: object) -> Problem:
    """The input at `path` is none of `refused`; not set is right."""

    def problem(resource: Resource) -> str | None:
        value = at(resource.inputs, path)
        return f"{path} is {shown(value)}" if any(_same(value, each) for each in refused) else None

    return problem


def must_have(*paths: str) -> Problem:
    """The inputs at `paths` are set, and not empty."""

    def problem(resource: Resource) -> str | None:
        missing = [path for path in paths if at(resource.inputs, path) in (None, "", [], {})]
        return f"{', '.join(missing)} not set" if missing else None

    return problem


def must_hold(path: str, *wanted: str) -> Problem:
    """The list at `path` holds all of `wanted`."""

    def problem(resource: Resource) -> str | None:
        value = at(resource.inputs, path)
        if hidden(value):
            return None
        missing = [each for each in wanted if each not in (value or [])]
        return f"{path} lacks {', '.join(missing)}" if missing else None

    return problem


def production(resource: Resource) -> bool:
    """Whether the resource's labels say that it is production's."""
    places = ("resourceLabels", "labels", "nodeConfig.resourceLabels", "metadata.labels")
    return any(at(resource.inputs, f"{place}.environment") == "prod" for place in places)


def texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every known text in a value, with its dotted path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from texts(item, f"{path}.{key}" if path else str(key))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from texts(item, f"{path}[{index}]")


def _same(value: object, wanted: object) -> bool:
    """Equal, and of one kind: 1 is not true."""
    return value == wanted and isinstance(value, bool) is isinstance(wanted, bool)
