"""Every rule: kept by a good stack, broken by its case, and silent about what is not known."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from offline.recording import UNKNOWN, Recording
from policy import findings
from policy.evaluate import broken
from policy.model import Each, Rule
from policy.rules import RULES
from tests.policy.cases import BROKEN, KEPT, Case
from tests.policy.good import changed, good

DAY = date(2026, 12, 1)
# Any resource of the kind breaks it, so nothing of a good stack can keep it.
NONE_TO_KEEP_IT = {"iam-no-keys"}
# What is judged here is whether the value can be known.
WANTS_TO_KNOW = {"kubernetes-provider-named"}


# Reported for the job that depends on the changed resource.
JUDGED_BY_THE_JOB = {"proxy-closed", "ksa-of-one-team", "head-has-room"}
BY_ID = {rule.id: rule for rule in RULES}


def broken_rules(recording: Recording) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for each in findings(recording, waivers=(), today=DAY):
        found.setdefault(each.rule, set()).add(each.name)
    return found


def applied(case: Case) -> Recording:
    if case.more:
        return replace(good(), resources=(*good().resources, *case.more))
    return changed(good(), case.name, case.inputs, case.options)


def can_be_unknown(case: Case) -> bool:
    """Not what makes resources belong together (always known), and not what is wrong by being absent."""
    together = case.rule in JUDGED_BY_THE_JOB and case.name.startswith("tenancy-")
    return bool(case.inputs) and not together and case.rule not in WANTS_TO_KNOW and None not in case.inputs.values()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_good_stack_keeps_it(rule: Rule) -> None:
    assert list(broken(rule, good().resources)) == []
    if isinstance(rule.check, Each) and rule.id not in NONE_TO_KEEP_IT:
        assert any(rule.check.looks_at(each.type) for each in good().resources)


def test_every_rule_has_a_case_that_breaks_it() -> None:
    assert {case.rule for case in BROKEN} == {rule.id for rule in RULES}


@pytest.mark.parametrize("case", BROKEN, ids=str)
def test_a_case_breaks_its_rule_and_no_other(case: Case) -> None:
    found = broken_rules(applied(case))
    assert case.rule in found
    assert set(found) - {case.rule} <= case.also
    assert found[case.rule] == {"workload-jobset" if case.rule in JUDGED_BY_THE_JOB else case.name}


@pytest.mark.parametrize("case", KEPT, ids=str)
def test_what_only_looks_like_it_is_fine(case: Case) -> None:
    assert list(broken(BY_ID[case.rule], applied(case).resources)) == []


@pytest.mark.parametrize("case", [case for case in BROKEN if can_be_unknown(case)], ids=str)
def test_what_only_the_cloud_knows_counts_as_right(case: Case) -> None:
    hidden = {path: dict(UNKNOWN) for path in case.inputs}
    assert list(broken(BY_ID[case.rule], changed(good(), case.name, hidden).resources)) == []


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_says_whence_why_and_what_to_write(rule: Rule) -> None:
    assert rule.source
    assert all(
        each == "ours" or each.split("_")[0] in ("CKV", "CKV2") or each.startswith(("CIS GKE ", "GCP-0"))
        for each in rule.source
    )
    assert rule.sentence.endswith((".", ")."))
    assert rule.fix


def test_ids_are_unique() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)


def test_what_is_only_read_is_not_judged() -> None:
    resources = tuple(
        replace(each, read_id="x") if each.name == "scratch-bucket" else each for each in good().resources
    )
    bad = changed(replace(good(), resources=resources), "scratch-bucket", {"publicAccessPrevention": "inherited"})
    assert list(broken(BY_ID["bucket-not-public"], bad.resources)) == []
