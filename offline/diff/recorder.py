"""Record one side of a comparison; as a program of its own, the base's.

    python -m offline.diff.recorder REQUEST ANSWER

REQUEST and ANSWER are JSON files: {"project", "stackFile", "stack", "label"} in; {"recording"} or {"errors"} out.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from offline.errors import OfflineError
from offline.project import Project, load_project
from offline.recording import Recording
from offline.stackfile import StackFile, load_stack


def deployed(project: Project, stack: StackFile) -> Recording:
    """`stack` as it is after an `up`; as in a preview where the made-up answers do not suit its program.

    Raises:
        OfflineError: the program refuses the stack file.
        Exception: whatever else the program raises in a preview.
    """
    from offline.runner import record_stack  # noqa: PLC0415 - loads the SDK

    try:
        return record_stack(project, stack, "up")
    except Exception:  # a look-up's answer that the program cannot use; if it is the program, the preview says so
        return record_stack(project, stack, "preview")


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    from offline.diff.wire import dump  # noqa: PLC0415

    try:
        project = load_project(Path(request["project"]))
        stack = load_stack(project, request["stackFile"])
        named = replace(stack, stack=request["stack"], label=request["label"])
        return {"recording": dump(deployed(project, named))}
    except OfflineError as error:
        return {"errors": list(error.lines)}
    except Exception as error:
        return {"errors": [f"its program fails: {type(error).__name__}: {error}"]}


if __name__ == "__main__":
    gc.disable()
    request_file, answer_file = map(Path, sys.argv[1:3])
    answer_file.write_text(json.dumps(_answer(json.loads(request_file.read_text()))))
    # As in `python -m offline`: unloading the SDK's modules would take a third of the whole time.
    os._exit(0)
