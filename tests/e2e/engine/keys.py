"""The key that the stacks' secrets are under: Vault's transit engine, as far as Pulumi asks of it.

A passphrase would do, but Pulumi makes a key of it in a million rounds: a fifth of the engine's work in every run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

PROVIDER = "hashivault://e2e"
"""What a stack is made with (`--secrets-provider`)."""
_SEALED = "vault:v1:"


@dataclass
class KeyService:
    """Serves on loopback from its making until `stop`; what it seals holds no secret of anybody."""

    _server: ThreadingHTTPServer = field(default_factory=lambda: ThreadingHTTPServer(("127.0.0.1", 0), _Transit))

    def __post_init__(self) -> None:
        Thread(target=self._server.serve_forever, name="keys", daemon=True).start()

    def environment(self) -> Mapping[str, str]:
        """Variables by which Pulumi finds it."""
        return {"VAULT_SERVER_URL": f"http://127.0.0.1:{self._server.server_port}", "VAULT_SERVER_TOKEN": "e2e"}

    def stop(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()


class _Transit(BaseHTTPRequestHandler):
    def do_PUT(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path.startswith("/v1/transit/encrypt/"):
            data = {"ciphertext": _SEALED + asked["plaintext"]}
        else:
            data = {"plaintext": asked["ciphertext"].removeprefix(_SEALED)}
        answer = json.dumps({"data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""
