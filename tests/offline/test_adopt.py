"""`python -m offline adopt`: what a killed run was creating, taken into the state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from offline.adopt import adopt
from offline.cli import main
from offline.stackfile import known_stacks
from tests.support.recordings import PROJECT, committed

STACKS = known_stacks(PROJECT)


def operation(type_: str, inputs: dict[str, Any], kind: str = "creating", name: str = "it") -> dict[str, Any]:
    urn = f"urn:pulumi:dev::p::{type_}::{name}"
    return {"type": kind, "resource": {"urn": urn, "custom": True, "type": type_, "inputs": inputs}}


def state(*pending: dict[str, Any], resources: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"version": 3, "deployment": {"resources": list(resources), "pending_operations": list(pending)}}


@pytest.mark.parametrize(
    ("type_", "inputs", "id_"),
    [
        ("gcp:compute/network:Network", {"project": "p", "name": "n"}, "projects/p/global/networks/n"),
        (
            "gcp:compute/subnetwork:Subnetwork",
            {"project": "p", "region": "r", "name": "n"},
            "projects/p/regions/r/subnetworks/n",
        ),
        ("gcp:compute/routerNat:RouterNat", {"project": "p", "region": "r", "router": "…/a", "name": "n"}, "p/r/a/n"),
        (
            "gcp:container/cluster:Cluster",
            {"project": "p", "location": "r", "name": "n"},
            "projects/p/locations/r/clusters/n",
        ),
        (
            "gcp:container/nodePool:NodePool",
            {"project": "p", "location": "r", "cluster": "c", "name": "n"},
            "projects/p/locations/r/clusters/c/nodePools/n",
        ),
        (
            "gcp:serviceaccount/account:Account",
            {"project": "p", "accountId": "a"},
            "projects/p/serviceAccounts/a@p.iam.gserviceaccount.com",
        ),
        ("gcp:storage/bucket:Bucket", {"project": "p", "name": "b"}, "b"),
        ("kubernetes:core/v1:Namespace", {"metadata": {"name": "n"}}, "n"),
        ("kubernetes:jobset.x-k8s.io/v1alpha2:JobSet", {"metadata": {"name": "j", "namespace": "n"}}, "n/j"),
    ],
)
def test_what_was_being_created_is_in_the_state_under_the_id_that_the_cloud_gives_it(
    type_: str, inputs: dict[str, Any], id_: str
) -> None:
    pending = operation(type_, inputs)
    after = adopt(state(pending))["deployment"]
    assert after == {"resources": [{**pending["resource"], "id": id_, "outputs": {}}]}


@pytest.mark.parametrize("stack", STACKS)
def test_every_resource_of_every_stack_can_be_adopted_or_created_again(stack: str) -> None:
    recording = committed(stack, "up")
    custom = [found for found in recording.resources if found.custom]
    assert len(custom) > 10
    adopt(state(*(operation(found.type, dict(found.inputs), name=found.name) for found in custom)))


def test_what_a_grant_or_an_api_or_a_chart_left_half_done_is_done_again() -> None:
    again = [operation("gcp:projects/service:Service", {}), operation("kubernetes:helm.sh/v3:Release", {})]
    assert adopt(state(*again))["deployment"] == {"resources": []}


def test_a_component_whose_registration_was_cut_off_is_registered_again() -> None:
    component = operation("pathways:index:BucketAccess", {})
    del component["resource"]["custom"]
    bucket = operation("gcp:storage/bucket:Bucket", {"name": "b"})
    (found,) = adopt(state(component, bucket))["deployment"]["resources"]
    assert found["id"] == "b"


def test_an_update_or_deletion_under_way_leaves_its_resource_in_the_state() -> None:
    pool = {**operation("gcp:container/nodePool:NodePool", {})["resource"], "id": "pool"}
    for kind in ("updating", "deleting"):
        pending = operation("gcp:container/nodePool:NodePool", {}, kind)
        assert adopt(state(pending, resources=(pool,)))["deployment"] == {"resources": [pool]}


def test_a_successor_takes_the_place_of_what_it_replaces() -> None:
    pending = operation("gcp:storage/bucket:Bucket", {"name": "new"})
    old = {**pending["resource"], "id": "old", "pendingReplacement": True}
    (found,) = adopt(state(pending, resources=(old,)))["deployment"]["resources"]
    assert found["id"] == "new"


def test_what_was_interrupted_twice_is_in_the_state_once() -> None:
    pending = operation("gcp:storage/bucket:Bucket", {"name": "b"})
    assert len(adopt(state(pending, pending))["deployment"]["resources"]) == 1


def test_the_command_prints_a_state_that_pulumi_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "state.json"
    file.write_text(json.dumps(state(operation("gcp:storage/bucket:Bucket", {"name": "b"}))))
    assert main(["adopt", str(file)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["version"] == 3
    assert [found["id"] for found in printed["deployment"]["resources"]] == ["b"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a state"),
        ("[" * 20_000, "not a state"),
        ("[]", "the file: not as Pulumi writes it"),
        ("{}", "deployment: missing; it takes what `pulumi stack export --file` writes"),
        ('{"deployment": null}', "deployment: not as Pulumi writes it"),
        ('{"deployment": {"pending_operations": {"a": 1}}}', "deployment.pending_operations: not as"),
        ('{"deployment": {"pending_operations": [null]}}', "deployment.pending_operations.0: not as"),
        ('{"deployment": {"pending_operations": [{"type": "creating"}]}}', "pending_operations.0.resource: missing"),
        (json.dumps(state(operation("a:b:C", {}, "foo"))), "pending_operations.0.type: not as"),
        (json.dumps(state(operation("a:b:C", None))), "pending_operations.0.resource.inputs: not as"),  # type: ignore[arg-type]
        ('{"deployment": {"resources": [{}]}}', "deployment.resources.0.urn: missing"),
        (json.dumps(state(operation("gcp:storage/bucket:Bucket", {}))), "it: nothing tells the id of a gcp:storage"),
        (json.dumps(state(operation("gcp:storage/bucket:Bucket", {"name": None}))), "its name is no text"),
        (json.dumps(state(operation("kubernetes:core/v1:Service", {"metadata": None}))), "its name is no text"),
        (json.dumps(state(operation("kubernetes:core/v1:Service", {"metadata": {"name": 5}}))), "its name is no text"),
        (
            json.dumps(state(operation("aws:s3/bucket:Bucket", {}))),
            "state: it: nothing tells the id of a aws:s3/bucket:Bucket",
        ),
    ],
)
def test_what_is_no_state_of_this_project_is_refused(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "state.json"
    file.write_text(text)
    assert main(["adopt", str(file)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err
