"""Right recordings have no problem, and every rule is one that some fault must wake."""

from __future__ import annotations

import pytest

from tests.support import rendered_options, rendered_workload
from tests.support.rendered import RULES, Rule, problems
from tests.test_support import (
    test_rendered_options,
    test_rendered_pools,
    test_rendered_text,
    test_rendered_workload,
)
from tests.test_support.changes import (
    Change,
    add,
    changed,
    colocated_sidecar,
    existing_bucket,
    existing_cluster,
    flex,
    headless,
    in_pod,
    load_balancer,
    on_host_network,
    set_input,
    set_output,
    spot,
)
from tests.test_support.sample import UNKNOWN

TABLES = (test_rendered_workload, test_rendered_pools, test_rendered_options, test_rendered_text)


@pytest.mark.parametrize(
    "changes",
    [
        [],
        [headless],
        [spot],
        [flex],
        [on_host_network],
        [existing_cluster],
        [existing_bucket],
        [headless, colocated_sidecar],
        [add(load_balancer())],
        [set_output("totals", UNKNOWN), set_output("slices", UNKNOWN)],
        [set_output("slices", [{"pool": UNKNOWN, "topology": UNKNOWN, "hosts": 4, "chips": 16}, UNKNOWN])],
        [in_pod(0, "containers.0.args", ["$$(HOME)", "a$(JAX_PLATFORMS)", UNKNOWN])],
        [in_pod(0, "initContainers.0.startupProbe", {"tcpSocket": {"port": "grpc"}})],
        [set_input("slice-0", "options.replaceOnChanges", ["placementPolicy", "nodeConfig.machineType", "nodeCount"])],
        [set_input("namespace", "options.ignoreChanges", ['metadata.annotations["a_b"]'])],
        [in_pod(0, "containers.0.image", "localhost:5000/app@sha256:" + "0" * 64)],
    ],
)
def test_right_recordings_have_no_problem(changes: list[Change]) -> None:
    assert problems(changed(*changes)) == []


def test_every_rule_has_a_fault_that_it_must_find() -> None:
    seen = {rule for table in TABLES for rule, _, _ in table.FAULTS}
    assert seen == {*RULES, rendered_options.protected, rendered_workload.images_pinned}


@pytest.mark.parametrize(("rule", "changes", "part"), [fault for table in TABLES for fault in table.FAULTS])
def test_the_whole_finds_what_each_rule_finds(rule: Rule, changes: list[Change], part: str) -> None:
    assert set(rule(changed(*changes))) <= set(problems(changed(*changes)))
    assert any(part in line for line in problems(changed(*changes)))


def test_settings_reach_the_rules_that_need_them() -> None:
    recording = changed(in_pod(0, "containers.0.image", "r/app:latest"))
    assert problems(recording, mutable_tags=True) == []
    assert problems(recording) != []
    assert problems(changed(), environment="prod") != []
