"""What a change of the stack file changes among the resources, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.program.product import CAPACITIES
from tests.program.support import EXISTING, config, jobset, merged, named, record
from tests.support.recording import CLUSTER, Recording, Resource, at
from tests.support.rendered_growth import one_more_slice

pytestmark = pytest.mark.thorough

IMAGE = "us-docker.pkg.dev/demo-project/r/app"
POLICY = {"tpu": "tpu7x", "topology": "2x2x2"}


def changed(before: Recording, after: Recording) -> tuple[set[str], set[str], set[str]]:
    """Logical names of the resources that are new, gone, and different; components have no inputs to differ in."""
    old, new = ({each.urn: each for each in recording.resources if each.custom} for recording in (before, after))
    differ = {new[urn].name for urn in old.keys() & new.keys() if not _same(old[urn], new[urn])}
    return (
        {new[urn].name for urn in new.keys() - old.keys()},
        {old[urn].name for urn in old.keys() - new.keys()},
        differ,
    )


def _same(old: Resource, new: Resource) -> bool:
    # What a resource waits for is bookkeeping: the JobSet's provider sees no change in it.
    options = ({key: value for key, value in each.options.items() if key != "dependsOn"} for each in (old, new))
    return old.inputs == new.inputs and next(options) == next(options)


def paths(old: Mapping[str, Any], new: Mapping[str, Any], above: str = "") -> set[str]:
    """The dotted paths at which two inputs differ."""
    found: set[str] = set()
    for key in old.keys() | new.keys():
        one, other, path = old.get(key), new.get(key), f"{above}{key}"
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            found |= paths(one, other, f"{path}.")
        elif one != other:
            found.add(path)
    return found


GROWTH: list[tuple[str, Mapping[str, Any]]] = [
    *((capacity, {}) for capacity in CAPACITIES),
    ("on-demand", EXISTING),
    ("flex-start", EXISTING),
]


@pytest.mark.parametrize(("capacity", "place"), GROWTH)
def test_one_more_slice_is_one_more_pool_and_a_new_job(capacity: str, place: Mapping[str, Any]) -> None:
    two, three = (record(config(slices={"count": n, "capacity": CAPACITIES[capacity]}, **place)) for n in (2, 3))
    assert one_more_slice(two, three) == []
    assert changed(two, three) == ({"slices-2"}, set(), {"workload-jobset"})
    assert {key for key in two.outputs if two.outputs[key] != three.outputs[key]} == {"slices", "totals"}
    assert changed(three, two) == (set(), {"slices-2"}, {"workload-jobset"})


def test_one_more_slice_shares_the_policy_of_the_others() -> None:
    two, three = (record(config(slices={**POLICY, "count": n})) for n in (2, 3))
    assert one_more_slice(two, three) == []
    assert changed(two, three) == ({"slices-2"}, set(), {"workload-jobset"})


JOB_ONLY: list[tuple[str, dict[str, Any]]] = [
    ("image", {"workload": {"image": f"{IMAGE}:1.2.4"}}),
    ("run id", {"workload": {"runId": "run-2"}}),
    ("ttl", {"workload": {"ttl": "1h"}}),
    ("flags", {"runtime": {"flags": {"proxy": ["--xla_tpu_scoped_vmem_limit_kib=98304"]}}}),
    ("elastic slices", {"runtime": {"elasticSlices": 1}}),
    ("JAX", {"runtime": {"jaxVersion": "0.11.0"}}),
    ("worker port", {"runtime": {"ports": {"worker": 29005}}}),
    ("proxy port", {"runtime": {"ports": {"proxy": 29100}}}),
]


@pytest.mark.parametrize("change", [row[1] for row in JOB_ONLY], ids=[row[0] for row in JOB_ONLY])
def test_a_change_of_the_job_changes_the_jobset_alone(change: dict[str, Any]) -> None:
    before, after = record(config()), record(config(**change))
    assert changed(before, after) == (set(), set(), {"workload-jobset"})
    # Whatever changes below `spec` replaces the JobSet, since its spec is fixed.
    old, new = named(before, "workload-jobset"), named(after, "workload-jobset")
    assert {path.split(".")[0] for path in paths(old.inputs, new.inputs)} == {"spec"}


def test_the_run_id_stands_on_the_head_alone() -> None:
    before, after = (jobset(record(config(workload={"runId": run}))) for run in ("run-1", "run-2"))
    (head, worker), (new_head, new_worker) = before["replicatedJobs"], after["replicatedJobs"]
    assert worker == new_worker
    path = "template.spec.template.metadata.annotations"
    assert paths(head, new_head) == {f"{path}.pathways/run-id"}
    assert at(new_head, path)["pathways/run-id"] == "run-2"


SHAPES: list[tuple[str, dict[str, Any], dict[str, Any], set[str]]] = [
    ("larger", {"topology": "4x4"}, {"topology": "8x8"}, {"placementPolicy.tpuTopology", "nodeCount"}),
    (
        "another machine of as many chips",
        {"topology": "2x4"},
        {"topology": "2x4", "machineType": "ct6e-standard-8t"},
        {"placementPolicy", "nodeCount", "nodeConfig.machineType"},
    ),
    (
        "flex-start",
        {"topology": "4x4", "capacity": CAPACITIES["flex-start"]},
        {"topology": "8x8", "capacity": CAPACITIES["flex-start"]},
        {"placementPolicy.tpuTopology", "autoscaling.maxNodeCount"},
    ),
    (
        "single host to several, flex-start",
        {"topology": "2x2", "capacity": CAPACITIES["flex-start"]},
        {"topology": "2x4", "capacity": CAPACITIES["flex-start"]},
        {"placementPolicy", "autoscaling.maxNodeCount"},
    ),
]


@pytest.mark.parametrize(("before", "after", "differ"), [row[1:] for row in SHAPES], ids=[row[0] for row in SHAPES])
def test_another_shape_replaces_every_pool_by_our_own_rule(
    before: dict[str, Any], after: dict[str, Any], differ: set[str]
) -> None:
    old, new = (record(config(slices=slices)) for slices in (before, after))
    assert changed(old, new) == (set(), set(), {"slices-0", "slices-1", "workload-jobset"})
    for name in ("slices-0", "slices-1"):
        pool = named(new, name)
        assert paths(named(old, name).inputs, pool.inputs) == differ
        watched = pool.options["replaceOnChanges"]
        assert any(path in watched or any(each.startswith(f"{path}.") for each in watched) for path in differ)
        assert pool.options["deleteBeforeReplace"] is True


def test_another_shape_of_a_generation_with_policies_is_another_policy() -> None:
    old, new = (record(config(slices={**POLICY, "topology": shape})) for shape in ("2x2x2", "2x2x4"))
    added, gone, differ = changed(old, new)
    assert (added, gone) == ({"placement-2x2x4"}, {"placement-2x2x2"})
    assert differ == {"slices-0", "slices-1", "workload-jobset"}
    assert named(old, "placement-2x2x2").input("name") != named(new, "placement-2x2x4").input("name")


@pytest.mark.parametrize(
    ("environment", "chosen"), [("dev", None), ("staging", None), ("prod", None), ("dev", True), ("prod", False)]
)
def test_protection_is_one_switch(environment: str, chosen: bool | None) -> None:
    cluster = {} if chosen is None else {"cluster": {"deletionProtection": chosen}}
    recording = record(config(environment=environment, **cluster))
    (resource,) = recording.of_type(CLUSTER)
    wanted = environment == "prod" if chosen is None else chosen
    assert resource.options.get("protect", False) is wanted
    assert resource.inputs["deletionProtection"] is wanted
    assert named(recording, "scratch-bucket").options["protect"] is True


def test_more_machine_for_the_head_touches_no_slice() -> None:
    before, after = record(config()), record(config(head={"machineType": "n2-standard-80"}))
    assert changed(before, after) == (set(), set(), {"head-pool"})


def test_a_longer_retention_touches_the_bucket_alone() -> None:
    before, after = record(config()), record(config(scratch={"retentionDays": 30}))
    assert changed(before, after) == (set(), set(), {"scratch-bucket"})
    assert paths(named(before, "scratch-bucket").inputs, named(after, "scratch-bucket").inputs) == {"lifecycleRules"}


def test_a_second_stack_of_the_project_shares_no_name_with_the_first() -> None:
    one, other = record(config()), record(config(team="other"))
    pairs = zip(one.of_package("gcp"), other.of_package("gcp"), strict=True)
    shared = {a.name for a, b in pairs if a.input("name") is not None and a.input("name") == b.input("name")}
    assert shared == set()
    assert merged(config(), {"pathways:team": "other"}) == config(team="other")
