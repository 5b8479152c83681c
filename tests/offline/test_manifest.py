"""Kubernetes objects as YAML."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import yaml

from offline.errors import OfflineError
from offline.manifest import manifest
from offline.recording import SECRET, UNKNOWN, Options, Recording, Resource
from tests.offline.support import TOY, recorded

STACK = Resource("urn:pulumi:d::p::pulumi:pulumi:Stack::p-d", "pulumi:pulumi:Stack", "p-d", None, False, {}, Options())


def thing(kind: str, name: str, *depends_on: str, **more: Any) -> Resource:
    inputs = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, **more}
    options = Options(depends_on=tuple(f"urn:{other}" for other in depends_on))
    return Resource(f"urn:{name}", f"kubernetes:x/v1:{kind}", name, STACK.urn, True, inputs, options)


def written(*resources: Resource) -> list[Any]:
    recording = Recording("p", "d", "preview", (STACK, *resources), {})
    return list(yaml.safe_load_all(manifest(recording)))


def test_objects_come_behind_what_they_need_and_namespaces_first() -> None:
    objects = written(
        thing("Job", "a", "z"), thing("Config", "z"), thing("Namespace", "n"), thing("ServiceAccount", "s")
    )
    assert [each["metadata"]["name"] for each in objects] == ["n", "s", "z", "a"]


def test_a_release_a_component_a_read_and_google_resources_are_no_objects() -> None:
    release = replace(thing("x", "r"), inputs={"chart": "c", "name": "r"}, type="kubernetes:helm.sh/v3:Release")
    bucket = replace(thing("x", "b"), type="gcp:storage/bucket:Bucket")
    read = replace(thing("Namespace", "q"), read_id="q")
    assert written(release, bucket, read) == []


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (UNKNOWN, "Job a: spec.cidr: only the cloud knows it"),
        (SECRET, "Job a: spec.cidr: a secret"),
    ],
)
def test_what_cannot_be_written_is_refused_with_its_path(value: Any, sentence: str) -> None:
    with pytest.raises(OfflineError) as raised:
        written(thing("Job", "a", spec={"cidr": value}))
    assert raised.value.lines[0].startswith(sentence)


@pytest.mark.parametrize(
    "value", ["true", "012", "1e3", "2026-01-01", "", "a\nb\n", "x: y", "yes", "é", 1, 1.5, True, None, [], {}, "- x"]
)
def test_values_read_back_as_they_were(value: Any) -> None:
    assert written(thing("Job", "a", spec={"v": value, "again": value})) == [
        thing("Job", "a", spec={"v": value, "again": value}).inputs
    ]


def test_equal_parts_are_written_out_without_anchors() -> None:
    part = {"a": [1]}
    text = manifest(Recording("p", "d", "preview", (STACK, thing("Job", "a", spec=[part, part])), {}))
    assert "&" not in text
    assert text.startswith("---\napiVersion: v1\nkind: Job\nmetadata:\n")


def test_the_toys_secret_is_refused() -> None:
    with pytest.raises(OfflineError, match="Secret inside-secret: stringData: a secret"):
        manifest(recorded("dev", TOY))
