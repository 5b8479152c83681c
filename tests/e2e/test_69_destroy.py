"""How every stack ends: what `destroy` leaves in cloud, cluster and state, and that it says so."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from tests.e2e.cloud.store import Call
from tests.e2e.cluster.kube import wait_for
from tests.e2e.cluster.nodes import nodes_of
from tests.e2e.engine.runs import Run
from tests.e2e.lifecycle import Life, writes

# What a stack has besides its bucket once it is destroyed: APIs stay on, other stacks of the project use them too.
KEPT = {"pathways", "google", "services", "scratch", "scratch-bucket"}


@dataclass(frozen=True)
class Refusal:
    """An attempt to destroy a stack that is protected, and what it changed."""

    run: Run
    calls: list[Call]
    state: tuple[int, int]
    pods: tuple[list[str], list[str]]


@dataclass(frozen=True)
class End:
    """A stack that was destroyed as the runbook says.

    Attributes:
        life: The stack.
        refusals: Of a production stack: plain `destroy`, and `destroy --exclude-protected`, as it stood.
        opened: Of a production stack: the `up` that takes its protection away.
        destroyed: `destroy --exclude-protected`.
        calls: What that one wrote to the cloud.
    """

    life: Life
    refusals: list[Refusal]
    opened: Run | None
    destroyed: Run
    calls: list[Call]


@pytest.fixture(scope="session")
def end(life: Life) -> End:
    """The end of each stack in turn."""
    refusals, opened = [], None
    if life.config["pathways:environment"] == "prod":
        refusals = [_refused(life), _refused(life, exclude_protected=True)]
        cluster = life.config["pathways:cluster"] | {"deletionProtection": False}
        life.deployment.configure(life.config | {"pathways:cluster": cluster})
        opened = life.deployment.up().expect_ok()
    mark = life.world.cloud.mark()
    destroyed = life.deployment.destroy(exclude_protected=True).expect_ok()
    return End(life, refusals, opened, destroyed, writes(life.world, mark))


def _refused(life: Life, **options: bool) -> Refusal:
    mark, state, pods = life.world.cloud.mark(), len(life.deployment.resources()), _uids(life)
    run = life.deployment.destroy(**options)
    return Refusal(run, writes(life.world, mark), (state, len(life.deployment.resources())), (pods, _uids(life)))


def _uids(life: Life) -> list[str]:
    return sorted(pod["metadata"]["uid"] for pod in life.pods())


def test_a_protected_stack_is_not_touched_by_a_destroy(end: End) -> None:
    protected = end.life.config["pathways:environment"] == "prod"
    assert len(end.refusals) == (2 if protected else 0)
    for refusal in end.refusals:
        assert refusal.calls == []
        assert refusal.state[0] == refusal.state[1]
        assert refusal.pods[0] == refusal.pods[1] != []


def test_a_protected_stack_says_that_it_is(end: End) -> None:
    for plain, without_protected in [end.refusals] if end.refusals else []:
        assert not plain.run.ok
        assert "::protection" in plain.run.diagnostics
        assert "because it is protected" in plain.run.diagnostics
        assert "There were no unprotected resources to destroy" in without_protected.run.output


def test_taking_the_protection_away_changes_the_cluster_alone_and_in_place(end: End) -> None:
    if end.opened is not None:
        assert [(step.op, step.name) for step in end.opened.changes] == [("update", "cluster-cluster")]


def test_destroy_leaves_nothing_in_the_cloud_but_data_and_apis(end: End) -> None:
    left = [r for r in end.life.world.cloud.resources() if not _was_there_before(end.life, r)]
    kinds = {r["type"].rpartition(":")[2] for r in left}
    buckets = [r["name"] for r in left if r["type"].endswith(":Bucket")]
    made = "existing" not in end.life.config.get("pathways:scratch", {})
    project = end.life.config["gcp:project"]
    assert buckets == ([f"{project}-{end.life.stack}-scratch"] if made else [])
    assert kinds <= {"Bucket", "Service", "workloadIdentityPool"}


def test_destroy_leaves_nothing_in_the_state_but_what_is_protected(end: End) -> None:
    names = {resource["urn"].rpartition("::")[2] for resource in end.life.deployment.resources()}
    kept = {name for name in names if not name.startswith("services-")} - {f"pathways-{end.life.stack}"}
    made = "existing" not in end.life.config.get("pathways:scratch", {})
    assert kept == (KEPT if made else set())
    assert made or names == set()


def test_destroy_leaves_nothing_in_the_cluster(end: End) -> None:
    kube, stack = end.life.kube, end.life.stack
    wait_for("the namespace is gone", lambda: kube.get("Namespace", stack) is None)
    assert kube.objects("Pod", stack) == []
    assert [n["metadata"]["name"] for n in kube.objects("Node") if stack in n["metadata"]["name"]] == []


def test_destroy_deletes_what_goes_with_the_cluster_with_it(end: End) -> None:
    deleted = [call.short for call in end.calls if call.method == "Delete"]
    owned = "existing" not in end.life.config.get("pathways:cluster", {})
    pools = 1 + end.life.size.slices
    assert deleted.count("Cluster") == (1 if owned else 0)
    assert deleted.count("NodePool") == (0 if owned else pools)


def test_destroy_leaves_a_shared_cluster_as_it_was_and_of_its_own_one_nothing(end: End) -> None:
    kube = end.life.kube
    if "existing" in end.life.config.get("pathways:cluster", {}):
        assert len(nodes_of(kube, "everybody")) == len(kube.objects("Node")) == 2
        assert kube.get("CustomResourceDefinition", "jobsets.jobset.x-k8s.io")
        assert end.life.world.plane.host.running("jobset")
    else:
        assert kube.objects("Node") == []
        assert kube.objects("CustomResourceDefinition") == []


def test_destroy_says_what_stays(end: End) -> None:
    left = len(end.life.deployment.resources())
    if left:
        assert f"There are still {left} protected resources associated with this stack" in end.destroyed.output
    else:
        assert "The resources in the stack have been deleted" in end.destroyed.output
    installs = end.life.config.get("pathways:operators", {}).get("jobset", {}).get("install", True)
    retained = re.search(r"operators-jobset-crd deleted .*\[retain\]", end.destroyed.output)
    assert bool(retained) == installs


def _was_there_before(life: Life, resource: dict[str, object]) -> bool:
    return any(resource["id"] == each["id"] for each in life.beforehand)
