"""Durable state: what exists, what was called, what is to fail, how long things take. One SQLite file."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from tests.e2e.cloud.errors import Fault, FaultKind
from tests.e2e.cloud.wire import Props

_SCHEMA = """
CREATE TABLE IF NOT EXISTS resources (
  type TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, project TEXT NOT NULL,
  status TEXT NOT NULL, ready_at REAL NOT NULL, visible_at REAL NOT NULL, created REAL NOT NULL,
  props TEXT NOT NULL, meta TEXT NOT NULL, PRIMARY KEY (type, id));
CREATE TABLE IF NOT EXISTS audit (
  seq INTEGER PRIMARY KEY AUTOINCREMENT, started REAL NOT NULL, ended REAL, method TEXT NOT NULL,
  type TEXT NOT NULL, name TEXT NOT NULL, id TEXT NOT NULL, urn TEXT NOT NULL, preview INTEGER NOT NULL,
  outcome TEXT NOT NULL, detail TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS faults (
  id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, type TEXT NOT NULL, name TEXT NOT NULL,
  operation TEXT NOT NULL, count INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""

PROVISIONING, RUNNING, STOPPING, ERROR = "PROVISIONING", "RUNNING", "STOPPING", "ERROR"


@dataclass
class Record:
    """One thing in the cloud. ``meta`` is what the cloud knows and the provider does not show."""

    type: str
    id: str
    name: str
    project: str
    props: Props
    status: str = PROVISIONING
    ready_at: float = 0.0
    visible_at: float = 0.0
    created: float = field(default_factory=time.time)
    meta: Props = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """One entry of the audit log: a call of the engine, or something the cloud did by itself (``method`` ``cloud.*``).

    ``started`` and ``ended`` are seconds since the epoch, ``ended`` is None for what was under way when the log was
    read. ``outcome`` is ``ok``, ``running`` or the message of the error.
    """

    seq: int
    started: float
    ended: float | None
    method: str
    type: str
    name: str
    id: str
    urn: str
    preview: bool
    outcome: str
    detail: Props

    @property
    def seconds(self) -> float:
        """How long it took; 0 while under way."""
        return (self.ended - self.started) if self.ended is not None else 0.0

    @property
    def short(self) -> str:
        """``NodePool`` of the type token."""
        return self.type.rpartition(":")[2]


def read_audit(connection: sqlite3.Connection, since: int = 0) -> list[Call]:
    """The audit log after entry ``since``."""
    rows = connection.execute("SELECT * FROM audit WHERE seq > ? ORDER BY seq", (since,))
    names = [item.name for item in fields(Call)]
    calls = [dict(zip(names, row, strict=True)) for row in rows]
    return [Call(**{**c, "preview": bool(c["preview"]), "detail": json.loads(c["detail"])}) for c in calls]


class Store:
    """All state of the cloud. Every method is atomic and safe between threads."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.RLock()
        self._db = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        # The file must outlive a killed process, not a power failure.
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=OFF")
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    # Resources

    def put(self, record: Record) -> None:
        """Create or replace a record."""
        row = (
            *(record.type, record.id, record.name, record.project, record.status),
            *(record.ready_at, record.visible_at, record.created),
            *(json.dumps(record.props), json.dumps(record.meta)),
        )
        with self._lock:
            self._db.execute("INSERT OR REPLACE INTO resources VALUES (?,?,?,?,?,?,?,?,?,?)", row)

    def get(self, token: str, id_: str) -> Record | None:
        """The record of this id."""
        return next(self._select("type = ? AND id = ?", (token, id_)), None)

    def all(self, token: str | None = None) -> list[Record]:
        """All records, or those of one type, oldest first."""
        return list(self._select("1", ()) if token is None else self._select("type = ?", (token,)))

    def remove(self, token: str, id_: str) -> None:
        """Forget a record."""
        with self._lock:
            self._db.execute("DELETE FROM resources WHERE type = ? AND id = ?", (token, id_))

    def _select(self, where: str, arguments: tuple[str, ...]) -> Iterator[Record]:
        columns = "type, id, name, project, props, status, ready_at, visible_at, created, meta"
        with self._lock:
            query = f"SELECT {columns} FROM resources WHERE {where} ORDER BY created, id"
            rows = self._db.execute(query, arguments).fetchall()
        for row in rows:
            known = dict(zip(columns.split(", "), row, strict=True))
            yield Record(**{**known, "props": json.loads(known["props"]), "meta": json.loads(known["meta"])})

    # Audit

    def begin(
        self,
        method: str,
        *,
        type: str = "",
        name: str = "",
        id: str = "",
        urn: str = "",
        preview: bool = False,
        detail: Mapping[str, Any] | None = None,
    ) -> int:
        """Note the start of a call; returns its number for ``end``."""
        row = (
            time.time(),
            method,
            type,
            name,
            id,
            urn,
            int(preview),
            "running",
            json.dumps(detail or {}, default=repr),
        )
        with self._lock:
            cursor = self._db.execute(
                "INSERT INTO audit (started, method, type, name, id, urn, preview, outcome, detail) "
                "VALUES (?,?,?,?,?,?,?,?,?)",
                row,
            )
            return cursor.lastrowid or 0

    def end(self, seq: int, outcome: str, *, id: str | None = None, detail: Mapping[str, Any] | None = None) -> None:
        """Note the end of a call."""
        with self._lock:
            self._db.execute("UPDATE audit SET ended = ?, outcome = ? WHERE seq = ?", (time.time(), outcome, seq))
            if id is not None:
                self._db.execute("UPDATE audit SET id = ? WHERE seq = ?", (id, seq))
            if detail is not None:
                text = json.dumps(detail, default=repr)
                self._db.execute("UPDATE audit SET detail = ? WHERE seq = ?", (text, seq))

    def event(self, method: str, type: str, name: str, detail: Mapping[str, Any] | None = None) -> None:
        """Note something the cloud did by itself."""
        self.end(self.begin(method, type=type, name=name, detail=detail), "ok")

    def audit(self, since: int = 0) -> list[Call]:
        """The audit log after entry ``since``."""
        with self._lock:
            return read_audit(self._db, since)

    # Faults

    def add_fault(self, fault: Fault) -> None:
        """Make the next matching operations fail."""
        row = {**asdict(fault), "kind": fault.kind.value}
        with self._lock:
            self._db.execute(
                "INSERT INTO faults (kind, type, name, operation, count) VALUES (:kind,:type,:name,:operation,:count)",
                row,
            )

    def clear_faults(self) -> None:
        """Let everything work again."""
        with self._lock:
            self._db.execute("DELETE FROM faults")

    def take_fault(self, operation: str, token: str, name: str) -> FaultKind | None:
        """The fault due on this operation, used up by one."""
        with self._lock:
            rows = self._db.execute("SELECT id, kind, type, name, operation, count FROM faults ORDER BY id").fetchall()
            for id_, kind, type_, pattern, op, count in rows:
                fault = Fault(FaultKind(kind), type_, pattern, op, count)
                if fault.matches(operation, token, name):
                    self._db.execute("UPDATE faults SET count = count - 1 WHERE id = ?", (id_,))
                    self._db.execute("DELETE FROM faults WHERE count <= 0")
                    return fault.kind
        return None

    # Settings

    def setting(self, key: str, default: Any = None) -> Any:
        """A setting, or the default."""
        with self._lock:
            row = self._db.execute("SELECT value FROM settings WHERE key = ?", (key,)).fetchone()
        return default if row is None else json.loads(row[0])

    def set_setting(self, key: str, value: Any) -> None:
        """Keep a setting."""
        with self._lock:
            self._db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (key, json.dumps(value)))
