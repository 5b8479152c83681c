"""One stack led through changes by real runs, with what was seen before and after each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.e2e.changes.code import CodeChange
from tests.e2e.changes.configs import config
from tests.e2e.changes.decisions import variant
from tests.e2e.cloud.store import Call
from tests.e2e.cluster.kube import Kube, Object, wait_for
from tests.e2e.cluster.workloads import WORKER, pods_of, pools_of_slices, running
from tests.e2e.engine.deployment import Deployment
from tests.e2e.engine.runs import Run
from tests.e2e.lifecycle import writes
from tests.e2e.world import World
from tests.offline.diff.table import Case, Edit

POOL = "cloud.google.com/gke-nodepool"


@dataclass(frozen=True)
class Sight:
    """What runs at one moment.

    Attributes:
        nodes: UIDs of the nodes of each pool.
        jobset: UID of the JobSet.
        slices: The pools on which each worker job (by its index) has its pods.
        pods: UIDs of its pods.
        placed: The nodes that the scheduler has put its pods on, those that are gone included.
    """

    nodes: Mapping[str, frozenset[str]]
    jobset: str
    slices: Mapping[str, set[str]]
    pods: frozenset[str]
    placed: frozenset[str]


@dataclass(frozen=True)
class Made:
    """A change that was made: the run, the calls that changed the cloud, and what ran before and after."""

    run: Run
    calls: list[Call]
    before: Sight
    after: Sight

    @property
    def written(self) -> list[tuple[str, str]]:
        """Method and name of what was written to the cloud, in order."""
        return [(call.method, call.name) for call in self.calls]

    def untouched(self, *pools: str) -> bool:
        """Whether the nodes of these pools are the same machines, and all of them."""
        return all(self.before.nodes[pool] == self.after.nodes[pool] != frozenset() for pool in pools)


@dataclass
class Walk:
    """A deployed stack that goes from one change to the next.

    Attributes:
        world: Where it lives.
        deployment: Its copy of the project.
        at: The edits of its stack file that are deployed; None while that is not known.
        deployed: Whether there is anything of it.
    """

    world: World
    deployment: Deployment
    at: Edit | None = field(default=None, init=False)
    deployed: bool = field(default=False, init=False)
    _previews: dict[str, Run] = field(default_factory=dict, init=False)
    _rewritten: dict[str, tuple[Deployment, Run]] = field(default_factory=dict, init=False)

    @property
    def project(self) -> str:
        """Its Google Cloud project."""
        return str(config(self.world, self.deployment.stack)["gcp:project"])

    @property
    def region(self) -> str:
        """Its region."""
        return str(config(self.world, self.deployment.stack)["pathways:zone"]).rpartition("-")[0]

    def stand(self, edit: Edit) -> Sight:
        """Deploy these edits, if they are not what is deployed; wait until all pods run."""
        if self.at != edit:
            self.configure(edit)
            self._give_up_bucket(edit)
            self.deployed, run = True, self.deployment.up()
            run.expect_ok()
            self.at = edit
        return self.sight()

    def go(self, base: Edit, head: Edit) -> Made:
        """Change the stack from `base` to `head` and wait until all pods run again."""
        before = self.stand(base)
        mark = self.world.cloud.mark()
        self.configure(head)
        self._give_up_bucket(head)
        self.at = None
        run = self.deployment.up().expect_ok()
        self.at = head
        return Made(run, writes(self.world, mark), before, self.sight())

    def preview(self, base: Edit, case: Case, head: Edit) -> Run:
        """What the engine would do to get from `base` to `head`, which is `case` there; asked once for each case."""
        if case.name not in self._previews:
            self.stand(base)
            after = config(self.world, self.deployment.stack, head)
            self._previews[case.name] = variant(self.deployment, case.name, after).preview()
        return self._previews[case.name]

    def rewritten(self, change: CodeChange) -> tuple[Deployment, Run]:
        """The stack as it is committed with another program, and its preview; asked once for each change."""
        if change.name not in self._rewritten:
            self.stand({})
            same = config(self.world, self.deployment.stack)
            other = variant(self.deployment, change.name, same, change.rewrite)
            self._rewritten[change.name] = other, other.preview().expect_ok()
        return self._rewritten[change.name]

    def configure(self, edit: Edit) -> None:
        """Write the stack file."""
        self.deployment.configure(config(self.world, self.deployment.stack, edit))

    def _give_up_bucket(self, edit: Edit) -> None:
        """Where a change leaves the bucket behind, take its protection off, as the engine's message says."""
        if self.deployed and "scratch.existing" in edit:
            for resource in self.deployment.resources():
                if resource["type"].endswith(":Bucket") and resource.get("protect"):
                    self.deployment.pulumi(
                        "state", "unprotect", resource["urn"], "--yes", "--stack", self.deployment.stack
                    )

    def sight(self) -> Sight:
        """Wait until all pods of the job run, and look."""
        kube, namespace = self.world.plane.kube, self.deployment.stack
        outputs = self.deployment.outputs()
        hosts, job = outputs["totals"]["hosts"], outputs["jobSetName"]
        wait_for(
            f"head and {hosts} workers running",
            lambda: len(running(pods_of(kube, namespace, job))) == hosts + 1,
            seconds=120,
        )
        jobset = kube.get("JobSet", job, namespace)
        assert jobset is not None
        pods = pods_of(kube, namespace, job)
        nodes: dict[str, set[str]] = {}
        for node in kube.objects("Node", labels=POOL):
            nodes.setdefault(node["metadata"]["labels"][POOL], set()).add(node["metadata"]["uid"])
        return Sight(
            {pool: frozenset(uids) for pool, uids in nodes.items()},
            jobset["metadata"]["uid"],
            pools_of_slices(kube, pods_of(kube, namespace, job, WORKER)),
            frozenset(pod["metadata"]["uid"] for pod in pods),
            _placed(kube, namespace, jobset),
        )


def _placed(kube: Kube, namespace: str, jobset: Object) -> frozenset[str]:
    since = jobset["metadata"]["creationTimestamp"]
    events = [event for event in kube.objects("Event", namespace) if event["metadata"]["creationTimestamp"] >= since]
    return frozenset(event["message"].rpartition(" to ")[2] for event in events if event["reason"] == "Scheduled")
