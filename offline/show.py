"""The plan of a stack for a person who reviews it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from offline.glossary import AFTER_UP, PURPOSES, details, noun, physical_name, shown, unknown_inputs, words
from offline.page import WIDTH, Look, Page, Role, Span
from offline.recording import Recording
from offline.tree import Node, folded, inner, tree

FOLD_ABOVE = 8
"""Siblings of one shape are shown one by one up to this many."""

_NOUN_WIDTH = 19
_LONGEST_NAME = 44
_COMMANDS = "connect"  # the output whose values are commands
_ON_TOP = ("totals", "slices")  # the outputs that the head of the page shows


def plan(recording: Recording, look: Look) -> str:
    """The whole page: totals, resources grouped by component, outputs, warnings; at most `WIDTH` columns wide."""
    page = Page(look)
    _title(page, recording)
    _totals(page, recording.outputs)
    page.blank()
    page.add(Span("Resources", "title"), Span("  in the order in which an up reaches them", "dim"))
    _children(page, inner(tree(recording)).children, "")
    outputs = {key: value for key, value in recording.outputs.items() if key not in _ON_TOP}
    if outputs:
        page.blank()
        page.add(Span("Outputs", "title"))
    for key, value in outputs.items():
        _output(page, key, value, "  ")
    _warnings(page, recording.warnings)
    return page.text()


def _title(page: Page, recording: Recording) -> None:
    managed = [resource for resource in recording.resources if resource.custom]
    protected = sum(resource.options.protect is True for resource in managed)
    when = "before" if recording.mode == "preview" else "after"
    summary = f"  {len(managed)} resources, {protected} protected · as {when} the first up"
    page.add(Span(recording.stack, "title"), Span(summary, "dim"))
    page.add(Span("─" * WIDTH, "dim"))


def _totals(page: Page, outputs: Mapping[str, Any]) -> None:
    totals = outputs.get("totals")
    if not isinstance(totals, Mapping):
        return
    counts = [
        _counted(totals[key], word)
        for key, word in (("slices", "TPU slice"), ("hosts", "host"), ("chips", "chip"), ("headVcpu", "head vCPU"))
        if key in totals
    ]
    page.add(Span("  " + "   ".join(counts), "name"))
    _slices(page, outputs.get("slices"))
    for key, word in (("nodeAddresses", "node addresses"), ("podAddresses", "pod addresses")):
        if isinstance(totals.get(key), Mapping):
            page.add(Span(f"  {word:<16}", "dim"), Span(_used(totals[key])))


def _counted(number: Any, word: str) -> str:
    return f"{_number(number)} {word}{'' if number == 1 or word.endswith('U') else 's'}"


def _used(addresses: Mapping[str, Any]) -> str:
    used, available = addresses.get("used"), addresses.get("available")
    if available is None:
        return f"{_number(used)} used of those that the existing network has"
    return f"{_number(used)} used of {_number(available)}"


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else shown(value)


def _slices(page: Page, slices: Any) -> None:
    """One line per run of equal slices."""
    runs: list[tuple[str, list[str]]] = []
    for item in slices if isinstance(slices, list) else ():
        facts = [shown(item[key]) for key in ("tpu", "machineType", "topology") if key in item]
        facts += [_counted(item[key], word) for key, word in (("hosts", "host"), ("chips", "chip")) if key in item]
        text = ", ".join(facts)
        if not runs or runs[-1][0] != text:
            runs.append((text, []))
        runs[-1][1].append(shown(item.get("pool", "")))
    for text, pools in runs:
        many = len(pools) > 1
        name = f"{pools[0]} … {pools[-1]}" if many else pools[0]
        head = [Span(f"  {'each slice' if many else 'the slice':<16}", "dim")]
        page.add_wrapped(head, f"{text}, in node pool{'s' if many else ''} {name}")


def _children(page: Page, children: Sequence[Node], prefix: str) -> None:
    groups = _grouped(children)
    names = [_name(group) for group in groups if group[0].resource.custom and not _is_list(group)]
    column = min(max(map(len, names), default=0), _LONGEST_NAME)
    for number, group in enumerate(groups):
        last = number == len(groups) - 1
        branch, below = (prefix + "└─ ", prefix + "   ") if last else (prefix + "├─ ", prefix + "│  ")
        if group[0].resource.custom:
            _resource(page, group, branch, below, column)
        else:
            _component(page, group, branch)
        if not _is_list(group):
            _children(page, group[0].children, below)


def _grouped(children: Sequence[Node]) -> list[tuple[Node, ...]]:
    """Siblings of one shape together where they are many, and those of which there is nothing to say but the name."""
    groups: list[tuple[Node, ...]] = []
    for group in folded(children, FOLD_ABOVE):
        joins = groups and len(group) == 1 and group[0].is_bare() and groups[-1][0].is_bare()
        if joins and noun(groups[-1][0].resource) == noun(group[0].resource):
            groups[-1] += group
        else:
            groups.append(group)
    return groups


def _is_list(group: tuple[Node, ...]) -> bool:
    return len(group) > 1 and all(node.is_bare() for node in group)


def _component(page: Page, group: tuple[Node, ...], branch: str) -> None:
    title = words(noun(group[0].resource))
    name = f" {_name(group)}" if len(group) > 1 else ""
    purpose = PURPOSES.get(group[0].resource.type)
    page.add(Span(branch, "dim"), Span(title, "title"), Span(f"{name}  {purpose}" if purpose else name, "dim"))


def _resource(page: Page, group: tuple[Node, ...], branch: str, below: str, column: int) -> None:
    """A line of noun, name and what matters; what does not fit beside the name goes below it."""
    resource = group[0].resource
    head = [Span(branch, "dim"), Span(f"{noun(resource):<{_NOUN_WIDTH}} ")]
    hang = f"{below + ('│' if group[0].children else ' '):<{len(branch) + _NOUN_WIDTH + 1}}"
    if _is_list(group):
        page.add_wrapped(head, ", ".join(physical_name(node.resource) for node in group), "name", hang=hang)
        return
    head.append(Span(f"{_name(group):<{column}}", "name"))
    facts: list[tuple[str, Role]] = [(phrase, "plain") for phrase in details(resource)]
    page.add_notes(head, [*facts, *_marks(group[0])], hang + "  ")


def _marks(node: Node) -> Iterator[tuple[str, Role]]:
    resource = node.resource
    if resource.options.protect:
        yield "protected", "warning"
    if resource.options.retain_on_delete:
        yield "stays when it leaves the stack", "warning"
    if resource.read_id is not None:
        yield "exists already and is only read", "dim"
    unknown = unknown_inputs(resource)
    if unknown:
        yield f"{AFTER_UP}: {', '.join(unknown)}", "unknown"


def _name(group: tuple[Node, ...]) -> str:
    names = [physical_name(node.resource) for node in group]
    return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}  ({len(names)} alike)"


def _output(page: Page, key: str, value: Any, indent: str, command: bool = False) -> None:
    command = command or key == _COMMANDS
    if isinstance(value, Mapping) and not any(mark in value for mark in ("$unknown", "$secret")):
        page.add(Span(f"{indent}{key}", "name"))
        for name, item in value.items():
            _output(page, str(name), item, indent + "  ", command)
    elif isinstance(value, list):
        page.add(Span(f"{indent}{key}", "name"))
        for item in value:
            flat = ", ".join(f"{k} {shown(v)}" for k, v in item.items()) if isinstance(item, Mapping) else shown(item)
            page.add_wrapped([Span(f"{indent}  • ", "dim")], flat)
    elif command and isinstance(value, str):
        page.add(Span(f"{indent}{key}", "name"))
        page.add_command(indent + "  ", value)
    else:
        text = shown(value)
        role: Role = "unknown" if text == AFTER_UP else "plain"
        head = f"{indent}{key:<{22 - len(indent)}} "
        if len(head) + len(text) > WIDTH and " " not in text:
            page.add(Span(head, "name"))
            head = indent + "  "
        page.add_wrapped([Span(head, "name")], text, role)


def _warnings(page: Page, warnings: Sequence[str]) -> None:
    if not warnings:
        return
    page.blank()
    page.add(Span("Warnings", "title"))
    for warning in warnings:
        page.add_wrapped([Span("  ! ", "warning")], " ".join(warning.split()), "warning")
