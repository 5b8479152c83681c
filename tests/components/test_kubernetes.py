"""Whole requests of the components that make objects in the cluster, and of the providers they use."""

from __future__ import annotations

from typing import Any

import pytest

from offline import answers
from offline.errors import OfflineError
from tests.program.support import INTERACTIVE, config, named, record, run
from tests.support.recording import HELM_RELEASE, KUBERNETES_PROVIDER

LOAD_BALANCER = {**INTERACTIVE, "access": "internal-load-balancer"}


def test_the_chart_is_pinned_and_leaves_the_crd_to_us() -> None:
    (release,) = record(config()).of_type(HELM_RELEASE)
    inputs = release.inputs
    version = inputs["version"]
    assert inputs["name"] == "jobset"
    assert inputs["namespace"] == "jobset-system"
    assert (inputs["skipCrds"], inputs["atomic"], inputs["cleanupOnFail"]) == (True, True, True)
    assert inputs["values"]["image"]["tag"] == f"v{version}"
    assert "latest" not in str(inputs)


def test_the_crd_outlives_the_stack_and_is_of_the_charts_release() -> None:
    recording = record(config())
    crd = named(recording, "operators-jobset-crd")
    assert crd.options["retainOnDelete"] is True
    assert crd.inputs["metadata"]["name"] == "jobsets.jobset.x-k8s.io"
    older = record(config(operators={"jobset": {"version": "0.10.1"}}))
    assert named(older, "operators-jobset-crd").inputs["spec"] != crd.inputs["spec"]
    assert named(older, "operators-jobset").inputs["version"] == "0.10.1"


def test_a_mirror_is_used_for_chart_and_image() -> None:
    mirror = {"chart": "oci://mirror.acme.com/charts/jobset", "image": "mirror.acme.com/jobset"}
    release = named(record(config(operators={"jobset": mirror})), "operators-jobset")
    assert release.inputs["chart"] == mirror["chart"]
    assert release.inputs["values"]["image"]["repository"] == mirror["image"]


def test_only_the_crd_may_be_taken_over() -> None:
    providers = {each.name: each for each in record(config()).of_type(KUBERNETES_PROVIDER)}
    upserts = [name for name, each in providers.items() if each.inputs.get("upsertExistingObjects")]
    (upserting,) = upserts
    users = {
        each.name
        for each in record(config()).resources
        if str(each.options.get("provider", "")).endswith(f"::{upserting}")
    }
    assert users == {"operators-jobset-crd"}


def test_where_the_controller_is_there_nothing_of_it_is_installed() -> None:
    recording = record(config(operators={"jobset": {"install": False}}))
    assert recording.of_type(HELM_RELEASE) == ()
    assert not [each for each in recording.resources if each.type.endswith(":CustomResourceDefinition")]
    assert len(recording.of_type(KUBERNETES_PROVIDER)) == 1


def test_the_pull_secret_is_named_and_not_made() -> None:
    recording = record(config(runtime={"images": {"pullSecret": "registry"}}))
    assert named(recording, "tenancy-account").inputs["imagePullSecrets"] == [{"name": "registry"}]
    assert not [each for each in recording.resources if each.type.endswith(":Secret")]


def test_pods_have_no_token_of_the_api_server() -> None:
    recording = record(config())
    assert named(recording, "tenancy-account").inputs["automountServiceAccountToken"] is False
    for job in named(recording, "workload-jobset").inputs["spec"]["replicatedJobs"]:
        assert job["template"]["spec"]["template"]["spec"]["automountServiceAccountToken"] is False


def test_the_load_balancer_alone_outlives_its_clusters_deletion_so_that_it_can_clean_up() -> None:
    recording = record(config(workload=LOAD_BALANCER))
    alone = [each.name for each in recording.of_package("kubernetes") if "deletedWith" not in each.options]
    assert alone == ["door-service"]


@pytest.mark.parametrize(
    ("workload", "address", "client"),
    [
        ({}, "train-pathways-head-0-0.train.demo-dev.svc.cluster.local:29000", "grpc://127.0.0.1:29000"),
        (
            {**INTERACTIVE, "access": "dns"},
            "train-pathways-head-0-0.train.demo-dev.svc.demo-dev.pathways:29000",
            "grpc://train-pathways-head-0-0.train.demo-dev.svc.demo-dev.pathways:29000",
        ),
    ],
)
def test_clients_are_told_the_address_that_their_access_gives(
    workload: dict[str, Any], address: str, client: str
) -> None:
    outputs = record(config(workload=workload)).outputs
    assert outputs["proxyAddress"] == address
    assert outputs["jaxEnvironment"]["JAX_BACKEND_TARGET"] == client
    assert outputs["jaxEnvironment"]["JAX_PLATFORMS"] == "proxy"


def test_the_balancers_address_is_the_clouds_to_give() -> None:
    outputs = record(config(workload=LOAD_BALANCER)).outputs
    assert outputs["proxyAddress"] == {"$unknown": True}
    assert outputs["jaxEnvironment"] == {"$unknown": True}


def test_the_vpc_gets_names_of_the_cluster_only_for_clients_by_dns() -> None:
    dns = named(record(config(workload={**INTERACTIVE, "access": "dns"})), "cluster-cluster").input("dnsConfig")
    assert dns["additiveVpcScopeDnsDomain"] == "demo-dev.pathways"
    assert "additiveVpcScopeDnsDomain" not in named(record(config()), "cluster-cluster").input("dnsConfig")


def test_a_bucket_of_another_region_is_refused_by_what_it_answers() -> None:
    existing = {"scratch": {"existing": "acme-scratch"}}
    assert run(config(**existing), "up").outputs["scratchLocation"] == "gs://acme-scratch/pathways-scratch/shared"
    with pytest.raises(OfflineError, match=r"scratch\.existing: the bucket acme-elsewhere is in eu"):
        _with_bucket_in("EU")


def _with_bucket_in(location: str) -> None:
    table = dict(answers._LOOKED_UP)
    token = "gcp:storage/getBucket:getBucket"
    answer = table[token]
    with pytest.MonkeyPatch.context() as patch:
        table[token] = lambda inputs: {**answer(inputs), "location": location}
        patch.setattr(answers, "_LOOKED_UP", table)
        run(config(scratch={"existing": "acme-elsewhere"}), "up")
