"""One operation of the engine in a process of its own: `python -m tests.e2e.engine.child ORDER.json`.

The Automation API serves the language protocol for the unmodified `__main__.py` of the copy, so no language host is
needed. A process of its own for each run, since the program's modules stay loaded, and so that it can be killed.
"""

from __future__ import annotations

import json
import runpy
import sys
import time
from pathlib import Path
from typing import Any

from pulumi import automation as auto


def main(order_file: str) -> int:
    """Do what the order says; events go to its `events` file, one JSON object a line. Returns the exit code."""
    order: dict[str, Any] = json.loads(Path(order_file).read_text(encoding="utf-8"))
    folder = order["folder"]

    def program() -> None:
        sys.path.insert(0, folder)
        for name in [name for name in sys.modules if name.partition(".")[0] in ("components", "pathways")]:
            del sys.modules[name]
        runpy.run_path(folder, run_name="__main__")

    stack = auto.create_or_select_stack(
        order["stack"],
        project_name="pathways",
        program=program,
        opts=auto.LocalWorkspaceOptions(work_dir=folder),
    )
    with Path(order["events"]).open("a", encoding="utf-8", buffering=1) as events:

        def on_event(event: auto.EngineEvent) -> None:
            events.write(json.dumps({**_plain(event), "received": time.time()}) + "\n")

        try:
            getattr(stack, order["operation"])(on_event=on_event, on_output=print, color="never", **order["options"])
        except auto.CommandError as error:
            sys.stderr.write(str(error))
            return 1
    return 0


def _plain(value: Any) -> Any:
    """An event as JSON: the objects of the Automation API by their attributes, those that are None left out."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if hasattr(value, "value") and hasattr(value, "name"):
        return value.value
    if hasattr(value, "__dict__"):
        return {key: _plain(each) for key, each in vars(value).items() if each is not None}
    return value


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
