"""Scratch bucket: where the servers keep compiled programs and suspended state."""

import pulumi
from pulumi_gcp import storage

from components.common import Place, child
from components.lookup import Lookup
from pathways.settings.platform import CreatedScratch


class ScratchBucket(pulumi.ComponentResource):
    """A bucket of the stack's own, protected: what is in it is lost with it."""

    bucket: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        place: Place,
        settings: CreatedScratch,
        *,
        bucket_name: str,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """Create it in the cluster's region, with one lifecycle for everything under the scratch prefix."""
        super().__init__("pathways:index:ScratchBucket", name, {}, opts)
        prefix = f"{settings.prefix.split('/')[0]}/"
        bucket = storage.Bucket(
            f"{name}-bucket",
            name=bucket_name,
            project=place.project,
            location=place.region.upper(),
            storage_class="STANDARD",
            uniform_bucket_level_access=True,
            public_access_prevention="enforced",
            force_destroy=False,
            # Scratch can be made again: neither deleted objects nor old versions are kept and billed.
            soft_delete_policy={"retention_duration_seconds": 0},
            versioning={"enabled": False},
            lifecycle_rules=[
                {
                    "action": {"type": "Delete"},
                    "condition": {"age": settings.retention_days, "matches_prefixes": [prefix]},
                },
                {
                    "action": {"type": "AbortIncompleteMultipartUpload"},
                    "condition": {"age": 1, "matches_prefixes": [prefix]},
                },
            ],
            labels=place.labels,
            opts=child(self, opts, protect=True, delete_before_replace=True),
        )
        self.bucket = bucket.name
        self.register_outputs({"bucket": bucket.name})


def existing_bucket(name: str, region: str, lookup: Lookup) -> pulumi.Output[str]:
    """Look up a bucket; a preview fails if there is none, or if it is not in the region."""
    found = lookup.answer(
        storage.get_bucket_output(name=name, opts=lookup.opts),
        key="scratch.existing",
        name=name,
        rule="the bucket exists",
        fix="write one of `gcloud storage buckets list`",
    )

    def in_region(location: str) -> str:
        if location.lower() != region:
            what, rule = f"the bucket {name} is in {location.lower()}", f"it lies in the cluster's region, {region}"
            raise lookup.refusal("scratch.existing", what, rule, f"write a bucket of {region}")
        return name

    return found.location.apply(in_region)
