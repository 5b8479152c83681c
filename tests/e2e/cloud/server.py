"""One running cloud: provider protocol, control endpoint, autoscaler."""

from __future__ import annotations

import threading
from concurrent import futures
from pathlib import Path
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from tests.e2e.cloud import autoscaler
from tests.e2e.cloud.backend import ClusterBackend
from tests.e2e.cloud.cloud import Cloud
from tests.e2e.cloud.control import ControlServer
from tests.e2e.cloud.provider import Provider
from tests.e2e.cloud.store import Store

# An operation that waits holds its thread: as many as a large stack has resources in flight.
_THREADS = 256
_OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0)]


class Server:
    """A cloud on two free ports of 127.0.0.1 (or the given ones)."""

    def __init__(self, state: Path, backend: ClusterBackend, *, port: int = 0, control_port: int = 0) -> None:
        self.cloud = Cloud(Store(state), backend)
        self._stop = threading.Event()
        self._grpc: Any = grpc.server(futures.ThreadPoolExecutor(_THREADS), options=_OPTIONS)
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(Provider(self.cloud), self._grpc)
        self.port: int = self._grpc.add_insecure_port(f"127.0.0.1:{port}")
        self.control = ControlServer(self.cloud, control_port)

    def start(self) -> None:
        """Take up what was under way, then serve."""
        self.cloud.recover()
        self._grpc.start()
        self.control.start()
        threading.Thread(target=autoscaler.run, args=(self.cloud, self._stop), daemon=True, name="autoscaler").start()

    def stop(self) -> None:
        """Stop serving; operations under way are cut off and go on at the next start."""
        self._stop.set()
        self.cloud.stop()
        self.control.stop()
        self._grpc.stop(grace=None).wait()
        self.cloud.store.close()
