from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.pathways.support import ABSENT, Refused, check_refused, faults, no, plan


@pytest.mark.parametrize(
    "case",
    [
        no("gcp:project", {"gcp:project": ABSENT}, "is missing", "write gcp:project: acme-ml-dev"),
        no("gcp:project", {"gcp:project": "Demo-Project"}, "Demo-Project is not allowed", "write demo-project"),
        no("gcp:project", {"gcp:project": "demo_project"}, "write demo-project"),
        no("gcp:project", {"gcp:project": "short"}, "6 to 30", "write for example acme-ml-dev"),
        no("gcp:project", {"gcp:project": "p" * 31}, "6 to 30"),
        no("gcp:project", {"gcp:project": "project-"}, "does not end with -"),
        no("gcp:project", {"gcp:project": 123456789012}, "a number (123456789012)", "text", '"acme-ml-dev"'),
        no("team", {"team": ABSENT}, "is missing", "write team: vision"),
        no("team", {"team": "a" * 17}, "has 17 characters", "at most 16 fit", "write for example vision"),
        no("team", {"team": ""}, '"" is not allowed', "DNS label"),
        no("team", {"team": "Vision"}, "write vision"),
        no("team", {"team": " vision "}, '" vision " is not allowed', "write vision"),
        no("team", {"team": "1team"}, "starting with a letter"),
        no("team", {"team": "team-"}, "DNS label"),
        no("team", {"team": "visión"}, "DNS label"),
        no("team", {"team": 7}, "a number (7) stands where text is wanted", 'for example "vision"'),
        no("team", {"team": None}, "nothing (null)", "text", 'for example "vision"'),
        no("environment", {"environment": "Prod"}, "Prod is not a choice", "dev, staging, prod", "write prod"),
        no("environment", {"environment": "test"}, "write one of dev, staging, prod"),
        no("environment", {"environment": True}, "true is not a choice", "write one of dev, staging, prod"),
        no("zone", {"zone": "us-east5"}, "REGION-LETTER", "write for example us-east5-b"),
        no("zone", {"zone": "US-EAST5-B"}, "write us-east5-b"),
        no("zone", {"zone": "us-east٥-b"}, "REGION-LETTER"),
        no("slices", {"slices": ABSENT}, "is missing", "write slices: {"),
        no("slices", {"slices": "v6e"}, "text (v6e) stands where a map is wanted", "indented below it"),
        no("slices", {"slices": []}, "a list ([]) stands where a map is wanted"),
        no("workload", {"workload": ABSENT}, "is missing", "write workload: {"),
        no("head", {"head": None}, "nothing (null) stands where a map is wanted"),
    ],
)
def test_refused(case: Refused) -> None:
    check_refused(case)


@pytest.mark.parametrize(
    "changes",
    [
        {"gcp:project": "p23456"},
        {"gcp:project": "p" * 30},
        {"team": "a" * 16},
        {"team": "a"},
        {"team": "a-1"},
        {"environment": "prod"},
        {"environment": "staging"},
        {"zone": "northamerica-northeast1-a"},
        {"zone": "us-south1-ai1b"},
        {"head": {}, "runtime": {}, "scratch": {}, "cluster": {}, "network": {}, "operators": {}},
    ],
)
def test_accepted(changes: Mapping[str, Any]) -> None:
    assert faults(changes) == []


@pytest.mark.parametrize(("zone", "region"), [("us-east5-b", "us-east5"), ("us-south1-ai1b", "us-south1")])
def test_region_follows_from_the_zone(zone: str, region: str) -> None:
    assert plan({"zone": zone}).settings.region == region


def test_absent_sections_have_their_defaults() -> None:
    written: dict[str, Any] = {"head": {}, "runtime": {}, "scratch": {}, "cluster": {}, "network": {}, "operators": {}}
    assert plan().settings == plan(written).settings
    assert plan().settings.slices == plan({"slices": {"capacity": {"type": "on-demand"}}}).settings.slices


def test_settings_cannot_be_changed() -> None:
    settings = plan().settings
    with pytest.raises(ValueError, match="frozen"):
        settings.team = "other"  # type: ignore[misc]
