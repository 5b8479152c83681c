"""The cluster fails under a run of the engine, and hosts and pods fail under a running job."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.cluster import nodes, podstatus, workloads
from tests.e2e.cluster.kube import Object, wait_for
from tests.e2e.engine.deployment import Deployment, RunningEngine
from tests.e2e.engine.runs import Run
from tests.e2e.faults.recovery import one_slice
from tests.e2e.world import Change, World

STACK, JOB = "vision-dev", "train"
HEAD, WORKER = workloads.HEAD, workloads.WORKER
SLICES_COME_BACK = {"maxRestarts": 2, "maxSliceRestarts": 1, "elasticSlices": 1}


def runtime(**keys: Any) -> Change:
    """A change of `pathways:runtime`, on two small slices."""

    def change(config: dict[str, Any]) -> None:
        one_slice(config)
        config["pathways:slices"]["count"] = 2
        config["pathways:runtime"] = keys

    return change


@dataclass
class Running:
    """A stack whose job runs."""

    world: World
    deployment: Deployment

    def configure(self, run_id: str, **keys: Any) -> None:
        """Write another `pathways:runtime` and `runId` into the stack file; the next `up` starts the job anew."""
        config = self.world.config(STACK)
        runtime(**keys)(config)
        config["pathways:workload"]["runId"] = run_id
        self.deployment.configure(config)

    def up(self, run_id: str, **keys: Any) -> None:
        """Start the job anew with another `pathways:runtime`, and wait until it runs."""
        self.configure(run_id, **keys)
        self.deployment.up().expect_ok()
        self.wait_until_all_run()

    def pods(self, job: str | None = None) -> list[Object]:
        """The pods of the job, or of head or workers, without those that have ended."""
        found = workloads.pods_of(self.world.plane.kube, STACK, JOB, job)
        return [pod for pod in found if pod["status"]["phase"] not in ("Failed", "Succeeded")]

    def job_set(self) -> Object:
        """The JobSet."""
        found = self.world.plane.kube.get("JobSet", JOB, STACK)
        assert found is not None
        return found

    def restarts(self) -> int:
        """How often the whole job was started again."""
        return int(self.job_set().get("status", {}).get("restarts", 0))

    def wait_until_all_run(self) -> dict[str, Object]:
        """Head and both slices of two hosts run; the pods by UID."""
        wait_for("all pods run", lambda: len(workloads.running(self.pods())) == 5, seconds=60)
        return {pod["metadata"]["uid"]: pod for pod in self.pods()}

    def slice_pods(self, index: int) -> list[Object]:
        """The worker pods of one slice."""
        return [pod for pod in self.pods(WORKER) if pod["metadata"]["labels"][workloads.JOB_INDEX_LABEL] == str(index)]


@pytest.fixture(scope="module")
def running(world: World) -> Iterator[Running]:
    """Two slices, nothing made yet: the first two tests bring them up under trouble."""
    world.reset()
    yield Running(world, world.deployment(STACK, runtime(**SLICES_COME_BACK)))
    world.cloud.set_durations()


def until(engine: RunningEngine, word: str) -> None:
    """Wait until the engine's events have a word."""

    def said() -> bool:
        assert engine.alive(), engine.kill().output[-3000:]
        return engine.events_file.exists() and word in engine.events_file.read_text(encoding="utf-8")

    wait_for(word, said, seconds=120, every=0.02)


def test_an_api_server_that_goes_away_during_an_up_costs_a_second_up(running: Running) -> None:
    """What was asked of it fails and says so; everything else is made, and the next `up` makes the rest, once."""
    running.world.cloud.set_durations(NodePool={"create": 3})
    engine = running.deployment.start("up", continue_on_error=True)
    until(engine, "::tenancy-namespace")
    with running.world.plane.without_api_server():
        until(engine, "connection re")
    first = engine.wait()
    running.world.cloud.set_durations()
    assert not first.ok
    # A request that is under way ends in the middle.
    assert re.search("connection refused|connection reset by peer|EOF", first.diagnostics)
    second = running.deployment.up().expect_ok()
    assert "workload-jobset" in second.changed("create")
    again = {call.name for call in running.world.cloud.audit("Create", "NodePool")}
    assert len(again) == len(running.world.cloud.audit("Create", "NodePool")), "no pool was made twice"
    running.wait_until_all_run()


def test_a_head_that_succeeds_completes_the_job_and_frees_its_workers(running: Running) -> None:
    """The workers are gone and the slices free, and Pulumi does not start again what has ended; `runId` does."""
    (head,) = running.pods(HEAD)
    podstatus.succeed(running.world.plane.kube, head)
    wait_for("Completed", lambda: workloads.condition(running.job_set(), "Completed"))
    wait_for("no worker is left", lambda: not running.pods(WORKER))
    running.deployment.preview(expect_no_changes=True).expect_ok()


def test_a_webhook_that_is_down_while_the_job_is_replaced_is_waited_for(running: Running) -> None:
    """Giving up would leave no job: its predecessor is gone by then. An `up` begun in the gap ends well by itself."""
    running.configure("2", **SLICES_COME_BACK)
    with running.world.plane.host.without("jobset"):
        engine = running.deployment.start("up")
        until(engine, "retrying")
    run: Run = engine.wait().expect_ok()
    assert run.changed("replace") == {"workload-jobset"}
    assert "its webhook does not answer" in run.output
    running.wait_until_all_run()


def test_a_worker_pod_that_fails_comes_back_alone(running: Running) -> None:
    """Head and all other workers go on, and the job is not started again."""
    before = running.wait_until_all_run()
    (victim, _) = running.slice_pods(0)
    podstatus.fail(running.world.plane.kube, victim)
    uid = victim["metadata"]["uid"]
    wait_for("it is replaced", lambda: uid not in {pod["metadata"]["uid"] for pod in running.pods()})
    after = running.wait_until_all_run()
    assert set(before) - set(after) == {uid}
    assert running.restarts() == 0


def test_a_slice_that_is_lost_leaves_the_head_and_the_other_slice_alone_until_it_is_back(running: Running) -> None:
    """As elastic slices need it: the pods of the lost slice wait for its pool, and run there once GKE has mended it."""
    before, pool = running.wait_until_all_run(), pool_of(running, 1)
    lost = {pod["metadata"]["uid"] for pod in running.slice_pods(1)}
    for name in running.world.cloud.by_hand("fail_hosts", name=pool, count=2):
        nodes.remove_node(running.world.plane.kube, name)  # at once what the pod collector does after a minute
    # The slice's first pod waits for a host; by exclusive placement the second is made once the first has its place.
    wait_for("the slice waits", lambda: {p["status"]["phase"] for p in running.slice_pods(1)} == {"Pending"})
    kept = {pod["metadata"]["uid"] for pod in workloads.running(running.pods())}
    assert kept == set(before) - lost
    running.world.cloud.by_hand("give_back", name=pool)
    after = running.wait_until_all_run()
    assert set(before) - set(after) == lost
    assert running.restarts() == 0
    pools = workloads.pools_of_slices(running.world.plane.kube, running.pods(WORKER))
    assert len(set(map(tuple, pools.values()))) == 2


def test_a_slice_that_fails_more_often_than_it_may_starts_the_whole_job_again(running: Running) -> None:
    """More than hosts × maxSliceRestarts pods: the worker job fails, and the JobSet starts head and workers anew."""
    before = running.wait_until_all_run()
    backoff = running.job_set()["spec"]["replicatedJobs"][1]["template"]["spec"]["backoffLimit"]
    assert backoff == 2 * SLICES_COME_BACK["maxSliceRestarts"]
    deadline = time.monotonic() + 60
    while running.restarts() == 0 and time.monotonic() < deadline:
        for pod in workloads.running(running.slice_pods(0)):
            podstatus.fail(running.world.plane.kube, pod)
    assert running.restarts() == 1
    after = running.wait_until_all_run()
    assert not set(before) & set(after), "head and every worker are new"


def test_a_head_that_fails_starts_the_whole_job_again_until_its_restarts_are_used_up(running: Running) -> None:
    """`maxRestarts: 2`, one of them used: once more head and workers are all new, then the JobSet is Failed."""
    before = running.wait_until_all_run()
    fail_head(running)
    wait_for("a restart", lambda: running.restarts() == 2)
    after = running.wait_until_all_run()
    assert not set(before) & set(after)
    assert not workloads.condition(running.job_set(), "Failed")
    fail_head(running)
    wait_for("Failed", lambda: workloads.condition(running.job_set(), "Failed"))


def test_without_restarts_a_head_that_fails_ends_the_job_at_once(running: Running) -> None:
    """The default, `maxRestarts: 0`; the workers go, so that nothing runs that nobody uses."""
    running.up("3")
    fail_head(running)
    wait_for("Failed", lambda: workloads.condition(running.job_set(), "Failed"))
    wait_for("no worker is left", lambda: not workloads.running(running.pods(WORKER)))


def fail_head(running: Running) -> None:
    """The user's container ends with 1."""
    (head,) = running.pods(HEAD)
    podstatus.fail(running.world.plane.kube, head)


def pool_of(running: Running, index: int) -> str:
    """The node pool that a slice's pods run on."""
    (name,) = workloads.pools_of_slices(running.world.plane.kube, running.slice_pods(index))[str(index)]
    return name
