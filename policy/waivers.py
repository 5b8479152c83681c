"""The waivers: which rule may be broken where, why, and until when. All of them are in `policy/waivers.yaml`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from fnmatch import fnmatchcase
from pathlib import Path

from offline.errors import OfflineError
from offline.text import did_you_mean
from offline.yamlfile import read_yaml
from policy.model import Waiver
from policy.rules import RULES

FILE = Path(__file__).with_name("waivers.yaml")
LABEL = "policy/waivers.yaml"
_KEYS = {"rule", "reason", "until", "stacks", "resources"}
_SCANNER = ("CKV_", "CKV2_")


def this_day() -> date:
    """Today, in UTC."""
    return datetime.now(tz=UTC).date()


def load(path: Path = FILE) -> tuple[Waiver, ...]:
    """Read the waiver file: a list of `rule`, `reason`, `until`, and optionally `stacks` and `resources` (default `*`).

    Raises:
        OfflineError: the file, or an entry, is faulty.
    """
    document = read_yaml(path, LABEL)
    if not isinstance(document, list):
        raise OfflineError(f"{LABEL}: the file: not a list; waivers are a list; write `- rule: …` for each")
    problems = [line for index, entry in enumerate(document) for line in _problems(f"{LABEL}: [{index}]", entry)]
    if problems:
        raise OfflineError(*problems)
    return tuple(_waiver(entry) for entry in document)


def waiver_for(waivers: Iterable[Waiver], rule: str, stack: str, resource: str, today: date) -> Waiver | None:
    """The first waiver in force for a rule that a resource breaks."""
    return next((each for each in waivers if each.until >= today and covers(each, rule, stack, resource)), None)


def covers(waiver: Waiver, rule: str, stack: str, resource: str) -> bool:
    """Whether a waiver, in force or not, is about this rule and resource."""
    return waiver.rule == rule and fnmatchcase(stack, waiver.stacks) and fnmatchcase(resource, waiver.resources)


def expired(waivers: Sequence[Waiver], today: date) -> list[str]:
    """A line for each waiver that is past its day."""
    return [
        f"{LABEL}: {each.rule}: expired on {each.until}; a waiver ends; mend what it allowed, or date it anew"
        for each in waivers
        if each.until < today
    ]


def unused(waivers: Sequence[Waiver], used: Iterable[Waiver]) -> list[str]:
    """A line for each waiver that allowed nothing."""
    rest = set(waivers) - set(used)
    return [
        f"{LABEL}: {each.rule} ({each.stacks}, {each.resources}): allows nothing any more; delete it"
        for each in waivers
        if each in rest
    ]


def is_scanner_rule(rule: str) -> bool:
    """Whether a waiver's rule is Checkov's and not ours."""
    return rule.startswith(_SCANNER)


def _problems(where: str, entry: object) -> Iterable[str]:
    if not isinstance(entry, Mapping):
        yield f"{where}: not a map ({entry}); a waiver has a rule, a reason and a day; write `- rule: …`"
        return
    for key in ("rule", "reason", "until"):
        if not isinstance(entry.get(key), str) or not str(entry[key]).strip():
            yield f"{where}.{key}: missing; a waiver says what it allows, why, and until when; write `{key}: …`"
    for key in entry:
        if key not in _KEYS:
            yield f"{where}.{key}: unknown key; {did_you_mean(str(key), _KEYS)}known: {', '.join(sorted(_KEYS))}"
    yield from _wrong_values(where, entry)


def _wrong_values(where: str, entry: Mapping[str, object]) -> Iterable[str]:
    rule, until = entry.get("rule"), entry.get("until")
    known = {each.id for each in RULES}
    if isinstance(rule, str) and rule not in known and not is_scanner_rule(rule):
        near = did_you_mean(rule, known)
        yield f"{where}.rule: no such rule ({rule}); {near}write an id of `python -m policy --rules`, or Checkov's"
    if isinstance(until, str):
        try:
            date.fromisoformat(until)
        except ValueError:
            yield f"{where}.until: not a day ({until}); a waiver ends on a day; write for example 2027-06-30"


def _waiver(entry: Mapping[str, str]) -> Waiver:
    return Waiver(
        rule=entry["rule"],
        stacks=entry.get("stacks", "*"),
        resources=entry.get("resources", "*"),
        reason=" ".join(entry["reason"].split()),
        until=date.fromisoformat(entry["until"]),
    )
