"""The JobSet operator as the stack installs it, on a cluster that other teams use too: bump, destroy, and up again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.cluster.kube import Kube, Object, wait_for
from tests.e2e.cluster.workloads import running
from tests.e2e.engine.deployment import Deployment
from tests.e2e.engine.runs import Run
from tests.e2e.lifecycle import await_pods
from tests.e2e.world import World
from tests.e2e.world_setup import shared_cluster

STACK, JOB, PODS = "shared-dev", "eval", 1 + 2 * 2
OTHERS = "other-team"
CRD = "jobsets.jobset.x-k8s.io"
OLD, NEW = "0.10.1", "0.11.1"
ADDED_IN_NEW = "volumeClaimPolicies"


@dataclass(frozen=True)
class Seen:
    """What the API server shows at a moment: uids of pods by name, the JobSets' uids, the CRD's uid and version."""

    pods: dict[str, str]
    job_sets: dict[str, str]
    crd: str
    fields: frozenset[str]
    images: tuple[str, ...]

    @classmethod
    def now(cls, kube: Kube) -> Seen:
        """Look."""
        crd = kube.get("CustomResourceDefinition", CRD)
        assert crd is not None
        schema = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
        controllers = kube.objects("Deployment", "jobset-system")
        return cls(
            {p["metadata"]["name"]: p["metadata"]["uid"] for n in (STACK, OTHERS) for p in running(_pods(kube, n))},
            {j["metadata"]["name"]: j["metadata"]["uid"] for j in kube.objects("JobSet")},
            crd["metadata"]["uid"],
            frozenset(schema["properties"]["spec"]["properties"]),
            tuple(d["spec"]["template"]["spec"]["containers"][0]["image"] for d in controllers),
        )

    def of(self, prefix: str) -> dict[str, str]:
        """The pods whose names start so."""
        return {name: uid for name, uid in self.pods.items() if name.startswith(prefix)}


@dataclass(frozen=True)
class Story:
    """An operator's life, with what was seen after each step."""

    kube: Kube
    first: Run
    installed: Seen
    planned: Run
    bump: Run
    bumped: Seen
    destroyed: Run
    gone: Seen
    again: Run
    back: Seen


def _pods(kube: Kube, namespace: str) -> list[Object]:
    return [p for p in kube.objects("Pod", namespace) if "deletionTimestamp" not in p["metadata"]]


def _release(world: World, deployment: Deployment, version: str, tool: str) -> None:
    operator = {"version": version, "chart": str(world.chart(tool))}
    config: dict[str, Any] = world.config(STACK) | {"pathways:operators": {"jobset": operator}}
    deployment.configure(config)


def _neighbour(kube: Kube) -> None:
    """Another team's JobSet, running."""
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OTHERS}})
    wait_for("its service account", lambda: kube.get("ServiceAccount", "default", OTHERS))
    pod = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example.invalid/other:1"}]}
    job = {"parallelism": 2, "completions": 2, "completionMode": "Indexed", "template": {"spec": pod}}
    jobs = [{"name": "workers", "replicas": 1, "template": {"spec": job}}]
    meta = {"name": "other", "namespace": OTHERS}
    spec = {"replicatedJobs": jobs}
    kube.create({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": meta, "spec": spec})
    wait_for("the other team's pods", lambda: len(running(_pods(kube, OTHERS))) == 2)


@pytest.fixture(scope="module")
def story(world: World) -> Story:
    """Install the older release, bump it, destroy the stack, bring it up again; the other team's job runs on."""
    world.reset()
    shared_cluster(world.cloud)
    kube = world.plane.kube
    deployment = world.deployment(STACK)
    _release(world, deployment, OLD, "jobset-previous")
    first = deployment.up().expect_ok()
    await_pods(world, STACK, JOB, PODS)
    _neighbour(kube)
    installed = Seen.now(kube)

    _release(world, deployment, NEW, "jobset")
    planned = deployment.preview().expect_ok()
    bump = deployment.up().expect_ok()
    bumped = Seen.now(kube)

    destroyed = deployment.destroy().expect_ok()
    wait_for("the namespace is gone", lambda: kube.get("Namespace", STACK) is None)
    gone = Seen.now(kube)

    again = deployment.up().expect_ok()
    await_pods(world, STACK, JOB, PODS)
    return Story(kube, first, installed, planned, bump, bumped, destroyed, gone, again, Seen.now(kube))


class TestInstall:
    def test_brings_controller_and_crd_of_the_release_that_is_asked_for(self, story: Story) -> None:
        assert {"operators-jobset", "operators-jobset-crd"} <= story.first.changed("create")
        assert story.installed.images == (f"registry.k8s.io/jobset/jobset:v{OLD}",)
        assert ADDED_IN_NEW not in story.installed.fields


class TestBump:
    def test_is_an_update_of_chart_and_crd_and_of_nothing_else(self, story: Story) -> None:
        wanted = {("update", "operators-jobset"), ("update", "operators-jobset-crd")}
        assert {(step.op, step.name) for step in story.planned.changes} == wanted
        assert {(step.op, step.name) for step in story.bump.changes} == wanted

    def test_brings_the_new_crd_along_which_helm_alone_would_not(self, story: Story) -> None:
        assert ADDED_IN_NEW in story.bumped.fields
        assert story.bumped.crd == story.installed.crd

    def test_runs_the_new_controller(self, story: Story) -> None:
        assert story.bumped.images == (f"registry.k8s.io/jobset/jobset:v{NEW}",)

    def test_leaves_every_running_pod_and_jobset_alone(self, story: Story) -> None:
        assert len(story.installed.pods) == PODS + 2
        assert story.bumped.pods == story.installed.pods
        assert story.bumped.job_sets == story.installed.job_sets


class TestDestroyOnASharedCluster:
    def test_leaves_the_crd(self, story: Story) -> None:
        assert story.gone.crd == story.installed.crd

    def test_leaves_other_teams_jobsets_and_their_pods_running(self, story: Story) -> None:
        assert story.gone.of("other-") == story.installed.of("other-")
        assert story.gone.job_sets == {"other": story.installed.job_sets["other"]}

    def test_ends_our_job_and_takes_the_controller_away(self, story: Story) -> None:
        assert story.gone.of(f"{JOB}-") == {}
        assert story.gone.images == ()

    def test_says_that_it_keeps_the_crd(self, story: Story) -> None:
        lines = [line for line in story.destroyed.output.splitlines() if "operators-jobset-crd deleted" in line]
        assert lines
        assert all("[retain]" in line for line in lines)


class TestUpAgain:
    def test_takes_over_the_crd_that_was_left(self, story: Story) -> None:
        assert "operators-jobset-crd" in story.again.changed("create")
        assert story.back.crd == story.installed.crd

    def test_runs_our_job_anew_and_leaves_the_others_alone(self, story: Story) -> None:
        assert len(story.back.of(f"{JOB}-")) == PODS
        assert story.back.of("other-") == story.installed.of("other-")

    def test_governs_the_other_teams_jobset_again(self, story: Story) -> None:
        job_set = story.kube.get("JobSet", "other", OTHERS)
        assert job_set is not None
        assert story.back.images == (f"registry.k8s.io/jobset/jobset:v{NEW}",)
        victim = next(iter(story.back.of("other-")))
        story.kube.delete("Pod", victim, OTHERS)
        wait_for("its pods are two again", lambda: len(running(_pods(story.kube, OTHERS))) == 2)
