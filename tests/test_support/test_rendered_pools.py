"""The rules about TPU pools each find their fault."""

from __future__ import annotations

import pytest

from tests.support import rendered_pools as pools
from tests.support.rendered import Rule
from tests.test_support.changes import (
    SPOT,
    Change,
    Fault,
    changed,
    drop,
    flex,
    in_job,
    in_pod,
    set_input,
    set_output,
    spot,
)

FAULTS: list[Fault] = [
    (pools.flex_start, [flex, set_input("slice-0", "inputs.nodeConfig.flexStart", None)], "1 of 2 TPU pools"),
    (pools.flex_start, [flex, set_input("slice-0", "inputs.nodeCount", 4)], "no static count"),
    (pools.flex_start, [flex, set_input("slice-0", "inputs.initialNodeCount", 1)], "initialNodeCount: 1"),
    (pools.flex_start, [flex, set_input("slice-0", "inputs.autoscaling.minNodeCount", 1)], "minNodeCount: 1"),
    (pools.flex_start, [flex, set_input("slice-0", "inputs.autoscaling.maxNodeCount", None)], "maxNodeCount: None"),
    (pools.flex_start, [flex, set_input("slice-0", "inputs.autoscaling.locationPolicy", "BALANCED")], "locationPolicy"),
    (pools.flex_start, [flex, set_input("slice-0", "inputs.autoscaling.totalMaxNodeCount", 4)], "per zone"),
    (pools.flex_start, [flex, set_input("slice-0", "inputs.management.autoRepair", None)], "autoRepair: None"),
    (pools.flex_start, [flex, set_input("slice-0", "inputs.nodeConfig.spot", True)], "flex-start is not spot"),
    (pools.flex_start, [flex, set_input("slice-0", "inputs.nodeConfig.maxRunDuration", "10m")], "maxRunDuration"),
    (pools.flex_start, [flex, set_input("slice-0", "inputs.nodeConfig.maxRunDuration", "604801s")], "maxRunDuration"),
    (
        pools.flex_start,
        [
            flex,
            set_input(
                "slice-0", "inputs.nodeConfig.reservationAffinity.consumeReservationType", "SPECIFIC_RESERVATION"
            ),
        ],
        "takes no reservation",
    ),
    (pools.spot, [spot, set_input("slice-1", "inputs.nodeConfig.spot", False)], "some TPU pools are spot"),
    (pools.spot, [set_input("head", "inputs.nodeConfig.spot", True)], "only TPU pools"),
    (pools.spot, [spot, in_pod(1, "tolerations", [])], "no toleration"),
    (pools.spot, [spot, in_pod(1, "nodeSelector", {})], "None, not 'true'"),
    (pools.spot, [in_pod(1, "nodeSelector", {SPOT: "true"})], "'true', not None"),
    (pools.spot, [in_pod(1, "tolerations", [{"key": SPOT, "operator": "Exists"}])], "a toleration"),
    (pools.counts_agree, [drop("slice-1")], "replicas: 2, but there are 1 TPU pools"),
    (pools.counts_agree, [in_job(1, "replicas", 3)], "replicas: 3"),
    (pools.counts_agree, [in_job(1, "template.spec.completions", 2)], "completions: 2"),
    (pools.counts_agree, [in_job(1, "template.spec.parallelism", 2)], "parallelism: 2"),
    (pools.counts_agree, [set_input("slice-1", "inputs.nodeCount", 8)], "slice-1 has 8"),
    (pools.counts_agree, [flex, set_input("slice-1", "inputs.autoscaling.maxNodeCount", 8)], "slice-1 has 8"),
    (pools.counts_agree, [in_pod(0, "initContainers.0.args.1", "--instance_count=3")], "--instance_count=3"),
    (pools.counts_agree, [in_pod(0, "initContainers.0.args.2", "--instance_type=tpuv6e:8x8")], "tpuv6e:8x8"),
    (pools.counts_agree, [set_input("slice-0", "inputs.placementPolicy.tpuTopology", "2x8")], "tpuTopology 2x8"),
    (
        pools.counts_agree,
        [in_pod(1, "containers.0.resources.limits", {"google.com/tpu": "8"})],
        "4 workers of 8 chips do not make 4x4",
    ),
    (pools.counts_agree, [in_pod(1, "nodeSelector", {})], "no google.com/tpu limit"),
    (pools.counts_agree, [set_output("totals", {"slices": 2, "hosts": 8, "chips": 8})], "outputs.totals.chips: 8"),
    (pools.counts_agree, [set_output("totals", {})], "outputs.totals.hosts: None"),
    (pools.counts_agree, [set_output("slices", [])], "outputs.slices: 0"),
    (pools.counts_agree, [lambda d: d["outputs"]["slices"][1].update(pool="gone")], "slices[1].pool: 'gone'"),
    (pools.counts_agree, [lambda d: d["outputs"]["slices"][0].update(hosts=2)], "slices[0].hosts: 2, not 4"),
    (pools.slices_numbered, [set_input("slice-1", "inputs.name", "vision-dev-slice-2")], "not numbered 0 to 1"),
    (pools.slices_numbered, [set_input("slice-1", "inputs.name", "vision-4x4-slice-1")], "carries a shape"),
    (pools.replacement, [set_input("slice-0", "options.replaceOnChanges", ["nodeConfig"])], "placementPolicy.tpuTop"),
    (
        pools.replacement,
        [set_input("slice-0", "options.replaceOnChanges", ["placementPolicy", "nodeCount"])],
        "nodeConfig.machineType",
    ),
    (
        pools.replacement,
        [set_input("slice-0", "options.replaceOnChanges", ["placementPolicy", "nodeConfig.machineType"])],
        "nodeCount is not covered",
    ),
    (pools.replacement, [set_input("slice-0", "options.deleteBeforeReplace", None)], "deleteBeforeReplace"),
    (pools.replacement, [set_input("slice-0", "options.customTimeouts.create", "59m")], "customTimeouts.create: '59m'"),
    (pools.replacement, [set_input("slice-0", "options.customTimeouts", None)], "customTimeouts.delete: None"),
]


@pytest.mark.parametrize(("rule", "changes", "part"), FAULTS)
def test_each_rule_finds_its_fault(rule: Rule, changes: list[Change], part: str) -> None:
    lines = rule(changed(*changes))
    assert any(part in line for line in lines), lines


@pytest.mark.parametrize(
    ("duration", "seconds"), [("1h30m", 5400), ("60m", 3600), ("3600s", 3600), ("1h0m0s", 3600), (None, 0), ("", 0)]
)
def test_go_durations(duration: str | None, seconds: float) -> None:
    assert pools.seconds(duration) == seconds
