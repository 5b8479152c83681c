"""A small program that has one of everything the recorder must follow."""

from typing import Any

import pulumi
import pulumi_gcp as gcp
import pulumi_kubernetes as k8s
from toy_parts import Inside, Pools  # type: ignore[import-not-found]

config = pulumi.Config()
zone = config.require("zone")
password = config.require_secret("password")

provider = gcp.Provider("google", project=pulumi.Config("gcp").require("project"))
google = pulumi.ResourceOptions(provider=provider)
project = gcp.organizations.get_project_output(
    project_id=pulumi.Config("gcp").require("project"), opts=pulumi.InvokeOutputOptions(provider=provider)
)


def label(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    """Mark buckets, and protect them."""
    if args.type_ != "gcp:storage/bucket:Bucket":
        return None
    props: dict[str, Any] = dict(args.props)
    return pulumi.ResourceTransformResult(
        {**props, "labels": {"order": f"{props['labels']['order']}-stack"}},
        pulumi.ResourceOptions.merge(args.opts, pulumi.ResourceOptions(protect=True)),
    )


def first(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult:
    """Run before the stack's transform."""
    return pulumi.ResourceTransformResult({**args.props, "labels": {"order": "own"}}, args.opts)


pulumi.runtime.register_resource_transform(label)

cluster = gcp.container.Cluster(
    "cluster",
    name="toy-dev",
    location="us-east5",
    initial_node_count=1,
    opts=pulumi.ResourceOptions(provider=provider, protect=True),
)
bucket = gcp.storage.Bucket(
    "scratch",
    name="toy-scratch",
    location="us-east5",
    opts=pulumi.ResourceOptions(provider=provider, transforms=[first], retain_on_delete=True),
)
gcp.storage.BucketIAMMember(
    "member",
    bucket=bucket.name,
    role="roles/storage.objectUser",
    member=pulumi.Output.format("serviceAccount:{0}@x.iam.gserviceaccount.com", project.number),
    opts=google,
)
Pools("pools", config.require_int("pools"), cluster, pulumi.ResourceOptions(providers=[provider]))
kubernetes = k8s.Provider(
    "kubernetes",
    kubeconfig=pulumi.Output.format("server: {0}", cluster.endpoint),
    cluster_identifier="acme-toy/us-east5/toy-dev",
)
Inside("inside", password, pulumi.ResourceOptions(providers=[kubernetes], deleted_with=cluster))
pulumi.log.warn("toys are not for production")
pulumi.export("endpoint", cluster.endpoint)
pulumi.export("password", password)
pulumi.export("pools", config.require_int("pools"))
