"""The Kubernetes side for real: Nodes are written to an API server."""

from __future__ import annotations

import base64
import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from tests.e2e.cloud.backend import ControlPlane, Node, PendingPod, Removal

_SYSTEM = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})
_SUFFIX = {
    "m": 1e-3,
    "": 1.0,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
}

# First of all: with their controllers gone they would hold up every deletion.
_WEBHOOKS = (
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
)
_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_CLUSTER_WIDE = (
    "/api/v1/nodes",
    _DEFINITIONS,
    "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles",
)


class KubeError(Exception):
    """The API server refused; ``status`` is its HTTP code."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status


def quantity(text: str) -> float:
    """The number of a Kubernetes quantity: ``500m`` is 0.5, ``1Gi`` is 2**30."""
    digits = text.rstrip("mkMGTi")
    return float(digits) * _SUFFIX[text[len(digits) :]]


class KubeBackend:
    """One API server that stands for the control plane of every cluster.

    ``endpoint`` is what clusters report as theirs, by default the server's own host and port. With ``wipe`` the
    deletion of a cluster deletes its nodes and every namespace but the system's, as the end of a real control plane
    would. A server that is away is waited for, ``patience`` seconds: GKE's own machinery outlives its restarts too.
    Drained pods have ``grace`` seconds to end.
    """

    def __init__(
        self,
        server: str,
        token: str,
        ca_file: Path,
        *,
        endpoint: str | None = None,
        wipe: bool = True,
        patience: float = 60.0,
        grace: float = 10.0,
    ) -> None:
        self._server = server.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._context = ssl.create_default_context(cafile=str(ca_file))
        self._ca = base64.b64encode(ca_file.read_bytes()).decode()
        self._endpoint = endpoint or urlsplit(self._server).netloc
        self._wipe = wipe
        self._patience = patience
        self._grace = grace

    def _call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, kind: str = "json"
    ) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        headers = {**self._headers, "Content-Type": f"application/{kind}"}
        request = urllib.request.Request(self._server + path, data=data, headers=headers, method=method)
        deadline = time.monotonic() + self._patience
        while True:
            try:
                with urllib.request.urlopen(request, context=self._context, timeout=30) as answer:
                    result: dict[str, Any] = json.load(answer)
                    return result
            except urllib.error.HTTPError as error:
                if error.code < 500 or time.monotonic() > deadline:
                    raise KubeError(error.code, error.read().decode(errors="replace")[:500]) from error
            except (urllib.error.URLError, ConnectionError, TimeoutError) as error:
                if time.monotonic() > deadline:
                    raise KubeError(503, f"{self._server} cannot be reached: {error}") from error
            time.sleep(0.2)

    def start_cluster(self, cluster: str) -> ControlPlane:
        """The one control plane."""
        return ControlPlane(self._endpoint, self._endpoint, self._ca)

    def stop_cluster(self, cluster: str) -> None:
        """Empty the control plane, when told to, so that a cluster created later is a new one, without operators."""
        if not self._wipe:
            return
        self._clear(*_WEBHOOKS)
        # Namespaces before nodes: a pod whose node is gone ends only when the garbage collector comes by.
        namespaces = self._namespaces()
        self._each(self._delete, [f"/api/v1/namespaces/{name}" for name in namespaces])
        # From now on nothing new starts there. What runs ends at once, or the namespace waits for its grace period.
        self._each(self._delete, [f"/api/v1/namespaces/{name}/pods?gracePeriodSeconds=0" for name in namespaces])
        deadline = time.monotonic() + 60
        while self._namespaces() and time.monotonic() < deadline:
            time.sleep(0.1)
        self._clear(*_CLUSTER_WIDE)
        # A definition goes once the last object of its kind has; one that is installed meanwhile would go with it.
        while self._call("GET", _DEFINITIONS)["items"] and time.monotonic() < deadline:
            time.sleep(0.1)

    def _clear(self, *collections: str) -> None:
        for collection in collections:
            items = self._call("GET", collection)["items"]
            paths = [f"{collection}/{quote(i['metadata']['name'])}" for i in items if not _built_in(i)]
            self._each(self._delete, paths)

    def _namespaces(self) -> list[str]:
        items = self._call("GET", "/api/v1/namespaces")["items"]
        return [item["metadata"]["name"] for item in items if item["metadata"]["name"] not in _SYSTEM]

    def add_nodes(self, cluster: str, nodes: Sequence[Node]) -> None:
        """POST each node; one that exists is brought to the same labels and taints."""
        self._each(self._add, nodes)

    def _add(self, node: Node) -> None:
        try:
            self._call("POST", "/api/v1/nodes", node)
        except KubeError as error:
            if error.status != 409:
                raise
            patch = {"metadata": {"labels": node["metadata"]["labels"]}, "spec": {"taints": node["spec"]["taints"]}}
            self._call("PATCH", f"/api/v1/nodes/{node['metadata']['name']}", patch, "merge-patch+json")

    def remove_nodes(self, cluster: str, names: Sequence[str], how: Removal) -> None:
        """Delete the nodes, and their pods first when they are drained. A lost node's pods are the pod collector's."""
        if how is Removal.DRAIN:
            self._drain(frozenset(names))
        self._each(lambda name: self._delete(f"/api/v1/nodes/{name}"), names)

    def _drain(self, names: frozenset[str]) -> None:
        """End the pods in good order while their kubelet is there; what is left after a while is removed by force."""
        self._each(self._delete, self._pods_on(names))
        deadline = time.monotonic() + self._grace
        while self._pods_on(names) and time.monotonic() < deadline:
            time.sleep(0.1)
        self._each(lambda path: self._delete(f"{path}?gracePeriodSeconds=0"), self._pods_on(names))

    def _pods_on(self, names: frozenset[str]) -> list[str]:
        pods = [pod["metadata"] for pod in self._pods("spec.nodeName!=") if pod["spec"]["nodeName"] in names]
        return [f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}" for meta in pods]

    def _delete(self, path: str) -> None:
        try:
            self._call("DELETE", path)
        except KubeError as error:
            if error.status not in (404, 409):
                raise

    def _pods(self, selector: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self._call("GET", f"/api/v1/pods?fieldSelector={quote(selector)}")["items"]
        return items

    def pending_pods(self, cluster: str) -> Sequence[PendingPod]:
        """Pending pods whose condition PodScheduled is false for Unschedulable."""
        return [_pending(pod) for pod in self._pods("status.phase=Pending,spec.nodeName=") if _unschedulable(pod)]

    def busy_nodes(self, cluster: str, names: Sequence[str]) -> frozenset[str]:
        """Nodes with a pod that is neither finished nor a DaemonSet's."""
        wanted, busy = set(names), set()
        for pod in self._pods("status.phase!=Succeeded,status.phase!=Failed"):
            daemon = any(owner["kind"] == "DaemonSet" for owner in pod["metadata"].get("ownerReferences", []))
            if not daemon:
                busy.add(pod["spec"].get("nodeName"))
        return frozenset(wanted & busy)

    @staticmethod
    def _each(work: Callable[[Any], None], items: Iterable[Any]) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(work, items))


def _built_in(item: Mapping[str, Any]) -> bool:
    """Whether the API server made it itself, and would not make it again before its next start."""
    meta = item["metadata"]
    return "kubernetes.io/bootstrapping" in meta.get("labels", {}) or meta["name"].startswith("system:")


def _unschedulable(pod: Mapping[str, Any]) -> bool:
    conditions = pod.get("status", {}).get("conditions", [])
    return any(c["type"] == "PodScheduled" and c.get("reason") == "Unschedulable" for c in conditions)


def _pending(pod: Mapping[str, Any]) -> PendingPod:
    spec = pod["spec"]
    sidecars = [c for c in spec.get("initContainers", []) if c.get("restartPolicy") == "Always"]
    requests = [c.get("resources", {}).get("requests", {}) for c in (*spec["containers"], *sidecars)]
    tolerations = spec.get("tolerations", [])
    return PendingPod(
        namespace=pod["metadata"]["namespace"],
        name=pod["metadata"]["name"],
        node_selector=spec.get("nodeSelector", {}),
        tolerated=frozenset(item.get("key", "*") for item in tolerations),
        tpu_chips=int(sum(quantity(r.get("google.com/tpu", "0")) for r in requests)),
        cpu=sum(quantity(r.get("cpu", "0")) for r in requests),
        memory_gib=sum(quantity(r.get("memory", "0")) for r in requests) / 2**30,
    )
