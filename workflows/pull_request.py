"""Which pull request a finished preview belongs to: asked of GitHub, never of the preview."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from workflows.errors import WorkflowError
from workflows.github import Client


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run of the preview workflow, from the event `workflow_run`.

    Attributes:
        repository: `owner/name` of the repository whose workflow ran.
        run: the run's number.
        url: its page.
        head_owner: who owns the repository that the change comes from.
        head_repository: that repository's numeric id.
        head_branch, head_sha: what was previewed.
    """

    repository: str
    run: int
    url: str
    head_owner: str
    head_repository: int
    head_branch: str
    head_sha: str


def finished(event: Mapping[str, Any]) -> Finished:
    """Read the event.

    Raises:
        WorkflowError: it is not a finished run for a pull request.
    """
    try:
        run = event["workflow_run"]
        if run["event"] != "pull_request":
            raise WorkflowError(f"the run was started by {run['event']}; only a pull request gets a comment")
        head = run["head_repository"]
        return Finished(
            repository=event["repository"]["full_name"],
            run=int(run["id"]),
            url=str(run["html_url"]),
            head_owner=head["owner"]["login"],
            head_repository=int(head["id"]),
            head_branch=run["head_branch"],
            head_sha=run["head_sha"],
        )
    except (KeyError, TypeError):
        raise WorkflowError(
            "the event is no finished workflow run, or its fork is gone; this command is for on: workflow_run"
        ) from None


def pull_request_of(client: Client, run: Finished) -> int | None:
    """The number of the open pull request whose head is exactly what was previewed; None if it moved on or was closed.

    The event itself names none where the head is in a fork.

    Raises:
        WorkflowError: GitHub refuses, or several pull requests have this head.
    """
    head = quote(f"{run.head_owner}:{run.head_branch}", safe="")
    numbers = {
        int(each["number"])
        for page in client.pages(f"/repos/{run.repository}/pulls?state=open&per_page=100&head={head}")
        for each in page
        if each["head"]["sha"] == run.head_sha
        and each["head"]["repo"] is not None
        and int(each["head"]["repo"]["id"]) == run.head_repository
    }
    if len(numbers) > 1:
        # The same head against several bases: which of them was previewed is nothing that the event tells.
        raise WorkflowError(
            f"{run.head_sha} is the head of {len(numbers)} open pull requests; which one was previewed cannot be told; "
            "see the summary of the run"
        )
    return next(iter(numbers), None)
