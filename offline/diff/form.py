"""The stable JSON form of a comparison.

    project, stack, base      what was compared; base as it was written
    impact                    the worst impact of all changes (`none` without a change)
    stopped                   whether an obstacle, or a finding that stops, is in the way
    summary                   resources by operation: create, update, replace, delete, same (components not counted)
    totals                    slices, hosts, chips, nodeAddresses, podAddresses: {"old", "new"}, null where it has none
    changes                   worst impact first:
        urn, type, name, label, custom, operation (create | update | replace | delete), impact, sentence
        oldUrn                where an alias or a new parent changed it
        because               why it is replaced, beside its own inputs
        paths                 {"path", "kind" (add | delete | update), "old", "new", "replaces"}
        deleteBeforeReplace   of a replacement
        goesWith              URN of what takes it along, so that no delete is called
        kept                  it leaves the stack and stays in the cloud
        source                file:line
    obstacles                 {"urn", "rule", "sentence"}
    policy                    rules of policy/ that the head breaks, what stops it first:
        rule, level           a level is mandatory or advisory
        urn, name             the resource
        detail                what is wrong with it
        sentence, fix         the rule, and what to write
        waived                until when and why it may be broken, or null
        stops                 mandatory and not waived
        new                   whether the base does not break it
    notes                     sentences
    steps                     {"operation", "urn"} in the order of an `up`

Values are those of `show --json`: {"$unknown": true} is known after the up, {"$secret": true} is a secret.
"""

from __future__ import annotations

from typing import Any

from offline.diff.model import Change, Diff, Finding, Operation, PathChange
from offline.diff.paths import written


def form(diff: Diff) -> dict[str, Any]:
    """The comparison as plain data."""
    return {
        "project": diff.project,
        "stack": diff.stack,
        "base": diff.base,
        "impact": diff.impact.word,
        "stopped": diff.stopped,
        "summary": {
            **{each.value: diff.count(each) for each in Operation if each is not Operation.SAME},
            "same": diff.same,
        },
        "totals": {key: {"old": amount.old, "new": amount.new} for key, amount in diff.totals.items()},
        "changes": [_change(change) for change in diff.changes],
        "obstacles": [{"urn": each.urn, "rule": each.rule, "sentence": each.sentence} for each in diff.obstacles],
        "policy": [_finding(finding) for finding in diff.findings],
        "notes": list(diff.notes),
        "steps": [{"operation": step.operation, "urn": step.urn} for step in diff.steps],
    }


def _change(change: Change) -> dict[str, Any]:
    optional = {
        "oldUrn": change.old_urn,
        "because": list(change.because),
        "deleteBeforeReplace": change.delete_before_replace,
        "goesWith": change.goes_with,
        "kept": change.kept,
        "source": change.source,
    }
    return {
        "urn": change.urn,
        "type": change.type,
        "name": change.name,
        "label": change.label,
        "custom": change.custom,
        "operation": change.operation.value,
        "impact": change.impact.word,
        "sentence": change.sentence,
        "paths": [_path(path) for path in change.paths],
        **{key: value for key, value in optional.items() if value},
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "level": finding.level,
        "urn": finding.urn,
        "name": finding.name,
        "detail": finding.detail,
        "sentence": finding.sentence,
        "fix": finding.fix,
        "waived": finding.waived,
        "stops": finding.stops,
        "new": finding.new,
    }


def _path(path: PathChange) -> dict[str, Any]:
    return {
        "path": written(path.path),
        "kind": path.kind.value,
        "old": path.old,
        "new": path.new,
        "replaces": path.replaces,
    }
