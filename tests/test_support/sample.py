"""A small recording written by hand: two v6e 4x4 slices in batch mode, on a cluster of the same stack."""

from __future__ import annotations

import copy
from typing import Any

from tests.support.recording import BUCKET, CLUSTER, GCP_PROVIDER, KUBERNETES_PROVIDER, NODE_POOL, Recording, read

UNKNOWN = {"$unknown": True}
STACK_URN = "urn:pulumi:vision-dev::pathways::pulumi:pulumi:Stack::pathways-vision-dev"
GCP_URN = f"urn:pulumi:vision-dev::pathways::{GCP_PROVIDER}::gcp"
KUBERNETES_URN = f"urn:pulumi:vision-dev::pathways::{KUBERNETES_PROVIDER}::kubernetes"
CLUSTER_URN = f"urn:pulumi:vision-dev::pathways::{CLUSTER}::cluster"
JOBSET = "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet"
HEAD_LABEL = "metadata.labels['jobset.sigs.k8s.io/coordinator']"
EXCLUSIVE = "alpha.jobset.sigs.k8s.io/exclusive-topology"
KUBECONFIG = "users: [{name: gke, user: {exec: {command: gke-gcloud-auth-plugin}}}]"


def resource(type_: str, name: str, inputs: dict[str, Any], **options: Any) -> dict[str, Any]:
    return {
        "urn": f"urn:pulumi:vision-dev::pathways::{type_}::{name}",
        "type": type_,
        "name": name,
        "parent": STACK_URN,
        "custom": True,
        "inputs": inputs,
        "options": options,
    }


def google(type_: str, name: str, inputs: dict[str, Any], **options: Any) -> dict[str, Any]:
    return resource(type_, name, inputs, provider=f"{GCP_URN}::unknown", deleteBeforeReplace=True, **options)


def kubernetes(type_: str, name: str, inputs: dict[str, Any], **options: Any) -> dict[str, Any]:
    return resource(type_, name, inputs, provider=KUBERNETES_URN, deletedWith=CLUSTER_URN, **options)


def tpu_pool(index: int) -> dict[str, Any]:
    return google(
        NODE_POOL,
        f"slice-{index}",
        {
            "name": f"vision-dev-slice-{index}",
            "cluster": UNKNOWN,
            "nodeCount": 4,
            "nodeConfig": {"machineType": "ct6e-standard-4t", "spot": False},
            "placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"},
        },
        replaceOnChanges=["placementPolicy.tpuTopology", "nodeConfig.machineType", "nodeCount"],
        customTimeouts={"create": "1h15m", "update": "60m", "delete": "60m"},
    )


def head_address() -> dict[str, Any]:
    return {"name": "PATHWAYS_HEAD", "valueFrom": {"fieldRef": {"fieldPath": HEAD_LABEL}}}


def server(name: str, port: int, image: str, *args: str) -> dict[str, Any]:
    return {
        "name": name,
        "image": f"us-docker.pkg.dev/cloud-tpu-v2-images/cloud-pathways/{image}:jax-0.11.1",
        "args": [f"--server_port={port}", *args],
        "env": [head_address()],
        "ports": [{"name": "grpc", "containerPort": port}],
    }


def head_pod() -> dict[str, Any]:
    manager = server("pathways-rm", 29001, "server", "--instance_count=2", "--instance_type=tpuv6e:4x4")
    proxy = server("pathways-proxy", 29000, "proxy_server", "--resource_manager_address=$(PATHWAYS_HEAD):29001")
    for container in (manager, proxy):
        port = container["ports"][0]["containerPort"]
        container |= {"restartPolicy": "Always", "startupProbe": {"tcpSocket": {"port": port}}}
    user = {
        "name": "train",
        "image": "us-docker.pkg.dev/acme-ml-dev/train/app:1.2.3",
        "command": ["python", "train.py"],
        "env": [
            {"name": "JAX_PLATFORMS", "value": "proxy"},
            {"name": "JAX_BACKEND_TARGET", "value": "grpc://127.0.0.1:29000"},
        ],
        "resources": {"limits": {"cpu": "24", "memory": "100G"}},
    }
    return {
        "restartPolicy": "Never",
        "nodeSelector": {"cloud.google.com/gke-nodepool": "vision-dev-head"},
        "initContainers": [manager, proxy],
        "containers": [user],
    }


def worker_pod() -> dict[str, Any]:
    worker = server("pathways-worker", 29001, "server", "--resource_manager_address=$(PATHWAYS_HEAD):29001")
    worker["env"].append({"name": "MEGASCALE_COORDINATOR_ADDRESS", "value": "$(PATHWAYS_HEAD)"})
    worker["resources"] = {"limits": {"google.com/tpu": "4"}}
    return {
        "restartPolicy": "OnFailure",
        "nodeSelector": {
            "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
            "cloud.google.com/gke-tpu-topology": "4x4",
        },
        "tolerations": [{"key": "google.com/tpu", "operator": "Exists", "effect": "NoSchedule"}],
        "containers": [worker],
    }


def job(name: str, replicas: int, nodes: int, topology: str, pod: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "replicas": replicas,
        "template": {
            "metadata": {"annotations": {EXCLUSIVE: topology}},
            "spec": {
                "parallelism": nodes,
                "completions": nodes,
                "completionMode": "Indexed",
                "template": {"metadata": {"labels": {"app": "pathways"}}, "spec": pod},
            },
        },
    }


def jobset() -> dict[str, Any]:
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "train", "namespace": "vision", "labels": {"team": "vision"}},
        "spec": {
            "replicatedJobs": [
                job("pathways-head", 1, 1, "kubernetes.io/hostname", head_pod()),
                job("worker", 2, 4, "cloud.google.com/gke-nodepool", worker_pod()),
            ]
        },
    }


def namespace() -> dict[str, Any]:
    labels = {"pod-security.kubernetes.io/enforce": "baseline", "team": "vision"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "vision", "labels": labels}}


def document() -> dict[str, Any]:
    """The recording's JSON document, fresh at every call."""
    shape = {"topology": "4x4", "hosts": 4, "chips": 16}
    resources = [
        resource(GCP_PROVIDER, "gcp", {"project": "acme-ml-dev"}),
        resource(
            KUBERNETES_PROVIDER,
            "kubernetes",
            {"clusterIdentifier": "acme/us-east5/vision-dev", "kubeconfig": KUBECONFIG},
        ),
        google(CLUSTER, "cluster", {"name": "vision-dev", "location": "us-east5", "deletionProtection": False}),
        google(
            NODE_POOL,
            "head",
            {"name": "vision-dev-head", "cluster": UNKNOWN, "nodeConfig": {"machineType": "n2-standard-64"}},
        ),
        tpu_pool(0),
        tpu_pool(1),
        google(BUCKET, "scratch", {"name": "vision-dev-scratch", "location": "US-EAST5"}, protect=True),
        google(
            "gcp:projects/iAMMember:IAMMember",
            "node-role",
            {"project": "acme-ml-dev", "role": "roles/container.defaultNodeServiceAccount", "member": UNKNOWN},
        ),
        kubernetes("kubernetes:core/v1:Namespace", "namespace", namespace()),
        kubernetes(JOBSET, "train", jobset(), replaceOnChanges=["spec"], deleteBeforeReplace=True),
    ]
    outputs = {
        "totals": {"slices": 2, "hosts": 8, "chips": 32},
        "slices": [{"pool": f"vision-dev-slice-{index}", **shape} for index in range(2)],
    }
    return copy.deepcopy({"project": "pathways", "stack": "vision-dev", "resources": resources, "outputs": outputs})


def find(recorded: dict[str, Any], name: str) -> dict[str, Any]:
    """The resource of a document by its logical name."""
    found: dict[str, Any] = next(entry for entry in recorded["resources"] if entry["name"] == name)
    return found


def pod(recorded: dict[str, Any], index: int) -> dict[str, Any]:
    """The pod spec of the JobSet's job: 0 is the head, 1 the worker."""
    jobs = find(recorded, "train")["inputs"]["spec"]["replicatedJobs"]
    spec: dict[str, Any] = jobs[index]["template"]["spec"]["template"]["spec"]
    return spec


def recording() -> Recording:
    return read(document())
