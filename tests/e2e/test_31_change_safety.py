"""Changes that are really made: what is promised to be left alone is left alone, and things happen in order.

One stack is led from change to change; each test says from where to where, and starts from anywhere when it runs alone.
"""

from __future__ import annotations

import pytest

from tests.e2e.changes.order import ended, in_order
from tests.e2e.changes.rows import PLAIN, RARE
from tests.e2e.changes.walk import Made, Walk
from tests.offline.diff.table import Edit

JOB, HEAD, SLICES = "workload-jobset", "head-pool", ("slices-0", "slices-1")
POOLS = ("vision-dev-head", "vision-dev-system", "vision-dev-slice-0", "vision-dev-slice-1")
CPU_POOLS, SLICE_POOLS = POOLS[:2], POOLS[2:]

GROWN: Edit = {"slices.count": 3}
NEWER: Edit = {"workload.image": "us-docker.pkg.dev/acme-ml-dev/train/app:1.2.4"}
KEPT_LONGER: Edit = {**NEWER, "scratch.retentionDays": 30}
BIGGER_HEAD: Edit = {**KEPT_LONGER, "head.machineType": "n2-standard-80"}
RESHAPED: Edit = {**BIGGER_HEAD, "slices.topology": "2x4"}
SPOT: Edit = {**RESHAPED, "slices.capacity": {"type": "spot"}}
HOST_NETWORK: Edit = {**SPOT, "runtime.hostNetwork": True, "runtime.ports": {"worker": 29005}}


def restarted(made: Made) -> bool:
    """Whether the job was ended and started anew, once, as a whole."""
    return in_order(made.run, ("delete-replaced", JOB), ("create-replacement", JOB)) and (
        made.before.jobset != made.after.jobset
    )


def on_pools_of_their_own(made: Made, *pools: str) -> bool:
    """Whether each slice of the job runs on one pool, and these are the pools."""
    used = list(made.after.slices.values())
    return all(len(each) == 1 for each in used) and sorted(name for each in used for name in each) == sorted(pools)


@pytest.fixture(scope="module")
def grown(walk: Walk) -> Made:
    """The change, made."""
    return walk.go(PLAIN, GROWN)


class TestOneSliceMore:
    def test_makes_one_pool_and_writes_nothing_else_to_the_cloud(self, grown: Made) -> None:
        assert grown.written == [("Create", "slices-2")]

    def test_leaves_the_nodes_of_every_other_pool_alone(self, grown: Made) -> None:
        assert grown.untouched(*POOLS)

    def test_starts_the_job_anew_once_the_pool_is_there(self, grown: Made) -> None:
        assert restarted(grown)
        assert in_order(grown.run, ("create", "slices-2"), ("delete-replaced", JOB))
        assert on_pools_of_their_own(grown, *SLICE_POOLS, "vision-dev-slice-2")


@pytest.fixture(scope="module")
def shrunk(walk: Walk) -> Made:
    """The change, made."""
    return walk.go(GROWN, PLAIN)


class TestOneSliceLess:
    def test_removes_the_last_pool_and_writes_nothing_else_to_the_cloud(self, shrunk: Made) -> None:
        assert shrunk.written == [("Delete", "slices-2")]

    def test_leaves_the_nodes_of_every_other_pool_alone(self, shrunk: Made) -> None:
        assert shrunk.untouched(*POOLS)

    def test_starts_the_job_anew_before_the_pool_goes_and_not_on_it(self, shrunk: Made) -> None:
        assert restarted(shrunk)
        assert in_order(shrunk.run, ("create-replacement", JOB), ("delete", "slices-2"))
        assert on_pools_of_their_own(shrunk, *SLICE_POOLS)
        assert len(shrunk.after.placed) == len(shrunk.after.pods)
        assert not [node for node in shrunk.after.placed if "-vision-dev-slice-2-" in node]


def test_another_image_starts_the_job_anew_and_writes_nothing_to_the_cloud(walk: Walk) -> None:
    made = walk.go(PLAIN, NEWER)
    assert made.written == []
    assert made.run.changed() == {JOB}
    assert restarted(made)
    assert made.untouched(*POOLS)


def test_a_longer_retention_changes_the_bucket_while_the_job_runs_on(walk: Walk) -> None:
    made = walk.go(NEWER, KEPT_LONGER)
    assert made.written == [("Update", "scratch-bucket")]
    assert made.run.changed() == {"scratch-bucket"}
    assert made.before == made.after


def test_another_machine_of_the_head_ends_the_job_before_the_head_goes_and_touches_no_slice(walk: Walk) -> None:
    made = walk.go(KEPT_LONGER, BIGGER_HEAD)
    assert made.written == [("Delete", HEAD), ("Create", HEAD)]
    assert in_order(made.run, ("delete-replaced", JOB), ("delete-replaced", HEAD), ("create-replacement", HEAD))
    assert in_order(made.run, ("create-replacement", HEAD), ("create-replacement", JOB))
    assert restarted(made)
    assert made.untouched("vision-dev-system", *SLICE_POOLS)


@pytest.mark.parametrize(
    ("base", "head"), [(BIGGER_HEAD, RESHAPED), (RESHAPED, SPOT)], ids=["topology", "on demand to spot"]
)
def test_slices_that_cannot_change_in_place_go_after_the_job_and_come_before_it(
    walk: Walk, base: Edit, head: Edit
) -> None:
    """One slice waits until the job has ended; the engine begins the others' deletion, of minutes, at that moment."""
    walk.stand(base)
    walk.world.cloud.set_durations(NodePool={"delete": 2})
    made = walk.go(base, head)
    walk.world.cloud.set_durations()
    assert sorted(made.written) == sorted((method, name) for method in ("Create", "Delete") for name in SLICES)
    assert any(in_order(made.run, ("delete-replaced", JOB), ("delete-replaced", name)) for name in SLICES)
    for name in SLICES:
        assert ended(made.run, ("delete-replaced", JOB), ("delete-replaced", name))
        assert in_order(made.run, ("delete-replaced", name), ("create-replacement", name), ("create-replacement", JOB))
    assert restarted(made)
    assert made.untouched(*CPU_POOLS)
    assert on_pools_of_their_own(made, *SLICE_POOLS)


def test_the_host_network_moves_the_grants_to_the_nodes_and_opens_the_namespace(walk: Walk) -> None:
    made = walk.go(SPOT, HOST_NETWORK)
    grants = ("access-bucket", "access-objects")
    assert sorted(made.written) == sorted((method, name) for method in ("Create", "Delete") for name in grants)
    for grant in grants:
        assert in_order(made.run, ("create-replacement", grant), ("create-replacement", JOB))
        assert in_order(made.run, ("create-replacement", JOB), ("delete-replaced", grant))
    assert made.run.changed("update") == {"tenancy-namespace"}
    assert made.run.changed("delete") == {"tenancy-policy"}
    assert restarted(made)
    assert made.untouched(*POOLS)


@pytest.fixture(scope="module")
def replaced(walk: Walk) -> Made:
    """The change, made."""
    return walk.go(HOST_NETWORK, RARE)


class TestAReplacedCluster:
    """Its node range is another one, and its bucket is given up for one that others replaced."""

    def test_takes_pools_and_objects_with_it_without_a_call_for_each(self, replaced: Made) -> None:
        deleted = [call.name for call in replaced.calls if call.method == "Delete"]
        assert "cluster-cluster" in deleted
        assert not {HEAD, "system-pool", *SLICES} & set(deleted)

    def test_goes_before_its_successor_comes_with_pools_operator_and_job_in_that_order(self, replaced: Made) -> None:
        new = "create-replacement"
        assert in_order(
            replaced.run, ("delete-replaced", "cluster-cluster"), (new, "cluster-cluster"), (new, "system-pool")
        )
        for pool in (HEAD, *SLICES):
            assert in_order(replaced.run, (new, "system-pool"), (new, pool), (new, JOB))
        assert in_order(replaced.run, (new, "operators-jobset-crd"), (new, "operators-jobset"), (new, JOB))

    def test_runs_the_job_on_new_nodes_alone(self, replaced: Made) -> None:
        old, new = (frozenset().union(*sight.nodes.values()) for sight in (replaced.before, replaced.after))
        assert not old & new
        assert on_pools_of_their_own(replaced, *SLICE_POOLS)

    def test_lets_the_bucket_go_last(self, replaced: Made) -> None:
        assert in_order(replaced.run, ("create-replacement", JOB), ("delete", "scratch-bucket"))

    def test_leaves_nothing_to_change(self, walk: Walk, replaced: Made) -> None:
        walk.deployment.preview(expect_no_changes=True).expect_ok()
