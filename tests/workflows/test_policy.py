"""The findings of `policy/` on their way into a comment: from the JSON of a preview that is not trusted."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from offline.diff.form import form
from offline.diff.markdown import comment
from offline.diff.model import Diff, Finding
from workflows.diff_form import load

FINDING = Finding(
    urn="urn:pulumi:vision-dev::pathways::x::slices-0",
    name="slices-0",
    rule="pool-no-spot-in-prod",
    level="mandatory",
    detail="nodeConfig.spot is true",
    sentence="Production does not run on spot.",
    fix="another capacity",
    waived=None,
    new=True,
)
DIFF = Diff(
    "pathways", "vision-dev", "main", (), 33, findings=(FINDING, replace(FINDING, waived="until 2030-01-01: why"))
)


def test_findings_survive_their_form_and_stand_in_the_comment() -> None:
    again = load(json.loads(json.dumps(form(DIFF))))
    assert again.findings == DIFF.findings
    assert "would be stopped (1 broken rule)" in comment(again)
    assert (
        "| **pool-no-spot-in-prod** | **mandatory** | slices-0: nodeConfig.spot is true | another capacity |"
        in comment(again)
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [("rule", "a | b"), ("rule", 1), ("level", "<b>"), ("name", None), ("detail", []), ("new", "yes"), ("waived", 3)],
)
def test_a_finding_that_is_none_is_refused(key: str, value: object) -> None:
    made = form(DIFF)
    made["policy"][0][key] = value
    with pytest.raises((TypeError, ValueError)):
        load(made)
