"""Workload: the namespace, its service account and policy, the JobSet, and the door for clients outside."""

from collections.abc import Sequence
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi import Output

from components.common import named_child
from components.patience import wait_for_webhook
from pathways import manifests
from pathways.plan import Plan


class Tenancy(pulumi.ComponentResource):
    """The stack's namespace with its service account and the policy that closes it."""

    namespace: kubernetes.core.v1.Namespace

    def __init__(
        self,
        name: str,
        plan: Plan,
        *,
        client_range: pulumi.Input[str] | None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Create them; `client_range` is let in at the proxy's port where clients connect from outside."""
        super().__init__("pathways:index:Tenancy", name, {}, opts)
        self.namespace = kubernetes.core.v1.Namespace(
            f"{name}-namespace", **_arguments(manifests.namespace(plan)), opts=named_child(self, opts)
        )
        within = named_child(self, opts, depends_on=[self.namespace])
        account = manifests.service_account(plan)
        kubernetes.core.v1.ServiceAccount(
            f"{name}-account",
            metadata=account["metadata"],
            automount_service_account_token=account["automountServiceAccountToken"],
            image_pull_secrets=account.get("imagePullSecrets"),
            opts=within,
        )
        rules = []
        if client_range is not None:
            rules.append(Output.from_input(client_range).apply(lambda cidr: manifests.client_rule(plan, cidr)))
        policy = manifests.network_policy(plan, *rules)
        if policy:
            kubernetes.networking.v1.NetworkPolicy(f"{name}-policy", **_arguments(policy), opts=within)
        self.register_outputs({"namespace": self.namespace.metadata["name"]})


class Workload(pulumi.ComponentResource):
    """The JobSet. Its spec cannot be changed, so any change is the old one's end and a new one's start."""

    metadata: Output[Any]

    def __init__(
        self,
        name: str,
        plan: Plan,
        *,
        pools: Sequence[pulumi.Resource],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Create it; whether it runs is not waited for, since an `up` should not hang until capacity is found.

        `pools` are those its pods run on: with a new pool its pods are gone, so it starts anew too.
        """
        super().__init__("pathways:index:Workload", name, {}, opts)
        job_set = manifests.job_set(plan)
        # The old one is gone by the time that the new one is refused: giving up would leave no job at all.
        patient = pulumi.ResourceHookBinding(on_error=[pulumi.ErrorHook(f"{name}-webhook", wait_for_webhook)])
        created = kubernetes.apiextensions.CustomResource(
            f"{name}-jobset",
            api_version=job_set["apiVersion"],
            kind=job_set["kind"],
            metadata=job_set["metadata"],
            spec=job_set["spec"],
            opts=named_child(self, opts, replace_on_changes=["spec"], replace_with=list(pools), hooks=patient),
        )
        self.metadata = created.metadata  # type: ignore[attr-defined]  # the SDK adds it at run time
        self.register_outputs({})


class ProxyDoor(pulumi.ComponentResource):
    """An internal load balancer in front of the proxy.

    Apart from the other objects, since it owns things outside the cluster: it is deleted by itself, before its cluster,
    so that no load balancer stays behind.
    """

    address: Output[str]

    def __init__(
        self,
        name: str,
        plan: Plan,
        *,
        client_range: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Create it, open to `client_range`."""
        super().__init__("pathways:index:ProxyDoor", name, {}, opts)
        service = kubernetes.core.v1.Service(
            f"{name}-service",
            **_arguments(manifests.proxy_service(plan, client_range)),
            opts=named_child(self, opts),
        )
        self.address = service.status.load_balancer.ingress[0].ip
        self.register_outputs({"address": self.address})


def _arguments(manifest: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in manifest.items() if key not in ("apiVersion", "kind")}
