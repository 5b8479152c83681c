"""The Kubernetes checker finds what an API server would refuse, in plain objects and inside a JobSet."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from tests.support.kubernetes_grammar import quantity
from tests.support.kubernetes_objects import problems, problems_of_recording
from tests.test_support import sample
from tests.test_support.sample import UNKNOWN

Manifest = dict[str, Any]


def pod(**spec: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c"}], **spec},
    }


def container(**fields: Any) -> Manifest:
    return pod(containers=[{"name": "c", **fields}])


def limits(**groups: dict[str, Any]) -> Manifest:
    return container(resources=groups)


def metadata(**fields: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "n", **fields}}


def service(name: str = "s", **spec: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}


def policy(spec: dict[str, Any]) -> Manifest:
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "p"}, "spec": spec}


def volume(**fields: Any) -> Manifest:
    return pod(volumes=[{"name": "v", **fields}])


def jobset(change: Callable[[Any, Any], object]) -> Manifest:
    """The sample's JobSet, changed at its worker's job template and pod spec."""
    manifest = sample.jobset()
    template = manifest["spec"]["replicatedJobs"][1]["template"]
    change(template, template["spec"]["template"]["spec"])
    return manifest


@pytest.mark.parametrize(
    "manifest",
    [
        sample.namespace(),
        sample.jobset(),
        service(selector={"app": "x"}, ports=[{"port": 1}]),
        policy({"podSelector": {"matchLabels": {"a": ""}}, "policyTypes": ["Ingress"]}),
        metadata(labels={"x.y/z": "a_b.c-1"}, annotations={"x/y": "any text: {}"}),
        metadata(name=UNKNOWN, labels={"a": UNKNOWN}, annotations=UNKNOWN),
        metadata(labels=UNKNOWN),
        container(env=[{"name": "A", "value": UNKNOWN}], image=UNKNOWN, args=["a", UNKNOWN]),
        container(env=UNKNOWN, ports=UNKNOWN, resources=UNKNOWN),
        limits(limits={"cpu": "500m", "memory": UNKNOWN, "google.com/tpu": "4"}),
        limits(limits={"cpu": "2", "google.com/tpu": "4"}, requests={"cpu": "500m", "google.com/tpu": "4"}),
        volume(emptyDir={"medium": "Memory", "sizeLimit": "16Gi"}),
        pod(initContainers=[{"name": "i", "restartPolicy": "Always", "startupProbe": {"tcpSocket": {"port": 1}}}]),
        {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "LocalQueue", "metadata": {"name": "q"}, "spec": {"any": 1}},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "system:a:b"},
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
        },
    ],
)
def test_right_objects_have_no_problem(manifest: Manifest) -> None:
    assert problems(manifest) == []


@pytest.mark.parametrize(
    ("manifest", "part"),
    [
        # the OpenAPI, strictly
        ({"kind": "Pod"}, "apiVersion, kind: must be texts"),
        ({**sample.namespace(), "kind": "Namespaec"}, "has no Namespaec in v1"),
        ({**sample.namespace(), "apiVersion": "batch/v7"}, "has no Namespace in batch/v7"),
        ({**sample.namespace(), "sepc": {}}, "'sepc' was unexpected"),
        (container(imagee="x"), "spec.containers[0]: Additional properties are not allowed ('imagee'"),
        (container(args="x"), "spec.containers[0].args: 'x' is not of type"),
        (container(ports=[{"containerPort": "1"}]), "ports[0].containerPort"),
        (container(env=[{"value": "x"}]), "'name' is a required property"),
        (pod(hostNetwork="true"), "spec.hostNetwork"),
        (pod(nodeSelector={"a": 1}), "spec.nodeSelector.a"),
        (policy({"podSelector": {}, "ingres": []}), "'ingres' was unexpected"),
        (metadata(label={}), "'label' was unexpected"),
        (container(image=None), "image: is null"),
        # inside a JobSet
        (jobset(lambda job, _: job["spec"].update(parallel=2)), "replicatedJobs[1].template.spec: Additional"),
        (jobset(lambda job, _: job["spec"].update(completions="4")), "replicatedJobs[1].template.spec.completions"),
        (jobset(lambda job, _: job["metadata"].update(label={})), "replicatedJobs[1].template.metadata: Additional"),
        (jobset(lambda _, spec: spec.update(dnsPolic="x")), "template.spec.template.spec: Additional"),
        (jobset(lambda _, spec: spec["containers"][0].update(arg=[])), "template.spec.containers[0]: Additional"),
        (jobset(lambda _, spec: spec["containers"][0]["env"].append({"name": "PATHWAYS_HEAD"})), "is there 2 times"),
        (jobset(lambda _, spec: spec["nodeSelector"].update(a="x/y")), "nodeSelector[a]: 'x/y' is no label value"),
        (
            jobset(lambda job, _: job["spec"]["template"]["metadata"]["labels"].update(a="-")),
            "template.metadata.labels[a]: '-'",
        ),
        (jobset(lambda job, _: job["metadata"]["annotations"].update(a=True)), "annotations[a]: True is no text"),
        ({**sample.jobset(), "metadata": {"name": "Train"}}, "'Train' is not an RFC 1035 label"),
        ({**sample.jobset(), "metadata": {"name": "1train"}}, "'1train' is not an RFC 1035 label"),
        # names
        (metadata(name="A"), "metadata.name: 'A' is not an RFC 1123 subdomain"),
        (metadata(name="a" * 254), "RFC 1123 subdomain"),
        (metadata(namespace="a.b"), "metadata.namespace: 'a.b'"),
        (service("1a"), "'1a' is not an RFC 1035 label"),
        ({**sample.namespace(), "metadata": {"name": "a" * 64}}, "RFC 1123 label"),
        ({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "a/b"}}, "without /"),
        (pod(containers=[{"name": "C"}]), "containers[0].name: 'C'"),
        (container(ports=[{"containerPort": 1, "name": "a-port-name-of-17"}]), "is not a port name"),
        (container(ports=[{"containerPort": 1, "name": "1"}]), "is not a port name"),
        (container(env=[{"name": "A B"}]), "env[0].name: 'A B'"),
        (volume(emptyDir={}) | {"spec": {"containers": [], "volumes": [{"name": "V", "emptyDir": {}}]}}, "'V' is not"),
        # labels and annotations
        (metadata(labels={"a": "x" * 64}), "is no label value"),
        (metadata(labels={"a": "projects/p/reservations/r"}), "is no label value"),
        (metadata(labels={"a": "x."}), "is no label value"),
        (metadata(labels={"a b": "x"}), "labels[a b]: no qualified name"),
        (metadata(labels={"/a": "x"}), "labels[/a]: no qualified name"),
        (metadata(labels={"a" * 64: "x"}), "no qualified name"),
        (metadata(annotations={"a": 1}), "annotations[a]: 1 is no text"),
        (metadata(annotations={"a b": "x"}), "annotations[a b]: no qualified name"),
        (metadata(annotations={"a": "x" * 262_144}), "at most 262144"),
        (policy({"podSelector": {"matchLabels": {"a": "x y"}}}), "matchLabels[a]: 'x y'"),
        (service(selector={"a": "x y"}), "spec.selector[a]: 'x y'"),
        # pods
        (container(env=[{"name": "A"}, {"name": "A"}]), "containers[0].env: variable A is there 2 times"),
        (container(env=[{"name": "A", "value": "x", "valueFrom": {}}]), "exclude each other"),
        (container(ports=[{"containerPort": 0}]), "not in 1–65535"),
        (container(ports=[{"containerPort": 5}, {"containerPort": 5}]), "is there 2 times"),
        (container(volumeMounts=[{"name": "v", "mountPath": "/a"}]), "the pod has no volume 'v'"),
        (pod(initContainers=[{"name": "c"}]), "container name c is there 2 times"),
        (volume(), "exactly one source needed; given: none"),
        (volume(emptyDir={}, hostPath={"path": "/"}), "given: emptyDir, hostPath"),
        (volume(emptyDir={"sizeLimit": "16 GB"}), "'16 GB' is no quantity"),
        (pod(volumes=[{"name": "v", "emptyDir": {}}] * 2), "volume name v is there 2 times"),
        (
            pod(
                volumes=[{"name": "v", "emptyDir": {}}],
                containers=[{"name": "c", "volumeMounts": [{"name": "v", "mountPath": "/a"}] * 2}],
            ),
            "mountPath /a is there 2 times",
        ),
        # quantities
        (limits(limits={"memory": "100GB"}), "limits[memory]: '100GB' is no quantity"),
        (limits(requests={"cpu": 4}), "requests[cpu]: 4 is no text"),
        (limits(limits={"google.com/tpu": "500m"}), "comes whole"),
        (limits(limits={"memory": "1G"}, requests={"memory": "1Gi"}), "'1Gi' does not fit limit '1G'"),
        (limits(limits={"google.com/tpu": "4"}, requests={"google.com/tpu": "2"}), "does not fit limit '4'"),
    ],
)
def test_each_fault_is_found(manifest: Manifest, part: str) -> None:
    lines = problems(manifest)
    assert any(part in line for line in lines), lines


def test_a_field_is_judged_by_the_minor_version() -> None:
    # Added to the pod spec after 1.32.
    manifest = pod(hostnameOverride="h")
    assert problems(manifest, "1.32") != []
    assert problems(manifest, "1.35") == []


def test_a_minor_version_that_is_not_shipped_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"no schemas of Kubernetes 1\.3;"):
        problems(sample.namespace(), "1.3")


def test_a_described_field_is_not_a_set_one() -> None:
    names = {"kind": "Thing", "plural": "things"}
    labels = {"type": "object", "properties": {"metadata": {"type": "object"}, "nodeSelector": {"type": "object"}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": labels}}
    manifest = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "names": names, "scope": "Namespaced", "versions": [version]},
    }
    assert problems(manifest) == []
    manifest["spec"] = {"group": "example.com"}
    assert problems(manifest) != []


def test_the_objects_of_a_recording_are_named() -> None:
    recording = sample.recording()
    assert problems_of_recording(recording.resources) == []
    recording.resources[-1].inputs["metadata"]["name"] = "Train"
    (line,) = problems_of_recording(recording.resources)
    assert line.startswith(f"{sample.JOBSET} train: metadata.name: 'Train'")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", "0"),
        ("4", "4"),
        ("500m", "0.5"),
        ("1.5", "1.5"),
        (".5", "0.5"),
        ("32G", "32000000000"),
        ("1Ki", "1024"),
        ("2Gi", "2147483648"),
        ("1e3", "1000"),
        ("1E3", "1000"),
        ("1E", "1000000000000000000"),
        ("-1k", "-1000"),
    ],
)
def test_quantities(text: str, value: str) -> None:
    assert quantity(text) == Decimal(value)


@pytest.mark.parametrize("text", ["", "G", "1GB", "1 G", "1gi", "1K", "0x1", "1,5", 4, None, UNKNOWN])
def test_what_is_no_quantity(text: object) -> None:
    assert quantity(text) is None
