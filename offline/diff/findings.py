"""What of the head breaks a rule of `policy/`, and whether the base does too."""

from __future__ import annotations

from functools import partial

import policy
from offline.diff.model import Finding
from offline.recording import Recording
from policy.waivers import load, this_day


def findings(head: Recording, base: Recording) -> tuple[Finding, ...]:
    """The head's findings, what stops first; the base is held against the same rules and waivers of today.

    Raises:
        OfflineError: the waiver file is faulty.
    """
    judged = partial(policy.findings, waivers=load(), today=this_day())
    before = {_identity(found) for found in judged(base)}
    return tuple(_finding(found, new=_identity(found) not in before) for found in judged(head))


def _identity(found: policy.Finding) -> tuple[str, str]:
    return found.rule, found.urn


def _finding(found: policy.Finding, *, new: bool) -> Finding:
    waiver = found.waiver
    return Finding(
        urn=found.urn,
        name=found.name,
        rule=found.rule,
        level=found.level,
        detail=found.detail,
        sentence=found.sentence,
        fix=found.fix,
        waived=f"until {waiver.until}: {waiver.reason}" if waiver else None,
        new=new,
    )
