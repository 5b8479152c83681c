"""Components with the options that the recorder has to follow."""

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as k8s


class Pools(pulumi.ComponentResource):
    """Node pools side by side."""

    def __init__(self, name: str, count: int, cluster: gcp.container.Cluster, opts: pulumi.ResourceOptions) -> None:
        super().__init__("toy:index:Pools", name, {"count": count}, opts)
        for index in range(count):
            gcp.container.NodePool(
                f"{name}-{index}",
                name=f"pool-{index}",
                cluster=cluster.name,
                location="us-east5",
                node_count=4,
                opts=pulumi.ResourceOptions(
                    parent=self,
                    custom_timeouts=pulumi.CustomTimeouts(create="60m"),
                    ignore_changes=["node_count", "nodeConfig.labels"],
                    replace_on_changes=["placementPolicy"],
                    delete_before_replace=True,
                ),
            )
        self.register_outputs({"count": count})


class Inside(pulumi.ComponentResource):
    """Objects inside the cluster."""

    def __init__(self, name: str, password: pulumi.Output[str], opts: pulumi.ResourceOptions) -> None:
        super().__init__("toy:index:Inside", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        namespace = k8s.core.v1.Namespace(f"{name}-ns", metadata={"name": "team"}, opts=child)
        k8s.core.v1.Secret(
            f"{name}-secret",
            metadata={"name": "token", "namespace": "team"},
            string_data={"password": password},
            opts=pulumi.ResourceOptions(parent=self, depends_on=[namespace]),
        )
        k8s.apiextensions.CustomResource(
            f"{name}-job",
            api_version="jobset.x-k8s.io/v1alpha2",
            kind="JobSet",
            metadata={"name": "train", "namespace": "team"},
            spec={"replicatedJobs": [{"name": "worker", "replicas": 2}]},
            opts=pulumi.ResourceOptions(
                parent=self, depends_on=[namespace], aliases=[pulumi.Alias(name="old-job")], protect=False
            ),
        )
        k8s.helm.v3.Release(
            f"{name}-chart",
            name="jobset",
            chart="oci://registry.k8s.io/jobset/charts/jobset",
            version="0.12.0",
            skip_crds=True,
            opts=child,
        )
        self.register_outputs({"namespace": namespace.metadata["name"]})
