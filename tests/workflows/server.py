"""A server on this machine that answers as GitHub's API does: comments, pull requests, artifacts, limits and faults.

Pages come with a `Link` header, an artifact is a redirect to another origin, and a fault that is laid in is served once
in place of (or, where it says so, after) what was asked for.
"""

from __future__ import annotations

import io
import json
import re
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

TOKEN = "token-of-the-job"
BOT = "github-actions[bot]"
MOST_CHARACTERS = 65_536


@dataclass(frozen=True)
class Fault:
    """An answer that is laid in.

    Attributes:
        status: its HTTP status; 0 closes the connection without a word.
        headers, message: what it says.
        method, path: the requests that it waits for; a path by its end.
        done: the request is carried out nevertheless, and only the answer is lost.
    """

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    message: str = "fault"
    method: str = "GET"
    path: str = ""
    done: bool = False


@dataclass
class Seen:
    """A request that arrived."""

    method: str
    path: str
    authorization: str | None
    body: Any


@dataclass
class GitHub:
    """The state of the server, `repository` being acme/pathways."""

    page: int = 30
    comments: list[dict[str, Any]] = field(default_factory=list)
    pulls: list[dict[str, Any]] = field(default_factory=list)
    artifacts: list[dict[str, Any]] = field(default_factory=list)
    archives: dict[int, bytes] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    seen: list[Seen] = field(default_factory=list)
    storage: list[Seen] = field(default_factory=list)
    elsewhere: str = ""
    url: str = ""
    storage_url: str = ""
    _number: int = 1000

    def add_comment(self, body: str, login: str = BOT) -> dict[str, Any]:
        self._number += 1
        self.comments.append({"id": self._number, "body": body, "user": {"login": login, "type": "Bot"}})
        return self.comments[-1]

    def add_artifact(self, name: str, files: Mapping[str, str | bytes] | bytes, **more: Any) -> int:
        self._number += 1
        data = files if isinstance(files, bytes) else packed(files)
        self.archives[self._number] = data
        self.artifacts.append({"id": self._number, "name": name, "size_in_bytes": len(data), "expired": False, **more})
        return self._number

    def asked(self, method: str) -> list[str]:
        return [each.path for each in self.seen if each.method == method]

    def fault_for(self, request: Seen) -> Fault | None:
        for fault in self.faults:
            if fault.method == request.method and request.path.endswith(fault.path):
                self.faults.remove(fault)
                return fault
        return None

    def answer(self, request: Seen) -> tuple[int, Mapping[str, str], Any]:
        """Status, headers and JSON of an answer."""
        if request.authorization != f"Bearer {TOKEN}":
            return 401, {}, {"message": "Bad credentials"}
        where, query = urlsplit(request.path), parse_qs(urlsplit(request.path).query)
        match request.method, where.path.removeprefix("/repos/acme/pathways/").split("/"):
            case "GET", ["issues", "7", "comments"]:
                return self._paged(self.comments, where.path, query)
            case "POST", ["issues", "7", "comments"]:
                if len(request.body["body"]) > MOST_CHARACTERS:
                    return 422, {}, {"message": "Body is too long (maximum is 65536 characters)"}
                return 201, {}, self.add_comment(request.body["body"])
            case "PATCH", ["issues", "comments", number]:
                (found,) = (each for each in self.comments if each["id"] == int(number))
                found["body"] = request.body["body"]
                return 200, {}, found
            case "GET", ["pulls"]:
                head = query["head"][0]
                return self._paged([each for each in self.pulls if each["head"]["label"] == head], where.path, query)
            case "GET", ["actions", "runs", "55", "artifacts"]:
                status, headers, found = self._paged(self.artifacts, where.path, query)
                return status, headers, {"total_count": len(self.artifacts), "artifacts": found}
            case "GET", ["actions", "artifacts", number, "zip"]:
                return 302, {"Location": f"{self.storage_url}/{number}?sig=x"}, None
        return 404, {}, {"message": "Not Found"}

    def _paged(self, items: list[Any], path: str, query: dict[str, list[str]]) -> tuple[int, Mapping[str, str], Any]:
        page, size = int(query.get("page", ["1"])[0]), min(int(query.get("per_page", ["30"])[0]), self.page)
        shown = items[(page - 1) * size : page * size]
        links = [f'<{self.url}{path}?page={page - 1}>; rel="prev"'] if page > 1 else []
        if page * size < len(items):
            base = self.elsewhere or self.url
            rest = urlencode({key: value[0] for key, value in query.items() if key != "page"})
            links.append(f'<{base}{path}?{rest}&page={page + 1}>; rel="next"')
        return 200, {"Link": ", ".join(links)} if links else {}, shown


def packed(files: Mapping[str, str | bytes]) -> bytes:
    """A zip of files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@contextmanager
def serving(hub: GitHub) -> Iterator[GitHub]:
    """Serve `hub` and the storage behind its artifacts, each on a port of its own."""
    with _server(_api(hub)) as hub.url, _server(_storage(hub)) as hub.storage_url:
        yield hub


@contextmanager
def _server(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass

    def received(self) -> Seen:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else None
        return Seen(self.command, self.path, self.headers.get("Authorization"), body)

    def reply(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


def _api(hub: GitHub) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        def _any(self) -> None:
            request = self.received()
            hub.seen.append(request)
            fault = hub.fault_for(request)
            carried_out = hub.answer(request) if fault is None or fault.done else None
            lost = (fault.status, fault.headers, {"message": fault.message}) if fault else None
            status, headers, body = lost or carried_out or (500, {}, None)
            if status == 0:
                self.close_connection = True
                return
            self.reply(status, headers, b"" if body is None else json.dumps(body).encode())

        def do_GET(self) -> None:
            self._any()

        def do_POST(self) -> None:
            self._any()

        def do_PATCH(self) -> None:
            self._any()

    return Handler


def _storage(hub: GitHub) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        def do_GET(self) -> None:
            hub.storage.append(self.received())
            found = re.fullmatch(r"/(\d+)\?sig=x", self.path)
            content = hub.archives.get(int(found[1])) if found else None
            self.reply(404 if content is None else 200, {}, content or b"")

    return Handler
