"""What the API server checks of an object that its OpenAPI does not say: names, labels, quantities, uniqueness."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from tests.support.recording import is_opaque

_LABEL_1123 = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_LABEL_1035 = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_SUBDOMAIN_1123 = re.compile(r"(?=.{1,253}\Z)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_QUALIFIED = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")
_PATH_SEGMENT = re.compile(r"(?!\.\.?\Z)[^/%]+")
_PORT_NAME = re.compile(r"(?=.{1,15}\Z)(?=.*[a-z])(?!.*--)[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_ENV_NAME = re.compile(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))([KMGTPE]i|[numkMGTPE]?|[eE][+-]?\d+)")

# RFC 1035 where the name becomes a host name that must start with a letter; a JobSet's becomes a Service's.
_NAME_RULES: Mapping[str, tuple[re.Pattern[str], str]] = {
    "JobSet": (_LABEL_1035, "an RFC 1035 label of at most 63"),
    "Service": (_LABEL_1035, "an RFC 1035 label of at most 63"),
    "Namespace": (_LABEL_1123, "an RFC 1123 label of at most 63"),
    **dict.fromkeys(
        ("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"), (_PATH_SEGMENT, "a name without / and %")
    ),
}
_ANY_NAME = (_SUBDOMAIN_1123, "an RFC 1123 subdomain of at most 253")
_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_ANNOTATIONS_LIMIT = 262_144  # bytes of all annotations of an object together


def metadata_problems(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Name, namespace, labels and annotations of an object and of every template inside it."""
    kind = str(manifest.get("kind"))
    metadata = _known_map(manifest.get("metadata"))
    pattern, rule = _NAME_RULES.get(kind, _ANY_NAME)
    yield from _named(metadata.get("name"), pattern, "metadata.name", rule)
    yield from _named(metadata.get("namespace"), _LABEL_1123, "metadata.namespace", "an RFC 1123 label of at most 63")
    yield from _metadata_maps(metadata, "metadata")
    if kind != "CustomResourceDefinition":
        yield from _inner_metadata(manifest.get("spec"), "spec")


def _inner_metadata(value: object, path: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, child in value.items():
            if key == "metadata" and isinstance(child, Mapping):
                yield from _metadata_maps(child, f"{path}.metadata")
            else:
                yield from _inner_metadata(child, f"{path}.{key}")
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _inner_metadata(child, f"{path}[{index}]")


def _metadata_maps(metadata: Mapping[str, Any], path: str) -> Iterator[str]:
    yield from _labels(metadata.get("labels", {}), f"{path}.labels")
    annotations = _known_map(metadata.get("annotations", {}))
    for key, value in annotations.items():
        yield from _qualified(key, f"{path}.annotations")
        if not isinstance(value, str) and not is_opaque(value):
            yield f"{path}.annotations[{key}]: {value!r} is no text"
    size = sum(len(key) + len(str(value)) for key, value in annotations.items())
    if size > _ANNOTATIONS_LIMIT:
        yield f"{path}.annotations: {size} bytes, at most {_ANNOTATIONS_LIMIT}"


def selector_problems(value: object, path: str = "") -> Iterator[str]:
    """Label selectors at any depth: `matchLabels`, `nodeSelector`, and a Service's `selector`."""
    if isinstance(value, Mapping):
        for key, child in value.items():
            here = f"{path}.{key}" if path else str(key)
            if key in {"matchLabels", "nodeSelector"} or here == "spec.selector":
                yield from _labels(_texts_only(child) if key == "selector" else child, here)
            yield from selector_problems(child, here)
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from selector_problems(child, f"{path}[{index}]")


def _texts_only(value: object) -> Mapping[str, Any]:
    # `selector` is a map of labels in a Service and a structured selector in a Job or a Deployment.
    return {key: child for key, child in _known_map(value).items() if not isinstance(child, (Mapping, list))}


def pod_problems(spec: Mapping[str, Any]) -> Iterator[str]:
    """Containers, their environment, ports, mounts and resources, and the volumes of one pod spec."""
    containers = [
        (f"{group}[{index}]", container)
        for group in ("initContainers", "containers")
        for index, container in enumerate(_entries(spec.get(group)))
    ]
    volumes = _entries(spec.get("volumes"))
    yield from _repeated((container.get("name") for _, container in containers), "containers", "container name")
    yield from _repeated((volume.get("name") for volume in volumes), "volumes", "volume name")
    for index, volume in enumerate(volumes):
        yield from _volume_problems(volume, f"volumes[{index}]")
    declared = {volume.get("name") for volume in volumes}
    for path, container in containers:
        yield from _named(container.get("name"), _LABEL_1123, f"{path}.name", "an RFC 1123 label of at most 63")
        yield from _env_problems(_entries(container.get("env")), path)
        yield from _port_problems(_entries(container.get("ports")), path)
        yield from _mount_problems(_entries(container.get("volumeMounts")), declared, path)
        yield from _resource_problems(_known_map(container.get("resources")), path)


def _volume_problems(volume: Mapping[str, Any], path: str) -> Iterator[str]:
    yield from _named(volume.get("name"), _LABEL_1123, f"{path}.name", "an RFC 1123 label of at most 63")
    sources = [key for key in volume if key != "name"]
    if len(sources) != 1:
        yield f"{path}: exactly one source needed; given: {', '.join(sources) or 'none'}"
    size = _known_map(volume.get("emptyDir", {})).get("sizeLimit")
    if size is not None:
        yield from _quantity_problems(size, f"{path}.emptyDir.sizeLimit")


def _env_problems(entries: list[Mapping[str, Any]], path: str) -> Iterator[str]:
    yield from _repeated((entry.get("name") for entry in entries), f"{path}.env", "variable")
    for index, entry in enumerate(entries):
        yield from _named(entry.get("name"), _ENV_NAME, f"{path}.env[{index}].name", "a variable name")
        if "value" in entry and "valueFrom" in entry:
            yield f"{path}.env[{index}]: {entry.get('name')}: value and valueFrom exclude each other"


def _port_problems(entries: list[Mapping[str, Any]], path: str) -> Iterator[str]:
    yield from _repeated((entry.get("name") for entry in entries), f"{path}.ports", "port name")
    yield from _repeated(
        ((entry.get("containerPort"), entry.get("protocol", "TCP")) for entry in entries), f"{path}.ports", "port"
    )
    for index, entry in enumerate(entries):
        yield from _named(entry.get("name"), _PORT_NAME, f"{path}.ports[{index}].name", "a port name of at most 15")
        number = entry.get("containerPort")
        if isinstance(number, int) and not 1 <= number <= 65535:
            yield f"{path}.ports[{index}].containerPort: {number} is not in 1–65535"


def _mount_problems(entries: list[Mapping[str, Any]], declared: set[Any], path: str) -> Iterator[str]:
    yield from _repeated((entry.get("mountPath") for entry in entries), f"{path}.volumeMounts", "mountPath")
    for index, entry in enumerate(entries):
        if entry.get("name") not in declared:
            yield f"{path}.volumeMounts[{index}].name: the pod has no volume {entry.get('name')!r}"


def _resource_problems(resources: Mapping[str, Any], path: str) -> Iterator[str]:
    limits, requests = _known_map(resources.get("limits", {})), _known_map(resources.get("requests", {}))
    for group, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            here = f"{path}.resources.{group}[{name}]"
            yield from _quantity_problems(amount, here)
            value = quantity(amount)
            if "/" in name and value is not None and value != int(value):
                yield f"{here}: {amount!r}: {name} comes whole"
    for name in limits.keys() & requests.keys():
        limit, request = quantity(limits[name]), quantity(requests[name])
        if limit is not None and request is not None and (request > limit or ("/" in name and request != limit)):
            yield f"{path}.resources.requests[{name}]: {requests[name]!r} does not fit limit {limits[name]!r}"


def _quantity_problems(value: object, path: str) -> Iterator[str]:
    if is_opaque(value):
        return
    if not isinstance(value, str):
        yield f"{path}: {value!r} is no text"
    elif quantity(value) is None:
        yield f"{path}: {value!r} is no quantity"


def quantity(value: object) -> Decimal | None:
    """The number that a Kubernetes quantity (`32G`, `500m`, `1Gi`, `1e3`) stands for; None for anything else."""
    match = _QUANTITY.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    number, suffix = Decimal(match[1]), match[2]
    if suffix.endswith("i"):
        return number * Decimal(1024) ** ("KMGTPE".index(suffix[0]) + 1)
    if len(suffix) > 1:
        return number.scaleb(int(suffix[1:]))
    return number.scaleb(_SUFFIXES[suffix])


def _labels(labels: object, path: str) -> Iterator[str]:
    for key, value in _known_map(labels).items():
        yield from _qualified(key, path)
        if is_opaque(value):
            continue
        if not isinstance(value, str):
            yield f"{path}[{key}]: {value!r} is no text"
        elif not _LABEL_VALUE.fullmatch(value):
            yield f"{path}[{key}]: {value!r} is no label value (at most 63 of A-Z a-z 0-9 - _ ., ends alphanumeric)"


def _qualified(key: str, path: str) -> Iterator[str]:
    prefix, slash, name = key.rpartition("/")
    if not _QUALIFIED.fullmatch(name) or (slash and not _SUBDOMAIN_1123.fullmatch(prefix)):
        yield f"{path}[{key}]: no qualified name ([prefix/]name, name of at most 63)"


def _named(value: object, pattern: re.Pattern[str], path: str, rule: str) -> Iterator[str]:
    # A missing name is the schema's business; one that is not known yet cannot be judged.
    if value is None or is_opaque(value):
        return
    if not isinstance(value, str) or not pattern.fullmatch(value):
        yield f"{path}: {value!r} is not {rule}"


def _repeated(values: Iterable[object], path: str, what: str) -> Iterator[str]:
    counts = Counter(str(value) for value in values if value is not None and not is_opaque(value))
    return (f"{path}: {what} {value} is there {count} times" for value, count in counts.items() if count > 1)


def _known_map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) and not is_opaque(value) else {}


def _entries(value: object) -> list[Mapping[str, Any]]:
    # What is no list of mappings is the schema's finding, not ours.
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, (list, tuple)) else []
