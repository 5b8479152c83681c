"""Every stack of the project from nothing to running pods. How each of them ends is in `test_69_destroy`."""

from __future__ import annotations

import json

import pytest

from tests.e2e.cluster.nodes import nodes_of
from tests.e2e.cluster.workloads import JOB_INDEX_LABEL, pools_of_slices, running
from tests.e2e.lifecycle import WRITES, Life, arguments, container, containers, environment


class TestPreviewOnNothing:
    def test_only_creates(self, life: Life) -> None:
        assert life.preview.changes
        assert {step.op for step in life.preview.changes} == {"create"}

    def test_touches_neither_cloud_nor_cluster(self, life: Life) -> None:
        assert life.after_preview == []
        assert life.stack not in life.namespaces_before

    def test_says_all_that_up_then_does(self, life: Life) -> None:
        assert life.up.changed() == life.preview.changed()
        assert {step.op for step in life.up.changes} == {"create"}


class TestUp:
    def test_writes_each_thing_once_and_never_twice(self, life: Life) -> None:
        calls = [c for c in life.world.cloud.audit() if c.method in WRITES]
        assert {c.method for c in calls} == {"Create"}
        assert len({c.urn for c in calls}) == len(calls)
        assert {c.outcome for c in calls} == {"ok"}

    def test_runs_the_head_and_every_worker(self, life: Life) -> None:
        assert len(running([life.head])) == 1
        assert len(running(life.workers)) == life.size.slices * life.size.hosts

    def test_puts_each_slice_on_a_pool_of_its_own(self, life: Life) -> None:
        pools = pools_of_slices(life.kube, life.workers)
        assert sorted(pools, key=int) == [str(index) for index in range(life.size.slices)]
        assert all(len(names) == 1 for names in pools.values())
        used = {name for names in pools.values() for name in names}
        assert used == {f"{life.stack}-slice-{index}" for index in range(life.size.slices)}

    def test_puts_one_worker_on_each_host_of_a_slice(self, life: Life) -> None:
        hosts = [pod["spec"]["nodeName"] for pod in life.workers]
        assert len(set(hosts)) == len(hosts)

    def test_leaves_the_head_alone_on_its_node(self, life: Life) -> None:
        node = life.head["spec"]["nodeName"]
        assert node in {n["metadata"]["name"] for n in nodes_of(life.kube, f"{life.stack}-head")}
        on_it = life.kube.objects("Pod", fields=f"spec.nodeName={node}")
        assert [pod["metadata"]["name"] for pod in on_it] == [life.head["metadata"]["name"]]

    def test_warns_of_what_no_policy_protects(self, life: Life) -> None:
        assert ("no NetworkPolicy reaches these pods" in life.up.diagnostics) == life.host_network
        assert "error" not in life.up.diagnostics.lower()


def test_machines_come_with_their_pool_or_flex_start_because_pods_wait_for_them(life: Life) -> None:
    audit = life.world.cloud.audit()
    flex_start = life.config["pathways:slices"].get("capacity", {}).get("type") == "flex-start"
    for index in range(life.size.slices):
        mine = [call for call in audit if call.name == f"{life.stack}-slice-{index}"]
        (created,) = [call for call in audit if (call.method, call.name) == ("Create", f"slices-{index}")]
        scaled = [call for call in mine if call.method == "cloud.scale"]
        (came,) = [call for call in mine if call.method == "cloud.nodes"]
        assert created.ended is not None
        assert len(came.detail["added"]) == life.size.hosts
        if flex_start:
            assert created.ended <= scaled[0].started <= came.started
            assert scaled[0].detail["reason"].startswith(f"{life.stack}/{life.job}-worker-")
        else:
            assert scaled == []
            assert came.started <= created.ended


class TestOutputs:
    def test_name_the_cluster_that_the_cloud_has(self, life: Life) -> None:
        cluster = life.cloud_resource("Cluster", life.outputs["clusterName"])
        assert cluster["props"]["location"] == life.outputs["location"]

    def test_name_the_namespace_and_jobset_that_the_server_has(self, life: Life) -> None:
        outputs = life.outputs
        assert life.kube.get("JobSet", outputs["jobSetName"], outputs["namespace"])

    def test_give_the_proxys_address_as_dns_has_it(self, life: Life) -> None:
        host, _, port = life.outputs["proxyAddress"].rpartition(":")
        spec = life.head["spec"]
        assert host == f"{spec['hostname']}.{spec['subdomain']}.{life.stack}.svc.cluster.local"
        service = life.kube.get("Service", spec["subdomain"], life.stack)
        assert service is not None
        assert service["spec"]["clusterIP"] == "None"
        ports = container(life.head, "pathways-proxy")["ports"]
        assert int(port) in [each["containerPort"] for each in ports]

    def test_give_clients_the_environment_of_the_users_container(self, life: Life) -> None:
        wanted = life.outputs["jaxEnvironment"]
        assert wanted["JAX_PLATFORMS"] == "proxy"
        port = life.outputs["proxyAddress"].rpartition(":")[2]
        assert wanted["JAX_BACKEND_TARGET"] == f"grpc://127.0.0.1:{port}"
        if life.batch:
            inside = environment(life.head, container(life.head, "main"))
            assert wanted.items() <= inside.items()

    def test_give_the_scratch_location_that_the_servers_write_to(self, life: Life) -> None:
        location = life.outputs["scratchLocation"]
        bucket = location.removeprefix("gs://").partition("/")[0]
        assert life.cloud_resource("Bucket", bucket)
        for pod, name in ((life.head, "pathways-rm"), (life.workers[0], "pathways-worker")):
            assert f"--gcs_scratch_location={location}" in arguments(pod, container(pod, name))

    def test_list_the_slices_as_the_cloud_made_them(self, life: Life) -> None:
        assert len(life.outputs["slices"]) == life.size.slices
        for index, given in enumerate(life.outputs["slices"]):
            assert given["pool"] == f"{life.stack}-slice-{index}"
            assert (given["hosts"], given["chips"]) == (life.size.hosts, life.size.chips)
            pool = life.cloud_resource("NodePool", given["pool"])
            assert given["topology"] == pool["meta"]["topology"]
            nodes = nodes_of(life.kube, given["pool"])
            assert len(nodes) == given["hosts"]
            assert sum(int(node["status"]["allocatable"]["google.com/tpu"]) for node in nodes) == given["chips"]

    def test_total_what_the_nodes_have(self, life: Life) -> None:
        totals, size = life.outputs["totals"], life.size
        found = (totals["slices"], totals["hosts"], totals["chips"])
        assert found == (size.slices, size.slices * size.hosts, size.slices * size.chips)
        (head,) = nodes_of(life.kube, f"{life.stack}-head")
        assert totals["headVcpu"] == int(head["status"]["capacity"]["cpu"])

    def test_give_commands_that_find_the_head_and_only_the_head(self, life: Life) -> None:
        words = life.outputs["connect"]["logs"].split()
        assert words[words.index("-n") + 1] == life.stack
        found = life.kube.objects("Pod", life.stack, labels=words[words.index("-l") + 1])
        assert [pod["metadata"]["name"] for pod in found] == [life.head["metadata"]["name"]]
        assert container(life.head, words[words.index("-c") + 1])


class TestEnvironment:
    """Of every container, as the API server stored it."""

    def test_refers_only_to_what_is_declared_before_and_to_fields_that_the_pod_has(self, life: Life) -> None:
        for pod in life.pods():
            for each in containers(pod):
                assert environment(pod, each)
                arguments(pod, each)

    def test_leads_every_container_to_the_head(self, life: Life) -> None:
        spec = life.head["spec"]
        address = f"{spec['hostname']}.{spec['subdomain']}"
        manager = container(life.head, "pathways-rm")
        port = manager["ports"][0]["containerPort"]
        assert environment(life.head, manager)["HOST_ADDRESS"] == address
        proxy = arguments(life.head, container(life.head, "pathways-proxy"))
        assert f"--resource_manager_address={address}:{port}" in proxy
        for pod in life.workers:
            worker = container(pod, "pathways-worker")
            assert f"--resource_manager_address={address}:{port}" in arguments(pod, worker)
            assert environment(pod, worker)["MEGASCALE_COORDINATOR_ADDRESS"] == address

    def test_tells_every_worker_its_slice_and_how_many_there_are(self, life: Life) -> None:
        for pod in life.workers:
            known = environment(pod, container(pod, "pathways-worker"))
            assert known["MEGASCALE_NUM_SLICES"] == str(life.size.slices)
            assert known["MEGASCALE_SLICE_ID"] == pod["metadata"]["labels"][JOB_INDEX_LABEL]
            assert (known["JOBSET_NAME"], known["REPLICATED_JOB_NAME"]) == (life.job, "worker")

    def test_holds_what_the_stack_file_adds(self, life: Life) -> None:
        for role, pods, name in (
            ("proxy", [life.head], "pathways-proxy"),
            ("resourceManager", [life.head], "pathways-rm"),
            ("worker", life.workers, "pathways-worker"),
        ):
            added = life.config.get("pathways:runtime", {}).get("env", {}).get(role, {})
            for pod in pods:
                assert added.items() <= environment(pod, container(pod, name)).items()
        own = life.config["pathways:workload"].get("env", {})
        if life.batch:
            assert own.items() <= environment(life.head, container(life.head, "main")).items()


class TestSecondRun:
    def test_of_preview_is_empty(self, life: Life) -> None:
        life.deployment.preview(expect_no_changes=True).expect_ok()

    def test_of_preview_with_refresh_is_empty_too(self, life: Life) -> None:
        life.deployment.preview(refresh=True, expect_no_changes=True).expect_ok()

    def test_of_preview_is_empty_when_an_installed_pulumi_runs_the_program(self, life: Life) -> None:
        host = life.world.plane.tools["pulumi"].binary.with_name("pulumi-language-python")
        if not host.exists():
            pytest.skip(f"no Pulumi of this version is installed, which would have {host.name} beside it")
        life.deployment.preview(host=True, expect_no_changes=True).expect_ok()


def test_the_state_holds_no_credentials(life: Life) -> None:
    state = json.dumps(life.deployment.resources())
    assert life.world.plane.credentials.admin_token not in state


def test_every_object_inside_the_cluster_goes_with_the_cluster(life: Life) -> None:
    resources = life.deployment.resources()
    inside = [r for r in resources if r["type"].startswith("kubernetes:")]
    owned = any(r["type"] == "gcp:container/cluster:Cluster" for r in resources)
    assert inside
    assert all(bool(r.get("deletedWith")) == owned for r in inside)
