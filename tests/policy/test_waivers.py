"""The waiver file: what may be in it, whom a waiver covers, and its end."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from offline.errors import OfflineError
from policy import findings
from policy.model import Waiver
from policy.waivers import covers, expired, load, unused, waiver_for
from tests.policy.good import changed, good

DAY = date(2026, 12, 1)
VALID = {"rule": "bucket-versions", "reason": "scratch", "until": "2027-06-30"}


def waiver(rule: str = "bucket-not-public", until: date = DAY, stacks: str = "*", resources: str = "*") -> Waiver:
    return Waiver(rule=rule, stacks=stacks, resources=resources, reason="why", until=until)


def test_the_file_of_the_project_is_valid() -> None:
    waivers = load()
    assert waivers
    assert len(set(waivers)) == len(waivers)
    assert all(len(each.reason.split()) > 3 for each in waivers)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({**VALID, "rule": "bucket-version"}, "[0].rule: no such rule (bucket-version); did you mean bucket-versions?"),
        ({**VALID, "until": "soon"}, "[0].until: not a day (soon); a waiver ends on a day; write for example"),
        ({**VALID, "until": ""}, "[0].until: missing; a waiver says what it allows, why, and until when"),
        ({**VALID, "reason": " "}, "[0].reason: missing"),
        ({**VALID, "stack": "x"}, "[0].stack: unknown key; did you mean stacks?"),
    ],
)
def test_a_faulty_entry_is_refused(tmp_path: Path, entry: dict[str, str], problem: str) -> None:
    file = tmp_path / "waivers.yaml"
    file.write_text("- " + "\n  ".join(f"{key}: {value!r}" for key, value in entry.items()))
    with pytest.raises(OfflineError) as error:
        load(file)
    assert f"policy/waivers.yaml: {problem}" in error.value.lines[0]


@pytest.mark.parametrize("text", ["rule: x", "- x", ""])
def test_a_file_that_is_no_list_of_maps_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "waivers.yaml"
    file.write_text(text)
    with pytest.raises(OfflineError, match="not a"):
        load(file)


def test_a_rule_of_checkov_may_be_waived(tmp_path: Path) -> None:
    file = tmp_path / "waivers.yaml"
    file.write_text("- {rule: CKV_GCP_78, reason: scratch, until: 2027-06-30, stacks: '*-dev', resources: 'a.*'}")
    (found,) = load(file)
    assert (found.stacks, found.resources, found.until) == ("*-dev", "a.*", date(2027, 6, 30))


@pytest.mark.parametrize(
    ("stacks", "resources", "covered"),
    [
        ("*", "*", True),
        ("*-prod", "scratch-*", True),
        ("*-dev", "*", False),
        ("*", "other", False),
        ("*", "Scratch-*", False),
    ],
)
def test_whom_a_waiver_covers(stacks: str, resources: str, covered: bool) -> None:
    given = waiver(stacks=stacks, resources=resources)
    assert covers(given, "bucket-not-public", "demo-prod", "scratch-bucket") is covered
    assert not covers(given, "bucket-versions", "demo-prod", "scratch-bucket")


@pytest.mark.parametrize(("days", "holds"), [(-1, False), (0, True), (1, True)])
def test_a_waiver_holds_through_its_last_day(days: int, holds: bool) -> None:
    given = waiver(until=DAY + timedelta(days=days))
    bad = changed(good(), "scratch-bucket", {"publicAccessPrevention": "inherited"})
    (found,) = findings(bad, waivers=[given], today=DAY)
    assert found.waiver == (given if holds else None)
    assert found.stops is not holds
    assert bool(expired([given], DAY)) is not holds
    assert waiver_for([given], found.rule, found.stack, found.name, DAY) == found.waiver


def test_an_unused_waiver_is_named() -> None:
    used, idle = waiver(), waiver("bucket-key", resources="old-bucket")
    assert unused([used, idle], [used]) == [
        "policy/waivers.yaml: bucket-key (*, old-bucket): allows nothing any more; delete it"
    ]


def test_the_json_form_of_a_finding() -> None:
    bad = changed(good(), "scratch-bucket", {"publicAccessPrevention": "inherited"})
    (found,) = findings(bad, waivers=[waiver(until=date(2027, 1, 31))], today=DAY)
    assert found.to_json() == {
        "rule": "bucket-not-public",
        "level": "mandatory",
        "source": ["CKV_GCP_114", "GCP-0001"],
        "stack": "demo-prod",
        "urn": found.urn,
        "type": "gcp:storage/bucket:Bucket",
        "name": "scratch-bucket",
        "detail": "publicAccessPrevention is inherited, not enforced",
        "sentence": "Nobody can make the bucket public.",
        "fix": "publicAccessPrevention: enforced",
        "waiver": {"reason": "why", "until": "2027-01-31"},
        "file": found.file,
    }
    assert str(found.file).startswith("components/scratch.py:")


def test_what_stops_comes_first_and_what_is_waived_last() -> None:
    bad = changed(
        good(), "scratch-bucket", {"publicAccessPrevention": "inherited", "versioning.enabled": False, "labels": {}}
    )
    found = findings(bad, waivers=[waiver()], today=DAY)
    # The bucket's environment was in its labels; protection holds for it in any environment.
    assert [each.rule for each in found] == ["bucket-labels", "bucket-versions", "bucket-not-public"]
