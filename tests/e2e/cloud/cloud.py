"""The cloud itself: operations that take their time, can fail, and go on when nobody waits for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar
from zlib import crc32

from tests.e2e.cloud.backend import ClusterBackend
from tests.e2e.cloud.config import BORN_WITH, ProviderConfig
from tests.e2e.cloud.diff import Change
from tests.e2e.cloud.errors import (
    CloudError,
    FaultKind,
    InitFailedError,
    ProviderError,
    already_exists,
    refusal,
    timeout,
)
from tests.e2e.cloud.facts import load
from tests.e2e.cloud.outputs import labelled, merged, plain
from tests.e2e.cloud.services.base import Service, tail
from tests.e2e.cloud.services.network import CLUSTER, NODE_POOL
from tests.e2e.cloud.services.nodepool import refresh_nodes
from tests.e2e.cloud.services.registry import services
from tests.e2e.cloud.store import ERROR, PROVISIONING, RUNNING, STOPPING, Record, Store
from tests.e2e.cloud.wire import Props

# How long the real provider waits or retries for what was just created (accounts, APIs), in seconds.
PATIENCE = 10.0


_T = TypeVar("_T")


class NotYetError(Exception):
    """Something exists and will be seen at ``at``: the provider retries until then."""

    def __init__(self, at: float) -> None:
        super().__init__(at)
        self.at = at


class Cloud:
    """Everything behind the API. Safe between threads: state changes under one lock, waiting outside it."""

    def __init__(self, store: Store, backend: ClusterBackend) -> None:
        self.store = store
        self.backend = backend
        self.lock = threading.RLock()
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    # Time

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def delay(self) -> float:
        """Seconds until other services see what was just created."""
        return float(self.store.setting("consistency_delay", 0.0))

    def duration(self, operation: str, token: str) -> float:
        """Seconds that an operation takes, by the whole token or the short type."""
        table = self.store.setting("durations", {})
        entry = table.get(token, table.get(token.rpartition(":")[2], 0.0))
        if isinstance(entry, dict):
            entry = entry.get(operation, 0.0)
        return float(entry)

    def wait_until(self, moment: float) -> None:
        """Sleep; ends early only when the cloud stops, and then with an error."""
        if self._stop.wait(max(0.0, moment - self.now())):
            raise ProviderError("the cloud was stopped")

    def stop(self) -> None:
        """End all waiting."""
        self._stop.set()

    # Projects

    def project_number(self, project: str) -> str:
        """The project's number, never its id."""
        known: Mapping[str, str] = self.store.setting("projects", {})
        return str(known.get(project, 100_000_000_000 + crc32(project.encode()) * 97 % 900_000_000_000))

    def _apis(self, project: str) -> dict[str, float]:
        default = dict.fromkeys(BORN_WITH, 0.0)
        return dict(self.store.setting(f"apis:{project}", default))

    def enable(self, project: str, api: str) -> None:
        """Switch an API on; it works after the consistency delay."""
        with self.lock:
            known = self._apis(project)
            known.setdefault(api, self.now() + self.delay())
            self.store.set_setting(f"apis:{project}", known)

    def disable(self, project: str, api: str) -> None:
        """Switch an API off."""
        with self.lock:
            known = {name: since for name, since in self._apis(project).items() if name != api}
            self.store.set_setting(f"apis:{project}", known)

    def _require_api(self, project: str, api: str) -> None:
        since = self._apis(project).get(api)
        if since is None or not self._seen(since):
            number = self.project_number(project)
            raise CloudError(
                403,
                f"{api} has not been used in project {number} before or it is disabled. Enable it by visiting "
                f"https://console.developers.google.com/apis/api/{api}/overview?project={number} then retry. If you "
                "enabled this API recently, wait a few minutes for the action to propagate to our systems and retry.",
                "accessNotConfigured",
            )

    # Eventual consistency

    def _seen(self, visible_at: float) -> bool:
        left = visible_at - self.now()
        if 0 < left <= float(self.store.setting("patience", PATIENCE)):
            raise NotYetError(visible_at)
        return left <= 0

    def await_visible(self, record: Record) -> bool:
        """True once other services see the record; makes the caller's operation wait as long as the provider would."""
        return self._seen(max(record.visible_at, record.ready_at))

    def _patiently(self, work: Callable[[], _T]) -> _T:
        while True:
            try:
                with self.lock:
                    return work()
            except NotYetError as error:
                self.wait_until(error.at)

    # Operations

    def create(self, token: str, inputs: Props, config: ProviderConfig, *, by_hand: bool = False) -> Record:
        """Create. Raises CloudError, ProviderError; InitFailedError when it exists all the same."""
        service = services()[token]
        label = f"Error creating {token.rpartition(':')[2]}: "
        props = labelled(load()[token], service.complete(self, plain(inputs), config), config)
        name, id_ = service.name(props), service.id(props)
        record = Record(token, id_, name, str(props.get("project") or config.project), props)
        fault = None if by_hand else self.store.take_fault("create", token, name)
        goes_through = fault is FaultKind.TIMEOUT_AFTER or (fault is FaultKind.STOCKOUT and token == NODE_POOL)
        if fault is not None and not goes_through:
            raise _labelled(label, refusal(fault, "create", token, id_, record.project))
        if fault is not None:
            record.meta["fate"] = fault.value
        try:
            self._patiently(lambda: self._admit(service, record, by_hand))
        except CloudError as error:
            raise _labelled(label, error) from error
        self.wait_until(record.ready_at)
        done = self._created(token, id_)
        if fault is FaultKind.TIMEOUT_AFTER and not service.keeps_failed:
            raise timeout("create", token.rpartition(":")[2])
        if fault is FaultKind.TIMEOUT_AFTER:
            raise InitFailedError(id_, done.props, [str(timeout("create", token.rpartition(":")[2]))])
        if done.status == ERROR:
            raise InitFailedError(id_, done.props, [f'NodePool {name} was created in the error state "ERROR"'])
        return done

    def _admit(self, service: Service, record: Record, by_hand: bool) -> None:
        """The call that starts the operation: accepted, the name is taken from now on."""
        if not by_hand:
            self._require_api(record.project, service.api)
        service.admit(self, record)
        existing = self.store.get(record.type, record.id)
        if existing is not None and service.idempotent:
            return
        if existing is not None:
            compute = service.api == "compute.googleapis.com"
            message = f"The resource '{record.id}' already exists"
            raise CloudError(409, message, "alreadyExists") if compute else already_exists(record.id)
        record.ready_at = self.now() + (0.0 if by_hand else self.duration("create", record.type))
        self.store.put(record)

    def _created(self, token: str, id_: str) -> Record:
        with self.lock:
            record = self.store.get(token, id_)
            if record is None:
                raise CloudError(404, f"Not found: {id_}.", "notFound")
            if record.status == PROVISIONING:
                services()[token].finish(self, record)
                if record.status == PROVISIONING:
                    record.status = RUNNING
                record.visible_at = self.now() + self.delay()
                self.store.put(record)
            return record

    def make(self, token: str, inputs: Props, project: str = "") -> Record:
        """Create by other hands: at once, without faults."""
        return self.create(token, inputs, ProviderConfig(project=project), by_hand=True)

    def read(self, token: str, id_: str) -> Record | None:
        """What is there now; None when it is gone."""
        with self.lock:
            record = self.store.get(token, id_)
            if record is None:
                return None
            record.props = services()[token].read(self, record)
            return record

    def update(
        self, token: str, id_: str, news: Props, changes: list[Change], config: ProviderConfig
    ) -> tuple[Record, list[str]]:
        """Apply the changes; returns the record and the writes that were sent."""
        service, facts = services()[token], load()[token]
        label = f"Error updating {facts.short} {id_!r}: "
        fault = self.store.take_fault("update", token, tail(id_))
        if fault is not None and fault is not FaultKind.TIMEOUT_AFTER:
            raise _labelled(label, refusal(fault, "update", token, id_, config.project))
        if changes:
            self.wait_until(self.now() + self.duration("update", token))

        def apply() -> tuple[Record, list[str]]:
            record = self.store.get(token, id_)
            if record is None:
                raise CloudError(404, f"Not found: {id_}.", "notFound")
            roots = {change.path.split(".")[0].split("[")[0] for change in changes}
            props = merged(facts.properties, record.props, plain(news), roots)
            try:
                writes = service.update(self, record, labelled(facts, props, config), changes)
            except CloudError as error:
                raise _labelled(label, error) from error
            self.store.put(record)
            return record, writes

        result = self._patiently(apply)
        if fault is FaultKind.TIMEOUT_AFTER:
            raise timeout("update", facts.short)
        return result

    def delete(self, token: str, id_: str, state: Props) -> None:
        """Delete; what is gone already is no error. ``state`` is what the program's state knows of it."""
        service, short = services()[token], token.rpartition(":")[2]
        record = self.store.get(token, id_)
        if state.get("deletionPolicy") == "PREVENT":
            raise ProviderError(f"Cannot destroy {short} {id_}: its deletion policy is PREVENT")
        if record is None or service.outlives or state.get("deletionPolicy") == "ABANDON":
            return
        fault = self.store.take_fault("delete", token, record.name)
        if fault is not None and fault is not FaultKind.TIMEOUT_AFTER:
            raise _labelled(f"Error deleting {short}: ", refusal(fault, "delete", token, id_, record.project))
        self.wait_until(record.ready_at)  # an operation under way is over first
        self.remove(token, id_, state)
        if fault is FaultKind.TIMEOUT_AFTER:
            raise timeout("delete", short)

    def remove(self, token: str, id_: str, state: Props | None) -> None:
        """The deletion itself; by other hands, at once and unprotected, when there is no ``state``."""
        with self.lock:
            record = self.store.get(token, id_)
            if record is None:
                return
            if state is not None:
                services()[token].forbid_delete(self, record, state)
            record.status = STOPPING
            record.ready_at = self.now() + (self.duration("delete", token) if state is not None else 0.0)
            self.store.put(record)
        self.wait_until(record.ready_at)
        self._deleted(token, id_)

    def _deleted(self, token: str, id_: str) -> None:
        with self.lock:
            record = self.store.get(token, id_)
            if record is not None:
                services()[token].removed(self, record)
                self.store.remove(token, id_)

    def forget_members(self, key: str, name: str) -> None:
        """The grants on a thing that is gone are gone."""
        for record in self.store.all():
            if "member" in record.props and tail(record.props.get(key)) == name:
                self.store.remove(record.type, record.id)

    # Restart

    def recover(self) -> None:
        """After a restart: control planes and nodes are there again, operations under way go on."""
        for cluster in self.store.all(CLUSTER):
            if cluster.status == RUNNING:
                self.backend.start_cluster(cluster.id)
        for pool in self.store.all(NODE_POOL):
            if pool.status == RUNNING:
                refresh_nodes(self, pool)
        for record in self.store.all():
            if record.status in (PROVISIONING, STOPPING) and record.type in services():
                self._background(record)

    def _background(self, record: Record) -> None:
        finish: Callable[[str, str], Any] = self._created if record.status == PROVISIONING else self._deleted

        def work() -> None:
            try:
                self.wait_until(record.ready_at)
            except ProviderError:
                return
            finish(record.type, record.id)

        thread = threading.Thread(target=work, daemon=True, name=f"resume {record.id}")
        self._threads.append(thread)
        thread.start()


def _labelled(label: str, error: Exception) -> ProviderError:
    return error if isinstance(error, ProviderError) else ProviderError(f"{label}{error}")
