"""Run the simulated cloud as a process: ``python -m tests.e2e.cloud --state FILE --port-file FILE``.

It ends when its standard input is closed or its parent is gone.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

from tests.e2e.cloud.backend import ClusterBackend, MemoryBackend
from tests.e2e.cloud.kube import KubeBackend
from tests.e2e.cloud.server import Server


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.cloud", description=__doc__)
    parser.add_argument("--state", type=Path, required=True, help="the SQLite file of the cloud's state and audit log")
    parser.add_argument("--port-file", type=Path, required=True, help='where to write {"grpc", "control", "pid"}')
    parser.add_argument("--port", type=int, default=0, help="port of the provider protocol (default: a free one)")
    parser.add_argument(
        "--control-port", type=int, default=0, help="port of the control endpoint (default: a free one)"
    )
    parser.add_argument("--kube-server", help="URL of the API server that stands for every cluster's control plane")
    parser.add_argument("--kube-token-file", type=Path, help="file with a bearer token for it")
    parser.add_argument("--kube-ca-file", type=Path, help="file with its CA certificate (PEM)")
    parser.add_argument("--kube-endpoint", help="host:port that clusters report as theirs (default: the server's)")
    parser.add_argument(
        "--kube-keep", action="store_true", help="leave the API server as it is when a cluster is deleted"
    )
    return parser.parse_args()


def _backend(arguments: argparse.Namespace) -> ClusterBackend:
    if arguments.kube_server is None:
        return MemoryBackend()
    if arguments.kube_token_file is None or arguments.kube_ca_file is None:
        sys.exit("--kube-server needs --kube-token-file and --kube-ca-file")
    token = arguments.kube_token_file.read_text(encoding="utf-8").strip()
    return KubeBackend(
        arguments.kube_server,
        token,
        arguments.kube_ca_file,
        endpoint=arguments.kube_endpoint,
        wipe=not arguments.kube_keep,
    )


def _die_with_parent() -> None:
    """End at once when the parent closes our input, or is gone in whatever way."""
    parent = os.getppid()

    def watch_input() -> None:
        sys.stdin.buffer.read()
        os._exit(0)

    def watch_parent() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(0)

    for watch in (watch_input, watch_parent):
        threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    """Serve until told to end."""
    arguments = _arguments()
    _die_with_parent()
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    server = Server(arguments.state, _backend(arguments), port=arguments.port, control_port=arguments.control_port)
    server.start()
    ports = {"grpc": server.port, "control": server.control.port, "pid": os.getpid()}
    # Whole or not at all: a reader must not see half of it.
    draft = arguments.port_file.with_suffix(".draft")
    draft.write_text(json.dumps(ports), encoding="utf-8")
    draft.replace(arguments.port_file)
    ended.wait()
    server.stop()


if __name__ == "__main__":
    main()
