"""The rules about the JobSet each find their fault."""

from __future__ import annotations

import pytest

from tests.support import rendered_workload as work
from tests.support.rendered import Rule
from tests.test_support.changes import (
    SPOT,
    Change,
    Fault,
    changed,
    drop,
    headless,
    in_job,
    in_pod,
    on_host_network,
    set_input,
    user_env,
)
from tests.test_support.sample import pod

FAULTS: list[Fault] = [
    (work.one_jobset, [drop("train")], "not exactly one"),
    (work.one_jobset, [in_job(1, "name", "workers")], "not exactly one"),
    (work.references_declared, [in_pod(0, "initContainers.1.env", [])], "initContainers[1].args[1]: $(PATHWAYS_HEAD)"),
    (work.references_declared, [in_pod(0, "containers.0.command", ["$(HOST)"])], "containers[0].command[0]: $(HOST)"),
    (work.references_declared, [in_pod(1, "containers.0.env.0", {"name": "X", "value": "$(Y)"})], "env[0].value: $(Y)"),
    (
        work.references_declared,
        [user_env({"name": "A", "value": "$(B)"}, {"name": "B", "value": "1"})],
        "env[2].value: $(B) is not declared before it",
    ),
    (work.sidecars, [in_pod(0, "initContainers.0.restartPolicy", None)], "pathways-rm: restartPolicy None"),
    (work.sidecars, [in_pod(0, "initContainers.1.restartPolicy", "OnFailure")], "pathways-proxy: restartPolicy"),
    (work.sidecars, [lambda d: pod(d, 0)["initContainers"].reverse()], "then pathways-proxy"),
    (work.sidecars, [lambda d: pod(d, 0)["initContainers"].pop()], "then pathways-proxy"),
    (work.sidecars, [in_pod(0, "initContainers.1.startupProbe", None)], "no TCP startup probe"),
    (work.sidecars, [in_pod(0, "containers.0.restartPolicy", "Always")], "only a native sidecar"),
    (work.sidecars, [in_pod(1, "containers.0.restartPolicy", "Always")], "only a native sidecar"),
    (work.sidecars, [headless, in_pod(0, "containers.0.restartPolicy", "Always")], "only a native sidecar"),
    (work.sidecars, [lambda d: pod(d, 0)["containers"].clear()], "are plain ones"),
    (
        work.sidecars,
        [headless, in_pod(0, "initContainers", [{"name": "pre", "restartPolicy": "Always"}])],
        "without a user container",
    ),
    (work.user_environment, [in_pod(0, "containers.0.env", [])], "JAX_PLATFORMS is there 0 times"),
    (
        work.user_environment,
        [user_env({"name": "JAX_BACKEND_TARGET", "value": "grpc://127.0.0.1:29000"})],
        "JAX_BACKEND_TARGET is there 2 times",
    ),
    (work.user_environment, [in_pod(0, "containers.0.env.0.value", "tpu")], "JAX_PLATFORMS is 'tpu'"),
    (work.user_environment, [in_pod(0, "containers.0.env.1.value", "grpc://127.0.0.1:1")], "JAX_BACKEND_TARGET is"),
    (work.head_is_plain, [in_pod(0, "nodeSelector", {SPOT: "true"})], f"selects {SPOT}"),
    (work.head_is_plain, [in_pod(0, "nodeSelector", {"cloud.google.com/gke-tpu-topology": "4x4"})], "gke-tpu-topology"),
    (work.head_is_plain, [in_pod(0, "nodeSelector", {"cloud.google.com/reservation-name": "r"})], "reservation-name"),
    (
        work.head_is_plain,
        [in_pod(0, "affinity.nodeAffinity", {"terms": [{"key": "cloud.google.com/gke-spot", "operator": "Exists"}]})],
        f"selects {SPOT}",
    ),
    (work.head_is_plain, [in_pod(0, "tolerations", [{"key": "google.com/tpu"}])], "tolerates google.com/tpu"),
    (work.head_is_plain, [in_pod(0, "tolerations", [{"operator": "Exists"}])], "tolerates every taint"),
    (
        work.head_is_plain,
        [in_pod(0, "containers.0.resources.requests", {"google.com/tpu": "4"})],
        "containers[0] takes google.com/tpu",
    ),
    (work.ports_agree, [in_pod(0, "initContainers.0.args.0", "--server_port=1")], "pathways-rm: --server_port=1"),
    (work.ports_agree, [in_pod(0, "initContainers.1.ports", [])], "pathways-proxy: --server_port=29000"),
    (work.ports_agree, [in_pod(0, "initContainers.1.startupProbe.tcpSocket.port", 1)], "startup probe is on 1"),
    (
        work.ports_agree,
        [in_pod(1, "containers.0.args.1", "--resource_manager_address=$(PATHWAYS_HEAD):290011")],
        "pathways-worker: --resource_manager_address",
    ),
    (work.ports_agree, [in_pod(1, "containers.0.resources", {})], "container with google.com/tpu"),
    (work.host_network, [in_pod(0, "hostNetwork", True)], "hostNetwork differs"),
    (work.host_network, [on_host_network, in_pod(1, "dnsPolicy", "ClusterFirst")], "dnsPolicy ClusterFirst,"),
    (work.host_network, [in_pod(1, "dnsPolicy", "ClusterFirstWithHostNet")], "not ClusterFirst,"),
    (work.host_network, [drop("namespace")], "level is None"),
    (
        work.host_network,
        [on_host_network, set_input("namespace", "inputs.metadata.labels", {})],
        "need 'privileged'",
    ),
    (work.host_network, [in_pod(1, "volumes", [{"name": "t", "hostPath": {"path": "/tmp"}}])], "need 'privileged'"),
    (work.host_network, [in_pod(0, "containers.0.securityContext.privileged", True)], "need 'privileged'"),
    (work.exclusive_placement, [in_job(0, "template", {"spec": {"template": {"spec": {}}}})], "kubernetes.io/hostname"),
    (work.images_pinned, [in_pod(0, "containers.0.image", "r/app:latest")], "r/app:latest"),
    (work.images_pinned, [in_pod(0, "containers.0.image", "localhost:5000/app")], "localhost:5000/app"),
]


@pytest.mark.parametrize(("rule", "changes", "part"), FAULTS)
def test_each_rule_finds_its_fault(rule: Rule, changes: list[Change], part: str) -> None:
    lines = rule(changed(*changes))
    assert any(part in line for line in lines), lines


def test_moving_tags_pass_where_the_stack_file_allows_them() -> None:
    recording = changed(in_pod(0, "containers.0.image", "r/app:latest"))
    assert work.images_pinned(recording, mutable_tags=True) == []
