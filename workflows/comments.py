"""One comment on a pull request that is edited instead of repeated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from workflows.errors import WorkflowError
from workflows.github import Client, RequestError

MOST_CHARACTERS = 65_536
"""GitHub refuses a longer comment."""

AUTHOR = "github-actions[bot]"
"""Who a workflow's token comments as. Another's comment is never edited, whatever it begins with."""

_MOST_TRIES = 4


class Done(Enum):
    """What became of a comment."""

    CREATED = "created"
    EDITED = "edited"
    UNCHANGED = "unchanged"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Sticky:
    """The comment of pull request `number` of `repository` that begins with `marker`."""

    client: Client
    repository: str
    number: int
    marker: str
    author: str = AUTHOR

    def write(self, body: str, *, create: bool = True) -> Done:
        """Make the comment say `body`; with `create=False` only if it is there already.

        Raises:
            WorkflowError: the body is too long or lacks the marker, or GitHub refuses it.
        """
        if not body.startswith(self.marker):
            raise WorkflowError(
                f"the comment does not begin with {self.marker}; it could not be found again; write that first"
            )
        if len(body) > MOST_CHARACTERS:
            raise WorkflowError(
                f"the comment has {len(body):,} characters; GitHub takes {MOST_CHARACTERS:,}; leave details out"
            )
        for attempt in range(1, _MOST_TRIES + 1):
            found = next(self._own(), None)
            if found is not None:
                return self._edit(found, body)
            if not create:
                return Done.ABSENT
            try:
                self.client.request("POST", self._comments, {"body": body}, tries=1)
            except RequestError as error:
                # After a fault of the server nobody knows whether it was made: look before making a second one.
                if 0 < error.status < 500 or attempt == _MOST_TRIES:
                    raise
                self.client.sleep(2.0**attempt)
            else:
                return Done.CREATED
        raise AssertionError  # the last try returns or raises

    @property
    def _comments(self) -> str:
        return f"/repos/{self.repository}/issues/{self.number}/comments"

    def _own(self) -> Iterator[dict[str, Any]]:
        for page in self.client.pages(f"{self._comments}?per_page=100"):
            for comment in page:
                ours = (comment.get("user") or {}).get("login") == self.author
                if ours and (comment.get("body") or "").startswith(self.marker):
                    yield comment

    def _edit(self, found: dict[str, Any], body: str) -> Done:
        # GitHub keeps line ends as they came and strips the last ones.
        if found["body"].replace("\r\n", "\n").rstrip() == body.rstrip():
            return Done.UNCHANGED
        self.client.request("PATCH", f"/repos/{self.repository}/issues/comments/{int(found['id'])}", {"body": body})
        return Done.EDITED
