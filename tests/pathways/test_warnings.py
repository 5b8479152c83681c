from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pathways.warnings import warnings
from tests.pathways.support import ABSENT, EXISTING_CLUSTER, EXISTING_NETWORK, INTERACTIVE, merged, plan

DIGEST = "sha256:" + "ab" * 32
V5P: Mapping[str, Any] = {"slices": {"tpu": "v5p", "machineType": ABSENT}, "zone": "us-east5-a"}


def test_the_base_has_none() -> None:
    assert warnings(plan()) == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (merged(V5P, {"slices": {"topology": "16x20x24"}}), ["slices.topology: ", "above the largest documented v5p"]),
        (merged(V5P, {"slices": {"topology": "16x20x28", "count": 1}}), ["documented", "2240 hosts", "2000"]),
        ({"slices": {"topology": "16x16", "count": 80}}, ["slices.count: 5124 nodes", "above 5000"]),
        ({"zone": "us-west1-a"}, ["zone: us-west1-a is not known to offer v6e"]),
        ({"environment": "prod", "slices": {"capacity": {"type": "spot"}}}, ["spot in prod"]),
        ({"slices": {"capacity": {"type": "flex-start", "maxRunDuration": "3d"}}}, ["leave after 3d"]),
        (
            {
                "runtime": {"images": {"allowMutableTags": True}},
                "workload": {"image": "a-docker.pkg.dev/demo-project/r/i"},
            },
            ["may be another image tomorrow"],
        ),
        (
            {"runtime": {"images": {"server": f"us-docker.pkg.dev/demo-project/r/s@{DIGEST}"}}},
            ["only one of server and proxy"],
        ),
        (
            {"workload": {"image": "us-docker.pkg.dev/other-project/r/i:1"}},
            ["other-project/r is another project's", "demo-dev-nodes@demo-project.iam.gserviceaccount.com"],
        ),
        ({"workload": {"image": "ghcr.io/a/b:1"}}, ["ghcr.io/a/b:1 is not in Artifact Registry"]),
        ({"scratch": {"retentionDays": 61}}, ["scratch.retentionDays: 61 days"]),
        ({"scratch": {"existing": "mine"}}, ["has to be in us-east5"]),
        ({"runtime": {"hostNetwork": True}}, ["no NetworkPolicy", "port 29000"]),
        (
            {"cluster": {"kmsKey": "projects/acme-keys/locations/us-east5/keyRings/r/cryptoKeys/k"}},
            ["roles/cloudkms.cryptoKeyEncrypterDecrypter"],
        ),
        ({"cluster": {"endpoint": "private"}}, ["have to run where they reach the VPC"]),
        (
            merged(INTERACTIVE, EXISTING_CLUSTER, EXISTING_NETWORK, {"workload": {"access": "dns"}}),
            ["needs Cloud DNS with the VPC domain demo-dev.pathways"],
        ),
        ({"workload": {"ttl": "24h"}}, ["deleted 24h after it ends"]),
        ({"runtime": {"elasticSlices": 2}}, ["all slices may be missing"]),
        (
            {"head": {"machineType": "n2d-standard-224"}},
            ["n2d-standard-224 has four times the CPU its containers need (48)"],
        ),
    ],
)
def test_each(changes: Mapping[str, Any], words: list[str]) -> None:
    found = "\n".join(warnings(plan(changes)))
    for word in words:
        assert word in found


def test_a_pull_secret_ends_the_warning_about_private_registries() -> None:
    changes = {"workload": {"image": "ghcr.io/a/b:1"}, "runtime": {"images": {"pullSecret": "s"}}}
    assert warnings(plan(changes)) == ()
