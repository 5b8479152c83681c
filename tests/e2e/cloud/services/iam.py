"""Projects' services, service accounts and single grants."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING
from zlib import crc32

from tests.e2e.cloud.config import ProviderConfig
from tests.e2e.cloud.errors import CloudError, invalid, not_found
from tests.e2e.cloud.services.base import Service, tail
from tests.e2e.cloud.store import Record
from tests.e2e.cloud.wire import Props

if TYPE_CHECKING:
    from tests.e2e.cloud.cloud import Cloud

ACCOUNT = "gcp:serviceaccount/account:Account"
SERVICE = "gcp:projects/service:Service"
IDENTITY_POOL = "cloud:workloadIdentityPool"


class ProjectService(Service):
    """An API that is switched on."""

    token, api, idempotent = SERVICE, "serviceusage.googleapis.com", True

    def id(self, props: Props) -> str:
        """PROJECT/SERVICE."""
        return f"{props['project']}/{props['service']}"

    def name(self, props: Props) -> str:
        """The service's host name."""
        return str(props["service"])

    def complete(self, cloud: Cloud, inputs: Props, config: ProviderConfig) -> Props:
        """The project."""
        return {"project": config.project, "deletionPolicy": "DELETE", **inputs}

    def finish(self, cloud: Cloud, record: Record) -> None:
        """On from now on."""
        cloud.enable(record.project, record.name)

    def removed(self, cloud: Cloud, record: Record) -> None:
        """Off only when told so: the default is to leave it on."""
        if record.props.get("disableOnDestroy"):
            cloud.disable(record.project, record.name)


class Account(Service):
    """A service account."""

    token, api = ACCOUNT, "iam.googleapis.com"

    @staticmethod
    def _email(props: Props) -> str:
        return f"{props['accountId']}@{props['project']}.iam.gserviceaccount.com"

    def id(self, props: Props) -> str:
        """projects/P/serviceAccounts/EMAIL."""
        return f"projects/{props['project']}/serviceAccounts/{self._email(props)}"

    def name(self, props: Props) -> str:
        """The account id."""
        return str(props["accountId"])

    def complete(self, cloud: Cloud, inputs: Props, config: ProviderConfig) -> Props:
        """E-mail, member text, number."""
        props = {"project": config.project, "deletionPolicy": "DELETE", **inputs}
        email = self._email(props)
        unique = f"1{crc32(email.encode()):020d}"
        return {
            **props,
            "email": email,
            "member": f"serviceAccount:{email}",
            "name": self.id(props),
            "uniqueId": unique,
        }


class Member(Service):
    """One role for one member on one resource. Granting twice is no conflict."""

    idempotent = True

    def __init__(self, token: str, api: str, key: str, identify: Callable[[Props], str]) -> None:
        self.token = token  # type: ignore[misc]
        self.api = api  # type: ignore[misc]
        self.key = key
        self._identify = identify

    def id(self, props: Props) -> str:
        """RESOURCE/ROLE/MEMBER, and the title of a condition."""
        parts = (self._identify(props), props["role"], props["member"], props.get("condition", {}).get("title"))
        return "/".join(part for part in parts if part)

    def name(self, props: Props) -> str:
        """The resource, role and member."""
        return f"{tail(props[self.key])} {props['role']} {props['member']}"

    def complete(self, cloud: Cloud, inputs: Props, config: ProviderConfig) -> Props:
        """Location and project of a repository; the etag."""
        extra = {}
        if self.key == "repository":
            extra = {"project": config.project, "location": config.region}
        return {"etag": "BwYAAAAAAAA=", **extra, **inputs}

    def admit(self, cloud: Cloud, record: Record) -> None:
        """The resource is there, the role is one, the member exists."""
        self._resource(cloud, record)
        role = record.props["role"]
        if not re.fullmatch(r"(roles/[\w.]+|(projects|organizations)/[^/]+/roles/[\w.]+)", role):
            raise invalid(f"Role {role} is not supported for this resource.")
        _require_member(cloud, record.props["member"])

    def _resource(self, cloud: Cloud, record: Record) -> None:
        target = str(record.props[self.key])
        match self.key:
            case "bucket" if cloud.store.get("gcp:storage/bucket:Bucket", tail(target)) is None:
                raise CloudError(404, "The specified bucket does not exist.", "notFound")
            case "serviceAccountId" if not _account(cloud, tail(target)):
                raise not_found(f"Service account {tail(target)}")
            case "cryptoKeyId" if cloud.store.get("gcp:kms/cryptoKey:CryptoKey", target) is None:
                raise not_found(f"CryptoKey {target}")


def _account(cloud: Cloud, email: str) -> bool:
    """True for an account that exists and has become visible; waits as long as the provider would."""
    for account in cloud.store.all(ACCOUNT):
        if account.props["email"] == email:
            return cloud.await_visible(account)
    return email in cloud.store.setting("foreign_accounts", [])


def _require_member(cloud: Cloud, member: str) -> None:
    kind, _, who = member.partition(":")
    if kind in ("principal", "principalSet"):
        _require_pool(cloud, who)
    elif kind == "serviceAccount":
        workload = re.fullmatch(r"([^\[]+\.svc\.id\.goog)\[[^/]+/[^/]+\]", who)
        agent = re.search(r"@(gcp-sa-[\w-]+|gs-project-accounts|container-engine-robot|compute-system)\.", who)
        if workload:
            _require_visible_pool(cloud, workload[1])
        elif not agent and not who.endswith("developer.gserviceaccount.com") and not _account(cloud, who):
            raise invalid(f"Service account {who} does not exist.")


_PRINCIPAL = re.compile(
    r"//iam\.googleapis\.com/projects/(?P<number>[^/]+)/locations/global/workloadIdentityPools/(?P<pool>[^/]+)/(?P<rest>.+)"
)


def _require_pool(cloud: Cloud, who: str) -> None:
    """A principal names its project by number and its pool by the project's id."""
    found = _PRINCIPAL.fullmatch(who)
    if found is None:
        raise invalid(
            f"Invalid principal {who}: expected projects/NUMBER/locations/global/workloadIdentityPools/POOL/…"
        )
    project = found["pool"].removesuffix(".svc.id.goog")
    if found["number"] != cloud.project_number(project):
        raise invalid(
            f"Identity Pool does not exist (projects/{found['number']}, {found['pool']}): wrong project number."
        )
    _require_visible_pool(cloud, found["pool"])
    if not re.match(
        r"(subject/ns/[a-z0-9-]+/sa/[a-z0-9.-]+|attribute\.|group/|\*|namespace/|kubernetes\.)", found["rest"]
    ):
        raise invalid(f"Invalid principal {who}: expected subject/ns/NAMESPACE/sa/NAME")


def _require_visible_pool(cloud: Cloud, name: str) -> None:
    pool = cloud.store.get(IDENTITY_POOL, name)
    if pool is None or pool.visible_at > cloud.now():
        raise invalid(
            f"Identity Pool does not exist ({name}). Please check that you specified a valid resource name as returned "
            "in the `name` attribute in the configuration API."
        )


def _bucket(props: Props) -> str:
    return f"b/{tail(props['bucket'])}"


def _repository(props: Props) -> str:
    return f"projects/{props['project']}/locations/{props['location']}/repositories/{tail(props['repository'])}"


def members() -> list[Service]:
    """One service for each kind of grant."""
    project, account = "gcp:projects/iAMMember:IAMMember", "gcp:serviceaccount/iAMMember:IAMMember"
    bucket, key = "gcp:storage/bucketIAMMember:BucketIAMMember", "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"
    repository = "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember"
    return [
        Member(project, "cloudresourcemanager.googleapis.com", "project", lambda p: str(p["project"])),
        Member(account, "iam.googleapis.com", "serviceAccountId", lambda p: str(p["serviceAccountId"])),
        Member(bucket, "storage.googleapis.com", "bucket", _bucket),
        Member(key, "cloudkms.googleapis.com", "cryptoKeyId", lambda p: str(p["cryptoKeyId"])),
        Member(repository, "artifactregistry.googleapis.com", "repository", _repository),
    ]
