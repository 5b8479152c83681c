"""The resources: state, federation, and one account with its grants for each of the two identities."""

from typing import Any

import pulumi
from pulumi import Output, ResourceOptions
from pulumi_gcp import Provider, iam, kms, projects, serviceaccount, storage

from bootstrap.access import (
    ACCOUNTS,
    APPLIER,
    ISSUER,
    MAPPING,
    PREVIEWER,
    SERVICES,
    Account,
    condition,
    grant_condition,
    principal_set,
    state_bucket,
)
from bootstrap.settings import Settings

_LABELS = {"app": "pathways", "component": "bootstrap"}
_POOL = "pathways-github"
_NINETY_DAYS = "7776000s"


def _child(parent: pulumi.Resource, opts: ResourceOptions | None, **options: Any) -> ResourceOptions:
    """Options of a resource inside a component: what the component waits for, its children wait for by name."""
    awaited: Any = opts.depends_on if opts else None
    return ResourceOptions(parent=parent, depends_on=awaited, **options)


class State(pulumi.ComponentResource):
    """Where the engine keeps its state, and the key that encrypts the secrets in it."""

    bucket: storage.Bucket
    key: kms.CryptoKey

    def __init__(self, name: str, settings: Settings, *, opts: ResourceOptions | None = None) -> None:
        """Create both; neither can be destroyed before it is unprotected."""
        super().__init__("pathways:bootstrap:State", name, {}, opts)
        kept = _child(self, opts, protect=True)
        self.bucket = storage.Bucket(
            f"{name}-bucket",
            name=state_bucket(settings),
            location=settings.region,
            uniform_bucket_level_access=True,
            public_access_prevention="enforced",
            force_destroy=False,
            versioning={"enabled": True},
            # An old state is only of use for undoing a mishap, and one that is a year old for nothing.
            lifecycle_rules=[
                {
                    "action": {"type": "Delete"},
                    "condition": {"days_since_noncurrent_time": 365, "num_newer_versions": 20},
                }
            ],
            opts=kept,
        )
        ring = kms.KeyRing(f"{name}-ring", name="pathways", location=settings.region, opts=kept)
        self.key = kms.CryptoKey(
            f"{name}-key",
            name="state",
            key_ring=ring.id,
            purpose="ENCRYPT_DECRYPT",
            rotation_period=_NINETY_DAYS,
            opts=kept,
        )
        self.register_outputs({})


class Federation(pulumi.ComponentResource):
    """GitHub's jobs as principals of Google Cloud, without any key."""

    pool: iam.WorkloadIdentityPool
    provider: iam.WorkloadIdentityPoolProvider

    def __init__(self, name: str, settings: Settings, *, opts: ResourceOptions | None = None) -> None:
        """Create the pool and its one provider."""
        super().__init__("pathways:bootstrap:Federation", name, {}, opts)
        self.pool = iam.WorkloadIdentityPool(
            f"{name}-pool",
            workload_identity_pool_id=_POOL,
            display_name="Workflows of Pathways",
            opts=_child(self, opts),
        )
        self.provider = iam.WorkloadIdentityPoolProvider(
            f"{name}-provider",
            workload_identity_pool_id=self.pool.workload_identity_pool_id,
            workload_identity_pool_provider_id="github",
            display_name="GitHub Actions",
            description=f"Jobs of {settings.repository.name}, by its numeric id",
            attribute_mapping=MAPPING,
            attribute_condition=condition(settings),
            oidc={"issuer_uri": ISSUER},
            opts=_child(self, opts),
        )
        self.register_outputs({})


class Identity(pulumi.ComponentResource):
    """A service account that jobs of some environments act as, and all that it may do."""

    email: Output[str]

    def __init__(
        self,
        name: str,
        account: Account,
        settings: Settings,
        *,
        state: State,
        pool: pulumi.Input[str],
        opts: ResourceOptions | None = None,
    ) -> None:
        """Create it and grant it; `pool` is the name of the federation's pool, with the project's number."""
        super().__init__("pathways:bootstrap:Identity", name, {}, opts)
        self._own = _child(self, opts)
        made = serviceaccount.Account(
            f"{name}-account", account_id=account.id, display_name=account.title, opts=self._own
        )
        self.email = made.email
        for environment in account.environments:
            before, behind = principal_set(environment)
            serviceaccount.IAMMember(
                f"{name}-jobs-{environment}",
                service_account_id=made.name,
                role="roles/iam.workloadIdentityUser",
                member=Output.concat(before, pool, behind),
                opts=self._own,
            )
        storage.BucketIAMMember(
            f"{name}-state", bucket=state.bucket.name, role=account.state_role, member=made.member, opts=self._own
        )
        kms.CryptoKeyIAMMember(
            f"{name}-key", crypto_key_id=state.key.id, role=account.key_role, member=made.member, opts=self._own
        )
        for project in settings.projects:
            self._grant(f"{name}-{project}", account, project, made.member)
        self.register_outputs({"email": made.email})

    def _grant(self, name: str, account: Account, project: str, member: Output[str]) -> None:
        """What the account may do in one project of the stacks."""
        for role in account.roles:
            projects.IAMMember(
                f"{name}-{role.removeprefix('roles/')}", project=project, role=role, member=member, opts=self._own
            )
        custom = projects.IAMCustomRole(
            f"{name}-role",
            project=project,
            role_id=account.custom_role,
            title=account.title,
            permissions=list(account.permissions),
            opts=self._own,
        )
        projects.IAMMember(
            f"{name}-custom",
            project=project,
            role=f"projects/{project}/roles/{account.custom_role}",
            member=member,
            opts=ResourceOptions.merge(self._own, ResourceOptions(depends_on=[custom])),
        )
        if account.may_grant:
            projects.IAMMember(
                f"{name}-grants",
                project=project,
                role="roles/resourcemanager.projectIamAdmin",
                member=member,
                condition={"title": "only what stacks grant", "expression": grant_condition(account.may_grant)},
                opts=self._own,
            )


class BootstrapStack(pulumi.ComponentResource):
    """All of it."""

    outputs: dict[str, Any]

    def __init__(self, name: str, settings: Settings, *, opts: ResourceOptions | None = None) -> None:
        """Create everything; `outputs` is what the program exports."""
        super().__init__("pathways:bootstrap:Stack", name, {}, opts)
        google = Provider(
            "google",
            project=settings.project,
            region=settings.region,
            default_labels=_LABELS,
            opts=ResourceOptions(parent=self),
        )
        here = ResourceOptions(parent=self, providers=[google])
        services = [
            projects.Service(
                f"{name}-{service.partition('.')[0]}",
                service=service,
                disable_on_destroy=False,
                opts=ResourceOptions(parent=self, provider=google),
            )
            for service in SERVICES
        ]
        ready = ResourceOptions.merge(here, ResourceOptions(depends_on=services))
        state = State("state", settings, opts=ready)
        federation = Federation("federation", settings, opts=ready)
        emails = {
            account.id: Identity(
                account.id, account, settings, state=state, pool=federation.pool.name, opts=ready
            ).email
            for account in ACCOUNTS
        }
        self.outputs = {
            "repositoryVariables": {
                "PATHWAYS_IDENTITY_PROVIDER": federation.provider.name,
                "PATHWAYS_PREVIEW_ACCOUNT": emails[PREVIEWER.id],
                "PATHWAYS_APPLY_ACCOUNT": emails[APPLIER.id],
                "PATHWAYS_STATE": Output.concat("gs://", state.bucket.name),
            },
            "secretsProvider": Output.concat("gcpkms://", state.key.id),
        }
        self.register_outputs({})
