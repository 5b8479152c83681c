"""A Pathways-shaped JobSet in plain dicts, and what tests ask about running ones.

The shape is written here once more on purpose: it shows that the control plane runs such a job, whatever the product
generates.
"""

from __future__ import annotations

from tests.e2e.cluster.kube import Kube, Object

JOBSET_LABEL = "jobset.sigs.k8s.io/jobset-name"
REPLICATED_JOB_LABEL = "jobset.sigs.k8s.io/replicatedjob-name"
JOB_INDEX_LABEL = "jobset.sigs.k8s.io/job-index"
EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
HEAD, WORKER = "pathways-head", "worker"


def pods_of(kube: Kube, namespace: str, jobset: str, replicated_job: str | None = None) -> list[Object]:
    """The pods of a JobSet that are not being deleted, or of one of its replicated jobs."""
    labels = f"{JOBSET_LABEL}={jobset}" + (f",{REPLICATED_JOB_LABEL}={replicated_job}" if replicated_job else "")
    return [p for p in kube.objects("Pod", namespace, labels=labels) if "deletionTimestamp" not in p["metadata"]]


def running(pods: list[Object]) -> list[Object]:
    """Those of the pods that run and are ready."""

    def is_ready(pod: Object) -> bool:
        conditions = pod.get("status", {}).get("conditions", [])
        return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)

    return [p for p in pods if p["status"].get("phase") == "Running" and is_ready(p)]


def pools_of_slices(kube: Kube, pods: list[Object]) -> dict[str, set[str]]:
    """For each worker job (slice) by its index: the node pools its pods are on."""
    pool_of = {
        n["metadata"]["name"]: n["metadata"]["labels"]["cloud.google.com/gke-nodepool"] for n in kube.objects("Node")
    }
    pools: dict[str, set[str]] = {}
    for pod in pods:
        pools.setdefault(pod["metadata"]["labels"][JOB_INDEX_LABEL], set()).add(pool_of[pod["spec"]["nodeName"]])
    return pools


def condition(obj: Object | None, kind: str) -> bool:
    """Whether an object has a condition of this type that is True."""
    conditions = (obj or {}).get("status", {}).get("conditions", [])
    return any(c["type"] == kind and c["status"] == "True" for c in conditions)


def pathways_jobset(
    namespace: str, name: str, slices: int, hosts: int, *, accelerator: str, topology: str, head_pool: str
) -> Object:
    """Head with resource manager and proxy as native sidecars, and one worker job per slice."""
    rm, proxy = (
        {
            "name": container,
            "image": f"example.invalid/{container}:1",
            "restartPolicy": "Always",
            "ports": [{"containerPort": port}],
            "startupProbe": {"tcpSocket": {"port": port}, "failureThreshold": 60},
        }
        for container, port in (("pathways-rm", 29001), ("pathways-proxy", 29000))
    )
    head = {
        "restartPolicy": "Never",
        "nodeSelector": {"cloud.google.com/gke-nodepool": head_pool},
        "initContainers": [rm, proxy],
        "containers": [{"name": "main", "image": "example.invalid/user:1"}],
    }
    worker = {
        "restartPolicy": "OnFailure",
        "nodeSelector": {
            "cloud.google.com/gke-tpu-accelerator": accelerator,
            "cloud.google.com/gke-tpu-topology": topology,
        },
        "tolerations": [{"key": "google.com/tpu", "operator": "Exists", "effect": "NoSchedule"}],
        "containers": [
            {
                "name": "pathways-worker",
                "image": "example.invalid/pathways-worker:1",
                "resources": {"limits": {"google.com/tpu": "4"}},
            }
        ],
    }
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "coordinator": {"replicatedJob": HEAD, "jobIndex": 0, "podIndex": 0},
            "startupPolicy": {"startupPolicyOrder": "InOrder"},
            "successPolicy": {"operator": "All", "targetReplicatedJobs": [HEAD]},
            "failurePolicy": {"restartStrategy": "BlockingRecreate", "maxRestarts": 1},
            "replicatedJobs": [
                _job(HEAD, replicas=1, pods=1, backoff=0, pod=head),
                _job(
                    WORKER,
                    replicas=slices,
                    pods=hosts,
                    backoff=4 * hosts,
                    pod=worker,
                    annotations={EXCLUSIVE: "cloud.google.com/gke-nodepool"},
                ),
            ],
        },
    }


def _job(
    name: str, *, replicas: int, pods: int, backoff: int, pod: Object, annotations: dict[str, str] | None = None
) -> Object:
    return {
        "name": name,
        "replicas": replicas,
        "template": {
            "metadata": {"annotations": annotations or {}},
            "spec": {
                "parallelism": pods,
                "completions": pods,
                "completionMode": "Indexed",
                "backoffLimit": backoff,
                "template": {"spec": pod},
            },
        },
    }
