"""What a run of the engine did, read from its events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

QUIET = frozenset({"same", "refresh", "read", "read-replacement"})
"""Steps that change nothing."""


@dataclass(frozen=True)
class Step:
    """One step of the engine: its operation (`create`, `update`, `delete`, `replace` …) and the resource."""

    op: str
    urn: str
    diffs: tuple[str, ...] = ()

    @property
    def type(self) -> str:
        """Type token of the resource."""
        return self.urn.split("::")[2].rpartition("$")[2]

    @property
    def name(self) -> str:
        """Logical name of the resource."""
        return self.urn.split("::")[3]

    def __str__(self) -> str:
        """As it stands in a failure: `create slices-2`."""
        return f"{self.op} {self.name}"


@dataclass(frozen=True)
class Run:
    """A finished run: whether it went well, its events, all that it printed, and how long it took (seconds)."""

    operation: str
    ok: bool
    events_file: Path
    output: str = field(repr=False)
    seconds: float

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """The engine's events, in order; a last line cut off by a kill is left out."""
        return list(_events(self.events_file))

    @cached_property
    def steps(self) -> list[Step]:
        """The steps that were started (in a preview: planned), in order, those of component resources included."""
        found = []
        for event in self.events:
            metadata = (event.get("resourcePreEvent") or {}).get("metadata")
            if metadata:
                found.append(Step(metadata["op"], metadata["urn"], tuple(metadata.get("diffs") or ())))
        return found

    @cached_property
    def changes(self) -> list[Step]:
        """The steps that change something, provider and component resources left out."""
        return [s for s in self.steps if s.op not in QUIET and not s.type.startswith(("pathways:", "pulumi:"))]

    def changed(self, *ops: str) -> set[str]:
        """Names of the resources with one of these operations (all that change something by default)."""
        return {step.name for step in self.changes if not ops or step.op in ops}

    @property
    def diagnostics(self) -> str:
        """The engine's messages of severity warning and error."""
        found = [event["diagnosticEvent"] for event in self.events if event.get("diagnosticEvent")]
        return "\n".join(each["message"] for each in found if each.get("severity") in ("warning", "error"))

    def expect_ok(self) -> Run:
        """This run, or AssertionError with what it said."""
        assert self.ok, f"{self.operation} failed:\n{self.output[-6000:]}"
        return self


def _events(file: Path) -> Iterator[dict[str, Any]]:
    if not file.exists():
        return
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            return
