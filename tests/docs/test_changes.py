"""What the pages show of `offline diff` is what it prints, and its JSON has the keys that docs/diff.md documents."""

from __future__ import annotations

import re

import pytest

from offline.diff.form import form
from offline.diff.model import Amount, Change, Diff, Finding, Impact, Kind, Obstacle, Operation, PathChange, Step
from policy.reference import PAGE, page
from policy.rules import RULES
from tests.docs.changes import EXAMPLES, Example, edited, printed
from tests.docs.test_examples import left_over
from tests.project.checkout import ROOT

DIFF = ROOT / "docs" / "diff.md"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda each: f"{each.page.stem}: {' '.join(each.command[4:])}")
def test_an_edit_does_what_stands_under_it(example: Example) -> None:
    assert example.command[:4] == (".venv/bin/python", "-m", "offline", "diff")
    assert left_over(list(example.shown), printed(example).splitlines()) == []


def test_the_pages_have_examples() -> None:
    assert len([example for example in EXAMPLES if example.page == DIFF]) >= 3
    blocks = sum(path.read_text("utf-8").count("```diff\n") for path in {example.page for example in EXAMPLES})
    assert blocks == len(EXAMPLES), "a diff block without the console block of what it does"


def test_an_edit_of_what_is_not_there_is_an_error() -> None:
    assert edited("a: 1\nb: 2\n", "-b: 2\n+b: 3\n+c: 4\n") == "a: 1\nb: 3\nc: 4\n"
    with pytest.raises(AssertionError, match="not in the stack file"):
        edited("a: 1\n", "-b: 2\n+b: 3\n")


def every_key() -> dict[str, set[str]]:
    """The keys of a comparison in which everything is set, by the key of the list or map that they are in."""
    path = PathChange(("a",), Kind.UPDATE, 1, 2)
    change = Change(
        *("urn", "type", "name", "label", True, Operation.REPLACE, Impact.IN_PLACE, "sentence"),
        old_urn="before",
        because=("why",),
        paths=(path,),
        delete_before_replace=True,
        goes_with="other",
        kept=True,
        source="file:1",
    )
    finding = Finding(urn="u", name="n", rule="r", level="l", detail="d", sentence="s", fix="f", waived=None, new=True)
    amounts = dict.fromkeys(("slices", "hosts", "chips", "nodeAddresses", "podAddresses"), Amount(1, 2))
    made = form(
        Diff("p", "s", "b", (change,), 0, amounts, (Obstacle("u", "r", "s"),), (finding,), ("note",), (Step("o", "u"),))
    )
    return {
        "": set(made),
        "summary": set(made["summary"]),
        "totals": {*made["totals"], *made["totals"]["chips"]},
        "changes": set(made["changes"][0]),
        "paths": set(made["changes"][0]["paths"][0]),
        "obstacles": set(made["obstacles"][0]),
        "policy": set(made["policy"][0]),
        "steps": set(made["steps"][0]),
    }


def test_the_json_form_has_the_documented_keys_and_no_others() -> None:
    text = DIFF.read_text("utf-8").partition("## `--json`")[2]
    top, change = (part.split("\n\n")[0] for part in text.split("| --- | --- |\n")[1:3])
    documented: dict[str, set[str]] = {"": set(), "changes": set()}
    for place, rows in (("", top), ("changes", change)):
        for names, values in re.findall(r"^\| (.+?) \| (.+) \|$", rows, re.MULTILINE):
            keys = re.findall(r"`(\w+)`", names)
            documented[place] |= set(keys)
            if keys[0] in every_key():
                documented.setdefault(keys[0], set()).update(re.findall(r"`(\w+)`", re.sub(r"\(`.*?\)", "", values)))
    assert {place: keys for place, keys in documented.items() if keys} == every_key()


def test_impacts_and_rules_of_obstacles_are_documented() -> None:
    text = DIFF.read_text("utf-8")
    assert re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE)[:6] == [impact.word for impact in Impact]
    code = (ROOT / "offline" / "diff" / "obstacles.py").read_text("utf-8")
    rules = set(re.findall(r'^ +"([a-z]+(?:-[a-z]+)*)",$', code, re.MULTILINE))
    section = text.partition("## What would stop it")[2].partition("## ")[0]
    assert rules
    assert rules == set(re.findall(r"`([a-z-]+)`", section))


def test_the_table_of_rules_is_fresh() -> None:
    text = (ROOT / PAGE).read_text("utf-8")
    assert page(text) == text, "docs/policy.md is stale: run make schema"
    assert text.count("\n| `") >= len(RULES)


def test_a_page_without_the_marks_is_an_error() -> None:
    with pytest.raises(ValueError, match="written by make schema"):
        page("# Policy\n")


def test_a_rule_that_changes_makes_the_page_stale() -> None:
    text = (ROOT / PAGE).read_text("utf-8")
    assert page(text.replace("| mandatory |", "| advisory |")) == text
