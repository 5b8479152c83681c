"""What a client needs: its environment, the proxy's address, and the commands to reach and watch a stack."""

from __future__ import annotations

from pathways.containers import DEFAULT_ENV
from pathways.names import HEAD_JOB
from pathways.plan import Plan
from pathways.settings.platform import CreatedCluster
from pathways.settings.workload import Batch, Interactive

LOOPBACK = "127.0.0.1"
"""Not `localhost`, which may resolve to IPv6 first."""
CLUSTER_DOMAIN = "cluster.local"


def in_head_target(plan: Plan) -> str:
    """The proxy as the user's container in the head pod sees it."""
    return f"grpc://{LOOPBACK}:{plan.settings.runtime.ports.proxy}"


def proxy_host(plan: Plan) -> str:
    """The proxy's host name for clients that reach it by DNS: in the VPC with `access: dns`, else in the cluster."""
    return f"{plan.names.head_host}.{plan.names.namespace}.svc.{plan.vpc_dns_domain or CLUSTER_DOMAIN}"


def reached_at(plan: Plan) -> str | None:
    """The loopback address where a client finds the proxy in its own pod or through a forwarded port, else None."""
    return LOOPBACK if plan.outside_clients == "none" else None


def client_environment(host: str, port: int) -> dict[str, str]:
    """The variables of a JAX client that connects to the proxy at `host:port`; then `pathwaysutils.initialize()`."""
    return {"JAX_PLATFORMS": "proxy", "JAX_BACKEND_TARGET": f"grpc://{host}:{port}", **DEFAULT_ENV["user"]}


def connect_commands(plan: Plan) -> dict[str, str]:
    """Commands to get credentials, watch, follow logs and, where clients are outside, to forward the proxy's port."""
    names, port = plan.names, plan.settings.runtime.ports.proxy
    job, space = names.job_set, f"-n {names.namespace}"
    container = "main" if isinstance(plan.settings.workload, Batch) else "pathways-proxy"
    head = f"jobset.sigs.k8s.io/jobset-name={job},jobset.sigs.k8s.io/replicatedjob-name={HEAD_JOB}"
    commands = {
        "credentials": f"gcloud container clusters get-credentials {plan.cluster_name} "
        f"--location={plan.cluster_location} "
        f"--project={plan.settings.project}{_endpoint_flag(plan)}",
        "watch": f"kubectl get jobset,pods {space} -l jobset.sigs.k8s.io/jobset-name={job} -o wide --watch",
        "logs": f"kubectl logs {space} -l {head} -c {container} --follow --tail=100",
        "events": f"kubectl get events {space} --sort-by=.lastTimestamp",
    }
    workload = plan.settings.workload
    if isinstance(workload, Interactive) and workload.access == "port-forward":
        pod = f"$(kubectl get pods {space} -l {head} -o name)"
        commands["portForward"] = f"kubectl port-forward {space} {pod} {port}:{port}"
    return commands


def console_links(plan: Plan) -> dict[str, str]:
    """Pages of the Google Cloud console for what the stack made."""
    project, console = plan.settings.project, "https://console.cloud.google.com"
    cluster = f"{plan.cluster_location}/{plan.cluster_name}"
    return {
        "cluster": f"{console}/kubernetes/clusters/details/{cluster}/details?project={project}",
        "nodePools": f"{console}/kubernetes/clusters/details/{cluster}/nodes?project={project}",
        "workloads": f"{console}/kubernetes/workload/overview?project={project}",
        "scratch": f"{console}/storage/browser/{plan.bucket}?project={project}",
    }


def _endpoint_flag(plan: Plan) -> str:
    cluster = plan.settings.cluster
    if not isinstance(cluster, CreatedCluster):
        return ""
    return {"dns": " --dns-endpoint", "private": " --internal-ip", "authorized": ""}[cluster.endpoint]
