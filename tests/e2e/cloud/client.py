"""The simulated cloud as a test sees it: a process to start, restart and stop, a log to read, orders to give."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.e2e.cloud.errors import Fault
from tests.e2e.cloud.store import Call, read_audit

ROOT = Path(__file__).resolve().parents[3]
START_SECONDS = 30.0


class CloudControlError(Exception):
    """The cloud refused an order of a test."""


@dataclass(frozen=True, slots=True)
class ApiServer:
    """A real API server as every cluster's control plane. ``endpoint`` is the host:port that clusters report."""

    server: str
    token_file: Path
    ca_file: Path
    endpoint: str | None = None
    keep: bool = False


class SimulatedCloud:
    """One simulated Google Cloud in a process of its own, with its files under ``folder``.

    Use it as a context manager, or call ``start`` and ``stop``. Attach an engine with ``environment()``.
    """

    def __init__(self, folder: Path, api_server: ApiServer | None = None) -> None:
        self.folder = folder
        self.state = folder / "cloud.sqlite"
        self.log = folder / "cloud.log"
        self._api_server = api_server
        self._process: subprocess.Popen[bytes] | None = None
        self._ports: dict[str, int] = {}

    # The process

    def start(self) -> SimulatedCloud:
        """Start it, on the ports of before if it ran already. Raises RuntimeError with its log when it does not."""
        self.folder.mkdir(parents=True, exist_ok=True)
        port_file = self.folder / "cloud.ports"
        port_file.unlink(missing_ok=True)
        command = [sys.executable, "-m", "tests.e2e.cloud", "--state", str(self.state), "--port-file", str(port_file)]
        if self._ports:
            command += ["--port", str(self._ports["grpc"]), "--control-port", str(self._ports["control"])]
        command += self._kube_arguments()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=log, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while not port_file.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError(f"the simulated cloud did not start: {self.log.read_text(encoding='utf-8')[-2000:]}")
            time.sleep(0.02)
        self._ports = json.loads(port_file.read_text(encoding="utf-8"))
        return self

    def _kube_arguments(self) -> list[str]:
        api = self._api_server
        if api is None:
            return []
        files = ["--kube-token-file", str(api.token_file), "--kube-ca-file", str(api.ca_file)]
        endpoint = ["--kube-endpoint", api.endpoint] if api.endpoint is not None else []
        return ["--kube-server", api.server, *files, *endpoint, *(["--kube-keep"] if api.keep else [])]

    def stop(self) -> None:
        """End it in good order."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash would."""
        self._end(signal.SIGKILL)

    def _end(self, number: int) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(number)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdin is not None:
            process.stdin.close()

    def restart(self) -> SimulatedCloud:
        """Crash and come back, with the same state on the same ports."""
        self.kill()
        return self.start()

    def __enter__(self) -> SimulatedCloud:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def port(self) -> int:
        """The port of the provider protocol."""
        return self._ports["grpc"]

    def environment(self) -> dict[str, str]:
        """The variables that attach an engine to it."""
        return {"PULUMI_DEBUG_PROVIDERS": f"gcp:{self.port}"}

    # What happened

    def audit(
        self, method: str | None = None, type: str | None = None, *, since: int = 0, previews: bool = False
    ) -> list[Call]:
        """The audit log in order, by method (``Create``) and short type or token; previews only when asked for.

        It is read from the file, so also while the cloud is down.
        """
        with closing(sqlite3.connect(f"file:{self.state}?mode=ro", uri=True)) as connection:
            calls = read_audit(connection, since)
        return [
            call
            for call in calls
            if method in (None, call.method)
            and type in (None, call.type, call.short)
            and (previews or not call.preview)
        ]

    def mark(self) -> int:
        """The number of the last entry, to read on ``since`` it."""
        calls = self.audit(previews=True)
        return calls[-1].seq if calls else 0

    def resources(self, type: str | None = None) -> list[dict[str, Any]]:
        """All that exists, GKE's own rules included: type, id, name, status, props, meta."""
        found: list[dict[str, Any]] = self.by_hand("list_resources", type=type)
        return found

    # Orders

    def _order(self, action: str, arguments: Mapping[str, Any]) -> Any:
        body = json.dumps({"action": action, "arguments": dict(arguments)}).encode()
        url = f"http://127.0.0.1:{self._ports['control']}/"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(urllib.request.Request(url, data=body), timeout=120) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise CloudControlError(json.load(error)) from error

    def inject(self, *faults: Fault) -> None:
        """Make the next matching operations fail."""
        for fault in faults:
            self._order("inject", {**asdict(fault), "kind": fault.kind.value})

    def clear_faults(self) -> None:
        """Let everything work again."""
        self._order("clear_faults", {})

    def by_hand(self, action: str, **arguments: Any) -> Any:
        """What others do, by the name of a function of ``by_hand.py``: ``delete``, ``resize_pool``, ``take_spot``."""
        return self._order(action, arguments)

    def set_durations(self, **seconds: float | Mapping[str, float]) -> None:
        """How long operations take from now on, by short type: ``Cluster=8, NodePool={"create": 4, "delete": 2}``."""
        self._order("set", {"durations": seconds})

    def set_consistency_delay(self, seconds: float, patience: float | None = None) -> None:
        """How long a new thing stays unseen by other services, and how long the provider waits for it (default 10)."""
        self._order("set", {"consistency_delay": seconds, **({} if patience is None else {"patience": patience})})

    def set_reservations(self, **reservations: Mapping[str, Any]) -> None:
        """The reservations that exist, by name: hosts, and where they matter machineType, zone and project."""
        self._order("set", {"reservations": reservations})

    def set_projects(self, **numbers: str) -> None:
        """Numbers of projects (dashes cannot be keywords: pass a dict with ``**``)."""
        self._order("set", {"projects": numbers})

    def set_taken_buckets(self, names: Iterable[str]) -> None:
        """Bucket names that belong to others."""
        self._order("set", {"taken_buckets": list(names)})

    def set_foreign_accounts(self, emails: Iterable[str]) -> None:
        """Service accounts that exist without having been created here."""
        self._order("set", {"foreign_accounts": list(emails)})

    def set_scaling(self, *, every: float = 0.5, down_after: float | None = None) -> None:
        """How often pools are scaled, and after how many idle seconds they shrink (never by default)."""
        self._order("set", {"scale_every": every, "scale_down_after": down_after})

    def scale(self) -> None:
        """Scale now."""
        self._order("scale", {})

    def alive(self) -> bool:
        """True while the process runs."""
        return self._process is not None and self._process.poll() is None

    def pid(self) -> int:
        """The process id; 0 when it does not run."""
        return self._process.pid if self._process is not None and self.alive() else 0
