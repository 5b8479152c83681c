"""Who may reach the job's pods: the NetworkPolicy, and the load balancer for clients in the VPC."""

from __future__ import annotations

from typing import Any

from pathways.names import HEAD_JOB
from pathways.plan import Plan

JOB_SET_LABEL = "jobset.sigs.k8s.io/jobset-name"
REPLICATED_JOB_LABEL = "jobset.sigs.k8s.io/replicatedjob-name"


def network_policy(plan: Plan, *more_rules: Any) -> dict[str, Any] | None:
    """Ingress to the job's pods: from each other and nothing else; None under host network, which no policy reaches.

    All ports among the job's own pods, since those that slices use between them are not documented. `kubectl
    port-forward` needs no rule: it comes from the pod's own node. `more_rules` let in whom else there is.
    """
    if plan.settings.runtime.host_network:
        return None
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": plan.names.job_set, "namespace": plan.names.namespace, "labels": plan.labels},
        "spec": {
            "podSelector": {"matchLabels": {JOB_SET_LABEL: plan.names.job_set}},
            "policyTypes": ["Ingress"],
            "ingress": [
                {"from": [{"podSelector": {"matchLabels": {JOB_SET_LABEL: plan.names.job_set}}}]},
                *more_rules,
            ],
        },
    }


def client_rule(plan: Plan, client_range: str) -> dict[str, Any]:
    """The ingress rule that lets clients of a range (`A.B.C.D/N`) reach the proxy."""
    return {
        "from": [{"ipBlock": {"cidr": client_range}}],
        "ports": [{"protocol": "TCP", "port": plan.settings.runtime.ports.proxy}],
    }


def proxy_service(plan: Plan, client_range: Any) -> dict[str, Any]:
    """The internal load balancer in front of the proxy, open to one range (text, or the promise of one)."""
    port = plan.settings.runtime.ports.proxy
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": plan.names.proxy_service,
            "namespace": plan.names.namespace,
            "labels": plan.labels,
            "annotations": {"networking.gke.io/load-balancer-type": "Internal"},
        },
        "spec": {
            "type": "LoadBalancer",
            # The client's own address reaches the pod, so that the NetworkPolicy can judge it.
            "externalTrafficPolicy": "Local",
            "selector": {JOB_SET_LABEL: plan.names.job_set, REPLICATED_JOB_LABEL: HEAD_JOB},
            "ports": [{"name": "proxy", "protocol": "TCP", "port": port, "targetPort": port}],
            "loadBalancerSourceRanges": [client_range],
        },
    }
