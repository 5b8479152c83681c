"""The Kubernetes objects of a stack as plain dicts: nothing here knows how they get into a cluster."""

from __future__ import annotations

from typing import Any

from pathways.manifests.access import client_rule, network_policy, proxy_service
from pathways.manifests.job_set import job_set
from pathways.manifests.namespace import namespace, service_account
from pathways.plan import Plan

__all__ = ["client_rule", "job_set", "namespace", "network_policy", "objects", "proxy_service", "service_account"]


def objects(plan: Plan, client_range: str | None) -> list[dict[str, Any]]:
    """All objects of a stack but those of its operators, each behind what it stands in or is reached through.

    `client_range` (`A.B.C.D/N`) is where clients outside the cluster connect from; None if there are none.
    """
    rules = [client_rule(plan, client_range)] if client_range else []
    policy = network_policy(plan, *rules)
    door = client_range and plan.outside_clients == "load-balancer"
    return [
        namespace(plan),
        service_account(plan),
        *([policy] if policy else []),
        *([proxy_service(plan, client_range)] if door else []),
        job_set(plan),
    ]
