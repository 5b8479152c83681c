"""People and Google take things away behind Pulumi's back; `refresh` and `up` bring them back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.cluster import nodes, workloads
from tests.e2e.cluster.kube import Object, wait_for
from tests.e2e.engine.deployment import Deployment
from tests.e2e.faults.recovery import things
from tests.e2e.world import World

STACK, JOB = "research-dev", "lab"
SLICE = f"{STACK}-slice-0"
BUCKET = "acme-research-research-dev-scratch"
UNREACHABLE = "PULUMI_K8S_DELETE_UNREACHABLE"


def two_hosts(config: dict[str, Any]) -> None:
    """The smallest slice of v5e that has several hosts."""
    config["pathways:slices"] |= {"topology": "2x4", "machineType": "ct5lp-hightpu-4t"}


@dataclass
class Spot:
    """A stack on one spot slice, with its job running."""

    world: World
    deployment: Deployment

    def pods(self) -> list[Object]:
        """Head and workers."""
        return workloads.pods_of(self.world.plane.kube, STACK, JOB)

    def wait_until_all_run(self) -> set[str]:
        """The head and two workers run; their UIDs."""
        wait_for("all pods run", lambda: len(workloads.running(self.pods())) == 3, seconds=60)
        return {pod["metadata"]["uid"] for pod in self.pods()}

    def refresh(self, **options: Any) -> str:
        """`pulumi refresh`, without the program; what it printed."""
        words = ("refresh", "--yes", "--skip-preview", "--suppress-progress", f"--stack={STACK}")
        return self.deployment.pulumi(*words, **options)


@pytest.fixture(scope="module")
def spot(world: World) -> Spot:
    """One spot slice, up and running."""
    world.reset()
    deployment = world.deployment(STACK, two_hosts)
    deployment.up().expect_ok()
    found = Spot(world, deployment)
    found.wait_until_all_run()
    return found


def test_a_spot_slice_that_is_taken_away_comes_back_by_itself(spot: Spot) -> None:
    """Its workers wait, the head goes on, and they run again once the machines are back; no command is needed."""
    before = spot.wait_until_all_run()
    for name in spot.world.cloud.by_hand("take_spot", name=SLICE):
        nodes.remove_node(spot.world.plane.kube, name)  # at once what the pod collector does after a minute
    wait_for("the workers wait", lambda: len(workloads.running(spot.pods())) == 1)
    spot.deployment.preview(refresh=True, expect_no_changes=True).expect_ok()
    spot.world.cloud.by_hand("give_back", name=SLICE)
    after = spot.wait_until_all_run()
    assert len(before & after) == 1, "only the head is the same"


def test_a_pool_that_was_resized_by_hand_is_made_anew_after_a_refresh(spot: Spot) -> None:
    """A slice has all its hosts or none: its pool is replaced, and the job with it. It takes `--refresh` to see it."""
    spot.world.cloud.by_hand("resize_pool", name=SLICE, per_zone=0)
    spot.deployment.preview(expect_no_changes=True).expect_ok()
    run = spot.deployment.up(refresh=True).expect_ok()
    assert run.changed("replace") == {"slices-0", "workload-jobset"}
    spot.wait_until_all_run()


def test_a_bucket_and_a_job_that_were_deleted_by_hand_are_made_anew(spot: Spot) -> None:
    """`pulumi up --refresh`: the bucket with both roles, the JobSet, and nothing else."""
    spot.world.cloud.by_hand("delete", type="Bucket", name=BUCKET)
    spot.world.plane.kube.delete("JobSet", JOB, STACK)
    wait_for("no pod is left", lambda: not spot.pods())
    run = spot.deployment.up(refresh=True).expect_ok()
    assert run.changed("create") == {"scratch-bucket", "access-objects", "access-bucket", "workload-jobset"}
    assert not run.changed("update", "replace")
    assert [bucket["name"] for bucket in spot.world.cloud.resources("Bucket")] == [BUCKET]
    spot.wait_until_all_run()


def test_a_cluster_that_was_deleted_by_hand_is_made_anew_with_all_in_it(spot: Spot) -> None:
    """A plain refresh stops at objects that nobody can ask for any more and names the variable that lets them go."""
    before = things(spot.world.cloud)
    spot.world.cloud.by_hand("delete", type="Cluster", name=STACK)
    with spot.world.plane.without_api_server():
        refused = spot.refresh(expect=None)
        assert UNREACHABLE in refused
        assert "errored" in refused
        spot.deployment.refresh(extra={UNREACHABLE: "true"}).expect_ok()
    types = {resource["type"] for resource in spot.deployment.resources()}
    assert not {found for found in types if found.startswith("kubernetes:")}
    spot.deployment.up().expect_ok()
    assert things(spot.world.cloud) == before
    spot.wait_until_all_run()
    spot.deployment.preview(refresh=True, expect_no_changes=True).expect_ok()
    providers = [r for r in spot.deployment.resources() if r["type"] == "pulumi:providers:kubernetes"]
    assert not any("deleteUnreachable" in provider["inputs"] for provider in providers), "the variable left no trace"
