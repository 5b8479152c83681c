"""The Kubernetes objects of a stack as YAML that `kubectl apply --dry-run=server -f -` takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

import yaml

from offline.errors import OfflineError
from offline.glossary import unknown_inputs
from offline.recording import SECRET, Recording, Resource
from offline.tree import dependencies, natural

if TYPE_CHECKING:
    from pathways.plan import Plan

_BASE: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_FIRST = {"Namespace": 0, "CustomResourceDefinition": 1, "ServiceAccount": 2}


class _Dumper(_BASE):  # type: ignore[misc]
    def ignore_aliases(self, data: object) -> bool:
        """Write a value out each time: anchors are hard to read."""
        del data
        return True


def _represent_text(dumper: Any, text: str) -> Any:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def manifest(recording: Recording) -> str:
    """All Kubernetes objects, each behind the ones it depends on; a Helm release is none.

    Raises:
        OfflineError: a part of an object is a secret or known to the cloud only, so it cannot be written.
    """
    objects = [resource for resource in _in_order(recording) if _is_object(resource)]
    problems = [problem for resource in objects for problem in _problems(resource)]
    if problems:
        raise OfflineError(*problems)
    return written(resource.inputs for resource in objects)


def planned(plan: Plan) -> list[Mapping[str, Any]] | None:
    """The same objects from the builders that the program takes them from, without the seconds that the SDKs load for.

    None where one of them depends on what only the cloud knows; a recording says what that is. The tests hold both
    ways equal (tests/program/test_one_description.py).
    """
    from components.crds import job_set_crd  # noqa: PLC0415 - of this checkout
    from pathways.manifests import objects  # noqa: PLC0415

    if plan.outside_clients != "none" and plan.client_range is None:
        return None
    operator = plan.settings.operators.jobset
    crds = [job_set_crd(operator.version)] if operator.install else []
    return sorted([*crds, *objects(plan, plan.client_range)], key=_order)


def written(objects: Iterable[Mapping[str, Any]]) -> str:
    """Objects as YAML documents, in the order given."""
    return "".join(map(_document, objects))


def _in_order(recording: Recording) -> list[Resource]:
    """By rounds: what depends on nothing left; within a round by kind, then by name."""
    by_urn = recording.by_urn()
    sorter = TopologicalSorter(dependencies(recording))
    sorter.prepare()
    ordered: list[Resource] = []
    while sorter.is_active():
        ready = sorter.get_ready()
        ordered += sorted((by_urn[urn] for urn in ready), key=_rank)
        sorter.done(*ready)
    # A namespace has to be there for whatever stands in it, whether or not a program says so.
    return sorted(ordered, key=lambda resource: _order(resource.inputs))


def _rank(resource: Resource) -> tuple[int, Any]:
    return _order(resource.inputs), natural(resource.urn)


def _order(body: Mapping[str, Any]) -> int:
    return _FIRST.get(body.get("kind", ""), len(_FIRST))


def _is_object(resource: Resource) -> bool:
    return (
        resource.custom
        and resource.read_id is None
        and resource.type.startswith("kubernetes:")
        and "apiVersion" in resource.inputs
        and "kind" in resource.inputs
    )


def _problems(resource: Resource) -> list[str]:
    name = f"{resource.inputs['kind']} {resource.name}"
    unknown = [
        f"{name}: {path}: only the cloud knows it; a manifest holds plain values; read it after an up with kubectl"
        for path in unknown_inputs(resource)
    ]
    secret = [
        f"{name}: {path}: a secret; a manifest would show it; apply this object with pulumi"
        for path in _secret_paths("", resource.inputs)
    ]
    return unknown + secret


def _secret_paths(path: str, value: Any) -> list[str]:
    if value == SECRET:
        return [path]
    pairs = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, item in pairs for found in _secret_paths(f"{path}.{key}" if path else str(key), item)]


def _document(given: Mapping[str, Any]) -> str:
    first = ("apiVersion", "kind", "metadata", "spec")
    keys = [key for key in first if key in given] + [key for key in given if key not in first]
    body = yaml.dump({key: given[key] for key in keys}, Dumper=_Dumper, sort_keys=False, width=120)
    return f"---\n{body}"
