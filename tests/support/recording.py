"""A recorded stack, as `python -m offline show STACK --json` prints it, read into types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any

UNKNOWN = "$unknown"
SECRET = "$secret"
_SCALARS = (str, int, float, NoneType)

GCP_PROVIDER = "pulumi:providers:gcp"
KUBERNETES_PROVIDER = "pulumi:providers:kubernetes"
CLUSTER = "gcp:container/cluster:Cluster"
NODE_POOL = "gcp:container/nodePool:NodePool"
BUCKET = "gcp:storage/bucket:Bucket"
HELM_RELEASE = "kubernetes:helm.sh/v3:Release"


@dataclass(frozen=True)
class Resource:
    """One resource of a recording: what was registered, with its effective options.

    `read` marks one that exists already and is only looked at: the stack neither makes nor deletes it.
    """

    urn: str
    type: str
    name: str
    parent: str | None
    custom: bool
    inputs: Mapping[str, Any]
    options: Mapping[str, Any]
    read: bool = False

    @property
    def label(self) -> str:
        """How a problem names this resource."""
        return f"{self.type} {self.name}"

    @property
    def package(self) -> str:
        """The Pulumi package of the type: `gcp`, `kubernetes`, `pulumi` or another."""
        return self.type.split(":", 1)[0]

    def input(self, path: str) -> Any:
        """The input at a dotted path; None where it, or anything above it, is absent or not known yet."""
        return at(self.inputs, path)


@dataclass(frozen=True, eq=False)
class Recording:
    """A whole recorded stack; equal to itself alone, so that what is read from it can be kept."""

    project: str
    stack: str
    resources: tuple[Resource, ...]
    outputs: Mapping[str, Any]

    def of_type(self, *types: str) -> tuple[Resource, ...]:
        """The resources of any of these types that the stack manages, in recorded order."""
        return tuple(resource for resource in self.resources if resource.type in types and not resource.read)

    def of_package(self, package: str) -> tuple[Resource, ...]:
        """The custom resources of a package that the stack manages."""
        return tuple(
            resource
            for resource in self.resources
            if resource.package == package and resource.custom and not resource.read
        )

    def kubernetes_objects(self) -> tuple[Resource, ...]:
        """The resources that are one Kubernetes object each (a Helm release is none)."""
        return tuple(resource for resource in self.of_package("kubernetes") if "kind" in resource.inputs)


def read(document: Mapping[str, Any]) -> Recording:
    """Read the JSON document of a recording.

    Raises:
        KeyError: the document lacks a key of the contract (options alone may be left out).
    """
    resources = tuple(
        Resource(
            urn=entry["urn"],
            type=entry["type"],
            name=entry["name"],
            parent=entry["parent"],
            custom=entry["custom"],
            inputs=entry["inputs"],
            options=entry.get("options", {}),
            read=entry.get("read") is not None,
        )
        for entry in document["resources"]
    )
    return Recording(document["project"], document["stack"], resources, document["outputs"])


def is_opaque(value: object) -> bool:
    """Whether a value stands for one that is not known before `up`, or for a secret."""
    return isinstance(value, (dict, Mapping)) and (value.get(UNKNOWN) is True or value.get(SECRET) is True)


def at(value: object, path: str) -> Any:
    """The value at a dotted path of nested mappings, or None."""
    for key in path.split("."):
        if not isinstance(value, (dict, Mapping)) or is_opaque(value):
            return None
        value = value.get(key)
    return value


def leaves(value: object) -> Iterator[tuple[str, object]]:
    """Every scalar of a nested value with its path (`spec.args[0]`); values not known are passed over."""
    found: list[tuple[str, object]] = []
    _collect(value, "", found)
    return iter(found)


def _collect(value: object, path: str, found: list[tuple[str, object]]) -> None:
    # A generator in a generator passes each leaf up through every level; of scalars and plain containers there are
    # so many that the test of an abstract class costs more than all the rest.
    if isinstance(value, _SCALARS):
        found.append((path, value))
    elif is_opaque(value):
        return
    elif isinstance(value, (dict, Mapping)):
        for key, child in value.items():
            _collect(child, f"{path}.{key}" if path else str(key), found)
    elif isinstance(value, (list, Sequence)):
        for index, child in enumerate(value):
            _collect(child, f"{path}[{index}]", found)
    else:
        found.append((path, value))
