"""The real Kubernetes side, against a stand-in API server that keeps objects and speaks TLS."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.cloud.engine import PROJECT, REGION
from tests.e2e.cloud.backend import Removal
from tests.e2e.cloud.kube import KubeBackend, KubeError, quantity

pytestmark = pytest.mark.thorough

trustme = pytest.importorskip("trustme")

CLUSTER_PATH = f"projects/{PROJECT}/locations/{REGION}/clusters/train"


class ApiServer:
    """Objects by path; the verbs that the backend uses."""

    def __init__(self, folder: Path) -> None:
        self.objects: dict[str, Any] = {}
        self.calls: list[tuple[str, str]] = []
        self.authorized = "Bearer secret"
        self.stuck = False
        api = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                url = urlsplit(self.path)
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                allowed = self.headers["Authorization"] == api.authorized
                status, answer = api.serve(self.command, url.path, url.query, body) if allowed else (401, {})
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815

            def log_message(self, format: str, *args: Any) -> None:
                return

        authority = trustme.CA()
        self.ca_file = folder / "ca.pem"
        authority.cert_pem.write_to_path(str(self.ca_file))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"

    def serve(self, verb: str, path: str, query: str, body: Any) -> tuple[int, Any]:
        self.calls.append((verb, path))
        if verb == "GET":
            kind = path.rpartition("/")[2]
            items = [item for key, item in self.objects.items() if f"/{kind}/" in key]
            return 200, {"items": [item for item in items if _selected(item, query)]}
        if verb == "POST":
            path = f"{path}/{body['metadata']['name']}"
            if path in self.objects:
                return 409, {}
            self.objects[path] = body
            return 201, body
        if path not in self.objects:
            return 404, {}
        if verb == "DELETE" and self.stuck and "/pods/" in path and not query:
            return 200, {}
        if verb == "DELETE":
            return 200, self.objects.pop(path)
        self.objects[path]["metadata"]["labels"] |= body["metadata"]["labels"]
        self.objects[path]["spec"] |= body["spec"]
        return 200, self.objects[path]


def _selected(item: Any, query: str) -> bool:
    for term in parse_qs(query).get("fieldSelector", [""])[0].split(","):
        field, equal, value = term.partition("!=") if "!=" in term else term.partition("=")
        if field and (item[field.split(".")[0]].get(field.split(".")[1], "") == value) is (equal == "!="):
            return False
    return True


@pytest.fixture
def api(tmp_path: Path) -> Iterator[ApiServer]:
    server = ApiServer(tmp_path)
    thread = threading.Thread(target=server.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.server.shutdown()
    server.server.server_close()


@pytest.fixture
def backend(api: ApiServer) -> KubeBackend:
    return KubeBackend(f"https://{api.address}", "secret", api.ca_file)


def node(name: str, label: str = "1") -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": {"a": label}}, "spec": {"taints": []}, "status": {}}


def pod(name: str, node_name: str = "", phase: str = "Pending", reason: str = "Unschedulable", **spec: Any) -> Any:
    requests = {"google.com/tpu": "4", "cpu": "500m", "memory": "2Gi"}
    condition = {"type": "PodScheduled", "status": "False", "reason": reason}
    return {
        "metadata": {"name": name, "namespace": "team"},
        "spec": {"nodeName": node_name, "containers": [{"resources": {"requests": requests}}], **spec},
        "status": {"phase": phase, "conditions": [condition]},
    }


def put(api: ApiServer, *pods: Any) -> None:
    api.objects |= {f"/api/v1/namespaces/team/pods/{item['metadata']['name']}": item for item in pods}


def test_a_cluster_reports_the_server_and_its_authority(api: ApiServer, backend: KubeBackend) -> None:
    plane = backend.start_cluster(CLUSTER_PATH)
    assert (plane.endpoint, plane.dns_endpoint) == (api.address, api.address)
    assert base64.b64decode(plane.ca_certificate) == api.ca_file.read_bytes()
    elsewhere = KubeBackend(f"https://{api.address}", "secret", api.ca_file, endpoint="localhost:1")
    assert elsewhere.start_cluster(CLUSTER_PATH).dns_endpoint == "localhost:1"


def test_nodes_are_created_and_brought_up_to_date(api: ApiServer, backend: KubeBackend) -> None:
    backend.add_nodes(CLUSTER_PATH, [node("n-0"), node("n-1")])
    backend.add_nodes(CLUSTER_PATH, [node("n-1", "2"), node("n-2")])
    labels = {path.rpartition("/")[2]: item["metadata"]["labels"]["a"] for path, item in api.objects.items()}
    assert labels == {"n-0": "1", "n-1": "2", "n-2": "1"}


@pytest.mark.parametrize(("how", "left"), [(Removal.DRAIN, {"n-1", "other"}), (Removal.LOSE, {"n-1", "mine", "other"})])
def test_draining_ends_the_pods_first_and_losing_leaves_them(
    api: ApiServer, backend: KubeBackend, how: Removal, left: set[str]
) -> None:
    backend.add_nodes(CLUSTER_PATH, [node("n-0"), node("n-1")])
    put(api, pod("mine", "n-0", "Running"), pod("other", "n-1", "Running"))
    backend.remove_nodes(CLUSTER_PATH, ["n-0", "never-was"], how)
    assert {path.rpartition("/")[2] for path in api.objects} == left


def test_a_pod_that_does_not_end_is_removed_by_force(api: ApiServer) -> None:
    backend = KubeBackend(f"https://{api.address}", "secret", api.ca_file, grace=0.2)
    backend.add_nodes(CLUSTER_PATH, [node("n-0")])
    put(api, pod("stuck", "n-0", "Running"))
    api.stuck = True
    backend.remove_nodes(CLUSTER_PATH, ["n-0"], Removal.DRAIN)
    assert api.objects == {}
    pods = [path for verb, path in api.calls if verb == "DELETE" and path.endswith("/stuck")]
    assert len(pods) == 2


def test_a_server_that_is_away_is_waited_for_and_then_named(api: ApiServer) -> None:
    backend = KubeBackend("https://127.0.0.1:9", "secret", api.ca_file, patience=0.3)
    with pytest.raises(KubeError, match=r"https://127\.0\.0\.1:9 cannot be reached"):
        backend.add_nodes(CLUSTER_PATH, [node("n-0")])


def test_pending_pods_are_those_the_scheduler_gave_up_on(api: ApiServer, backend: KubeBackend) -> None:
    toleration = {"key": "google.com/tpu", "operator": "Exists"}
    sidecar = {"restartPolicy": "Always", "resources": {"requests": {"cpu": "2"}}}
    waiting = pod("waiting", nodeSelector={"a": "b"}, tolerations=[toleration], initContainers=[sidecar, {}])
    put(api, waiting, pod("gated", reason="SchedulingGated"), pod("bound", "n-0"), pod("runs", "n-0", "Running"))
    (found,) = backend.pending_pods(CLUSTER_PATH)
    assert (found.namespace, found.name, dict(found.node_selector)) == ("team", "waiting", {"a": "b"})
    assert (found.tolerated, found.tpu_chips, found.cpu, found.memory_gib) == (
        frozenset({"google.com/tpu"}),
        4,
        2.5,
        2.0,
    )


def test_busy_nodes_run_more_than_daemons(api: ApiServer, backend: KubeBackend) -> None:
    daemon = pod("daemon", "n-1", "Running")
    daemon["metadata"]["ownerReferences"] = [{"kind": "DaemonSet"}]
    put(api, pod("runs", "n-0", "Running"), daemon, pod("done", "n-2", "Succeeded"), pod("else", "n-9", "Running"))
    assert backend.busy_nodes(CLUSTER_PATH, ["n-0", "n-1", "n-2"]) == {"n-0"}


def test_the_end_of_a_cluster_empties_the_server_but_for_the_system(api: ApiServer, backend: KubeBackend) -> None:
    backend.add_nodes(CLUSTER_PATH, [node("n-0")])
    api.objects |= {f"/api/v1/namespaces/{name}": node(name) for name in ("kube-system", "default", "team")}
    KubeBackend(f"https://{api.address}", "secret", api.ca_file, wipe=False).stop_cluster(CLUSTER_PATH)
    assert len(api.objects) == 4
    backend.stop_cluster(CLUSTER_PATH)
    assert {path.rpartition("/")[2] for path in api.objects} == {"kube-system", "default"}


def test_a_refusal_names_its_status(api: ApiServer) -> None:
    stranger = KubeBackend(f"https://{api.address}", "wrong", api.ca_file)
    with pytest.raises(KubeError, match="401") as caught:
        stranger.add_nodes(CLUSTER_PATH, [node("n-0")])
    assert caught.value.status == 401


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1), ("500m", 0.5), ("2Gi", 2 * 2**30), ("1500Mi", 1500 * 2**20), ("1G", 1e9), ("0", 0)]
)
def test_quantities(text: str, value: float) -> None:
    assert quantity(text) == value
