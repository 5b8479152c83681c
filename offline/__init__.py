"""Run the program without a cloud, an account or the Pulumi CLI, and show what it would do.

`record` is the way in for other rooms; `python -m offline` is the way in for people. Importing this package is cheap:
the SDK is loaded when a program is recorded.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from offline.recording import Mode, Recording

__all__ = ["record"]


def record(stack: str, *, project: Path | None = None, mode: Mode = "preview") -> Recording:
    """Run the unmodified program for `stack` and return all that it registers.

    Args:
        stack: a stack's name, or the path of any stack file.
        project: a directory in the project (default: the current one); the nearest `Pulumi.yaml` there or above counts.
        mode: `preview` leaves unknown what only the cloud knows; `up` answers it from the tables of `offline.answers`.

    Raises:
        offline.errors.OfflineError: the stack file is faulty or the program refuses it; its `lines` say what to write.
    """
    from offline.project import find_project  # noqa: PLC0415 - see the module's docstring
    from offline.runner import record_stack  # noqa: PLC0415
    from offline.stackfile import load_stack  # noqa: PLC0415

    found = find_project(project)
    return record_stack(found, load_stack(found, stack), mode)
