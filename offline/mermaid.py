"""A graph as a Mermaid flowchart, which GitHub draws inside Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from offline.graph import Box, Graph, Group

_CLASSES = """\
  classDef protected stroke:#b45309,stroke-width:3px
  classDef unknown stroke-dasharray:5 4
  classDef both stroke:#b45309,stroke-width:3px,stroke-dasharray:5 4
"""


def mermaid(graph: Graph) -> str:
    """The text of the flowchart: a thick border marks protection, a dashed one inputs known after an up."""
    lines = [f"%% {_one_line(graph.title)}: thick border = protected, dashed = has inputs known after an up"]
    lines.append("flowchart TD")
    for item in graph.root.items:
        lines.extend(_item(item, "  "))
    lines.extend(f"  {needed} --> {needs}" for needed, needs in graph.edges)
    return "\n".join(lines) + "\n" + _CLASSES + "".join(_classes(graph.root))


def _item(item: Box | Group, indent: str) -> Iterator[str]:
    if isinstance(item, Box):
        yield f'{indent}{item.id}["{_label(item)}"]'
        return
    yield f'{indent}subgraph {item.id}["{_escaped(item.title)}"]'
    for child in item.items:
        yield from _item(child, indent + "  ")
    yield f"{indent}end"


def _label(box: Box) -> str:
    count = f"{box.count} x " if box.count > 1 else ""
    lines = [f"{count}{box.noun}", box.name, box.detail, "protected" if box.protected else ""]
    return "<br/>".join(_escaped(line) for line in lines if line)


def _classes(root: Group) -> Iterator[str]:
    marks = {(True, False): "protected", (False, True): "unknown", (True, True): "both"}
    for (protected, unknown), name in marks.items():
        marked = [box.id for box in root.boxes() if (box.protected, box.unknown) == (protected, unknown)]
        if marked:
            yield f"  class {','.join(marked)} {name}\n"


def _escaped(text: str) -> str:
    """Mermaid's own entities (`#35;`), for what would end a label, be taken for markup, or is not ASCII."""
    return "".join(
        character if character.isascii() and character not in '"#<>&;`\\{}[]|' else f"#{ord(character)};"
        for character in _one_line(text)
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
