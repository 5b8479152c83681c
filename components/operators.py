"""Operators: the JobSet controller, as a pinned chart with its CRD beside it."""

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi import CustomTimeouts

from components.common import child
from components.crds import job_set_crd
from pathways.operators import JOBSET_NAMESPACE, job_set_values
from pathways.plan import Plan
from pathways.settings.platform import JobSetOperator

_HELM_SECONDS = 600


class Operators(pulumi.ComponentResource):
    """The JobSet controller. It waits for nodes to run on, and for no TPU pool."""

    def __init__(
        self,
        name: str,
        plan: Plan,
        settings: JobSetOperator,
        *,
        crd_provider: kubernetes.Provider,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Install CRD and chart; `crd_provider` may take over a CRD that an earlier stack left."""
        super().__init__("pathways:index:Operators", name, {}, opts)
        crd = job_set_crd(settings.version)
        # Helm installs a chart's CRD once and never again, so an upgrade would leave the old one: the CRD is ours.
        # And it outlives us: deleting a CRD deletes every JobSet of the cluster, those of other teams too.
        definition = kubernetes.apiextensions.CustomResource(
            f"{name}-jobset-crd",
            api_version=crd["apiVersion"],
            kind=crd["kind"],
            metadata=crd["metadata"],
            spec=crd["spec"],
            opts=child(self, opts, provider=crd_provider, retain_on_delete=True),
        )
        kubernetes.helm.v3.Release(
            f"{name}-jobset",
            name="jobset",
            namespace=JOBSET_NAMESPACE,
            create_namespace=True,
            chart=settings.chart,
            version=settings.version,
            skip_crds=True,
            atomic=True,
            cleanup_on_fail=True,
            timeout=_HELM_SECONDS,
            values=job_set_values(plan, settings),
            opts=child(
                self,
                opts,
                depends_on=[definition],
                delete_before_replace=True,
                custom_timeouts=CustomTimeouts(create="15m", update="15m", delete="15m"),
            ),
        )
        self.register_outputs({})
