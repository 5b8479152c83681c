"""What a rule is, and what it finds. Rules look at recorded resources, unknown values count as fulfilled."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal

from offline.recording import Resource

Level = Literal["advisory", "mandatory"]
"""`mandatory` stops a change, `advisory` is only shown."""


@dataclass(frozen=True, slots=True)
class Each:
    """A check of one resource at a time.

    Attributes:
        types: the type tokens it looks at; one that ends in `*` is the beginning of a token.
        problem: what is wrong with a resource of those types, or None.
    """

    types: tuple[str, ...]
    problem: Callable[[Resource], str | None]

    def looks_at(self, type_: str) -> bool:
        """Whether resources of this type are checked."""
        return any(type_.startswith(each[:-1]) if each.endswith("*") else type_ == each for each in self.types)


@dataclass(frozen=True, slots=True)
class Whole:
    """A check that has to see all resources: `problems` yields a resource and what is wrong with it."""

    problems: Callable[[Sequence[Resource]], Iterable[tuple[Resource, str]]]


Check = Each | Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule.

    Attributes:
        id: kebab-case, never changed: waivers and comments name it.
        level: see `Level`.
        source: where it comes from: `CIS GKE 5.6.5`, an ID of Checkov (`CKV_GCP_64`) or Trivy (`GCP-0059`), or `ours`.
        sentence: what has to hold, and why where that is not plain.
        fix: what to write.
        check: finds where it does not hold.
        recorded_only: the engine does not show a policy pack what the rule looks at, so the pack leaves it out.
    """

    id: str
    level: Level
    source: tuple[str, ...]
    sentence: str
    fix: str
    check: Check
    recorded_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """Leave to break a rule for a while.

    Attributes:
        rule: a rule's id, or a Checkov id.
        stacks: pattern of stack names, with `*`.
        resources: pattern of logical names, with `*`.
        reason: why it may be broken.
        until: the last day on which it may.
    """

    rule: str
    stacks: str
    resources: str
    reason: str
    until: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One resource that breaks one rule.

    Attributes:
        detail: what is wrong with this resource.
        waiver: the waiver that allows it, if one does.
        file: `file:line` of the line that made the resource, where it is known.
    """

    rule: str
    level: Level
    source: tuple[str, ...]
    stack: str
    urn: str
    type: str
    name: str
    detail: str
    sentence: str
    fix: str
    waiver: Waiver | None = None
    file: str | None = None

    @property
    def stops(self) -> bool:
        """Whether it has to be mended, or waived, before the change is made."""
        return self.level == "mandatory" and self.waiver is None

    def to_json(self) -> dict[str, Any]:
        """The public form: stable keys, `waiver` null or `{"reason", "until"}`, `file` null where it is not known."""
        waiver: Mapping[str, str] | None = None
        if self.waiver is not None:
            waiver = {"reason": self.waiver.reason, "until": self.waiver.until.isoformat()}
        return {
            "rule": self.rule,
            "level": self.level,
            "source": list(self.source),
            "stack": self.stack,
            "urn": self.urn,
            "type": self.type,
            "name": self.name,
            "detail": self.detail,
            "sentence": self.sentence,
            "fix": self.fix,
            "waiver": waiver,
            "file": self.file,
        }
