"""The stack as a whole, through the unmodified program: what is created, who may do what, and who is let in."""

from __future__ import annotations

import re
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

import offline
from bootstrap.access import ACCOUNTS, APPLIER, GRANTED_BY_STACKS, PREVIEWER, condition
from offline.recording import Mode, Recording, Resource
from offline.stackfile import known_stacks
from tests.bootstrap.test_settings import loaded
from tests.project.checkout import ROOT
from tests.support import google_schema
from tests.support.recording import read
from tests.support.recordings import PROJECT, committed

FOLDER = ROOT / "bootstrap"
PROJECT_GRANT = "gcp:projects/iAMMember:IAMMember"
MODES: tuple[Mode, ...] = ("preview", "up")


@cache
def recorded(mode: Mode) -> Recording:
    return offline.record(str(FOLDER / "example.yaml"), project=FOLDER, mode=mode)


def of_type(type_: str) -> list[Resource]:
    return [each for each in recorded("up").resources if each.type == type_]


def only(type_: str) -> dict[str, Any]:
    (found,) = of_type(type_)
    return dict(found.inputs)


@pytest.mark.parametrize("mode", MODES)
def test_inputs_are_the_provider_s(mode: Mode) -> None:
    schema = google_schema.from_environment()
    if schema is None:
        pytest.skip(f"{google_schema.VARIABLE} names no schema")
    found = google_schema.problems(read(recorded(mode).to_json()).resources, schema)
    unknown = [line for line in found if line.endswith("the schema has no such type")]
    assert {line.split(" ")[0] for line in unknown} == {
        "gcp:iam/workloadIdentityPool:WorkloadIdentityPool",
        "gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider",
        "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
    }
    assert set(found) == set(unknown)


def test_what_holds_state_and_secrets_is_protected_and_nothing_else() -> None:
    protected = {each.type for each in recorded("up").resources if each.options.protect}
    assert protected == {"gcp:storage/bucket:Bucket", "gcp:kms/keyRing:KeyRing", "gcp:kms/cryptoKey:CryptoKey"}


def test_the_bucket_keeps_old_states_and_lets_nobody_else_in() -> None:
    bucket = only("gcp:storage/bucket:Bucket")
    assert bucket["versioning"] == {"enabled": True}
    assert bucket["uniformBucketLevelAccess"] is True
    assert bucket["publicAccessPrevention"] == "enforced"
    assert bucket["forceDestroy"] is False
    assert bucket["location"] == "us-east5"
    (rule,) = bucket["lifecycleRules"]
    assert rule["action"] == {"type": "Delete"}
    assert rule["condition"].keys() == {"daysSinceNoncurrentTime", "numNewerVersions"}, "never a state in use"


def test_the_key_changes_every_ninety_days() -> None:
    assert only("gcp:kms/cryptoKey:CryptoKey")["rotationPeriod"] == f"{90 * 24 * 3600}s"


def test_everything_waits_for_the_apis_and_has_the_provider() -> None:
    services = {each.urn for each in of_type("gcp:projects/service:Service")}
    for each in recorded("up").resources:
        if each.type.startswith("gcp:") and each.urn not in services:
            assert services <= set(each.options.depends_on), each.urn
        if each.type.startswith("gcp:"):
            assert "google" in (each.options.provider or ""), each.urn


def token(**claims: str) -> SimpleNamespace:
    mine = {
        "repository_owner_id": "9876543",
        "repository_id": "123456789",
        "event_name": "push",
        "ref": "refs/heads/main",
    }
    return SimpleNamespace(**{**mine, **claims})


def let_in(claims: SimpleNamespace) -> bool:
    """The condition, whose few words Python has too; a claim that is missing is an error, which IAM takes as a no."""
    expression = only("gcp:iam/workloadIdentityPoolProvider:WorkloadIdentityPoolProvider")["attributeCondition"]
    assert re.fullmatch(r"(assertion\.\w+|'[\w/-]*'|==|&&|\|\||in|[\[\](), ])+", expression)
    try:
        return bool(eval(expression.replace("&&", "and").replace("||", "or"), {}, {"assertion": claims}))
    except AttributeError:
        return False


PULL_REQUEST = {"event_name": "pull_request", "ref": "refs/pull/7/merge"}


@pytest.mark.parametrize(
    ("claims", "expected"),
    [
        ({"environment": "apply"}, True),
        ({"environment": "drift", "event_name": "schedule"}, True),
        ({"environment": "preview", **PULL_REQUEST}, True),
        ({"environment": "apply", "repository_id": "1"}, False),
        ({"environment": "apply", "repository_owner_id": "1"}, False),
        ({"environment": "preview", **PULL_REQUEST, "repository_id": "1"}, False),
        ({"environment": "preview", **PULL_REQUEST, "repository_owner_id": "1"}, False),
        ({"environment": "apply", "ref": "refs/heads/feature"}, False),
        ({"environment": "drift", "ref": "refs/heads/feature"}, False),
        ({"environment": "apply", **PULL_REQUEST}, False),
        ({"environment": "preview"}, False),
        ({"environment": "preview", "event_name": "pull_request_target"}, False),
        ({"environment": "other"}, False),
        ({}, False),
        (PULL_REQUEST, False),
    ],
)
def test_who_is_let_in(claims: dict[str, str], expected: bool) -> None:
    assert let_in(token(**claims)) is expected


def test_nothing_is_decided_by_a_name() -> None:
    text = condition(loaded())
    assert "acme" not in text
    assert not re.search(r"assertion\.(repository|repository_owner|sub|actor)\b", text)


def test_each_account_is_for_the_jobs_of_its_environments() -> None:
    grants = {
        (each.inputs["serviceAccountId"].split("/")[-1].split("@")[0], each.inputs["member"].split("/attribute.")[1])
        for each in of_type("gcp:serviceaccount/iAMMember:IAMMember")
    }
    assert grants == {
        ("pathways-preview", "environment/preview"),
        ("pathways-preview", "environment/drift"),
        ("pathways-apply", "environment/apply"),
    }
    pool = "principalSet://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/pathways-github/"
    assert all(each.inputs["member"].startswith(pool) for each in of_type("gcp:serviceaccount/iAMMember:IAMMember"))
    roles = {each.inputs["role"] for each in of_type("gcp:serviceaccount/iAMMember:IAMMember")}
    assert roles == {"roles/iam.workloadIdentityUser"}


def test_members_of_whole_projects_have_the_documented_roles_and_no_more() -> None:
    page = (ROOT / "docs/bootstrap.md").read_text("utf-8")
    granted = {each.inputs["role"] for each in of_type(PROJECT_GRANT)}
    predefined = {role for role in granted if role.startswith("roles/")}
    assert predefined == {*PREVIEWER.roles, *APPLIER.roles, "roles/resourcemanager.projectIamAdmin"}
    assert {role for role in predefined if f"`{role}`" not in page} == set()
    permissions = {permission for account in ACCOUNTS for permission in account.permissions}
    assert {permission for permission in permissions if f"`{permission}`" not in page} == set()


@pytest.mark.parametrize("role", ["roles/owner", "roles/editor", "roles/viewer", "roles/storage.admin"])
def test_nobody_has_a_basic_role(role: str) -> None:
    assert role not in {each.inputs.get("role") for each in recorded("up").resources}


def test_grants_are_in_the_projects_of_the_stacks_only() -> None:
    assert {each.inputs["project"] for each in of_type(PROJECT_GRANT)} == {"acme-ml-dev", "acme-ml-prod"}


def test_the_previewer_can_change_nothing() -> None:
    verbs = {permission.rsplit(".", 1)[1] for permission in PREVIEWER.permissions}
    assert verbs <= {"get", "list", "getIamPolicy"}
    assert all(role.endswith((".viewer", "Viewer")) for role in PREVIEWER.roles)
    assert PREVIEWER.state_role == "roles/storage.objectViewer"
    assert PREVIEWER.key_role == "roles/cloudkms.cryptoKeyDecrypter"
    assert PREVIEWER.may_grant == ()


def test_the_applier_hands_out_only_what_stacks_grant() -> None:
    admin = [each.inputs for each in of_type(PROJECT_GRANT) if each.inputs["role"].endswith("projectIamAdmin")]
    assert len(admin) == 2
    for inputs in admin:
        assert inputs["condition"]["expression"] == (
            "api.getAttribute('iam.googleapis.com/modifiedGrantsByRole', [])"
            ".hasOnly(['roles/container.defaultNodeServiceAccount'])"
        )


@cache
def of_the_stacks() -> tuple[Resource, ...]:
    return tuple(
        resource
        for stack in known_stacks(PROJECT)
        for resource in committed(stack).resources
        if resource.type.startswith("gcp:")
    )


def test_what_stacks_grant_on_projects_is_what_the_applier_may_grant() -> None:
    assert {each.inputs["role"] for each in of_the_stacks() if each.type == PROJECT_GRANT} == set(GRANTED_BY_STACKS)


# Per type: what reading it needs, and what creating and deleting it needs; a role stands for its permissions.
NEEDS = {
    "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember": (
        "artifactregistry.repositories.getIamPolicy",
        "artifactregistry.repositories.setIamPolicy",
    ),
    "gcp:compute/address:Address": ("roles/compute.viewer", "roles/compute.networkAdmin"),
    "gcp:compute/network:Network": ("roles/compute.viewer", "roles/compute.networkAdmin"),
    "gcp:compute/resourcePolicy:ResourcePolicy": ("roles/compute.viewer", "compute.resourcePolicies.create"),
    "gcp:compute/router:Router": ("roles/compute.viewer", "roles/compute.networkAdmin"),
    "gcp:compute/routerNat:RouterNat": ("roles/compute.viewer", "roles/compute.networkAdmin"),
    "gcp:compute/subnetwork:Subnetwork": ("roles/compute.viewer", "roles/compute.networkAdmin"),
    "gcp:container/cluster:Cluster": ("roles/container.viewer", "roles/container.admin"),
    "gcp:container/nodePool:NodePool": ("roles/container.viewer", "roles/container.admin"),
    "gcp:projects/iAMMember:IAMMember": ("resourcemanager.projects.getIamPolicy", "may_grant"),
    "gcp:projects/service:Service": ("serviceusage.services.get", "roles/serviceusage.serviceUsageAdmin"),
    "gcp:serviceaccount/account:Account": ("iam.serviceAccounts.get", "iam.serviceAccounts.create"),
    "gcp:storage/bucket:Bucket": ("storage.buckets.get", "storage.buckets.create"),
    "gcp:storage/bucketIAMMember:BucketIAMMember": ("storage.buckets.getIamPolicy", "storage.buckets.setIamPolicy"),
}


def test_the_accounts_reach_every_type_that_a_stack_has() -> None:
    types = {each.type for each in of_the_stacks()}
    assert types <= NEEDS.keys(), "a new type of resource: say here and in bootstrap/access.py what it needs"
    reading, writing = ({need for type_ in types for need in [NEEDS[type_][side]]} for side in (0, 1))
    assert reading <= {*PREVIEWER.roles, *PREVIEWER.permissions}
    assert writing <= {*APPLIER.roles, *APPLIER.permissions, "may_grant"}


def test_the_variables_are_those_that_the_workflows_ask_for() -> None:
    texts = [path.read_text("utf-8") for path in (ROOT / ".github/workflows").glob("*.yml")]
    asked = {name for text in texts for name in re.findall(r"vars\.(\w+)", text)}
    made: Any = recorded("up").outputs["repositoryVariables"]
    assert set(made) == asked
    assert made["PATHWAYS_STATE"] == "gs://acme-platform-pathways-state"
    assert made["PATHWAYS_IDENTITY_PROVIDER"].endswith("/workloadIdentityPools/pathways-github/providers/github")
    key = "projects/acme-platform/locations/us-east5/keyRings/pathways/cryptoKeys/state"
    assert recorded("up").outputs["secretsProvider"] == f"gcpkms://{key}"


def test_the_environments_are_those_that_the_workflows_name() -> None:
    loaded_files = [yaml.safe_load(path.read_text("utf-8")) for path in (ROOT / ".github/workflows").glob("*.yml")]
    named = {job["environment"] for file in loaded_files for job in file["jobs"].values() if "environment" in job}
    assert named == {environment for account in ACCOUNTS for environment in account.environments}
