"""The stack's namespace with its Pod Security level, and the service account its pods run as."""

from __future__ import annotations

from typing import Any

from pathways.plan import Plan

_ENFORCE = "pod-security.kubernetes.io/enforce"
_AUDIT = "pod-security.kubernetes.io/audit"
_LEVELS = ("privileged", "baseline", "restricted")


def namespace(plan: Plan) -> dict[str, Any]:
    """The namespace: it enforces the strictest Pod Security level our pods pass, and audits the next one."""
    level = 0 if plan.settings.runtime.host_network else 1
    labels = {_ENFORCE: _LEVELS[level], _AUDIT: _LEVELS[level + 1]}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": plan.names.namespace, "labels": {**plan.labels, **labels}},
    }


def service_account(plan: Plan) -> dict[str, Any]:
    """The service account of head and workers; Workload Identity needs no token in the pods, so none is mounted."""
    secret = plan.settings.runtime.images.pull_secret
    pull = {"imagePullSecrets": [{"name": secret}]} if secret else {}
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": plan.names.service_account, "namespace": plan.names.namespace, "labels": plan.labels},
        "automountServiceAccountToken": False,
        **pull,
    }
