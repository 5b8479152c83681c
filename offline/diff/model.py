"""The result of a comparison: plain, frozen data."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Any

from offline.diff.paths import Path


class Operation(Enum):
    """What the engine does with a resource."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"
    SAME = "same"


class Impact(IntEnum):
    """What a change means for those who use the stack, worst first."""

    DESTROYS_DATA = 0
    REPLACES_CLUSTER = 1
    REPLACES_SLICE = 2
    RESTARTS_WORKLOAD = 3
    IN_PLACE = 4
    NONE = 5

    @property
    def word(self) -> str:
        """As it is written: `restarts-workload`."""
        return self.name.lower().replace("_", "-")


class Kind(Enum):
    """What happens to one property."""

    ADD = "add"
    DELETE = "delete"
    UPDATE = "update"


@dataclass(frozen=True, slots=True)
class PathChange:
    """One changed input.

    Attributes:
        path: where it is.
        kind: added, deleted or updated.
        old: the value before; None where it is added.
        new: the value after; None where it is deleted.
        replaces: whether it alone replaces the resource.
        silent: the provider drops the change: the cloud keeps what it has.
    """

    path: Path
    kind: Kind
    old: Any
    new: Any
    replaces: bool = False
    silent: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one resource.

    Attributes:
        urn: its URN in the head; in the base if it is deleted.
        old_urn: its URN in the base, where it differs (an alias).
        type: its type token.
        name: its logical name.
        label: what a person calls it: kind and name in the cloud.
        custom: whether a provider manages it.
        operation: never SAME.
        impact: what that means.
        sentence: the same for a person, in the field's words.
        because: why it is replaced or deleted, where its own inputs do not say.
        paths: the inputs that change.
        delete_before_replace: of a replacement, whether the old one goes first.
        goes_with: URN of the resource whose end is its end too, so that no delete is called.
        kept: it leaves the stack and stays in the cloud.
        source: `file:line` of the head's program that made it; the base's for a deletion.
    """

    urn: str
    type: str
    name: str
    label: str
    custom: bool
    operation: Operation
    impact: Impact
    sentence: str
    old_urn: str | None = None
    because: tuple[str, ...] = ()
    paths: tuple[PathChange, ...] = ()
    delete_before_replace: bool = False
    goes_with: str | None = None
    kept: bool = False
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What would stop the change half-way or before it begins.

    Attributes:
        urn: the resource it is about.
        rule: `protected`, `deletion-protection`, `bucket-not-empty`, `name-taken` or `range-in-use`.
        sentence: what is in the way and what to do.
    """

    urn: str
    rule: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A resource of the head that breaks a rule of `policy/`.

    Attributes:
        urn: the resource.
        name: its logical name.
        rule: the rule's id.
        level: `mandatory` or `advisory`.
        detail: what is wrong with this resource.
        sentence: what the rule demands.
        fix: what to write.
        waived: why and until when it may be broken, where a waiver says so.
        new: whether the base does not have it.
    """

    urn: str
    name: str
    rule: str
    level: str
    detail: str
    sentence: str
    fix: str
    waived: str | None
    new: bool

    @property
    def stops(self) -> bool:
        """Whether it has to be mended, or waived, before the change is made."""
        return self.level == "mandatory" and self.waived is None


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an `up`: `create`, `update`, `delete`, `create-replacement` or `delete-replaced`."""

    operation: str
    urn: str


@dataclass(frozen=True, slots=True)
class Amount:
    """A total before and after; None where a side has no such total."""

    old: int | None
    new: int | None


@dataclass(frozen=True, slots=True)
class Diff:
    """What a change does.

    Attributes:
        project: the project's name.
        stack: the stack's name.
        base: what it is compared with, as it was written.
        changes: worst impact first.
        same: how many resources stay as they are.
        totals: slices, hosts, chips and addresses, by the keys of the output `totals`.
        obstacles: what would stop it.
        findings: what of the head breaks a rule of `policy/`; what stops it comes first.
        notes: what is no step of an `up` and yet worth knowing.
        steps: the order of an `up`.
    """

    project: str
    stack: str
    base: str
    changes: tuple[Change, ...]
    same: int
    totals: dict[str, Amount] = field(default_factory=dict)
    obstacles: tuple[Obstacle, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def impact(self) -> Impact:
        """The worst of all."""
        return min((change.impact for change in self.changes), default=Impact.NONE)

    @property
    def stopped(self) -> bool:
        """Whether an obstacle or a rule is in the way."""
        return bool(self.obstacles) or any(finding.stops for finding in self.findings)

    @property
    def different(self) -> bool:
        """Whether there is anything to say."""
        return bool(self.changes or self.notes)

    def count(self, operation: Operation) -> int:
        """How many resources (components aside) `operation` happens to."""
        return sum(change.operation is operation and change.custom for change in self.changes)
