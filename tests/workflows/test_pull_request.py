from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.workflows.server import GitHub
from workflows.errors import WorkflowError
from workflows.github import Client
from workflows.pull_request import finished, pull_request_of

SHA = "a" * 40
EVENT: dict[str, Any] = {
    "action": "completed",
    "repository": {"full_name": "acme/pathways", "id": 1},
    "workflow_run": {
        "id": 55,
        "event": "pull_request",
        "html_url": "https://github.example/acme/pathways/actions/runs/55",
        "head_branch": "one more/slice",
        "head_sha": SHA,
        "head_repository": {"id": 99, "full_name": "ada/pathways", "owner": {"login": "ada"}},
        "pull_requests": [{"number": 666}],
    },
}


def pull(
    number: int, *, sha: str = SHA, repository: int | None = 99, label: str = "ada:one more/slice"
) -> dict[str, Any]:
    head = {"sha": sha, "label": label, "repo": None if repository is None else {"id": repository}}
    return {"number": number, "head": head}


def found(client: Client) -> int | None:
    return pull_request_of(client, finished(EVENT))


def test_a_fork_s_pull_request_is_found_by_its_head(hub: GitHub, client: Client) -> None:
    hub.pulls = [pull(6, label="ada:other"), pull(7), pull(8, label="eve:one more/slice")]
    assert found(client) == 7


@pytest.mark.parametrize(
    "other",
    [pull(7, sha="b" * 40), pull(7, repository=100), pull(7, repository=None)],
    ids=["moved on", "another repository", "repository gone"],
)
def test_what_is_not_exactly_the_head_is_not_it(hub: GitHub, client: Client, other: dict[str, Any]) -> None:
    hub.pulls = [other]
    assert found(client) is None


def test_it_is_found_on_any_page(hub: GitHub, client: Client) -> None:
    hub.page = 2
    hub.pulls = [*(pull(number, sha="b" * 40) for number in range(10, 15)), pull(7)]
    assert found(client) == 7


def test_one_head_of_several_pull_requests_is_refused(hub: GitHub, client: Client) -> None:
    hub.pulls = [pull(7), pull(8)]
    with pytest.raises(WorkflowError, match="head of 2 open pull requests"):
        found(client)


@pytest.mark.parametrize("event", ["push", "workflow_dispatch", "pull_request_target"])
def test_a_run_for_anything_else_is_refused(event: str) -> None:
    other = copy.deepcopy(EVENT)
    other["workflow_run"]["event"] = event
    with pytest.raises(WorkflowError, match=f"started by {event}"):
        finished(other)


@pytest.mark.parametrize("missing", ["head_repository", "head_sha", "id"])
def test_an_event_that_lacks_something_is_refused(missing: str) -> None:
    other = copy.deepcopy(EVENT)
    other["workflow_run"][missing] = None
    if missing == "head_sha":
        del other["workflow_run"][missing]
    with pytest.raises(WorkflowError, match="no finished workflow run"):
        finished(other)
