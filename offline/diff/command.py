"""`python -m offline diff STACK --base REF`."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

from offline.diff.arguments import DIFFERENT
from offline.diff.base import Target, base_of
from offline.errors import OfflineError
from offline.project import Project, find_project
from offline.recording import Recording
from offline.stackfile import StackFile, load_stack, locate


def run(options: argparse.Namespace) -> tuple[str, int]:
    """The output and the exit status.

    Raises:
        OfflineError: either side is faulty, or both lack the stack.
    """
    target, missing = _target(find_project(options.project), options.stack)
    with base_of(options.base, target) as pending:
        from offline.diff.engine import compare  # noqa: PLC0415 - while the base is being recorded
        from offline.diff.findings import findings  # noqa: PLC0415
        from offline.diff.recorder import deployed  # noqa: PLC0415

        stack = None if missing else load_stack(target.project, options.stack)
        head = deployed(target.project, stack) if stack else None
        base = pending.result()
    if base is None and missing is not None:
        raise missing
    nothing = Recording(target.project.name, target.stack, "up", (), {})
    preview = partial(_preview, target.project, stack) if stack else None
    before, after = base or nothing, head or nothing
    diff = compare(before, after, preview=preview, base_name=options.base)
    diff = replace(diff, findings=findings(after, before))
    status = DIFFERENT if options.exit_code and diff.different else 0
    if options.details is not None:
        from offline.diff.markdown import whole  # noqa: PLC0415

        _write(options.details, whole(diff))
    if options.json:
        from offline.diff.form import form  # noqa: PLC0415

        return json.dumps(form(diff), indent=2, ensure_ascii=False) + "\n", status
    if options.markdown:
        from offline.diff.markdown import comment  # noqa: PLC0415

        return comment(diff), status
    from offline.diff.page import page  # noqa: PLC0415
    from offline.page import Look  # noqa: PLC0415

    return page(diff, Look.of(sys.stdout)), status


def _target(project: Project, stack: str) -> tuple[Target, OfflineError | None]:
    """What is compared, and why the head has no such stack, if it has none."""
    try:
        file, _ = locate(project, stack)
    except OfflineError as error:
        return Target(project, stack, project.stacks / f"Pulumi.{stack}.yaml"), error
    if file.is_file():
        return Target(project, load_stack(project, str(file)).stack, file.absolute()), None
    name = file.stem.removeprefix("Pulumi.")
    gone = OfflineError(f"{stack}: no such stack file, neither here nor in the base; write the path of one")
    return Target(project, name, file.absolute()), gone


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise OfflineError(
            f"--details {file}: cannot be written ({error.strerror}); its directory has to be there; write another path"
        ) from None


def _preview(project: Project, stack: StackFile) -> Recording:
    from offline.runner import record_stack  # noqa: PLC0415 - loads the SDK

    return record_stack(project, stack, "preview")
