"""Identity: the nodes' service account, and who may use the scratch bucket."""

import pulumi
from pulumi import Output
from pulumi_gcp import artifactregistry, organizations, projects, serviceaccount, storage

from components.common import Place, child, named_child
from components.lookup import Lookup
from pathways.names import Names

# Node agents write logs and metrics; the role has nothing else, and is given by project only.
_NODE_ROLE = "roles/container.defaultNodeServiceAccount"
_READ_IMAGES = "roles/artifactregistry.reader"
# Objects, and `buckets.get`, which TensorStore and Orbax ask for.
_BUCKET_ROLES = {"objects": "roles/storage.objectAdmin", "bucket": "roles/storage.legacyBucketReader"}


class NodeIdentity(pulumi.ComponentResource):
    """A service account for the stack's nodes, with what a node needs and no more."""

    email: Output[str]
    member: Output[str]

    def __init__(
        self,
        name: str,
        place: Place,
        names: Names,
        *,
        repositories: list[tuple[str, str]],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Create it; `repositories` are those of the project that images come from, as (location, id)."""
        super().__init__("pathways:index:NodeIdentity", name, {}, opts)
        account = serviceaccount.Account(
            f"{name}-account",
            account_id=names.node_service_account,
            project=place.project,
            display_name=f"Nodes of {names.prefix}",
            opts=named_child(self, opts),
        )
        projects.IAMMember(
            f"{name}-node-agents", project=place.project, role=_NODE_ROLE, member=account.member, opts=child(self, opts)
        )
        for location, repository in repositories:
            artifactregistry.RepositoryIamMember(
                f"{name}-images-{location}-{repository}",
                project=place.project,
                location=location,
                repository=repository,
                role=_READ_IMAGES,
                member=account.member,
                opts=child(self, opts),
            )
        self.email, self.member = account.email, account.member
        self.register_outputs({"email": account.email})


class BucketAccess(pulumi.ComponentResource):
    """The roles on the scratch bucket, for the one principal the pods act as."""

    def __init__(
        self,
        name: str,
        *,
        bucket: pulumi.Input[str],
        member: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Grant them to `member`."""
        super().__init__("pathways:index:BucketAccess", name, {}, opts)
        for what, role in _BUCKET_ROLES.items():
            storage.BucketIAMMember(f"{name}-{what}", bucket=bucket, role=role, member=member, opts=child(self, opts))
        self.register_outputs({})


def workload_principal(place: Place, names: Names, pool: str, lookup: Lookup) -> Output[str]:
    """The Kubernetes service account as an IAM principal: the project's *number* in the path, its *id* in the pool."""
    project = lookup.answer(
        organizations.get_project_output(project_id=place.project, opts=lookup.opts),
        key="gcp:project",
        name=place.project,
        rule="the project exists, and you may see it",
        fix="write one of `gcloud projects list`",
    )
    subject = f"ns/{names.namespace}/sa/{names.service_account}"
    return Output.concat(
        "principal://iam.googleapis.com/projects/",
        project.number,
        f"/locations/global/workloadIdentityPools/{pool}/subject/{subject}",
    )
