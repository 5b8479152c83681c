"""The rules of `policy/` in a comparison: what stops a change, what is new, and what is only counted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import policy
from offline.cli import main
from offline.diff.findings import findings
from offline.diff.form import form
from offline.diff.markdown import comment, whole
from offline.diff.model import Diff, Finding
from offline.diff.page import page
from offline.page import WIDTH, Look
from offline.recording import Recording
from tests.offline.diff.recordings import CHECKOUT, difference, recorded
from tests.support.recordings import committed


def finding(name: str = "pool", **changed: Any) -> Finding:
    usual: dict[str, Any] = {
        "urn": f"urn:pulumi:dev::made::made:index:Pool::{name}",
        "rule": "pools-are-blue",
        "level": "mandatory",
        "detail": "it is red",
        "sentence": "Pools are blue.",
        "fix": "colour: blue",
        "waived": None,
        "new": True,
    }
    return Finding(name=name, **usual | changed)


def diff_with(*found: Finding, changed: bool = True) -> Diff:
    nothing = difference("vision-dev", {}, {"slices.count": 3} if changed else {})
    return replace(nothing, findings=found)


def with_a_bucket_elsewhere(recording: Recording) -> Recording:
    """The same where the bucket lies in another region: a mandatory rule is broken."""
    moved = [
        replace(each, inputs={**each.inputs, "location": "EUROPE-WEST4"}) if each.type.endswith(":Bucket") else each
        for each in recording.resources
    ]
    return replace(recording, resources=tuple(moved))


def test_a_rule_that_the_change_breaks_is_new_and_stops_it() -> None:
    base = recorded("vision-dev")
    found = findings(with_a_bucket_elsewhere(base), base)
    assert [(each.rule, each.name) for each in found if each.stops] == [("bucket-in-region", "scratch-bucket")]
    assert [each.rule for each in found if each.new] == ["bucket-in-region"]
    assert found[0].stops
    again = findings(with_a_bucket_elsewhere(base), with_a_bucket_elsewhere(base))
    assert [each.rule for each in again if each.stops] == ["bucket-in-region"]
    assert not any(each.new for each in again)


def test_findings_are_those_of_the_policy_command() -> None:
    """That one looks at a preview, a comparison at an up: what only the cloud knows is never a finding."""
    preview = committed("vision-prod")
    expected = [(each.rule, each.urn, each.detail, each.level, each.fix) for each in policy.findings(preview)]
    found = findings(recorded("vision-prod"), recorded("vision-prod"))
    assert [(each.rule, each.urn, each.detail, each.level, each.fix) for each in found] == expected
    assert {each.waived is None for each in found} == {True, False}
    assert all(each.waived.startswith("until 2") for each in found if each.waived)


@pytest.mark.parametrize("changed", [True, False])
@pytest.mark.parametrize(
    ("found", "stopped"),
    [
        ([finding()], True),
        ([finding(new=False)], True),
        ([finding(waived="until 2030-01-01: why")], False),
        ([finding(level="advisory", new=False)], False),
        ([], False),
    ],
)
def test_what_stops_is_said_everywhere(found: list[Finding], stopped: bool, changed: bool) -> None:
    diff = diff_with(*found, changed=changed)
    assert form(diff)["stopped"] is stopped
    for text in (comment(diff), whole(diff), page(diff, Look())):
        assert ("would be stopped (1 broken rule)" in text) is stopped
        assert ("colour: blue" in text) is stopped


def test_new_advice_is_shown_and_stops_nothing() -> None:
    diff = diff_with(finding(level="advisory"))
    assert "| pools-are-blue | advisory | pool: it is red | colour: blue |" in comment(diff)
    assert "• pools-are-blue, pool: it is red" in page(diff, Look())
    assert "stopped" not in comment(diff) + page(diff, Look())


def test_the_json_form_has_all_of_a_finding() -> None:
    made = form(diff_with(finding(waived="until 2030-01-01: why", level="advisory", new=False)))["policy"]
    assert made == [
        {
            "rule": "pools-are-blue",
            "level": "advisory",
            "urn": "urn:pulumi:dev::made::made:index:Pool::pool",
            "name": "pool",
            "detail": "it is red",
            "sentence": "Pools are blue.",
            "fix": "colour: blue",
            "waived": "until 2030-01-01: why",
            "stops": False,
            "new": False,
        }
    ]


def test_alike_findings_are_one_row_of_the_table() -> None:
    text = comment(diff_with(*(finding(f"pool-{number}") for number in range(100))))
    rows = [line for line in text.splitlines() if "pools-are-blue" in line]
    assert rows == [
        "| **pools-are-blue** | **mandatory** | pool-0, pool-1, pool-2 and 97 more: it is red | colour: blue |"
    ]
    assert "(1 broken rule)" in text


def test_advice_that_was_there_before_and_waivers_are_only_counted() -> None:
    advice = finding(level="advisory", new=False)
    diff = diff_with(advice, finding("b", waived="until 2030-01-01: why"), finding("c", waived="until 2030-01-01: why"))
    for text in (comment(diff), page(diff, Look())):
        assert "1 advice as before, 2 waived" in text
        assert "pools-are-blue" not in text


def test_nothing_gets_out_of_a_finding() -> None:
    evil = "`|</details><img src=x>@octocat **b** https://evil.example\n# title |"
    text = comment(diff_with(finding(name=evil, detail=evil, fix=evil)))
    (row,) = (line for line in text.splitlines() if "pools-are-blue" in line)
    assert row.count("|") - row.count("\\|") == 5
    for harm in ("<img", "</details>", "@octocat", "**b**", "https://evil"):
        assert harm not in row


def test_the_page_keeps_its_width() -> None:
    text = page(diff_with(finding("p" * 90, detail="d" * 150, fix="f" * 150)), Look(unicode=False))
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.usefixtures("remembering")
@pytest.mark.parametrize("saved", [True, pytest.param(False, marks=pytest.mark.thorough)], ids=["plan", "checkout"])
def test_the_command_judges_what_it_compares(tmp_path: Path, capsys: pytest.CaptureFixture[str], saved: bool) -> None:
    """A stack file that passes the rules of stack files and breaks one of the policy."""
    head = tmp_path / "Pulumi.vision-prod.yaml"
    reserved = "{type: reservation, name: vision-v5p}"
    text = (CHECKOUT / "stacks" / head.name).read_text("utf-8")
    assert reserved in text
    head.write_text(text.replace(reserved, "{type: spot}"), "utf-8")
    base = tmp_path / "base.json" if saved else CHECKOUT
    if saved:
        base.write_text(json.dumps(recorded("vision-prod").to_json()), "utf-8")
    assert main(["diff", str(head), "--base", str(base), "--project", str(CHECKOUT), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["stopped"]
    assert {each["rule"] for each in found["policy"] if each["new"] and each["stops"]} == {"pool-no-spot-in-prod"}
