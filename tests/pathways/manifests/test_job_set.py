"""What holds for the JobSet of every mode, network and option."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest

from pathways.manifests import job_set
from pathways.settings.runtime import references
from tests.pathways.support import INTERACTIVE, merged, plan

SIDECAR: Mapping[str, Any] = {"runtime": {"colocatedPython": {"image": "a/sidecar:jax-0.11.1", "sharedMemory": "1Gi"}}}
OPTIONS: Mapping[str, Any] = {
    "runtime": {
        "elasticSlices": 1,
        "maxRestarts": 2,
        "maxSliceRestarts": 5,
        "flags": {"worker": ["--log_dir=$(DIR)"]},
        "env": {"worker": {"DIR": "/d/$(JOBSET_NAME)", "TPU_MIN_LOG_LEVEL": "2"}, "proxy": {"A": "$(PATHWAYS_HEAD)"}},
    }
}
BATCH: Mapping[str, Any] = {
    "workload": {"args": ["$(A)", "$$(B)"], "env": {"A": "1", "PYTHONUNBUFFERED": "$(A)"}, "runId": "r-1", "ttl": "1h"}
}
EVERY = [
    merged(mode, network, *options)
    for mode, network, options in product(
        (INTERACTIVE, BATCH), ({}, {"runtime": {"hostNetwork": True}}), ((), (SIDECAR,), (OPTIONS,), (SIDECAR, OPTIONS))
    )
]


def jobs(changes: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The head's and the workers' replicated job."""
    head, worker = job_set(plan(changes))["spec"]["replicatedJobs"]
    return head, worker


def pod(job: Mapping[str, Any]) -> dict[str, Any]:
    spec = job["template"]["spec"]["template"]["spec"]
    assert isinstance(spec, dict)
    return spec


def containers(spec: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [*spec.get("initContainers", []), *spec["containers"]]


@pytest.mark.parametrize("changes", EVERY, ids=range(len(EVERY)))
def test_variables_are_declared_once_and_before_they_are_used(changes: Mapping[str, Any]) -> None:
    for job in jobs(changes):
        for container in containers(pod(job)):
            declared: list[str] = []
            for variable in container["env"]:
                assert set(references(variable.get("value", ""))) <= set(declared)
                declared.append(variable["name"])
            assert len(set(declared)) == len(declared)
            for word in [*container.get("command", []), *container.get("args", [])]:
                assert set(references(word)) <= set(declared)


@pytest.mark.parametrize("changes", EVERY, ids=range(len(EVERY)))
def test_pods_are_unprivileged_and_carry_what_their_job_needs(changes: Mapping[str, Any]) -> None:
    head, worker = jobs(changes)
    host_network = changes.get("runtime", {}).get("hostNetwork", False)
    for job in (head, worker):
        spec = pod(job)
        assert spec.get("hostNetwork", False) == host_network
        assert spec.get("dnsPolicy") == ("ClusterFirstWithHostNet" if host_network else None)
        assert spec["serviceAccountName"] == "pathways"
        assert "hostPath" not in str(spec)
        assert all(each["securityContext"]["privileged"] is False for each in containers(spec))
        assert not re.search(r"None|Output|<.*object", str(spec))
        ports = [port["containerPort"] for each in containers(spec) for port in each.get("ports", [])]
        assert len(set(ports)) == len(ports)
    assert "gke-tpu" not in str(head)
    assert pod(head)["restartPolicy"] == "Never"
    assert pod(worker)["restartPolicy"] == "OnFailure"
    assert head["template"]["metadata"]["annotations"] == {
        "alpha.jobset.sigs.k8s.io/exclusive-topology": "kubernetes.io/hostname"
    }
    assert worker["template"]["metadata"]["annotations"] == {
        "alpha.jobset.sigs.k8s.io/exclusive-topology": "cloud.google.com/gke-nodepool"
    }


def test_batch_servers_are_native_sidecars_of_the_user_container() -> None:
    head, _ = jobs(BATCH)
    spec = pod(head)
    assert [each["name"] for each in spec["initContainers"]] == ["pathways-rm", "pathways-proxy"]
    assert all(each["restartPolicy"] == "Always" for each in spec["initContainers"])
    (user,) = spec["containers"]
    assert "restartPolicy" not in user
    values = [(each["name"], each.get("value")) for each in user["env"]]
    assert values.count(("JAX_PLATFORMS", "proxy")) == 1
    assert values.count(("JAX_BACKEND_TARGET", "grpc://127.0.0.1:29000")) == 1
    assert values[-2:] == [("A", "1"), ("PYTHONUNBUFFERED", "$(A)")]
    assert user["resources"]["limits"] == {"cpu": "24", "memory": "100G"}


def test_interactive_servers_are_plain_containers_without_an_end() -> None:
    made = job_set(plan(INTERACTIVE))
    spec = pod(made["spec"]["replicatedJobs"][0])
    assert [each["name"] for each in spec["containers"]] == ["pathways-rm", "pathways-proxy"]
    assert "initContainers" not in spec
    assert not any("restartPolicy" in each for each in spec["containers"])
    assert "successPolicy" not in made["spec"]
    assert "ttlSecondsAfterFinished" not in made["spec"]


def test_the_jobs_end_restart_and_count() -> None:
    made = job_set(plan(BATCH, OPTIONS))["spec"]
    assert made["successPolicy"] == {"operator": "All", "targetReplicatedJobs": ["pathways-head"]}
    assert made["ttlSecondsAfterFinished"] == 3600
    assert made["failurePolicy"] == {"maxRestarts": 2, "restartStrategy": "BlockingRecreate"}
    assert made["startupPolicy"] == {"startupPolicyOrder": "InOrder"}
    assert made["coordinator"] == {"replicatedJob": "pathways-head", "jobIndex": 0, "podIndex": 0}
    head, worker = made["replicatedJobs"]
    assert (head["replicas"], head["template"]["spec"]["backoffLimit"]) == (1, 0)
    assert (worker["replicas"], worker["template"]["spec"]["backoffLimit"]) == (2, 4 * 5)
    assert worker["template"]["spec"]["completionMode"] == "Indexed"
    assert job_set(plan())["spec"]["replicatedJobs"][1]["template"]["spec"]["backoffLimit"] == 16


def test_a_run_id_changes_the_head_alone() -> None:
    first, second = (jobs({"workload": {"runId": each}}) for each in ("r-1", "r-2"))
    assert first[0] != second[0]
    assert first[1] == second[1]


def test_the_sidecar_and_its_worker_share_memory() -> None:
    _, worker = jobs(SIDECAR)
    spec = pod(worker)
    (sidecar,), (server,) = spec["initContainers"], spec["containers"]
    assert sidecar["restartPolicy"] == "Always"
    assert sidecar["volumeMounts"] == server["volumeMounts"]
    assert {"name": "GRPC_SERVER_ADDRESS", "value": "0.0.0.0:50051"} in sidecar["env"]
    directory = sidecar["volumeMounts"][0]["mountPath"]
    assert {"name": "CLOUD_PATHWAYS_SIDECAR_SHM_DIRECTORY", "value": directory} in sidecar["env"]
    assert f"--cloud_pathways_sidecar_shm_directory={directory}" in server["args"]
    (volume,) = spec["volumes"]
    assert volume["emptyDir"] == {"medium": "Memory", "sizeLimit": "1Gi"}
    assert server["resources"]["limits"] == {"google.com/tpu": "4"}


def test_servers_set_no_command_and_images_decide_the_pull() -> None:
    digest = "sha256:" + "ab" * 32
    head, worker = jobs({"runtime": {"images": {"server": f"a/server@{digest}"}}})
    manager, proxy = pod(head)["initContainers"]
    assert (manager["imagePullPolicy"], proxy["imagePullPolicy"]) == ("IfNotPresent", "Always")
    assert manager["image"] == pod(worker)["containers"][0]["image"] == f"a/server@{digest}"
    assert "command" not in manager
    assert "command" not in proxy


def test_ports_are_the_same_everywhere() -> None:
    ports = {"proxy": 30000, "resourceManager": 30010, "worker": 30020}
    head, worker = jobs({"runtime": {"ports": ports}})
    manager, proxy = pod(head)["initContainers"]
    (user,), (server,) = pod(head)["containers"], pod(worker)["containers"]
    assert [each["containerPort"] for each in manager["ports"]] == [30010, 30011]
    assert [each["containerPort"] for each in server["ports"]] == [30020, 30021]
    assert manager["startupProbe"]["tcpSocket"] == {"port": 30010}
    assert proxy["startupProbe"]["tcpSocket"] == {"port": 30000}
    assert "--resource_manager_address=$(PATHWAYS_HEAD):30010" in proxy["args"]
    assert "--resource_manager_address=$(PATHWAYS_HEAD):30010" in server["args"]
    assert {"name": "JAX_BACKEND_TARGET", "value": "grpc://127.0.0.1:30000"} in user["env"]
