"""The command line: `python -m offline COMMAND`.

Heavy modules are imported by the commands that need them, after the stack files have been checked.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from offline.diff.arguments import add_arguments
from offline.errors import OfflineError
from offline.project import Project, find_project, given_config
from offline.stackfile import StackFile, known_stacks, load_stack
from offline.text import shown_path

if TYPE_CHECKING:
    from offline.recording import Recording
    from pathways.settings.stack import Settings

_CHECKOUT = Path(__file__).absolute().parents[1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 is success, 1 a faulty stack file (2, a wrong command line, is raised by argparse).

    `diff --exit-code` returns 2 as well, when there is a difference.
    """
    options = _parser().parse_args(arguments)
    options.status = 0
    try:
        print(options.command(options), end="", flush=True)
    except OfflineError as error:
        print(*error.lines, sep="\n", file=sys.stderr)
        return 1
    except BrokenPipeError:  # `| head` has read enough; what is left goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(options.status)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m offline",
        description="Show what `pulumi up` would do, without a cloud, an account or the Pulumi CLI.",
        epilog="STACK is the name of a stack, such as vision-dev, or the path of any stack file.",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    show = _command(commands, "show", _show, "the plan of one or more stacks: totals, resources, outputs, warnings")
    show.add_argument("stack", nargs="*", metavar="STACK", help="a stack's name or the path of a stack file")
    show.add_argument("--all", action="store_true", help="every stack that has a file")
    show.add_argument("--json", action="store_true", help="as JSON; several stacks make an array")
    show.add_argument("--up", action="store_true", help="as in an up: what only the cloud knows is made up")

    manifest = _command(commands, "manifest", _manifest, "the Kubernetes objects of a stack as YAML for kubectl")
    manifest.add_argument("stack", metavar="STACK", help="a stack's name or the path of a stack file")

    add_arguments(_command(commands, "diff", _diff, "what a change does to a stack, and what that means for its users"))

    graph = _command(commands, "graph", _graph, "the resource graph of a stack, for a README or a review")
    graph.add_argument("stack", metavar="STACK", help="a stack's name or the path of a stack file")
    graph.add_argument("--format", choices=("mermaid", "svg"), default="mermaid", help="default: mermaid")

    schema = _command(commands, "schema", _schema, "the JSON Schema of a stack file")
    schema.add_argument("--reference", action="store_true", help="as Markdown, every key with its rule, instead")
    schema.add_argument("--write", action="store_true", help="write stacks/schema.json and docs/stack-file.md instead")

    adopt = _command(commands, "adopt", _adopt, "an exported state with what a killed run was creating taken in")
    adopt.add_argument("state", type=Path, metavar="FILE", help="what `pulumi stack export --file FILE` wrote")
    return parser


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: Callable[[argparse.Namespace], str],
    summary: str,
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=summary, description=f"Print {summary}.")
    command.add_argument("--project", type=Path, metavar="DIR", help="the project's directory (default: the current)")
    command.set_defaults(command=run, parser=command)
    return command


def _show(options: argparse.Namespace) -> str:
    if bool(options.stack) == options.all:
        options.parser.error("name at least one STACK, or write --all, but not both")
    recordings = _record(options, options.stack)
    if options.json:
        forms = [recording.to_json() for recording in recordings]
        return json.dumps(forms if options.all or len(forms) > 1 else forms[0], indent=2) + "\n"
    from offline.page import Look  # noqa: PLC0415
    from offline.show import plan  # noqa: PLC0415

    look = Look.of(sys.stdout)
    return "\n\n".join(plan(recording, look) for recording in recordings)


def _manifest(options: argparse.Namespace) -> str:
    project = find_project(options.project)
    ((stack, settings),) = _checked(project, [options.stack])
    from offline.manifest import manifest, planned, written  # noqa: PLC0415

    if settings:
        from pathways.plan import derive  # noqa: PLC0415

        objects = planned(derive(settings))
        if objects is not None:
            return written(objects)
    from offline.runner import record_stack  # noqa: PLC0415 - loads the SDK

    return manifest(record_stack(project, stack))


def _graph(options: argparse.Namespace) -> str:
    (recording,) = _record(options, [options.stack])
    from offline.graph import graph  # noqa: PLC0415

    if options.format == "mermaid":
        from offline.mermaid import mermaid  # noqa: PLC0415

        return mermaid(graph(recording))
    from offline.svg import svg  # noqa: PLC0415

    return svg(graph(recording))


def _diff(options: argparse.Namespace) -> str:
    from offline.diff.command import run  # noqa: PLC0415

    text, options.status = run(options)
    return text


def _schema(options: argparse.Namespace) -> str:
    if options.reference and options.write:
        options.parser.error("--reference prints and --write writes: choose one")
    if not options.reference and not options.write:
        from pathways.schema import schema_text  # noqa: PLC0415

        return schema_text()
    from offline.reference import reference, write  # noqa: PLC0415

    if options.write:
        return "".join(f"wrote {shown_path(path)}\n" for path in write(find_project(options.project).directory))
    return reference()


def _adopt(options: argparse.Namespace) -> str:
    from offline.adopt import adopt, read_state  # noqa: PLC0415

    return json.dumps(adopt(read_state(options.state)), indent=4) + "\n"


def _record(options: argparse.Namespace, names: Sequence[str]) -> list[Recording]:
    """Record stacks, all checked before the first one runs, so that all errors show at once."""
    project = find_project(options.project)
    stacks = _checked(project, names or known_stacks(project))
    from offline.runner import record_stack  # noqa: PLC0415 - loads the SDK

    return [record_stack(project, stack, "up" if getattr(options, "up", False) else "preview") for stack, _ in stacks]


def _checked(project: Project, names: Sequence[str]) -> list[tuple[StackFile, Settings | None]]:
    stacks: list[tuple[StackFile, Settings | None]] = []
    errors: list[str] = []
    for name in names:
        try:
            stack = load_stack(project, name)
            stacks.append((stack, _settings(project, stack)))
        except OfflineError as error:
            errors.extend(error.lines)
    if errors:
        raise OfflineError(*errors)
    return stacks


def _settings(project: Project, stack: StackFile) -> Settings | None:
    """The stack file's settings by the pure core alone, which answers long before the SDK is loaded.

    Only this checkout's program is known to have this core; any other is left to check for itself.
    """
    if project.directory != _CHECKOUT:
        return None
    from pathways.errors import StackFileError  # noqa: PLC0415
    from pathways.load import load  # noqa: PLC0415

    try:
        return load(given_config(project, stack.config), stack.label)
    except StackFileError as error:
        raise OfflineError(*error.lines) from None
