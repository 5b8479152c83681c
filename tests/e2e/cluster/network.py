"""The cluster network, as far as the API server uses it: from a Service's address to the process behind it.

The API server dials every Service (webhooks, aggregated APIs) through its egress proxy; this is that proxy. It resolves
as a node would: Service address and port -> EndpointSlice -> pod address and port. The webhook configurations, Services
and endpoints are therefore the real ones, untouched. A Service without a ready pod behind it is refused.
"""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Callable
from pathlib import Path

import requests
import yaml

from tests.e2e.cluster.kube import Kube, KubeError

LocalPort = Callable[[str, int], int | None]


class ServiceNetwork:
    """An HTTP CONNECT proxy on a Unix socket.

    Args:
        path: The socket; at most 100 characters long.
        kube: A client of its own; used by one connection at a time.
        local_port: The port of 127.0.0.1 that stands for a pod's address and port, or None if nothing listens there.
    """

    def __init__(self, path: Path, kube: Kube, local_port: LocalPort) -> None:
        self.path = path
        self._kube = kube
        self._local_port = local_port
        self._lock = threading.Lock()

    def start(self) -> None:
        """Listen, in a thread of its own."""
        network = self

        class Handler(socketserver.StreamRequestHandler):
            rbufsize = 0  # what follows the request head belongs to the tunnel

            def handle(self) -> None:
                network._serve(self.connection)

        class Server(socketserver.ThreadingUnixStreamServer):
            daemon_threads = True

        self._server = Server(str(self.path), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.1,), name="network", daemon=True).start()

    def stop(self) -> None:
        """Stop listening; open connections end with the processes."""
        self._server.shutdown()
        self._server.server_close()

    def write_egress_config(self, folder: Path) -> Path:
        """Write the API server's `--egress-selector-config-file` and return its path."""
        file = folder / "egress.yaml"
        connection = {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": str(self.path)}}}
        document = {
            "apiVersion": "apiserver.k8s.io/v1beta1",
            "kind": "EgressSelectorConfiguration",
            "egressSelections": [{"name": "cluster", "connection": connection}],
        }
        file.write_text(yaml.safe_dump(document))
        return file

    def resolve(self, address: str, port: int) -> int | None:
        """The port of 127.0.0.1 behind a Service's or pod's address, or None if nothing is ready there."""
        services = [s for s in self._kube.objects("Service") if s["spec"].get("clusterIP") == address]
        if not services:
            return self._local_port(address, port)
        names = [p.get("name", "") for p in services[0]["spec"]["ports"] if p["port"] == port]
        meta = services[0]["metadata"]
        label = f"kubernetes.io/service-name={meta['name']}"
        for endpoints in self._kube.objects("EndpointSlice", meta["namespace"], labels=label):
            ports = [p["port"] for p in endpoints.get("ports") or [] if p.get("name", "") in names]
            for endpoint in endpoints.get("endpoints") or []:
                if ports and endpoint.get("conditions", {}).get("ready"):
                    return self._local_port(endpoint["addresses"][0], ports[0])
        return None

    def _serve(self, client: socket.socket) -> None:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = client.recv(1)
            if not byte:
                return
            head += byte
        address, _, port = head.split()[1].decode().rpartition(":")
        try:
            with self._lock:
                local = self.resolve(address.strip("[]"), int(port))
            if local is None:
                client.sendall(b"HTTP/1.1 503 no ready endpoint\r\n\r\n")
                return
            target = socket.create_connection(("127.0.0.1", local), timeout=5)
        except (OSError, KubeError, requests.RequestException) as error:
            client.sendall(f"HTTP/1.1 502 {type(error).__name__}\r\n\r\n".encode())
            return
        with target:
            target.settimeout(None)
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            back = threading.Thread(target=_pump, args=(target, client), daemon=True)
            back.start()
            _pump(client, target)
            back.join()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            continue
