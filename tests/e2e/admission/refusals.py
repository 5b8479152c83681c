"""Values that a server refuses: as a stack file would say them, and as the manifest they would have become."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Manifest = dict[str, Any]
Part = Callable[[Manifest], None]


@dataclass(frozen=True)
class Refusal:
    """A fault with both verdicts: `changes` to the stack file's sections, `spoil` puts the same into a manifest."""

    name: str
    changes: Mapping[str, Any]
    spoil: Part
    kind: str = "JobSet"
    server_refuses: bool = True
    """False where only we refuse: the server takes it, and what it means is at best a surprise."""

    def spoiled(self, manifest: Manifest) -> Manifest:
        """The manifest with the fault in it."""
        wrong = copy.deepcopy(manifest)
        self.spoil(wrong)
        return wrong


def _pod(job: int) -> Callable[[Manifest], dict[str, Any]]:
    def find(manifest: Manifest) -> dict[str, Any]:
        spec: dict[str, Any] = manifest["spec"]["replicatedJobs"][job]["template"]["spec"]["template"]["spec"]
        return spec

    return find


_head, _worker = _pod(0), _pod(1)


def _named(name: str) -> Part:
    def spoil(manifest: Manifest) -> None:
        manifest["metadata"]["name"] = name

    return spoil


def _job(index: int, **fields: Any) -> Part:
    def spoil(manifest: Manifest) -> None:
        manifest["spec"]["replicatedJobs"][index].update(fields)

    return spoil


def _user(**fields: Any) -> Part:
    def spoil(manifest: Manifest) -> None:
        _head(manifest)["containers"][0].update(fields)

    return spoil


def _user_limit(resource: str, quantity: str) -> Part:
    def spoil(manifest: Manifest) -> None:
        _head(manifest)["containers"][0]["resources"]["limits"][resource] = quantity

    return spoil


def _user_env(name: str, value: Any) -> Part:
    def spoil(manifest: Manifest) -> None:
        _head(manifest)["containers"][0]["env"].append({"name": name, "value": value})

    return spoil


def _port(container: int, number: int) -> Part:
    def spoil(manifest: Manifest) -> None:
        _head(manifest)["initContainers"][container]["ports"][0]["containerPort"] = number

    return spoil


def _label(value: str) -> Part:
    def spoil(manifest: Manifest) -> None:
        manifest["metadata"]["labels"]["team"] = value

    return spoil


def _namespace_name(name: str) -> Part:
    def spoil(manifest: Manifest) -> None:
        manifest["metadata"]["name"] = name

    return spoil


def _workload(**fields: Any) -> dict[str, Any]:
    return {"workload": fields}


REFUSALS = (
    Refusal("a name of 23 characters", _workload(name="a" * 23), _named("a" * 23)),
    Refusal("a name of 64 characters", _workload(name="a" * 64), _named("a" * 64)),
    Refusal("a name in capitals", _workload(name="Train"), _named("Train")),
    Refusal("a name that starts with a digit", _workload(name="1train"), _named("1train")),
    Refusal("a name with an underscore", _workload(name="train_1"), _named("train_1")),
    Refusal("a name that ends with a dash", _workload(name="train-"), _named("train-")),
    Refusal("an empty name", _workload(name=""), _named("")),
    Refusal("a negative number of slices", {"slices": {"count": -1}}, _job(1, replicas=-1), server_refuses=False),
    Refusal("slices as text", {"slices": {"count": "2"}}, _job(1, replicas="2")),
    Refusal(
        "a limit without a unit Kubernetes knows", _workload(resources={"memory": "10X"}), _user_limit("memory", "10X")
    ),
    Refusal("a limit with a blank", _workload(resources={"memory": "10 G"}), _user_limit("memory", "10 G")),
    Refusal("a negative limit", _workload(resources={"memory": "-1G"}), _user_limit("memory", "-1G")),
    Refusal("CPU as a word", _workload(resources={"cpu": "many"}), _user_limit("cpu", "many")),
    Refusal("a port above 65535", {"runtime": {"ports": {"resourceManager": 70000}}}, _port(0, 70000)),
    Refusal("a port of 0", {"runtime": {"ports": {"proxy": 0}}}, _port(1, 0)),
    Refusal("a variable with a blank", _workload(env={"A B": "1"}), _user_env("A B", "1"), server_refuses=False),
    Refusal("a variable with = in its name", _workload(env={"A=B": "1"}), _user_env("A=B", "1")),
    Refusal("a variable whose value is a number", _workload(env={"A": 1}), _user_env("A", 1)),
    Refusal("a command that is a text", _workload(command="python train.py"), _user(command="python train.py")),
    Refusal("an argument that is a number", _workload(args=[1]), _user(args=[1])),
    Refusal("an image with a blank around it", _workload(image=" a/b:1"), _user(image=" a/b:1")),
    Refusal("no image", _workload(image=""), _user(image="")),
    Refusal("a label in which a blank stands", {"team": "a b"}, _label("a b")),
    Refusal("a label of 64 characters", {"team": "a" * 64}, _label("a" * 64)),
    Refusal("a label that ends with a dash", {"team": "a-"}, _label("a-")),
    Refusal("a namespace in capitals", {"team": "Vision"}, _namespace_name("Vision-dev"), kind="Namespace"),
    Refusal("a namespace with a dot", {"team": "a.b"}, _namespace_name("a.b-dev"), kind="Namespace"),
    Refusal(
        "restarts below zero",
        {"runtime": {"maxRestarts": -1}},
        lambda m: m["spec"]["failurePolicy"].update(maxRestarts=-1),
        server_refuses=False,
    ),
    Refusal(
        "a time to live as text", _workload(ttl="soon"), lambda m: m["spec"].update(ttlSecondsAfterFinished="soon")
    ),
    Refusal("a key nobody knows", {"slices": {"toplogy": "4x4"}}, lambda m: m["spec"].update(toplogy="4x4")),
)
