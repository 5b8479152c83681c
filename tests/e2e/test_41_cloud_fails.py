"""Google Cloud refuses, breaks or has nothing left: what the user reads, and that the runbook's recovery works."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from tests.e2e.cloud.errors import Fault, FaultKind
from tests.e2e.cloud.store import ERROR, RUNNING
from tests.e2e.cluster import workloads
from tests.e2e.cluster.kube import wait_for
from tests.e2e.engine.deployment import ROOT, Deployment
from tests.e2e.engine.runs import Run
from tests.e2e.faults.recovery import one_slice
from tests.e2e.lifecycle import writes
from tests.e2e.world import Change, World
from tests.e2e.world_setup import prepare

STACK = "vision-dev"
NETWORK = {"name": STACK, "project": "acme-ml-dev", "autoCreateSubnetworks": False}


def four_slices(config: dict[str, Any]) -> None:
    """Four slices of two hosts."""
    one_slice(config)
    config["pathways:slices"]["count"] = 4


def absent(key: str, part: str | None) -> Change:
    """A change of a stack file: what exists is called by a name that nothing has."""

    def change(config: dict[str, Any]) -> None:
        section = config[f"pathways:{key}"]
        if part is None:
            section["existing"] = "no-such-thing"
        else:
            owner, slash, _ = section["existing"][part].rpartition("/")
            section["existing"][part] = f"{owner}{slash}no-such-thing"

    return change


@pytest.fixture(scope="module")
def shared(world: World) -> World:
    """What a platform team has made for `shared-dev`."""
    return prepare(world, "shared-dev")


@pytest.mark.parametrize(
    ("key", "part"),
    [("network", "network"), ("network", "subnetwork"), ("cluster", "name"), ("scratch", None)],
    ids=["network", "subnet", "cluster", "bucket"],
)
def test_what_a_stack_file_names_and_is_not_there_is_said_in_one_sentence(
    shared: World, key: str, part: str | None
) -> None:
    """Where it stands, what it is, and what to write; no traceback of the program, and nothing is made."""
    mark = shared.cloud.mark()
    run = shared.deployment("shared-dev", absent(key, part)).preview()
    place = f"{key}.existing" + (f".{part}" if part else "")
    assert not run.ok
    assert re.search(rf"stacks/Pulumi.shared-dev.yaml: {place}: \S*no-such-thing is not there", run.output)
    assert "; write " in run.output
    assert "Traceback" not in run.output
    assert writes(shared, mark) == []


@dataclass
class Story:
    """One stack that is brought up against ever new troubles."""

    world: World
    deployment: Deployment

    def up(self, *faults: Fault, **options: Any) -> Run:
        """One `up`; what one resource's failure does not touch is still tried, so that all messages show at once."""
        self.world.cloud.inject(*faults)
        run = self.deployment.up(continue_on_error=True, **options)
        self.world.cloud.clear_faults()
        return run

    def destroy(self, *faults: Fault) -> Run:
        """One `destroy`, likewise."""
        self.world.cloud.inject(*faults)
        run = self.deployment.destroy(continue_on_error=True)
        self.world.cloud.clear_faults()
        return run

    def pools(self) -> dict[str, str]:
        """The status of each slice's pool."""
        found = self.world.cloud.resources("NodePool")
        return {pool["name"][-1]: pool["status"] for pool in found if "-slice-" in pool["name"]}


@pytest.fixture(scope="module")
def story(world: World) -> Iterator[Story]:
    """Four slices; the tests of this file go from nothing to a running job."""
    world.reset()
    yield Story(world, world.deployment(STACK, four_slices))
    world.cloud.clear_faults()


def test_a_name_that_is_taken_a_right_that_is_missing_and_an_outage_are_named(story: Story) -> None:
    """409 tells what is there already, 403 which permission on what, 503 itself; what depends on them is not tried."""
    story.world.cloud.by_hand("make", type="Network", inputs=NETWORK)
    run = story.up(Fault(FaultKind.PERMISSION_DENIED, "Account"), Fault(FaultKind.UNAVAILABLE, "Bucket"))
    assert not run.ok
    assert "Error 409: The resource 'projects/acme-ml-dev/global/networks/vision-dev' already exists" in run.output
    assert 'Error 403: Required "iam.serviceAccounts.create" permission(s) for "projects/acme-ml-dev/' in run.output
    assert "Error creating Bucket: googleapi: Error 503: The service is currently unavailable." in run.output
    assert story.world.cloud.resources("Cluster") == []
    story.world.cloud.by_hand("delete", type="Network", name=STACK)


def test_a_cluster_whose_creation_breaks_down_is_created_by_the_next_up(story: Story) -> None:
    """500: nothing was made; `pulumi up` again is all. What had failed before is there now."""
    run = story.up(Fault(FaultKind.INTERNAL, "Cluster"))
    assert not run.ok
    assert "Error creating Cluster: googleapi: Error 500: Internal error encountered." in run.output
    assert {"network-vpc", "nodes-account", "scratch-bucket"} <= run.changed("create")
    assert {len(story.world.cloud.resources(type_)) for type_ in ("Network", "Account", "Bucket")} == {1}


def test_a_time_out_after_the_create_went_through_leaves_no_second_cluster(story: Story) -> None:
    """The cluster stands in the state, marked; the next `up` goes on with it."""
    run = story.up(Fault(FaultKind.TIMEOUT_AFTER, "Cluster"))
    assert not run.ok
    assert "Error waiting for creating Cluster: timeout while waiting for state to become 'DONE'" in run.output
    assert len(story.world.cloud.resources("Cluster")) == 1
    assert "cluster-cluster" in {resource["urn"].rpartition("::")[2] for resource in story.deployment.resources()}


def test_every_pool_that_cannot_be_had_says_why(story: Story) -> None:
    """Quota, rate limit, an outage, a time-out and a stock-out at the same time; the one good slice is made."""
    mark = story.world.cloud.mark()
    run = story.up(
        Fault(FaultKind.QUOTA, "NodePool", f"{STACK}-head"),
        Fault(FaultKind.STOCKOUT, "NodePool", f"{STACK}-slice-1"),
        Fault(FaultKind.RATE_LIMIT, "NodePool", f"{STACK}-slice-2"),
        Fault(FaultKind.TIMEOUT_AFTER, "NodePool", f"{STACK}-slice-3"),
    )
    assert not run.ok
    assert "View and manage quotas at https://console.cloud.google.com/iam-admin/quotas" in run.output
    assert "NodePool vision-dev-slice-1 was created in the error state" in run.output
    assert "Error 429: Quota exceeded for quota metric 'Requests'" in run.output
    assert "Error waiting for creating NodePool: timeout" in run.output
    assert story.pools() == {"0": RUNNING, "1": ERROR, "3": RUNNING}
    creations = [call.name for call in story.world.cloud.audit("Create", "Cluster", since=mark)]
    assert creations == [], "the cluster of the time-out is not made again"
    assert story.world.plane.kube.objects("JobSet") == [], "no job before all its pools are there"


def test_the_next_up_makes_what_is_missing_but_not_the_pool_in_error(story: Story) -> None:
    """The trap of a stock-out: the provider sees no difference, so that `up` ends well and the slice has no hosts."""
    run = story.up().expect_ok()
    assert {"head-pool", "slices-2"} <= run.changed("create")
    assert "slices-1" in run.changed("update")
    assert story.pools() == {"0": RUNNING, "1": ERROR, "2": RUNNING, "3": RUNNING}
    kube = story.world.plane.kube
    wait_for("three slices run", lambda: len(workloads.running(_workers(story))) == 6)
    assert not [node for node in kube.objects("Node") if node["metadata"]["name"].startswith("gke-vision-dev-slice-1")]
    story.deployment.preview(expect_no_changes=True).expect_ok()


def test_a_pool_in_error_is_made_anew_by_replacing_it(story: Story) -> None:
    """`pulumi up --replace URN`: that pool and the job, and no other pool."""
    mark = story.world.cloud.mark()
    urn = next(found["urn"] for found in story.deployment.resources() if found["urn"].endswith("::slices-1"))
    run = story.up(replace=[urn]).expect_ok()
    assert run.changed("replace") == {"slices-1", "workload-jobset"}
    touched = [call for call in story.world.cloud.audit(since=mark) if call.method in ("Create", "Update", "Delete")]
    assert [(call.method, call.name) for call in touched] == [("Delete", "slices-1"), ("Create", "slices-1")]
    assert set(story.pools().values()) == {RUNNING}
    wait_for("all slices run", lambda: len(workloads.running(_workers(story))) == 8)


def test_a_deletion_that_fails_is_gone_on_with(story: Story) -> None:
    """A time-out after the deletion went through, then a rate limit: `pulumi destroy` again, until nothing is left."""
    story.deployment.pulumi("state", "unprotect", "--all", "--yes", f"--stack={STACK}")
    timed_out = story.destroy(Fault(FaultKind.TIMEOUT_AFTER, "Cluster", operation="delete"))
    assert "Error waiting for deleting Cluster: timeout" in timed_out.output
    assert story.world.cloud.resources("Cluster") == []
    limited = story.destroy(Fault(FaultKind.RATE_LIMIT, "Bucket", operation="delete"))
    assert "Error deleting Bucket: googleapi: Error 429" in limited.output
    assert not timed_out.ok
    assert not limited.ok
    story.destroy().expect_ok()
    assert story.deployment.resources() == []


@pytest.mark.parametrize(
    "said",
    [
        'Error 403: Required "…" permission(s) for',
        "View and manage quotas",
        "Error 409: The resource '…' already exists",
        "Error 429: Quota exceeded for quota metric",
        "Error 500: Internal error",
        "Error 503: The service is currently unavailable",
        "timeout while waiting for state to become",
        "was created in the error state",
    ],
)
def test_the_runbook_says_what_to_do_about_every_message_that_was_seen(story: Story, said: str) -> None:
    """The messages are Google's and the provider's; what they do not tell stands under their words in the runbook."""
    logs = story.world.processes.logs.glob(f"{story.deployment.folder.parent.name}-*.log")
    printed = "".join(file.read_text() for file in logs)
    assert re.search(".*".join(map(re.escape, said.split("…"))), printed), "no run of this file has said so"
    assert said in (ROOT / "docs" / "runbook.md").read_text()


def _workers(story: Story) -> list[dict[str, Any]]:
    return workloads.pods_of(story.world.plane.kube, STACK, "train", workloads.WORKER)
