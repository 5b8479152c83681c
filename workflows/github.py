"""GitHub's REST API, as far as a comment needs it: JSON over HTTPS with pages, patience and no redirects.

The token goes to the one origin it was given for: a redirect is never followed, a next page on another host is refused.
"""

from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email.message import Message
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from workflows.errors import WorkflowError

_TIMEOUT = 30.0
_MOST_TRIES = 6
_MOST_PAGES = 100
_MOST_BYTES = 20_000_000
_SECONDARY_WAIT = 60.0
"""What GitHub asks for after a secondary limit that names no time."""


class RequestError(WorkflowError):
    """A request that GitHub refused, or did not answer, for good."""

    def __init__(self, status: int, text: str) -> None:
        """Keep the HTTP status; 0 where there was no answer."""
        self.status = status
        super().__init__(text)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: status, headers and the bytes of its body."""

    status: int
    headers: Message
    content: bytes

    def json(self) -> Any:
        """The body as JSON.

        Raises:
            RequestError: it is none.
        """
        try:
            return json.loads(self.content)
        except ValueError:
            raise RequestError(self.status, "GitHub answered with something that is no JSON; try again later") from None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Client:
    """A client of one API with one token.

    Attributes:
        api: the API's address, `https://api.github.com` or an Enterprise server's.
        token: the workflow's token.
        patience: how many seconds all waits of one request may take together.
        sleep, clock: how time passes; wall-clock seconds, because GitHub names a time of day.
    """

    api: str
    token: str = field(repr=False)
    patience: float = 600.0
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.time

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        tries: int = _MOST_TRIES,
        redirect: bool = False,
    ) -> Answer:
        """Send a request and wait out limits and faults of the server.

        `tries=1` is for what must not be done twice: then only a limit, after which nothing was done, is waited out.
        With `redirect=True` a redirect is an answer, which is never followed; otherwise it is a refusal.

        Raises:
            RequestError: GitHub refused, or the patience is used up.
        """
        url = path if path.startswith(("http://", "https://")) else f"{self.api.rstrip('/')}{path}"
        if _origin(url) != _origin(self.api):
            raise RequestError(0, f"{url}: not an address of {self.api}; the token is for that one only")
        waited, faults, limits = 0.0, 0, 0
        while True:
            answer = self._send(method, url, body)
            if answer is not None and answer.status < (400 if redirect else 300):
                return answer
            wait = self._limit(answer, limits) if answer is not None else None
            if wait is not None:
                limits += 1
            else:
                faults += 1
                if not _is_passing(answer) or faults >= tries:
                    raise _refused(method, url, answer)
                wait = min(2.0**faults, 30.0) + random.random()  # noqa: S311 - jitter
            if waited + wait > self.patience:
                raise RequestError(
                    answer.status if answer else 0,
                    f"{method} {urlsplit(url).path}: GitHub asks to wait {wait:.0f} s more, and {self.patience:.0f} s "
                    "is the limit for one request; run the job again later",
                )
            waited += wait
            self.sleep(wait)

    def pages(self, path: str) -> Iterator[Any]:
        """The JSON of every page, following `Link: <…>; rel="next"`.

        Raises:
            RequestError: as `request`, or there is no end of pages.
        """
        url: str | None = path
        for _ in range(_MOST_PAGES):
            if url is None:
                return
            answer = self.request("GET", url)
            yield answer.json()
            url = _next(answer.headers.get("Link", ""))
        if url is not None:
            raise RequestError(0, f"{path}: more than {_MOST_PAGES} pages; no such list is that long; report it")

    def _send(self, method: str, url: str, body: Mapping[str, Any] | None) -> Answer | None:
        request = urllib.request.Request(  # noqa: S310 - the origin was checked
            url,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                "Accept": "application/vnd.github+json",
                "Authorization": f"Bearer {self.token}",
                "Content-Type": "application/json",
                "User-Agent": "pathways-workflows",
                "X-GitHub-Api-Version": "2022-11-28",
            },
        )
        return send(request)

    def _limit(self, answer: Answer, before: int) -> float | None:
        """Seconds to wait, if the answer is about a rate limit."""
        if answer.status not in (HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS):
            return None
        if (after := answer.headers.get("Retry-After", "")).isdecimal():
            return float(after)
        reset = answer.headers.get("X-RateLimit-Reset", "")
        if answer.headers.get("X-RateLimit-Remaining") == "0" and reset.isdecimal():
            return max(float(reset) - self.clock(), 0.0) + 1.0
        if answer.status == HTTPStatus.TOO_MANY_REQUESTS or b"secondary rate limit" in answer.content.lower():
            return _SECONDARY_WAIT * 2.0**before
        return None


def send(request: urllib.request.Request) -> Answer | None:
    """One request without redirects; None where no whole answer came."""
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        with opener.open(request, timeout=_TIMEOUT) as response:
            return Answer(response.status, response.headers, response.read(_MOST_BYTES))
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.headers, error.read(_MOST_BYTES))
    except (OSError, http.client.HTTPException):
        return None


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _next(link: str) -> str | None:
    for part in link.split(","):
        address, _, rest = part.strip().partition(">")
        if 'rel="next"' in rest:
            return address.removeprefix("<")
    return None


def _is_passing(answer: Answer | None) -> bool:
    return answer is None or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR


_HINTS = {
    HTTPStatus.UNAUTHORIZED: "the token is not valid; pass GITHUB_TOKEN of this job",
    HTTPStatus.FORBIDDEN: "the token may not do this; give the job the permission pull-requests: write",
    HTTPStatus.NOT_FOUND: "there is no such thing, or the token may not see it; check the job's permissions",
    HTTPStatus.UNPROCESSABLE_ENTITY: "GitHub does not take these values",
}


def _refused(method: str, url: str, answer: Answer | None) -> RequestError:
    what = f"{method} {urlsplit(url).path}"
    if answer is None:
        return RequestError(0, f"{what}: no answer from GitHub; run the job again later")
    try:
        said = json.loads(answer.content).get("message", "")
    except (ValueError, AttributeError):
        said = ""
    fallback = "a fault of the server; run the job again later" if answer.status >= 500 else "not understood"
    hint = _HINTS.get(HTTPStatus(answer.status), fallback) if answer.status in set(HTTPStatus) else fallback
    return RequestError(answer.status, f"{what}: {answer.status} {' '.join(str(said).split())[:200]}; {hint}")
