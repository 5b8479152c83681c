"""Rules over what a stack registers: plain functions, the same for the command, the diff and Pulumi's policy packs.

`findings` is the way in for other rooms, `python -m policy` for people, this folder itself for
`pulumi preview --policy-pack policy`.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from policy.model import Finding, Level, Rule, Waiver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from offline.recording import Recording

__all__ = ["Finding", "Level", "Rule", "Waiver", "findings"]


def findings(
    recording: Recording, *, waivers: Sequence[Waiver] | None = None, today: date | None = None
) -> list[Finding]:
    """What of a recording breaks a rule: what stops first, then advice, then what is waived.

    Args:
        recording: of `offline.record`; unknown values count as right.
        waivers: default: those of `policy/waivers.yaml`.
        today: the day on which waivers have to hold (default: this day, UTC).

    Raises:
        offline.errors.OfflineError: the waiver file is faulty.
    """
    from policy.evaluate import evaluate  # noqa: PLC0415 - whoever only names a type needs no rules
    from policy.waivers import load, this_day  # noqa: PLC0415

    return evaluate(recording, load() if waivers is None else waivers, today or this_day())
