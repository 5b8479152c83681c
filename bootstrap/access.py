"""Who may do what: GitHub's jobs, the two service accounts, and their roles. Values only.

Sources: GitHub's OIDC claims; IAM's workload identity federation (attribute conditions in CEL) and its conditions on
which roles a principal may grant (`modifiedGrantsByRole`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from bootstrap.settings import Settings

ISSUER = "https://token.actions.githubusercontent.com"

PREVIEW, DRIFT, APPLY = "preview", "drift", "apply"
"""The GitHub environments whose jobs are let in. A job without one has no claim to map, and gets nothing."""

MAPPING = {
    "google.subject": "assertion.sub",
    "attribute.environment": "assertion.environment",
    "attribute.repository_id": "assertion.repository_id",
    "attribute.repository_owner_id": "assertion.repository_owner_id",
}

# The last three are what the two accounts call in other projects: a call counts as one of the account's own project.
SERVICES = (
    "cloudkms.googleapis.com",
    "cloudresourcemanager.googleapis.com",
    "iam.googleapis.com",
    "iamcredentials.googleapis.com",
    "serviceusage.googleapis.com",
    "storage.googleapis.com",
    "sts.googleapis.com",
    "artifactregistry.googleapis.com",
    "compute.googleapis.com",
    "container.googleapis.com",
)

GRANTED_BY_STACKS = ("roles/container.defaultNodeServiceAccount",)
"""The only project roles that a stack of this repository gives to anybody."""


@dataclass(frozen=True, slots=True)
class Account:
    """One of the identities.

    Attributes:
        id: the service account's id.
        title: what it is for.
        environments: the GitHub environments whose jobs may act as it.
        roles: predefined roles in every project of the stacks.
        custom_role, permissions: a role of our own there, for what no narrow predefined role has.
        may_grant: the project roles that it may give and take.
        state_role: its role on the bucket of the state.
        key_role: its role on the key that encrypts the secrets in the state.
    """

    id: str
    title: str
    environments: tuple[str, ...]
    roles: tuple[str, ...]
    custom_role: str
    permissions: tuple[str, ...]
    state_role: str
    key_role: str
    may_grant: tuple[str, ...] = field(default=())


READS = (
    "artifactregistry.repositories.getIamPolicy",
    "iam.serviceAccounts.get",
    "resourcemanager.projects.get",
    "resourcemanager.projects.getIamPolicy",
    "serviceusage.services.get",
    "serviceusage.services.list",
    "storage.buckets.get",
    "storage.buckets.getIamPolicy",
)

PREVIEWER = Account(
    id="pathways-preview",
    title="Previews of pull requests, and drift",
    environments=(PREVIEW, DRIFT),
    roles=("roles/compute.viewer", "roles/container.viewer"),
    custom_role="pathwaysPreview",
    permissions=READS,
    state_role="roles/storage.objectViewer",
    key_role="roles/cloudkms.cryptoKeyDecrypter",
)

APPLIER = Account(
    id="pathways-apply",
    title="Applies what has been merged",
    environments=(APPLY,),
    roles=(
        "roles/compute.networkAdmin",
        "roles/compute.viewer",
        "roles/container.admin",
        "roles/serviceusage.serviceUsageAdmin",
    ),
    custom_role="pathwaysApply",
    permissions=(
        *READS,
        "artifactregistry.repositories.setIamPolicy",
        "compute.resourcePolicies.create",
        "compute.resourcePolicies.delete",
        "compute.resourcePolicies.update",
        "compute.resourcePolicies.use",
        "iam.serviceAccounts.actAs",
        "iam.serviceAccounts.create",
        "iam.serviceAccounts.delete",
        "iam.serviceAccounts.list",
        "iam.serviceAccounts.update",
        "storage.buckets.create",
        "storage.buckets.delete",
        "storage.buckets.list",
        "storage.buckets.setIamPolicy",
        "storage.buckets.update",
        "storage.objects.list",
    ),
    state_role="roles/storage.objectUser",
    key_role="roles/cloudkms.cryptoKeyEncrypterDecrypter",
    may_grant=GRANTED_BY_STACKS,
)

ACCOUNTS = (PREVIEWER, APPLIER)


def condition(settings: Settings) -> str:
    """Which tokens of GitHub are taken at all: this repository by its numbers, never by names.

    Previews are of pull requests; drift and apply run on the deployed branch.
    """
    repository = settings.repository
    preview = f"assertion.environment == '{PREVIEW}' && assertion.event_name == 'pull_request'"
    deployed = f"assertion.environment in ['{DRIFT}', '{APPLY}'] && assertion.ref == 'refs/heads/{settings.branch}'"
    return (
        f"assertion.repository_owner_id == '{repository.owner_id}' && assertion.repository_id == '{repository.id}'"
        f" && (({preview}) || ({deployed}))"
    )


def principal_set(environment: str) -> tuple[str, str]:
    """The jobs of one environment, as an IAM member: what stands before and behind the name of the pool.

    That name has the project's number, which only the cloud knows.
    """
    return "principalSet://iam.googleapis.com/", f"/attribute.environment/{environment}"


def grant_condition(roles: tuple[str, ...]) -> str:
    """Lets `roles/resourcemanager.projectIamAdmin` give and take only these roles."""
    listed = ", ".join(f"'{role}'" for role in roles)
    return f"api.getAttribute('iam.googleapis.com/modifiedGrantsByRole', []).hasOnly([{listed}])"


def state_bucket(settings: Settings) -> str:
    """The name of the state's bucket; names of buckets are the whole world's, those of projects too."""
    return f"{settings.project}-pathways-state"
