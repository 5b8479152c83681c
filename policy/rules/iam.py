"""Rules of who may do what in Google Cloud."""

from __future__ import annotations

import re

from offline.recording import Resource
from policy.expect import Problem, at
from policy.model import Each, Rule
from policy.rules.pools import DEFAULT_ACCOUNT

PROJECT_MEMBER = "gcp:projects/iAMMember:IAMMember"
ACCOUNT_MEMBER = "gcp:serviceaccount/iAMMember:IAMMember"
GRANTS = ("gcp:*",)
# Node agents write logs and metrics of the whole project; this role has nothing else and cannot be given by resource.
PROJECT_ROLES = frozenset({"roles/container.defaultNodeServiceAccount"})

_GRANT_TYPE = re.compile(r"I[aA][mM]Member$")
_AUTHORITATIVE = re.compile(r"I[aA][mM](Binding|Policy)$")
_BASIC = {"roles/owner", "roles/editor", "roles/viewer"}
_IMPERSONATES = {
    "roles/iam.serviceAccountUser",
    "roles/iam.serviceAccountTokenCreator",
    "roles/iam.workloadIdentityUser",
}


def _rule(
    id: str,
    source: tuple[str, ...],
    sentence: str,
    fix: str,
    problem: Problem,
    *,
    types: tuple[str, ...] = GRANTS,
) -> Rule:
    return Rule(id=id, level="mandatory", source=source, sentence=sentence, fix=fix, check=Each(types, problem))


def _member(resource: Resource) -> str:
    """Whom a grant is for; empty where it is not known, or the resource is no grant."""
    found = at(resource.inputs, "member")
    return found if _GRANT_TYPE.search(resource.type) and isinstance(found, str) else ""


def _role(resource: Resource) -> str:
    found = at(resource.inputs, "role")
    return found if isinstance(found, str) else ""


def _everybody(resource: Resource) -> str | None:
    member = _member(resource)
    return f"member is {member}" if member in ("allUsers", "allAuthenticatedUsers") else None


def _person(resource: Resource) -> str | None:
    member = _member(resource)
    return f"member is {member}" if member.startswith("user:") else None


def _default_account(resource: Resource) -> str | None:
    account = _member(resource).removeprefix("serviceAccount:")
    is_default = DEFAULT_ACCOUNT.fullmatch(account) or account.endswith("@appspot.gserviceaccount.com")
    return f"member is {_member(resource)}" if is_default else None


def _basic_role(resource: Resource) -> str | None:
    return f"role is {_role(resource)}" if _member_type(resource) and _role(resource) in _BASIC else None


def _member_type(resource: Resource) -> bool:
    return bool(_GRANT_TYPE.search(resource.type))


def _impersonation(resource: Resource) -> str | None:
    return f"role is {_role(resource)}" if _role(resource) in _IMPERSONATES else None


def _administrator(resource: Resource) -> str | None:
    powerful = re.search(r"[aA]dmin$", _role(resource)) and _member(resource).startswith("serviceAccount:")
    return f"role is {_role(resource)}" if powerful else None


def _whole_project(resource: Resource) -> str | None:
    role = _role(resource)
    return None if not role or role in PROJECT_ROLES else f"role is {role}"


def _authoritative(resource: Resource) -> str | None:
    kind = resource.type.rpartition(":")[2]
    return f"{kind} takes roles from everybody it does not name" if _AUTHORITATIVE.search(kind) else None


def _wide_principal(resource: Resource) -> str | None:
    member = _member(resource)
    return f"member is {member}" if member.startswith("principalSet:") and "svc.id.goog" in member else None


def _any_key(resource: Resource) -> str | None:
    return f"{resource.name} is a key of a service account"


RULES: tuple[Rule, ...] = (
    _rule(
        "iam-not-everybody",
        ("CKV_GCP_28", "CKV_GCP_112", "CKV2_GCP_6", "GCP-0001", "GCP-0008"),
        "No role is given to everybody on the internet, or to everybody who is signed in.",
        "member: one service account, group or principal",
        _everybody,
    ),
    _rule(
        "iam-no-person",
        ("GCP-0003",),
        "Roles go to groups and service accounts: a person who leaves would keep what was given by name.",
        "member: group:…",
        _person,
    ),
    _rule(
        "iam-no-default-account",
        ("CKV_GCP_46", "GCP-0004", "GCP-0006", "GCP-0008"),
        "Default service accounts get no role: everything that runs without an account of its own would have it.",
        "member: a service account of its own",
        _default_account,
    ),
    _rule(
        "iam-no-basic-role",
        ("CKV_GCP_117",),
        "Nobody gets owner, editor or viewer.",
        "role: the narrowest that does",
        _basic_role,
    ),
    _rule(
        "iam-no-project-impersonation",
        ("CKV_GCP_41", "CKV_GCP_49", "GCP-0005", "GCP-0009", "GCP-0011"),
        "Nobody may act as every service account of the project.",
        "grant the role on one service account (serviceaccount.IAMMember)",
        _impersonation,
        types=(PROJECT_MEMBER,),
    ),
    _rule(
        "iam-no-project-administrator",
        ("CKV_GCP_42", "GCP-0007"),
        "No service account administers the whole project.",
        "grant the role on one resource",
        _administrator,
        types=(PROJECT_MEMBER,),
    ),
    _rule(
        "iam-no-project-grant",
        ("ours",),
        f"A role is given on the narrowest resource, but for those that nodes need ({', '.join(PROJECT_ROLES)}).",
        "storage.BucketIAMMember, artifactregistry.RepositoryIamMember and their like",
        _whole_project,
        types=(PROJECT_MEMBER,),
    ),
    _rule(
        "iam-members-only",
        ("ours",),
        "A grant adds to what others granted; bindings and policies take it away.",
        "the type's IAMMember",
        _authoritative,
    ),
    _rule(
        "iam-no-keys",
        ("CKV2_GCP_3",),
        "Service accounts have no keys: they are copied, and do not expire.",
        "workload identity, in or outside Google Cloud",
        _any_key,
        types=("gcp:serviceaccount/key:Key",),
    ),
    _rule(
        "ksa-principal-is-one",
        ("ours",),
        "A role for pods names one Kubernetes service account, not a namespace or a whole project's clusters.",
        "member: principal://…/subject/ns/NAMESPACE/sa/NAME",
        _wide_principal,
    ),
)
