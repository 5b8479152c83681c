"""The plan of a stack for a person who reviews it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from offline.glossary import AFTER_UP, details, noun, physical_name, shown, unknown_inputs
from offline.page import WIDTH, Look, Page, Role, Span
from offline.recording import Recording
from offline.tree import Node, folded, tree

FOLD_ABOVE = 8
"""Siblings of one shape are shown one by one up to this many."""

_NOUN_WIDTH = 20
_COMMANDS = "connect"  # the output whose values are commands


def plan(recording: Recording, look: Look) -> str:
    """The whole page: totals, resources grouped by component, outputs, warnings; at most `WIDTH` columns wide."""
    page = Page(look)
    root = tree(recording)
    _title(page, recording)
    _totals(page, recording.outputs)
    page.blank()
    page.add(Span("Resources", "title"), Span("   in the order in which an up reaches them", "dim"))
    _children(page, root.children, "")
    if recording.outputs:
        page.blank()
        page.add(Span("Outputs", "title"))
        for key, value in recording.outputs.items():
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
    if isinstance(totals, Mapping):
        counts = [
            f"{shown(totals[key])} {word}"
            for key, word in (("slices", "TPU slices"), ("hosts", "hosts"), ("chips", "chips"))
            if key in totals
        ]
        if "headVcpu" in totals:
            counts.append(f"{shown(totals['headVcpu'])} vCPU in the head")
        page.add(Span("  " + "   ".join(counts), "name"))
    _slices(page, outputs.get("slices"))
    if isinstance(totals, Mapping):
        for key, word in (("nodeAddresses", "node addresses"), ("podAddresses", "pod addresses")):
            if isinstance(totals.get(key), Mapping):
                page.add(Span(f"  {word:<16}", "dim"), Span(_used(totals[key])))


def _used(addresses: Mapping[str, Any]) -> str:
    used, available = addresses.get("used"), addresses.get("available")
    if available is None:
        return f"{_number(used)} used; how many the existing network has is {AFTER_UP}"
    return f"{_number(used)} used of {_number(available)}"


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else shown(value)


def _slices(page: Page, slices: Any) -> None:
    """One line per run of equal slices."""
    if not isinstance(slices, list):
        return
    runs: list[tuple[str, list[str]]] = []
    for item in slices:
        if not isinstance(item, Mapping):
            continue
        facts = [f"{key} {shown(item[key])}" for key in ("tpu", "machineType", "topology") if key in item]
        facts += [f"{shown(item[key])} {key}" for key in ("hosts", "chips") if key in item]
        text = ", ".join(facts)
        if not runs or runs[-1][0] != text:
            runs.append((text, []))
        runs[-1][1].append(shown(item.get("pool", "")))
    for text, pools in runs:
        name = pools[0] if len(pools) == 1 else f"{pools[0]} … {pools[-1]}"
        each = " each" if len(pools) > 1 else ""
        page.add_wrapped([Span(f"  {'slices' if each else 'slice':<16}", "dim")], f"{name}: {text}{each}")


def _children(page: Page, children: Sequence[Node], prefix: str) -> None:
    groups = folded(children, FOLD_ABOVE)
    for number, group in enumerate(groups):
        last = number == len(groups) - 1
        _group(page, group, prefix + ("└─ " if last else "├─ "), prefix + ("   " if last else "│  "))


def _group(page: Page, group: tuple[Node, ...], branch: str, below: str) -> None:
    first = group[0]
    resource = first.resource
    name = physical_name(resource) if len(group) == 1 else _range(group)
    if resource.custom:
        head = [Span(branch, "dim"), Span(f"{noun(resource):<{_NOUN_WIDTH}} "), Span(name, "name")]
    else:
        head = [Span(branch, "dim"), Span(_words(noun(resource)), "title"), Span(f" {name}", "dim")]
    if not first.children and not resource.custom:
        head.append(Span("  (nothing of its own)", "dim"))
    page.add(*head)
    inner = below + ("│  " if first.children else "   ")
    facts = details(resource) if resource.custom else []
    if facts:
        indent = f"{inner}{'':<{_NOUN_WIDTH - 2}}"
        page.add_wrapped([Span(indent, "dim")], ", ".join(facts), "plain", hang=indent)
    for mark, role in _marks(first):
        indent = f"{inner}{'':<{_NOUN_WIDTH - 2}}"
        page.add_wrapped([Span(indent, "dim")], mark, role, hang=indent)
    _children(page, first.children, below)


def _marks(node: Node) -> Iterator[tuple[str, Role]]:
    resource = node.resource
    if not resource.custom:
        return
    if resource.options.protect:
        yield "protected: pulumi refuses to delete it", "warning"
    if resource.options.retain_on_delete:
        yield "kept in the cloud when it leaves the stack", "warning"
    unknown = unknown_inputs(resource)
    if unknown:
        yield f"{AFTER_UP}: {', '.join(unknown)}", "unknown"
    if resource.read_id is not None:
        yield "exists already; it is only read", "dim"


def _range(group: tuple[Node, ...]) -> str:
    names = [physical_name(node.resource) for node in group]
    return f"{names[0]} … {names[-1]}  ({len(names)} alike)"


def _words(type_name: str) -> str:
    """`TpuSlices` as `TPU slices`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", type_name).lower()
    return re.sub(r"\btpu\b", "TPU", words[:1].upper() + words[1:], flags=re.IGNORECASE)


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
