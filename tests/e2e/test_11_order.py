"""The order of an `up`: what waits for what, how long all of it takes, and that only one runs at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pytest

from tests.e2e.cloud.store import Call
from tests.e2e.cluster.kube import wait_for
from tests.e2e.engine.runs import Run
from tests.e2e.lifecycle import await_pods
from tests.e2e.world import World
from tests.e2e.world_setup import prepare

STACK, JOB, SLICES, HOSTS = "vision-dev", "train", 4, 4
SCALE = 1 / 20
# Seconds that Google Cloud takes to create each: cluster and pools as GKE usually does, the rest as the provider waits.
REAL_SECONDS: Mapping[str, float] = {
    "Cluster": 480,
    "NodePool": 240,
    "Network": 20,
    "Subnetwork": 15,
    "Router": 10,
    "RouterNat": 15,
    "Service": 9,
    "Account": 10,
    "IAMMember": 6,
    "RepositoryIamMember": 6,
    "BucketIAMMember": 3,
    "Bucket": 2,
}
# Each step of a chain needs what the one before made; of several names the slowest counts. That slices wait for the
# system pool is the design's choice: without nodes GKE's own programs run nowhere.
_SERVICES = "services-"
_REST = ("cluster-cluster", "system-pool", "slices-", "workload-jobset")
CHAINS = (
    (_SERVICES, "network-vpc", "network-nodes", *_REST),
    (_SERVICES, "nodes-account", "nodes-", *_REST),
    (_SERVICES, "scratch-bucket", *_REST),
)
MOST = 1.05


@dataclass(frozen=True)
class Timed:
    """A finished `up` of four slices, in a cloud that takes its time, and a second one that was started meanwhile."""

    run: Run
    second: Run
    audit: list[Call]
    seen: list[tuple[float, dict[str, Any]]]

    @cached_property
    def created(self) -> dict[str, Call]:
        """The calls that created something, by logical name."""
        return {call.name: call for call in self.audit if call.method == "Create"}

    @cached_property
    def moments(self) -> dict[tuple[str, str], float]:
        """When the engine began (`resourcePreEvent`) and ended (`resOutputsEvent`) each resource."""
        found: dict[tuple[str, str], float] = {}
        for when, event in self.seen:
            for kind in ("resourcePreEvent", "resOutputsEvent"):
                metadata: dict[str, Any] = (event.get(kind) or {}).get("metadata") or {}
                if metadata:
                    found[kind, metadata["urn"].rpartition("::")[2]] = when
        return found

    def begin(self, name: str) -> float:
        """When the engine began a resource."""
        return self.moments["resourcePreEvent", name]

    def end(self, name: str) -> float:
        """When the engine was done with it."""
        return self.moments["resOutputsEvent", name]

    def busy(self, start: float, end: float) -> float:
        """The seconds between two moments in which at least one resource was being made."""
        total, reached = 0.0, start
        for begun, ended in sorted((self.begin(name), self.end(name)) for name in self._made()):
            total += max(0.0, min(ended, end) - max(begun, reached))
            reached = max(reached, ended)
        return total

    def _made(self) -> set[str]:
        return self.run.changed("create") & {name for _, name in self.moments}

    def seconds(self, step: str) -> float:
        """What a step of a chain took by itself: the cloud's own time, and the engine's for objects in the cluster."""
        cloud = [
            c.seconds
            for name, c in self.created.items()
            if name == step or (step[-1] == "-" and name[: len(step)] == step)
        ]
        return max(cloud) if cloud else self.end(step) - self.begin(step)


@pytest.fixture(scope="module")
def timed(world: World) -> Timed:
    """The `up`, with another one started while the cluster is being made."""
    prepare(world, STACK)
    cloud = world.cloud
    cloud.set_durations(**{type_: {"create": seconds * SCALE} for type_, seconds in REAL_SECONDS.items()})

    def four(config: dict[str, Any]) -> None:
        config["pathways:slices"]["count"] = SLICES

    deployment = world.deployment(STACK, four)
    first = deployment.start("up")
    with ThreadPoolExecutor(1) as beside:
        wait_for("the engine has begun", first.events_file.exists, seconds=60, every=0.01)
        seen = beside.submit(list, first.followed())
        wait_for("the cluster is being made", lambda: cloud.audit("Create", "Cluster"), seconds=120)
        second = deployment.up()
        run = first.wait().expect_ok()
    await_pods(world, STACK, JOB, 1 + SLICES * HOSTS)
    return Timed(run, second, cloud.audit(), seen.result())


def test_no_tpu_pool_waits_for_an_operator(timed: Timed) -> None:
    for index in range(SLICES):
        assert timed.created[f"slices-{index}"].started < timed.end("operators-jobset")


def test_no_operator_waits_for_a_tpu_pool(timed: Timed) -> None:
    first = min(timed.end(f"slices-{index}") for index in range(SLICES))
    assert timed.begin("operators-jobset") < first


def test_slices_and_head_are_made_side_by_side(timed: Timed) -> None:
    pools = [timed.created[name] for name in ("head-pool", *(f"slices-{index}" for index in range(SLICES)))]
    assert max(call.started for call in pools) < min(call.ended or 0 for call in pools)


def test_the_jobset_comes_after_bindings_policy_operator_and_every_pool(timed: Timed) -> None:
    begun = timed.begin("workload-jobset")
    for name in (
        "access-objects",
        "access-bucket",
        "nodes-node-agents",
        "head-pool",
        "slices-0",
        f"slices-{SLICES - 1}",
    ):
        ended = timed.created[name].ended
        assert ended is not None
        assert ended <= begun, name
    for name in ("tenancy-policy", "tenancy-account", "operators-jobset"):
        assert timed.end(name) <= begun, name


def test_takes_no_longer_than_its_longest_chain(timed: Timed, record_property: Callable[[str, object], None]) -> None:
    """From the first call to the cloud until the JobSet is there, without the moments in which nothing is being made.

    In those the engine and Python work, which takes as long with durations of minutes as with these. Whatever waits
    for something it does not need waits while that is being made, so no wrong order can hide there.
    """
    start, end = min(call.started for call in timed.created.values()), timed.end("workload-jobset")
    busy = timed.busy(start, end)
    longest = max(sum(timed.seconds(step) for step in chain) for chain in CHAINS)
    record_property("chain, seconds", round(longest, 2))
    record_property("made something, seconds", round(busy, 2))
    record_property("all, seconds", round(end - start, 2))
    assert longest > SCALE * (REAL_SECONDS["Cluster"] + 2 * REAL_SECONDS["NodePool"])
    assert busy <= MOST * longest, f"{busy:.2f} of {end - start:.2f} s for a chain of {longest:.2f} s"


def test_a_second_up_at_the_same_time_is_refused_by_the_lock(timed: Timed) -> None:
    assert not timed.second.ok
    assert "the stack is currently locked by 1 lock(s)" in timed.second.output
    assert timed.second.steps == []


def test_the_second_up_called_nothing(timed: Timed) -> None:
    calls = [call for call in timed.audit if call.method == "Create"]
    assert len({call.urn for call in calls}) == len(calls)
