"""The JobSet: one head job and one worker job per slice."""

from __future__ import annotations

from typing import Any

from pathways.manifests import containers
from pathways.model import seconds
from pathways.names import HEAD_JOB, WORKER_JOB
from pathways.plan import HEAD_TAINT, STACK_LABEL, Plan
from pathways.settings.workload import Batch

POOL_LABEL = "cloud.google.com/gke-nodepool"
RUN_ID_ANNOTATION = "pathways/run-id"
_EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
_TPU_TOLERATION = {"key": "google.com/tpu", "operator": "Exists", "effect": "NoSchedule"}
_GRACE_SECONDS = 60


def job_set(plan: Plan) -> dict[str, Any]:
    """The JobSet of a stack. In batch mode it ends with the user's container, else it runs until it is deleted."""
    workload, runtime = plan.settings.workload, plan.settings.runtime
    batch = isinstance(workload, Batch)
    ttl = {"ttlSecondsAfterFinished": seconds(workload.ttl)} if isinstance(workload, Batch) and workload.ttl else {}
    success = {"successPolicy": {"operator": "All", "targetReplicatedJobs": [HEAD_JOB]}} if batch else {}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": plan.names.job_set, "namespace": plan.names.namespace, "labels": plan.labels},
        "spec": {
            "coordinator": {"replicatedJob": HEAD_JOB, "jobIndex": 0, "podIndex": 0},
            "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
            "startupPolicy": {"startupPolicyOrder": "InOrder"},
            **success,
            # Blocking: the old pods are gone before the next starts, so they do not fight over TPUs and ports.
            "failurePolicy": {"maxRestarts": runtime.max_restarts, "restartStrategy": "BlockingRecreate"},
            **ttl,
            "replicatedJobs": [_head(plan), _worker(plan)],
        },
    }


def _head(plan: Plan) -> dict[str, Any]:
    workload = plan.settings.workload
    annotations = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
    if workload.run_id:
        annotations[RUN_ID_ANNOTATION] = workload.run_id
    pod = {
        "restartPolicy": "Never",
        "nodeSelector": {POOL_LABEL: plan.names.head_pool},
        "tolerations": [{"key": HEAD_TAINT, "operator": "Equal", "value": plan.names.prefix, "effect": "NoSchedule"}],
        **_head_containers(plan),
        **_pod(plan),
    }
    return {
        "name": HEAD_JOB,
        "replicas": 1,
        "template": {
            "metadata": {"annotations": {_EXCLUSIVE: "kubernetes.io/hostname"}},
            "spec": {
                "parallelism": 1,
                "completions": 1,
                "completionMode": "Indexed",
                "backoffLimit": 0,
                "template": _template(plan, pod, annotations),
            },
        },
    }


def _head_containers(plan: Plan) -> dict[str, Any]:
    """Resource manager, then proxy: native sidecars of the user's container, or plain containers without one."""
    servers = [containers.resource_manager(plan), containers.proxy(plan)]
    workload = plan.settings.workload
    if not isinstance(workload, Batch):
        return {"containers": servers}
    sidecars = [{**server, "restartPolicy": "Always"} for server in servers]
    return {"initContainers": sidecars, "containers": [containers.user(plan, workload)]}


def _worker(plan: Plan) -> dict[str, Any]:
    hosts, capacity, generation = plan.shape.hosts, plan.settings.slices.capacity, plan.settings.slices.generation
    colocated = plan.settings.runtime.colocated_python
    sidecar: dict[str, Any] = {}
    if colocated:
        volume = containers.shared_memory_volume(colocated.shared_memory)
        sidecar = {"initContainers": [containers.sidecar(plan)], "volumes": [volume]}
    pod = {
        "restartPolicy": "OnFailure",
        "nodeSelector": {
            "cloud.google.com/gke-tpu-accelerator": generation.accelerator,
            "cloud.google.com/gke-tpu-topology": plan.shape.topology,
            STACK_LABEL: plan.names.prefix,
            **capacity.node_selector(),
        },
        "tolerations": [_TPU_TOLERATION, *(dict(each) for each in capacity.tolerations())],
        **sidecar,
        "containers": [containers.worker(plan)],
        **_pod(plan),
    }
    return {
        "name": WORKER_JOB,
        "replicas": plan.slice_count,
        "template": {
            "metadata": {"annotations": {_EXCLUSIVE: POOL_LABEL}},
            "spec": {
                "parallelism": hosts,
                "completions": hosts,
                "completionMode": "Indexed",
                "backoffLimit": plan.worker_backoff,
                "template": _template(plan, pod, {}),
            },
        },
    }


def _template(plan: Plan, pod: dict[str, Any], annotations: dict[str, str]) -> dict[str, Any]:
    metadata: dict[str, Any] = {"labels": plan.labels, **({"annotations": annotations} if annotations else {})}
    return {"metadata": metadata, "spec": pod}


def _pod(plan: Plan) -> dict[str, Any]:
    """What head and worker pods share."""
    network = (
        {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"} if plan.settings.runtime.host_network else {}
    )
    return {
        "serviceAccountName": plan.names.service_account,
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": _GRACE_SECONDS,
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        **network,
    }
