"""The stack files of the repository through the unmodified program, against everything that judges a recording."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, get_args

import pytest

from offline.recording import Mode
from offline.stackfile import known_stacks, load_stack
from tests.support import google_schema, kubernetes_objects, rendered
from tests.support.recording import CLUSTER, KUBERNETES_PROVIDER, Recording, leaves, read
from tests.support.recordings import PROJECT, committed, committed_again
from tests.support.rendered_growth import nothing_changed

STACKS = known_stacks(PROJECT)
MODES: tuple[Mode, ...] = get_args(Mode)
OUTPUTS = {
    "clusterName",
    "location",
    "namespace",
    "jobSetName",
    "proxyAddress",
    "jaxEnvironment",
    "scratchLocation",
    "slices",
    "totals",
    "connect",
    "links",
}

each_run = pytest.mark.parametrize(("stack", "mode"), [(stack, mode) for stack in STACKS for mode in MODES])


@cache
def recording(stack: str, mode: Mode) -> Recording:
    return read(json.loads(json.dumps(committed(stack, mode).to_json())))


def test_the_stacks_that_the_readme_counts_on_are_there() -> None:
    wanted = {"vision-dev", "vision-prod", "research-dev", "llm-staging", "llm-prod", "shared-dev"}
    assert wanted <= set(STACKS)


@pytest.mark.parametrize("stack", STACKS)
def test_a_stack_file_says_in_one_line_what_it_is_for(stack: str) -> None:
    first, second = (PROJECT.stacks / f"Pulumi.{stack}.yaml").read_text().splitlines()[:2]
    assert first == "# yaml-language-server: $schema=schema.json"
    assert second.startswith("# ")


@each_run
def test_every_rule_holds(stack: str, mode: Mode) -> None:
    assert rendered.problems(recording(stack, mode)) == []


@each_run
def test_kubernetes_objects_are_valid(stack: str, mode: Mode) -> None:
    assert kubernetes_objects.problems_of_recording(recording(stack, mode).resources) == []


@each_run
def test_google_inputs_are_valid(stack: str, mode: Mode) -> None:
    schema = google_schema.from_environment()
    if schema is None:
        pytest.skip(f"{google_schema.VARIABLE} does not name the provider's schema")
    assert google_schema.problems(recording(stack, mode).resources, schema) == []


@pytest.mark.parametrize("stack", STACKS)
def test_a_second_run_changes_nothing(stack: str) -> None:
    again = committed_again(stack)
    assert nothing_changed(recording(stack, "preview"), read(json.loads(json.dumps(again.to_json())))) == []
    assert again == committed(stack)


@pytest.mark.parametrize("stack", STACKS)
def test_an_up_knows_everything_and_a_preview_differs_only_where_it_does_not(stack: str) -> None:
    preview, up = recording(stack, "preview"), recording(stack, "up")
    assert [resource.urn for resource in preview.resources] == [resource.urn for resource in up.resources]
    assert "$unknown" not in json.dumps([[resource.inputs for resource in up.resources], up.outputs])
    pairs: list[tuple[Any, Any]] = [(preview.outputs, up.outputs)]
    pairs += [(old.inputs, new.inputs) for old, new in zip(preview.resources, up.resources, strict=True)]
    for old, new in pairs:
        known = dict(leaves(new))
        assert {path: known.get(path) for path, _ in leaves(old)} == dict(leaves(old))


@each_run
def test_outputs_are_those_of_the_contract(stack: str, mode: Mode) -> None:
    outputs = recording(stack, mode).outputs
    assert set(outputs) == OUTPUTS
    totals = outputs["totals"]
    assert set(totals) == {"slices", "hosts", "chips", "headVcpu", "nodeAddresses", "podAddresses"}
    assert len(outputs["slices"]) == totals["slices"]
    assert all(set(each) == {"pool", "topology", "hosts", "chips"} for each in outputs["slices"])
    assert {"credentials", "watch", "logs"} <= set(outputs["connect"])
    ours = bool(recording(stack, mode).of_type(CLUSTER))
    for addresses in (totals["nodeAddresses"], totals["podAddresses"]):
        assert ("available" in addresses) is ours
        assert addresses["used"] <= addresses.get("available", addresses["used"])


@pytest.mark.parametrize("stack", STACKS)
def test_outputs_come_from_the_resources(stack: str) -> None:
    up = recording(stack, "up")
    job_set = next(resource for resource in up.resources if resource.type.endswith(":JobSet"))
    head = up.outputs
    assert head["jobSetName"] == job_set.input("metadata.name")
    assert head["namespace"] == job_set.input("metadata.namespace")
    pools = {pool.input("name"): pool for pool in up.resources if pool.type.endswith(":NodePool")}
    assert {each["pool"] for each in head["slices"]} <= set(pools)
    assert {pool.input("cluster") for pool in pools.values()} == {head["clusterName"]}
    assert {pool.input("location") for pool in pools.values()} == {head["location"]}
    args = json.dumps(job_set.inputs)
    assert f"--gcs_scratch_location={head['scratchLocation']}" in args


@each_run
def test_the_kubernetes_provider_is_named_in_plain_text_and_holds_no_secret(stack: str, mode: Mode) -> None:
    current = recording(stack, mode)
    settings = load_stack(PROJECT, stack).config
    for provider in current.of_type(KUBERNETES_PROVIDER):
        identifier = provider.inputs["clusterIdentifier"]
        where = (settings["gcp:project"], current.outputs["location"], current.outputs["clusterName"])
        assert identifier == "/".join(map(str, where))
        if mode == "up":
            kubeconfig = json.loads(provider.inputs["kubeconfig"])
            (user,) = kubeconfig["users"]
            assert set(user["user"]) == {"exec"}
            assert user["user"]["exec"]["apiVersion"] == "client.authentication.k8s.io/v1beta1"
            assert user["user"]["exec"]["interactiveMode"] == "IfAvailable"
            (cluster,) = kubeconfig["clusters"]
            assert cluster["cluster"]["server"].startswith("https://")
