"""Rules of a bucket."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from offline.recording import Resource
from policy.expect import BUCKET, CLUSTER, GCP_PROVIDER, Problem, at, must_be, must_have
from policy.model import Each, Level, Rule, Whole


def _rule(
    id: str, source: tuple[str, ...], sentence: str, fix: str, problem: Problem, *, level: Level = "mandatory"
) -> Rule:
    return Rule(id=id, level=level, source=source, sentence=sentence, fix=fix, check=Each((BUCKET,), problem))


def _logs_elsewhere(bucket: Resource) -> str | None:
    target, name = at(bucket.inputs, "logging.logBucket"), at(bucket.inputs, "name")
    return f"logging.logBucket is {name} itself" if isinstance(target, str) and target == name else None


def _in_region(resources: Sequence[Resource]) -> Iterator[tuple[Resource, str]]:
    """Buckets outside the region of the cluster, or of the provider where the cluster is another's."""
    regions = [at(each.inputs, "location") for each in resources if each.type == CLUSTER]
    regions += [at(each.inputs, "region") for each in resources if each.type == GCP_PROVIDER]
    region = next((each for each in regions if isinstance(each, str)), None)
    for bucket in (resource for resource in resources if resource.type == BUCKET):
        location = at(bucket.inputs, "location")
        if region and isinstance(location, str) and location.lower() != region.lower():
            yield bucket, f"location is {location.lower()}, and the slices are in {region}"


RULES: tuple[Rule, ...] = (
    _rule(
        "bucket-uniform-access",
        ("CKV_GCP_29", "GCP-0002"),
        "Roles on the bucket decide who may read it, not lists on single objects.",
        "uniformBucketLevelAccess: true",
        must_be("uniformBucketLevelAccess", True),
    ),
    _rule(
        "bucket-not-public",
        ("CKV_GCP_114", "GCP-0001"),
        "Nobody can make the bucket public.",
        "publicAccessPrevention: enforced",
        must_be("publicAccessPrevention", "enforced"),
    ),
    _rule(
        "bucket-labels",
        ("ours",),
        "A bucket says whose it is.",
        "labels: {team: …, environment: …}",
        must_have("labels.team", "labels.environment"),
    ),
    _rule(
        "bucket-versions",
        ("CKV_GCP_78", "GCP-0078"),
        "What was overwritten can be had back.",
        "versioning.enabled: true",
        must_be("versioning.enabled", True),
        level="advisory",
    ),
    _rule(
        "bucket-access-logs",
        ("CKV_GCP_62", "GCP-0077"),
        "Reads and writes are logged.",
        "logging.logBucket: another bucket",
        must_have("logging.logBucket"),
        level="advisory",
    ),
    _rule(
        "bucket-logs-elsewhere",
        ("CKV_GCP_63",),
        "A bucket does not log to itself: each log line would make another.",
        "logging.logBucket: another bucket",
        _logs_elsewhere,
    ),
    _rule(
        "bucket-key",
        ("GCP-0066",),
        "Objects are encrypted with a key of yours.",
        "encryption.defaultKmsKeyName",
        must_have("encryption.defaultKmsKeyName"),
        level="advisory",
    ),
    Rule(
        id="bucket-in-region",
        level="mandatory",
        source=("ours",),
        sentence="Scratch lies in the region of the slices; from elsewhere each start reads slowly and is billed.",
        fix="location: the region of pathways:zone",
        check=Whole(_in_region),
    ),
)
