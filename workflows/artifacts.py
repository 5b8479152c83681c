"""The artifacts of a workflow run, read as what a stranger packed: names, sizes and counts are limited."""

from __future__ import annotations

import io
import urllib.request
import zipfile
from collections.abc import Iterator
from http import HTTPStatus
from urllib.parse import urlsplit

from workflows.affected import MOST_STACKS
from workflows.errors import WorkflowError
from workflows.github import Answer, Client, RequestError, send

PREFIX = "preview-"
"""Artifacts whose name begins so hold pieces; others are for people."""

MOST_ARTIFACTS = 2 * MOST_STACKS + 1
MOST_PACKED = 2_000_000
MOST_UNPACKED = 8_000_000
MOST_ALTOGETHER = 64_000_000
_MOST_FILES = 4


def documents(client: Client, repository: str, run: int) -> Iterator[bytes]:
    """Every JSON file in the pieces of a run.

    Raises:
        WorkflowError: there is more than any honest run makes, or GitHub refuses.
    """
    left = MOST_ALTOGETHER
    for count, artifact in enumerate(_listed(client, repository, run), 1):
        if count > MOST_ARTIFACTS:
            raise WorkflowError(f"run {run} has more than {MOST_ARTIFACTS} pieces; nothing of it is shown")
        for document in unpacked(_download(client, f"/repos/{repository}/actions/artifacts/{artifact}/zip")):
            left -= len(document)
            if left < 0:
                raise WorkflowError(f"run {run} has more than {MOST_ALTOGETHER:,} bytes; nothing of it is shown")
            yield document


def unpacked(archive: bytes) -> list[bytes]:
    """The `.json` files of a zip, in memory; an archive that is none, or is too large, has none."""
    found: list[bytes] = []
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as packed:
            files = [file for file in packed.infolist() if file.filename.endswith(".json")]
            for file in files[:_MOST_FILES]:
                with packed.open(file) as stream:  # what the directory says of its size is not believed
                    content = stream.read(MOST_UNPACKED + 1)
                if len(content) <= MOST_UNPACKED:
                    found.append(content)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError, ValueError):
        return []
    return found


def _listed(client: Client, repository: str, run: int) -> Iterator[int]:
    """The newest artifact of each name, as its number; a run that was started again may have older ones."""
    newest: dict[str, int] = {}
    for page in client.pages(f"/repos/{repository}/actions/runs/{run}/artifacts?per_page=100"):
        for artifact in page["artifacts"]:
            name, number = str(artifact["name"]), int(artifact["id"])
            usable = not artifact.get("expired") and int(artifact["size_in_bytes"]) <= MOST_PACKED
            if name.startswith(PREFIX) and usable:
                newest[name] = max(number, newest.get(name, 0))
    yield from sorted(newest.values())


def _download(client: Client, path: str) -> bytes:
    """The bytes behind an artifact: GitHub redirects to a signed address that must not see the token."""
    answer = client.request("GET", path, redirect=True)
    if answer.status == HTTPStatus.OK:
        return answer.content
    place = answer.headers.get("Location", "")
    parts = urlsplit(place)
    # A test's server, and an Enterprise server without TLS, redirect to plain HTTP only from plain HTTP.
    if parts.scheme not in {"https", urlsplit(client.api).scheme} or not parts.netloc:
        raise RequestError(answer.status, f"{path}: GitHub redirects to no address of the web; try again later")
    stored = _stored(client, place)
    if stored is None or stored.status != HTTPStatus.OK:
        raise RequestError(stored.status if stored else 0, f"{path}: the stored file cannot be read; run the job again")
    return stored.content


def _stored(client: Client, place: str) -> Answer | None:
    stored: Answer | None = None
    for attempt in range(3):
        stored = send(urllib.request.Request(place))  # noqa: S310 - the scheme was checked
        if stored is not None and stored.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            break
        client.sleep(2.0**attempt)
    return stored
