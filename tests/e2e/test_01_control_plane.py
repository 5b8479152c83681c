"""The control plane is real: it runs, admits, refuses and restarts as a cluster does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.e2e.cluster import nodes, podstatus, workloads
from tests.e2e.cluster.charts import JOBSET_PREVIOUS, Chart, install
from tests.e2e.cluster.control_plane import ControlPlane
from tests.e2e.cluster.credentials import write_auth_plugin
from tests.e2e.cluster.kube import Kube, KubeError, Object, wait_for
from tests.e2e.conftest import Needs
from tests.e2e.tools.pulumi_home import make_pulumi_home

HEAD_POOL = "cpu-head"
SLICE_POOLS = ("tpu-slice-0", "tpu-slice-1")
ACCELERATOR, TOPOLOGY, HOSTS = "tpu-v6e-slice", "4x4", 4


@pytest.fixture
def two_slices(control_plane: ControlPlane) -> Iterator[None]:
    """A head machine and two slices of four hosts."""
    kube = control_plane.kube
    nodes.add_nodes(kube, nodes.cpu_shape(HEAD_POOL), 1)
    for pool in SLICE_POOLS:
        nodes.add_nodes(kube, nodes.tpu_shape(pool, ACCELERATOR, TOPOLOGY), HOSTS)
    yield
    for pool in (HEAD_POOL, *SLICE_POOLS):
        nodes.remove_pool(kube, pool)


def jobset_of(namespace: str, name: str) -> Object:
    return workloads.pathways_jobset(
        namespace, name, slices=2, hosts=HOSTS, accelerator=ACCELERATOR, topology=TOPOLOGY, head_pool=HEAD_POOL
    )


def run_jobset(kube: Kube, namespace: str, name: str = "train") -> list[Object]:
    """Create it and wait until all nine pods are ready."""
    kube.create(jobset_of(namespace, name))

    def all_running() -> list[Object] | None:
        pods = workloads.running(workloads.pods_of(kube, namespace, name))
        return pods if len(pods) == 1 + 2 * HOSTS else None

    return wait_for("nine pods running", all_running)


def test_the_api_server_is_ready_and_reports_the_pinned_version(control_plane: ControlPlane) -> None:
    assert control_plane.kube.ready()
    version = control_plane.kube.request("GET", "/version")["gitVersion"]
    assert version == control_plane.tools["kube-apiserver"].program.version


def test_a_caller_without_a_token_is_refused(control_plane: ControlPlane) -> None:
    with pytest.raises(KubeError) as refusal:
        Kube(control_plane.server, control_plane.credentials.ca_file, "wrong").objects("Pod")
    assert refusal.value.code == 401


def test_the_credential_plugin_answers_as_a_kubeconfig_asks(control_plane: ControlPlane, tmp_path: Path) -> None:
    plugin = write_auth_plugin(tmp_path / "bin", control_plane.credentials.admin_token)
    env = {"PATH": f"{plugin.parent}{os.pathsep}{os.environ['PATH']}"}
    run = subprocess.run([plugin.name], capture_output=True, text=True, check=True, env=env)
    answer = json.loads(run.stdout)
    assert (answer["kind"], answer["apiVersion"]) == ("ExecCredential", "client.authentication.k8s.io/v1beta1")
    assert Kube(control_plane.server, control_plane.credentials.ca_file, answer["status"]["token"]).ready()


@pytest.mark.usefixtures("two_slices")
def test_a_simulated_tpu_host_registers_as_gke_registers_it(control_plane: ControlPlane) -> None:
    found = wait_for(
        "four ready hosts",
        lambda: [n for n in nodes.nodes_of(control_plane.kube, SLICE_POOLS[0]) if nodes.ready(n)][3:],
    )
    assert found[0]["status"]["allocatable"]["google.com/tpu"] == "4"
    assert found[0]["metadata"]["labels"]["cloud.google.com/gke-tpu-topology"] == TOPOLOGY
    assert nodes.TPU_TAINT in found[0]["spec"]["taints"]


@pytest.mark.usefixtures("two_slices", "jobset")
def test_a_pathways_shaped_jobset_runs_with_each_slice_on_a_pool_of_its_own(
    control_plane: ControlPlane, namespace: str
) -> None:
    kube = control_plane.kube
    run_jobset(kube, namespace)
    workers = workloads.pods_of(kube, namespace, "train", workloads.WORKER)
    pools = workloads.pools_of_slices(kube, workers)
    assert sorted(pools) == ["0", "1"]
    assert sorted(map(sorted, pools.values())) == [[SLICE_POOLS[0]], [SLICE_POOLS[1]]]
    head = workloads.pods_of(kube, namespace, "train", workloads.HEAD)[0]
    assert head["metadata"]["labels"]["jobset.sigs.k8s.io/coordinator"] == "train-pathways-head-0-0.train"
    assert head["spec"]["nodeName"] in {n["metadata"]["name"] for n in nodes.nodes_of(kube, HEAD_POOL)}


@pytest.mark.usefixtures("two_slices", "jobset")
def test_the_heads_success_completes_the_jobset_and_removes_its_workers(
    control_plane: ControlPlane, namespace: str
) -> None:
    kube = control_plane.kube
    run_jobset(kube, namespace)
    podstatus.succeed(kube, workloads.pods_of(kube, namespace, "train", workloads.HEAD)[0])
    wait_for("Completed", lambda: workloads.condition(kube.get("JobSet", "train", namespace), "Completed"))
    wait_for("workers gone", lambda: not workloads.pods_of(kube, namespace, "train", workloads.WORKER))


@pytest.mark.usefixtures("two_slices", "jobset")
def test_the_heads_failure_restarts_all_pods_once_and_then_fails_the_jobset(
    control_plane: ControlPlane, namespace: str
) -> None:
    kube = control_plane.kube
    first = {p["metadata"]["uid"] for p in run_jobset(kube, namespace)}

    def fresh() -> list[Object] | None:
        pods = workloads.running(workloads.pods_of(kube, namespace, "train"))
        return pods if len(pods) == 9 and not first & {p["metadata"]["uid"] for p in pods} else None

    podstatus.fail(kube, workloads.pods_of(kube, namespace, "train", workloads.HEAD)[0])
    wait_for("nine new pods", fresh)
    assert (kube.get("JobSet", "train", namespace) or {})["status"]["restarts"] == 1
    podstatus.fail(kube, workloads.pods_of(kube, namespace, "train", workloads.HEAD)[0])
    wait_for("Failed", lambda: workloads.condition(kube.get("JobSet", "train", namespace), "Failed"))


@pytest.mark.usefixtures("two_slices", "jobset")
def test_a_lost_worker_host_brings_back_only_its_own_pod(control_plane: ControlPlane, namespace: str) -> None:
    kube = control_plane.kube
    before = {p["metadata"]["name"]: p["metadata"]["uid"] for p in run_jobset(kube, namespace)}
    lost = workloads.pods_of(kube, namespace, "train", workloads.WORKER)[0]
    pool = (kube.get("Node", lost["spec"]["nodeName"]) or {})["metadata"]["labels"]["cloud.google.com/gke-nodepool"]
    nodes.remove_node(kube, lost["spec"]["nodeName"])
    nodes.add_nodes(kube, nodes.tpu_shape(pool, ACCELERATOR, TOPOLOGY), 1, first=HOSTS)

    def replaced() -> set[str] | None:
        pods = workloads.running(workloads.pods_of(kube, namespace, "train"))
        uids = {p["metadata"]["uid"] for p in pods}
        return uids if len(uids) == 9 and lost["metadata"]["uid"] not in uids else None

    after = wait_for("nine pods again", replaced)
    assert set(before.values()) - after == {lost["metadata"]["uid"]}


@pytest.mark.usefixtures("jobset")
@pytest.mark.parametrize(("length", "refused"), [(22, False), (23, True)])
def test_a_jobset_name_of_22_characters_is_accepted_and_of_23_refused(
    control_plane: ControlPlane, namespace: str, length: int, refused: bool
) -> None:
    jobset = jobset_of(namespace, "n" * length)
    if not refused:
        assert control_plane.kube.create(jobset, dry_run=True)["metadata"]["name"] == "n" * length
        return
    with pytest.raises(KubeError, match="coordinator") as refusal:
        control_plane.kube.create(jobset, dry_run=True)
    assert "admission webhook" in refusal.value.message


@pytest.mark.usefixtures("jobset")
def test_an_unknown_field_is_refused(control_plane: ControlPlane, namespace: str) -> None:
    jobset = jobset_of(namespace, "train")
    jobset["spec"]["maxRestart"] = 3
    with pytest.raises(KubeError, match=r'unknown field "spec\.maxRestart"'):
        control_plane.kube.create(jobset, dry_run=True)


def test_a_privileged_pod_is_refused_where_baseline_is_enforced(control_plane: ControlPlane, namespace: str) -> None:
    container = {"name": "c", "image": "i:1", "securityContext": {"privileged": True}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": namespace},
        "spec": {"containers": [container]},
    }
    with pytest.raises(KubeError, match="violates PodSecurity"):
        control_plane.kube.create(pod)


def test_a_webhook_that_is_down_refuses_and_answers_again_when_it_is_back(
    control_plane: ControlPlane, namespace: str, jobset: Chart
) -> None:
    kube = control_plane.kube
    with control_plane.host.without(jobset.name), pytest.raises(KubeError, match="failed calling webhook"):
        kube.create(jobset_of(namespace, "train"), dry_run=True)
    wait_for("accepted", lambda: kube.create(jobset_of(namespace, "train"), dry_run=True))


def test_a_controller_of_a_version_that_is_not_here_never_becomes_ready(
    control_plane: ControlPlane, namespace: str
) -> None:
    kube = control_plane.kube
    labels = {"app.kubernetes.io/name": "jobset"}
    container = {"name": "manager", "image": "example.invalid/jobset:v9.9.9"}
    kube.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "controller", "namespace": namespace, "labels": labels},
            "spec": {"containers": [container]},
        }
    )

    def waiting() -> Object | None:
        statuses = (kube.get("Pod", "controller", namespace) or {})["status"].get("containerStatuses")
        return statuses[0]["state"].get("waiting") if statuses else None

    assert wait_for("a verdict", waiting) == {
        "reason": "ErrImagePull",
        "message": "this machine has no jobset 9.9.9",
    }


@pytest.mark.usefixtures("two_slices")
def test_a_version_bump_swaps_the_controller_and_leaves_a_running_jobset_alone(
    needs: Needs, control_plane: ControlPlane, namespace: str, jobset: Chart
) -> None:
    needs(JOBSET_PREVIOUS.tool)
    kube, tools = control_plane.kube, control_plane.tools

    def controller() -> str:
        hosted = control_plane.host.running("jobset")
        return hosted[0].tool.program.version if len(hosted) == 1 else ""

    install(control_plane, JOBSET_PREVIOUS)
    wait_for("the previous version alone", lambda: controller() == tools[JOBSET_PREVIOUS.tool].program.version)
    before = {p["metadata"]["uid"] for p in run_jobset(kube, namespace)}
    install(control_plane, jobset)
    wait_for("the pinned version alone", lambda: controller() == tools[jobset.tool].program.version)
    wait_for("answers", lambda: kube.create(jobset_of(namespace, "other"), dry_run=True))
    assert {p["metadata"]["uid"] for p in workloads.running(workloads.pods_of(kube, namespace, "train"))} == before


@pytest.mark.usefixtures("two_slices", "jobset")
def test_a_restarted_api_server_keeps_its_address_and_its_running_jobset(
    control_plane: ControlPlane, namespace: str
) -> None:
    kube = control_plane.kube
    before = {p["metadata"]["uid"] for p in run_jobset(kube, namespace)}
    with control_plane.without_api_server(), pytest.raises(requests.ConnectionError):
        kube.objects("Pod")
    pods = workloads.running(workloads.pods_of(kube, namespace, "train"))
    assert {p["metadata"]["uid"] for p in pods} == before


def test_the_pulumi_engine_finds_the_built_kubernetes_provider(needs: Needs, tmp_path: Path) -> None:
    tools = needs("pulumi", "pulumi-resource-kubernetes")
    env = os.environ | make_pulumi_home(tmp_path / "home", tools)
    run = subprocess.run(
        ["pulumi", "plugin", "ls", "--json"], capture_output=True, text=True, check=True, env=env, cwd=tmp_path
    )
    plugins = {(p["name"], p["version"]) for p in json.loads(run.stdout)}
    assert plugins == {("kubernetes", tools["pulumi-resource-kubernetes"].program.version)}


def test_a_killed_run_leaves_no_process_and_no_folder_behind(tmp_path: Path) -> None:
    script = """
        import os, signal, subprocess, sys
        from tests.e2e.cluster.processes import Processes
        processes = Processes()
        child = processes.start("sleeper", ["sh", "-c", "sleep 600 & sleep 600"])
        plugin = processes.folder / "plugin"
        plugin.symlink_to(sys.executable)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        apart = subprocess.Popen([plugin, "-c", "import time; time.sleep(600)"], start_new_session=True, **quiet)
        print(processes.folder, child.child.pid, apart.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False)
    assert run.returncode == -signal.SIGKILL, run.stderr
    folder, *groups = run.stdout.split()
    wait_for("the groups gone", lambda: not any(group_exists(int(group)) for group in groups))
    wait_for("the folder gone", lambda: not Path(folder).exists())


def group_exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
