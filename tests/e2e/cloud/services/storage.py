"""Buckets and keys."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.e2e.cloud.config import ProviderConfig
from tests.e2e.cloud.diff import Change
from tests.e2e.cloud.errors import CloudError, ProviderError, invalid
from tests.e2e.cloud.services.base import Service, tail
from tests.e2e.cloud.store import Record
from tests.e2e.cloud.wire import Props

if TYPE_CHECKING:
    from tests.e2e.cloud.cloud import Cloud

BUCKET = "gcp:storage/bucket:Bucket"
KEY_RING = "gcp:kms/keyRing:KeyRing"
CRYPTO_KEY = "gcp:kms/cryptoKey:CryptoKey"
_DAY = 86_400


class Bucket(Service):
    """A bucket. ``meta.objects`` is the number of objects that a test has put into it."""

    token, api = BUCKET, "storage.googleapis.com"

    def id(self, props: Props) -> str:
        """The name alone: it is unique in the world."""
        return str(props["name"])

    def complete(self, cloud: Cloud, inputs: Props, config: ProviderConfig) -> Props:
        """Location in capitals, links, soft delete, uniform access."""
        props: Props = {
            "project": config.project,
            "deletionPolicy": "DELETE",
            "publicAccessPrevention": "inherited",
            "uniformBucketLevelAccess": False,
            "softDeletePolicy": {"retentionDurationSeconds": 7 * _DAY},
            "rpo": "",
            "timeCreated": "2026-01-01T00:00:00.000Z",
            "updated": "2026-01-01T00:00:00.000Z",
            **inputs,
        }
        name = props["name"]
        props["location"] = props["location"].upper()
        props["url"] = f"gs://{name}"
        props["selfLink"] = f"https://www.googleapis.com/storage/v1/b/{name}"
        props["projectNumber"] = int(cloud.project_number(props["project"]))
        return props

    def admit(self, cloud: Cloud, record: Record) -> None:
        """Names are the world's, durations the service's."""
        if record.name in cloud.store.setting("taken_buckets", []):
            raise CloudError(
                409,
                "The requested bucket name is not available. The bucket namespace is shared by all users of the "
                "system. Please select a different name and try again.",
                "conflict",
            )
        if cloud.store.get(BUCKET, record.id) is not None:
            raise CloudError(
                409, "Your previous request to create the named bucket succeeded and you already own it.", "conflict"
            )
        valid = re.fullmatch(r"[a-z0-9][-_.a-z0-9]{1,61}[a-z0-9]", record.name)
        if not valid or "google" in record.name or record.name.startswith("goog"):
            raise CloudError(400, f"Invalid bucket name: '{record.name}'", "invalid")
        self._limits(record.props)

    def update(self, cloud: Cloud, record: Record, merged: Props, changes: Sequence[Change]) -> list[str]:
        """Everything but the client's own force_destroy is a write."""
        self._limits(merged)
        record.props = merged
        own = {"forceDestroy", "deletionPolicy"}
        return [f"PATCH b/{record.name}"] if any(change.path not in own for change in changes) else []

    @staticmethod
    def _limits(props: Props) -> None:
        seconds = props.get("softDeletePolicy", {}).get("retentionDurationSeconds", 0)
        if seconds and not 7 * _DAY <= seconds <= 90 * _DAY:
            raise CloudError(
                400, "Invalid argument: soft delete retention must be 0 or between 7 and 90 days.", "invalid"
            )
        prefixes = sum(len(rule["condition"].get("matchesPrefixes", [])) for rule in props.get("lifecycleRules", []))
        if prefixes > 50:
            raise CloudError(400, "The maximum number of matchesPrefix conditions per bucket is 50.", "invalid")

    def forbid_delete(self, cloud: Cloud, record: Record, state: Props) -> None:
        """Objects keep it, unless the state says to destroy them."""
        if record.meta.get("objects", 0) and not state.get("forceDestroy"):
            raise ProviderError(
                f"Error trying to delete bucket {record.name} containing objects without `force_destroy` set to true"
            )

    def removed(self, cloud: Cloud, record: Record) -> None:
        """Its policy went with it."""
        cloud.forget_members("bucket", record.name)


class KeyRing(Service):
    """A key ring: it cannot be deleted, only forgotten."""

    token, api, outlives = KEY_RING, "cloudkms.googleapis.com", True

    def id(self, props: Props) -> str:
        """projects/P/locations/L/keyRings/N."""
        return f"projects/{props['project']}/locations/{props['location']}/keyRings/{props['name']}"

    def complete(self, cloud: Cloud, inputs: Props, config: ProviderConfig) -> Props:
        """The project."""
        return {"project": config.project, **inputs}


class CryptoKey(Service):
    """A key: its versions are destroyed, its name stays taken."""

    token, api, outlives = CRYPTO_KEY, "cloudkms.googleapis.com", True

    def id(self, props: Props) -> str:
        """RING/cryptoKeys/N."""
        return f"{props['keyRing']}/cryptoKeys/{props['name']}"

    def complete(self, cloud: Cloud, inputs: Props, config: ProviderConfig) -> Props:
        """Backend, versions, schedule."""
        defaults = {"deletionPolicy": "DELETE", "destroyScheduledDuration": "2592000s", "importOnly": False}
        template = {"algorithm": "GOOGLE_SYMMETRIC_ENCRYPTION", "protectionLevel": "SOFTWARE"}
        props = {**defaults, "versionTemplate": template, "cryptoKeyBackend": "", **inputs}
        props["primaries"] = [{"name": f"{self.id(props)}/cryptoKeyVersions/1", "state": "ENABLED"}]
        return props

    def admit(self, cloud: Cloud, record: Record) -> None:
        """The ring is there, the period sane."""
        if cloud.store.get(KEY_RING, record.props["keyRing"]) is None:
            raise CloudError(404, f"KeyRing {record.props['keyRing']} not found.", "notFound")
        period = record.props.get("rotationPeriod")
        if period and float(period.rstrip("s")) < _DAY:
            raise invalid(f"rotationPeriod {period} of {tail(record.id)} must be at least 86400s")
