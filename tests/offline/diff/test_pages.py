"""What people read: text and Markdown."""

from __future__ import annotations

import re

import pytest

from offline.diff.form import form
from offline.diff.markdown import MOST_CHARACTERS, comment, whole
from offline.diff.page import page
from offline.page import WIDTH, Look
from offline.recording import SECRET
from tests.offline.diff.made import BUCKET, JOB_SET, between, made
from tests.offline.diff.recordings import decided, difference
from tests.offline.diff.table import CASES, Case

pytestmark = pytest.mark.thorough

SCREEN = 50


@pytest.fixture(scope="module")
def one_more() -> str:
    return comment(difference("vision-dev", {}, {"slices.count": 3}))


def test_the_comment_for_one_more_slice_fits_a_screen(one_more: str) -> None:
    assert len(one_more.splitlines()) < SCREEN
    assert one_more.startswith("### `vision-dev`: restarts the workload\n\n1 created, 1 replaced, ")
    assert "slices 2 → 3 (+1), hosts 8 → 12 (+4), chips 32 → 48 (+16)" in one_more
    rows = [line for line in one_more.splitlines() if line.startswith("| ")]
    assert [row.split(" | ")[0] for row in rows] == ["| impact", "| **restarts-workload**", "| none"]


def test_a_comment_never_grows_too_long() -> None:
    old = [made(JOB_SET, f"j{number}", {"spec": {"text": "a" * 300, "kind": number % 7}}) for number in range(900)]
    new = [made(JOB_SET, f"j{number}", {"spec": {"text": f"{number}" * 90}}) for number in range(900)]
    diff = between(old, new)
    text = comment(diff)
    assert 10_000 < len(text) <= MOST_CHARACTERS
    assert text.count("<details>") == text.count("</details>") == 1
    assert "The rest does not fit here" in text
    assert len(whole(diff)) > len(text)
    assert "j899" in whole(diff)


def test_alike_changes_are_one_row() -> None:
    text = comment(difference("vision-dev", {"slices.count": 20}, {"slices.count": 20, "slices.maxPodsPerNode": 32}))
    rows = [line for line in text.splitlines() if "replaces-slice" in line]
    assert len(rows) == 1
    assert "and 19 alike, to node pool vision-dev-slice-19" in rows[0]


def test_nothing_gets_out_of_a_value() -> None:
    evil = "`|</details><img src=x>@octocat #1 **b** https://evil.example\n# title ``` |"
    diff = between(
        [made(BUCKET, "b", {"name": "n", "storageClass": "a"})],
        [made(BUCKET, "b", {"name": "n", "storageClass": evil})],
    )
    for text in (comment(diff), whole(diff)):
        outside = re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
        assert "octocat" in outside
        for harm in ("<img", "</details><", "@octocat", " #1", "**b**", "https://evil", "\n# title"):
            assert harm not in outside
        assert all(line.count("|") - line.count("\\|") == 4 for line in text.splitlines() if line.startswith("| "))


def test_secrets_and_unknowns_have_no_value() -> None:
    base = made(BUCKET, "b", {"name": "n", "labels": {"a": SECRET, "b": "x"}})
    head = made(BUCKET, "b", {"name": "n", "labels": {"a": "now plain", "b": SECRET}})
    diff = between([base], [head])
    assert "`labels.b`: `x` → `secret`" in comment(diff)
    assert form(diff)["changes"][0]["paths"][1]["new"] == {"$secret": True}
    assert not between([base], [base]).different


@pytest.mark.parametrize("case", [case for case in CASES if "region" in case.name or case.stack != "vision-dev"])
def test_pages_keep_their_width(case: Case) -> None:
    text = page(decided(case), Look(unicode=False))
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= WIDTH


def test_the_page_says_what_stops_a_change() -> None:
    text = page(difference("vision-dev", {}, {"scratch.existing": "acme-scratch"}), Look())
    assert text.splitlines()[0].startswith("vision-dev  would be stopped (2 obstacles); destroys data")
    assert "What would stop it" in text
    assert "is protected and would be deleted: pulumi refuses" in " ".join(text.split())
