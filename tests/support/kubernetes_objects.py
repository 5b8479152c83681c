"""Kubernetes objects judged strictly: the OpenAPI of one minor version, then what OpenAPI cannot see.

The schemas are those of `kubernetes-validate`, in their strict form (an unknown field is an error). A JobSet has none
there: its jobs, and with them their pod templates, are judged as `batch/v1` Jobs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import referencing
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from kubernetes_validate import utils as published  # type: ignore[import-untyped]

from tests.support import kubernetes_grammar as grammar
from tests.support.recording import SECRET, UNKNOWN, Resource, at, is_opaque, leaves

MINIMUM_MINOR = "1.32"  # Pathways needs GKE 1.32.2
_MARKERS = {UNKNOWN, SECRET}


def problems_of_recording(resources: Iterable[Resource], minor: str = MINIMUM_MINOR) -> list[str]:
    """The problems of every Kubernetes object among these resources, as `TYPE name: path: problem`."""
    return [
        f"{resource.label}: {line}"
        for resource in resources
        if resource.package == "kubernetes" and resource.custom and not resource.read and "kind" in resource.inputs
        for line in problems(resource.inputs, minor)
    ]


def problems(manifest: Mapping[str, Any], minor: str = MINIMUM_MINOR) -> list[str]:
    """What an API server of this minor version would refuse in an object, as `path: problem`.

    Values not known before `up` and secrets (`{"$unknown": true}`, `{"$secret": true}`) fit anything.

    Raises:
        ValueError: the package ships no schemas of this minor version.
    """
    return list(_problems(json.dumps(manifest, sort_keys=True), minor))


@lru_cache(maxsize=8192)
def _problems(text: str, minor: str) -> tuple[str, ...]:
    # Thousands of stacks hold the same few objects: each distinct one is judged once.
    manifest: dict[str, Any] = json.loads(text)
    found = [*_nulls(manifest), *_schema_problems(manifest, minor), *grammar.metadata_problems(manifest)]
    if manifest.get("kind") == "CustomResourceDefinition":
        return tuple(found)  # what follows would read the described fields as if they were set
    found += [*grammar.selector_problems(manifest)]
    for path, job in _jobs(manifest):
        found += [f"{path}.{line}" for line in (*_schema_problems(job, minor), *grammar.metadata_problems(job))]
    for path, spec in _pod_specs(manifest):
        found += [f"{path}.{line}" for line in grammar.pod_problems(spec)]
    return tuple(dict.fromkeys(found))


def _nulls(manifest: Mapping[str, Any]) -> Iterator[str]:
    # The published schemas let null stand for "absent"; a manifest leaves the key out.
    return (f"{path}: is null; leave the key out" for path, leaf in leaves(manifest) if leaf is None)


def _jobs(manifest: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """A JobSet's job templates as whole Jobs, each with its path."""
    if manifest.get("kind") != "JobSet":
        return
    for index, replicated in enumerate(at(manifest, "spec.replicatedJobs") or ()):
        template = {"apiVersion": "batch/v1", "kind": "Job", **replicated.get("template", {})}
        yield f"spec.replicatedJobs[{index}].template", template


def _pod_specs(value: object, path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every pod spec inside an object: what has a list of containers."""
    if isinstance(value, Mapping):
        if isinstance(value.get("containers"), Sequence):
            yield path, value
            return
        for key, child in value.items():
            yield from _pod_specs(child, f"{path}.{key}" if path else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for index, child in enumerate(value):
            yield from _pod_specs(child, f"{path}[{index}]")


def _schema_problems(manifest: Mapping[str, Any], minor: str) -> Iterator[str]:
    api_version, kind = manifest.get("apiVersion"), manifest.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str):
        yield f"apiVersion, kind: must be texts, not {api_version!r}, {kind!r}"
        return
    if not _is_builtin(api_version):
        return
    validator = _validator(api_version, kind, minor)
    if validator is None:
        yield f"kind: Kubernetes {minor} has no {kind} in {api_version}"
        return
    for error in validator.iter_errors(manifest):
        yield from _error_lines(error)


def _error_lines(error: ValidationError) -> Iterator[str]:
    steps = list(error.absolute_path)
    if is_opaque(error.instance) or _MARKERS.intersection(map(str, steps)):
        return
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).lstrip(".")
    yield f"{path or '.'}: {error.message[:300]}"


def _is_builtin(api_version: str) -> bool:
    group = api_version.rpartition("/")[0]
    return "." not in group or (group.endswith(".k8s.io") and not group.endswith(".x-k8s.io"))


@lru_cache(maxsize=256)
def _validator(api_version: str, kind: str, minor: str) -> Draft202012Validator | None:
    group, _, version = api_version.rpartition("/")
    name = "-".join(part for part in (kind.lower(), group.split(".")[0], version) if part)
    try:
        schema = published.schema_contents(f"{_folder(minor)}/{name}.json", minor)
    except FileNotFoundError:
        return None
    return Draft202012Validator(schema, registry=_registry(minor))


@lru_cache(maxsize=8)
def _registry(minor: str) -> referencing.Registry[Any]:
    definitions = published.schema_contents(f"{_folder(minor)}/_definitions.json", minor)
    return referencing.Resource.from_contents(definitions) @ referencing.Registry()


def _folder(minor: str) -> str:
    shipped = {published.major_minor(version): version for version in published.all_versions()}
    if minor not in shipped:
        msg = f"kubernetes-validate ships no schemas of Kubernetes {minor}; it has {', '.join(shipped)}"
        raise ValueError(msg)
    return f"kubernetes-json-schema/v{shipped[minor]}-local-strict"
