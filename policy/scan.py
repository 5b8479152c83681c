"""`python -m policy.scan STACK… | --all`: Checkov over what a stack would make, as a Terraform plan and as manifests.

Checkov has an environment of its own (`make scan` makes it) and needs no network: its rules come with it. Stacks are
recorded as in an `up`, so that everything has a value. What it finds is waived in `policy/waivers.yaml`, as all else;
the pattern `resources` there is matched against Checkov's own names (`google_storage_bucket.scratch-bucket`).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import offline
from offline.errors import OfflineError
from offline.project import find_project
from offline.recording import Recording
from offline.stackfile import known_stacks
from policy.model import Finding, Waiver
from policy.pods import documents
from policy.report import report
from policy.terraform import plan
from policy.waivers import FILE, expired, is_scanner_rule, load, this_day, unused, waiver_for

CHECKOV = Path(".venv-scan/bin/checkov")
_PLAN, _MANIFEST = ".plan.json", ".yaml"
_OPTIONS = ("--framework", "terraform_plan", "kubernetes", "--output", "json", "--quiet", "--compact", "--soft-fail")
# Without these it would ask a service for more rules, and offer to send results.
_ALONE = ("--skip-download", "--skip-results-upload")


def main(arguments: Sequence[str] | None = None, *, today: date | None = None) -> int:
    """Scan stacks; 1 if there is a finding without a waiver, or a waiver has expired, else 0."""
    parser = argparse.ArgumentParser(prog="python -m policy.scan", description="Run Checkov over stacks' plans.")
    parser.add_argument("stack", nargs="*", metavar="STACK", help="a stack's name or the path of a stack file")
    parser.add_argument("--all", action="store_true", help="every stack that has a file")
    parser.add_argument("--json", action="store_true", help="as JSON: findings, expired and unused waivers")
    parser.add_argument("--project", type=Path, metavar="DIR", help="the project's directory (default: the current)")
    parser.add_argument("--checkov", type=Path, metavar="FILE", help=f"default: {CHECKOV} of the project")
    parser.add_argument("--waivers", type=Path, metavar="FILE", default=FILE, help="default: policy/waivers.yaml")
    options = parser.parse_args(arguments)
    if bool(options.stack) == options.all:
        parser.error("name at least one STACK, or write --all, but not both")
    try:
        return _scan(options, today or this_day())
    except OfflineError as error:
        print(*error.lines, sep="\n", file=sys.stderr)
        return 1


def _scan(options: argparse.Namespace, today: date) -> int:
    project = find_project(options.project)
    waivers = [each for each in load(options.waivers) if is_scanner_rule(each.rule)]
    stacks = options.stack or known_stacks(project)
    recordings = [offline.record(stack, project=options.project, mode="up") for stack in stacks]
    checked = scan(recordings, options.checkov or project.directory / CHECKOV)
    found = {each.stack: findings(checked, each.stack, waivers, today) for each in recordings}
    every = [finding for group in found.values() for finding in group]
    late = expired(waivers, today)
    in_force = [each for each in waivers if each.until >= today]
    idle = unused(in_force, [each.waiver for each in every if each.waiver is not None]) if options.all else []
    if options.json:
        print(json.dumps({"findings": [each.to_json() for each in every], "expired": late, "unused": idle}, indent=2))
    else:
        print("\n".join(report(found, late, idle)))
    return int(bool(late) or any(each.stops for each in every))


def scan(recordings: Sequence[Recording], checkov: Path) -> list[dict[str, Any]]:
    """Checkov's failed checks over some recordings.

    Raises:
        OfflineError: Checkov cannot be run, or did not read all that it was given.
    """
    with tempfile.TemporaryDirectory(prefix="pathways-scan-") as folder:
        written = sum(_write(recording, Path(folder)) for recording in recordings)
        reports = _run(checkov, Path(folder))
    for each in reports.values():
        if each["summary"]["parsing_errors"]:
            raise OfflineError(f"{checkov}: could not read a file of the plan; a scan reads everything; report this")
    read = reports.get("terraform_plan", {"summary": {"resource_count": 0}})["summary"]["resource_count"]
    if read != written or "kubernetes" not in reports:
        raise OfflineError(f"{checkov}: read {read} of {written} resources; a scan reads everything; report this")
    return [check for each in reports.values() for check in each["results"]["failed_checks"]]


def findings(checked: Sequence[Mapping[str, Any]], stack: str, waivers: Sequence[Waiver], today: date) -> list[Finding]:
    """The failed checks of one stack."""
    found = [_finding(check, stack, waivers, today) for check in checked if _stack_of(check) == stack]
    return sorted(found, key=lambda each: (not each.stops, each.rule, each.name))


def _write(recording: Recording, folder: Path) -> int:
    """Write what Checkov reads; the number of resources in the plan."""
    document = plan(recording)
    (folder / f"{recording.stack}{_PLAN}").write_text(json.dumps(document), encoding="utf-8")
    (folder / f"{recording.stack}{_MANIFEST}").write_text(documents(recording), encoding="utf-8")
    return len(document["resource_changes"])


def _run(checkov: Path, folder: Path) -> dict[str, Any]:
    command = [str(checkov), "--directory", str(folder), *_OPTIONS, *_ALONE]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("BC_", "CKV_", "PRISMA_"))}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    except OSError as error:
        raise OfflineError(
            f"{checkov}: cannot be run ({error.strerror}); a scan needs Checkov; run make scan"
        ) from None
    try:
        document = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise OfflineError(f"{checkov}: ended with {done.returncode} ({last}); a scan needs its report") from None
    return dict(_reports(document))


def _reports(document: Any) -> Iterator[tuple[str, Any]]:
    for each in document if isinstance(document, list) else [document]:
        if "check_type" in each:  # where it found nothing to read at all, it prints bare counts
            yield each["check_type"], each


def _stack_of(check: Mapping[str, Any]) -> str:
    name = Path(check["file_path"]).name
    return name.removesuffix(_PLAN).removesuffix(_MANIFEST)


def _finding(check: Mapping[str, Any], stack: str, waivers: Sequence[Waiver], today: date) -> Finding:
    rule, resource = check["check_id"], check["resource"]
    keys = check["check_result"].get("evaluated_keys") or []
    return Finding(
        rule=rule,
        level="mandatory",
        source=("Checkov",),
        stack=stack,
        urn="",
        type=resource.partition(".")[0],
        name=resource,
        detail=", ".join(keys) or "fails",
        sentence=check["check_name"],
        fix="what the rule asks for, or a waiver with a reason in policy/waivers.yaml",
        waiver=waiver_for(waivers, rule, stack, resource, today),
    )


if __name__ == "__main__":
    sys.exit(main())
