"""The control endpoint: how a test tells the running cloud what to do. JSON over HTTP on loopback."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.e2e.cloud import autoscaler
from tests.e2e.cloud.by_hand import ACTIONS
from tests.e2e.cloud.cloud import Cloud
from tests.e2e.cloud.errors import CloudError, Fault, FaultKind, InitFailedError, ProviderError


def perform(cloud: Cloud, action: str, arguments: dict[str, Any]) -> Any:
    """One order: an action by hand, ``inject``, ``clear_faults``, ``set``, ``scale``. Raises what the cloud refuses."""
    match action:
        case "inject":
            cloud.store.add_fault(Fault(**{**arguments, "kind": FaultKind(arguments["kind"])}))
        case "clear_faults":
            cloud.store.clear_faults()
        case "set":
            for key, value in arguments.items():
                cloud.store.set_setting(key, value)
        case "scale":
            autoscaler.scale(cloud)
        case _ if action in ACTIONS:
            if action != "list_resources":
                cloud.store.event(f"cloud.{action}", "", str(arguments.get("name", "")), arguments)
            return ACTIONS[action](cloud, **arguments)
        case _:
            raise ProviderError(f"unknown order {action!r}: one of {sorted(ACTIONS)}, inject, clear_faults, set, scale")
    return None


class ControlServer:
    """The endpoint, served in threads of its own."""

    def __init__(self, cloud: Cloud, port: int = 0) -> None:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                status, answer = 200, None
                try:
                    body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                    answer = perform(cloud, body["action"], body["arguments"])
                except (CloudError, ProviderError, InitFailedError, TypeError, ValueError, KeyError) as error:
                    status, answer = 400, f"{type(error).__name__}: {error}"
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                """The audit log tells all."""

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]

    def start(self) -> None:
        """Serve."""
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True, name="control").start()

    def stop(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
