"""A small client of the API server: objects are plain dicts, errors carry the server's own words."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import requests

Object = dict[str, Any]
T = TypeVar("T")
_DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class KubeError(Exception):
    """The API server refused.

    Attributes:
        code: HTTP status.
        reason: The server's machine-readable reason, such as `Invalid` or `NotFound`.
    """

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(f"{code} {reason}: {message}")
        self.code = code
        self.reason = reason
        self.message = message


@dataclass(frozen=True)
class Resource:
    """Where objects of a kind are found: the path before any namespace, the plural, whether it has namespaces."""

    root: str
    plural: str
    namespaced: bool


@dataclass
class Kube:
    """A client for one server and one token; not shared between threads (`copy` gives another).

    A kind is written `Pod`, or `Kind.group` where two groups have it.
    """

    server: str
    ca_file: Path
    token: str = field(repr=False)
    _kinds: dict[str, Resource] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._session = requests.Session()
        self._session.trust_env = False  # a proxy of the user's shell is not for loopback
        self._session.verify = str(self.ca_file)
        self._session.headers["Authorization"] = f"Bearer {self.token}"

    def copy(self) -> Kube:
        """A client of its own for another thread."""
        return Kube(self.server, self.ca_file, self.token)

    def request(self, method: str, path: str, **arguments: Any) -> Any:
        """Any call.

        Raises:
            KubeError: The server's answer is a refusal.
            requests.RequestException: There was no answer.
        """
        answer = self._session.request(method, self.server + path, timeout=arguments.pop("timeout", 30), **arguments)
        if answer.ok:
            return answer.json() if "json" in answer.headers.get("Content-Type", "") else answer.text
        try:
            status = answer.json()
        except ValueError:
            status = {}
        raise KubeError(answer.status_code, status.get("reason", answer.reason), status.get("message", answer.text))

    def ready(self) -> bool:
        """Whether the server calls itself ready."""
        try:
            return bool(self.request("GET", "/readyz", timeout=2) == "ok")
        except (KubeError, requests.RequestException):
            return False

    def get(self, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """One object, or None if there is none."""
        try:
            found: Object = self.request("GET", self.path(kind, namespace, name))
        except KubeError as error:
            if error.code == 404:
                return None
            raise
        return found

    def objects(self, kind: str, namespace: str | None = None, labels: str = "", fields: str = "") -> list[Object]:
        """Objects of a kind, in all namespaces by default; an unknown kind has none."""
        try:
            path = self.path(kind, namespace)
        except LookupError:
            return []
        found = self.request("GET", path, params={"labelSelector": labels, "fieldSelector": fields})
        items: list[Object] = found["items"]
        return items

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        """Create with strict field validation: an unknown or duplicate field is refused."""
        created: Object = self.request(
            "POST",
            self.path(_kind_of(obj), obj["metadata"].get("namespace")),
            json=obj,
            params={"fieldValidation": "Strict"} | ({"dryRun": "All"} if dry_run else {}),
        )
        return created

    def patch(self, kind: str, name: str, namespace: str | None, body: Object | list[Object], sub: str = "") -> Object:
        """Merge patch (a dict) or JSON patch (a list), of a subresource if named."""
        content = "application/json-patch+json" if isinstance(body, list) else "application/merge-patch+json"
        path = self.path(kind, namespace, name) + (f"/{sub}" if sub else "")
        patched: Object = self.request("PATCH", path, json=body, headers={"Content-Type": content})
        return patched

    def delete(self, kind: str, name: str, namespace: str | None = None, propagation: str = "Background") -> None:
        """Delete; an object that is not there is fine."""
        try:
            self.request("DELETE", self.path(kind, namespace, name), json={"propagationPolicy": propagation})
        except KubeError as error:
            if error.code != 404:
                raise

    def end_namespace(self, name: str) -> None:
        """Delete a namespace, and what runs in it at once: else it waits out half of its pods' grace period."""
        self.delete("Namespace", name)
        self.request("DELETE", self.path("Pod", name), params={"gracePeriodSeconds": 0})

    def path(self, kind: str, namespace: str | None = None, name: str | None = None) -> str:
        """The URL path of a kind's collection or of one object.

        Raises:
            LookupError: The server knows no such kind.
        """
        if kind not in self._kinds:
            self._kinds = self._discover()
        if kind not in self._kinds:
            raise LookupError(f"the API server has no kind {kind}")
        resource = self._kinds[kind]
        scope = f"/namespaces/{namespace}" if resource.namespaced and namespace else ""
        return f"{resource.root}{scope}/{resource.plural}" + (f"/{name}" if name else "")

    def _discover(self) -> dict[str, Resource]:
        kinds: dict[str, Resource] = {}
        for prefix in ("/api", "/apis"):
            answer = self.request("GET", prefix, headers={"Accept": _DISCOVERY})
            for group in answer.get("items", []):
                group_name = group["metadata"].get("name", "")
                for version in group["versions"]:  # preferred first
                    root = f"{prefix}/{group_name}/{version['version']}" if group_name else f"{prefix}/v1"
                    for found in version.get("resources", []):
                        kind = found["responseKind"]["kind"] if "responseKind" in found else ""
                        resource = Resource(root, found["resource"], found["scope"] == "Namespaced")
                        kinds.setdefault(kind, resource)
                        kinds.setdefault(f"{kind}.{group_name}", resource)
        return kinds


def wait_for(what: str, probe: Callable[[], T | None], seconds: float = 30, every: float = 0.1) -> T:
    """Wait until `probe` returns something true and return that.

    Args:
        what: What is awaited, for the message.
        probe: Called every `every` seconds; refusals and lost connections count as not yet.
        seconds: How long to wait.
        every: Pause between two calls, seconds.

    Raises:
        AssertionError: It did not happen in time.
    """
    deadline = time.monotonic() + seconds
    last: object = None
    while True:
        try:
            found = probe()
            if found:
                return found
            last = found
        except (KubeError, requests.RequestException) as error:
            last = error
        if time.monotonic() > deadline:
            message = f"after {seconds:.0f} s: not {what}; last seen: {last!r}"
            raise AssertionError(message)
        time.sleep(every)


def _kind_of(obj: Object) -> str:
    group = obj["apiVersion"].rpartition("/")[0]
    return f"{obj['kind']}.{group}"
