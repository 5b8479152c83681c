"""The engine is killed, with all its plugins, in the middle of an update or a destroy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from tests.e2e.cluster import workloads
from tests.e2e.cluster.kube import wait_for
from tests.e2e.engine.deployment import Deployment
from tests.e2e.faults.recovery import killed_after, one_slice, orphans, resume, things
from tests.e2e.world import World

STACK = "vision-dev"
# Resources finished when the engine is killed. A resumed `up` counts what is there already, a resumed destroy does not.
OF_A_DESTROY = (2, 3, 4, 5, 6)
OF_AN_UP = (3, 9, 16, 19, 23, 26, 30, 35, 39, 42)


@dataclass
class Chain:
    """One stack through all of this file: what an undisturbed `up` gave, and where the engine was killed since."""

    world: World
    deployment: Deployment
    undisturbed: set[tuple[str, str, str]]
    interrupted: list[frozenset[str]] = field(default_factory=list)


@pytest.fixture(scope="module")
def chain(world: World) -> Iterator[Chain]:
    """A small stack, brought up; from now on everything takes a while, so that a kill meets it half-way."""
    world.reset()
    deployment = world.deployment(STACK, one_slice)
    deployment.up().expect_ok()
    found = Chain(world, deployment, things(world.cloud))
    deployment.pulumi("state", "unprotect", "--all", "--yes", f"--stack={STACK}")
    slow = {"create": 0.4, "delete": 0.4}
    names = ("Network", "Subnetwork", "Router", "Account", "Bucket", "Cluster", "NodePool", "BucketIAMMember")
    world.cloud.set_durations(**dict.fromkeys(names, slow))
    yield found
    world.cloud.set_durations()


@pytest.mark.parametrize("steps", OF_A_DESTROY)
def test_a_destroy_killed_half_way_is_resumed(chain: Chain, steps: int) -> None:
    """`pulumi cancel` and `pulumi destroy`: what was being deleted when the engine died is no trouble."""
    killed_after(steps, chain.deployment, "destroy")
    refused = chain.deployment.pulumi("refresh", "--yes", "--skip-preview", f"--stack={STACK}", expect=None)
    assert "the stack is currently locked by 1 lock(s)" in refused
    assert "`pulumi cancel`" in refused
    chain.deployment.pulumi("cancel", "--yes", f"--stack={STACK}")
    if steps == OF_A_DESTROY[-1]:
        chain.deployment.destroy().expect_ok()


def test_after_the_killed_destroys_nothing_is_left(chain: Chain) -> None:
    """Neither in the state nor in the cloud, but for the APIs, which stay on."""
    assert chain.deployment.resources() == []
    assert chain.deployment.pending() == []
    assert {type_ for type_, _, _ in things(chain.world.cloud)} <= {
        "gcp:projects/service:Service",
        "cloud:workloadIdentityPool",
    }


@pytest.mark.parametrize("steps", OF_AN_UP)
def test_an_up_killed_half_way_is_resumed(chain: Chain, steps: int) -> None:
    """The lock is lifted, what was being made is found, whether it was finished or not, and nothing is orphaned."""
    killed_after(steps, chain.deployment, "up")
    chain.interrupted.append(resume(chain.deployment, chain.world.cloud))
    assert orphans(chain.deployment, chain.world.cloud) == set()


def test_a_second_up_at_the_same_time_is_refused_and_the_first_ends_well(chain: Chain) -> None:
    """By the lock of the state. The first is the one that makes what the killed ones left to do."""
    remove_half_installed_chart(chain)
    first = chain.deployment.start("up")
    wait_for("the first is under way", lambda: first.finished_steps() > 0, seconds=60, every=0.02)
    second = chain.deployment.up()
    assert not second.ok
    assert "the stack is currently locked by 1 lock(s)" in second.output
    assert second.steps == []
    first.wait().expect_ok()


def test_after_the_killed_ups_all_is_as_if_nothing_had_happened(chain: Chain) -> None:
    """Cloud and job are those of an undisturbed `up`, and a preview has nothing to do."""
    kube, deployment = chain.world.plane.kube, chain.deployment
    assert things(chain.world.cloud) == chain.undisturbed
    assert deployment.pending() == []
    deployment.preview(refresh=True, expect_no_changes=True).expect_ok()
    wait_for("all pods run", lambda: len(workloads.running(workloads.pods_of(kube, STACK, "train"))) == 3)
    assert any(chain.interrupted), "no kill met anything under way: the scenario shows nothing"


def remove_half_installed_chart(chain: Chain) -> None:
    """`kubectl delete secret --namespace jobset-system --selector owner=helm,name=jobset`: Helm's note of a release.

    Helm refuses to install over a release that a killed run left half-way; without its note, it takes over the objects.
    """
    known = {resource["type"] for resource in chain.deployment.resources()}
    kube = chain.world.plane.kube
    if "kubernetes:helm.sh/v3:Release" not in known:
        for secret in kube.objects("Secret", "jobset-system", labels="owner=helm,name=jobset"):
            kube.delete("Secret", secret["metadata"]["name"], "jobset-system")
