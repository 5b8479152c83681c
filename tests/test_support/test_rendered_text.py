"""The rule about texts finds its faults, and passes what only looks like one."""

from __future__ import annotations

import pytest

from tests.support.rendered import Rule
from tests.support.rendered_text import texts_resolved
from tests.test_support.changes import Change, Fault, changed, in_pod, set_input, set_output

FAULTS: list[Fault] = [
    (texts_resolved, [set_input("head", "inputs.name", "<pulumi.output.Output object at 0x7f>")], "own text"),
    (texts_resolved, [set_input("head", "inputs.name", "Calling __str__ on an Output[T] is not")], "own text"),
    (texts_resolved, [set_input("head", "inputs.labels", {"a": "Output<string>"})], "labels.a: an unresolved"),
    (texts_resolved, [in_pod(0, "containers.0.command", ["run", "--x=None"])], "command[1]: says None"),
    (texts_resolved, [set_output("scratchLocation", "gs://None/x")], "outputs: scratchLocation: says None"),
    (texts_resolved, [set_input("head", "inputs.name", "TODO")], "a placeholder"),
    (texts_resolved, [set_input("head", "inputs.name", "REPLACE_ME")], "a placeholder"),
    (texts_resolved, [set_output("connect", "kubectl -n <namespace> get pods")], "a placeholder"),
]


@pytest.mark.parametrize(("rule", "changes", "part"), FAULTS)
def test_each_rule_finds_its_fault(rule: Rule, changes: list[Change], part: str) -> None:
    lines = rule(changed(*changes))
    assert any(part in line for line in lines), lines


@pytest.mark.parametrize("text", ["None-such", "a None b", "x:None"])
def test_none_is_found_as_a_word(text: str) -> None:
    assert texts_resolved(changed(set_input("head", "inputs.name", text)))


@pytest.mark.parametrize("text", ["NoneSuch", "none", "NONE", "a < b > c", "REPLACEMENT", "replaced", "x_None_y"])
def test_harmless_texts_pass(text: str) -> None:
    assert texts_resolved(changed(set_input("head", "inputs.name", text))) == []


def test_kubernetes_own_none_passes() -> None:
    spec = {"clusterIP": "None", "sessionAffinity": "None", "clusterIPs": ["None"]}
    assert texts_resolved(changed(set_input("namespace", "inputs.spec", spec))) == []
