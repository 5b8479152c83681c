"""A graph as an SVG of its own, readable at 1,000 pixels: components in the order of an up, from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from offline.graph import Box, Graph, Group

WIDTH = 1000
_MARGIN, _GAP, _ROW_GAP, _PAD, _TITLE = 20, 20, 40, 14, 26
_BOX_WIDTH, _BOX_HEIGHT, _BOX_GAP = 196, 62, 14
_FAR = 2 * _BOX_HEIGHT + _ROW_GAP  # an edge of this height passes a row of boxes
_CHARACTERS = 28  # that fit a box at the font size of its second line

_STYLE = """\
text{font-family:system-ui,sans-serif;font-size:12px;fill:#1f2937}
.t{font-weight:600;font-size:13px}.n{font-weight:600}.d{fill:#6b7280;font-size:11px}
.g{fill:#f8fafc;stroke:#cbd5e1}.b{fill:#fff;stroke:#64748b}
.p{stroke:#b45309;stroke-width:2.5}.u{stroke-dasharray:5 3}
.e{fill:none;stroke:#94a3b8;stroke-width:1.1;marker-end:url(#a)}"""

_ARROW = """\
<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">\
<path d="M0 0 8 4 0 8z" fill="#94a3b8"/></marker></defs>"""


@dataclass(frozen=True)
class _Frame:
    """A top-level group with the place it was given."""

    title: str
    boxes: tuple[Box, ...]
    columns: int
    x: int = 0
    y: int = 0

    @property
    def width(self) -> int:
        return 2 * _PAD + self.columns * _BOX_WIDTH + (self.columns - 1) * _BOX_GAP

    @property
    def height(self) -> int:
        rows = -(-len(self.boxes) // self.columns)
        return _TITLE + _PAD + rows * _BOX_HEIGHT + (rows - 1) * _BOX_GAP

    def places(self) -> Iterator[tuple[Box, int, int]]:
        """Each box with its upper left corner."""
        for index, box in enumerate(self.boxes):
            row, column = divmod(index, self.columns)
            left = self.x + _PAD + column * (_BOX_WIDTH + _BOX_GAP)
            yield box, left, self.y + _TITLE + row * (_BOX_HEIGHT + _BOX_GAP)


def svg(graph: Graph) -> str:
    """The text of the picture, in ASCII."""
    frames = _placed(_frames(graph.root))
    height = max((frame.y + frame.height for frame in frames), default=0) + _MARGIN + 30
    places = {box.id: (left, top) for frame in frames for box, left, top in frame.places()}
    area = f'width="{WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" {area} role="img">',
        f"<title>{escape(graph.title)}</title><style>{_STYLE}</style>",
        _ARROW,
        f'<rect {area} fill="#fff"/>',
        _text(_MARGIN, 26, graph.title, "t"),
    ]
    parts += [_area(frame) for frame in frames]
    parts += [_edge(places[needed], places[needs]) for needed, needs in graph.edges]
    parts += [_title(frame) for frame in frames]
    parts += [_box(box, left, top) for frame in frames for box, left, top in frame.places()]
    parts.append(_text(_MARGIN, height - 14, "thick border: protected · dashed border: has inputs known after up", "d"))
    return ("\n".join([*parts, "</svg>"]) + "\n").encode("ascii", "xmlcharrefreplace").decode()


def _frames(root: Group) -> list[_Frame]:
    """The top-level groups in the order of an up, lone resources of the stack together in one."""
    lone = tuple(item for item in root.items if isinstance(item, Box))
    frames = [_frame_of(group.title, tuple(group.boxes())) for group in root.items if isinstance(group, Group)]
    if lone:
        frames.append(_frame_of("stack", lone))
    kept = [frame for frame in frames if frame.boxes]
    return sorted(kept, key=lambda frame: min(box.level for box in frame.boxes))


def _frame_of(title: str, boxes: tuple[Box, ...]) -> _Frame:
    ordered = tuple(sorted(boxes, key=lambda box: box.level))
    return _Frame(title, ordered, {0: 1, 1: 1, 2: 2, 3: 2, 4: 2}.get(len(boxes), 4))


def _placed(frames: list[_Frame]) -> list[_Frame]:
    """Frames side by side as long as they fit the width, and below each other."""
    placed: list[_Frame] = []
    x, y, row_height = _MARGIN, 44, 0
    for frame in frames:
        if x > _MARGIN and x + frame.width > WIDTH - _MARGIN:
            x, y, row_height = _MARGIN, y + row_height + _ROW_GAP, 0
        placed.append(_Frame(frame.title, frame.boxes, frame.columns, x, y))
        x += frame.width + _GAP
        row_height = max(row_height, frame.height)
    return placed


def _area(frame: _Frame) -> str:
    return f'<rect class="g" x="{frame.x}" y="{frame.y}" width="{frame.width}" height="{frame.height}" rx="8"/>'


def _title(frame: _Frame) -> str:
    return _text(frame.x + _PAD, frame.y + 17, _cut(frame.title, frame.columns * _CHARACTERS), "t")


def _box(box: Box, left: int, top: int) -> str:
    marks = "b" + (" p" if box.protected else "") + (" u" if box.unknown else "")
    count = f"{box.count} × " if box.count > 1 else ""
    rectangle = f'<rect class="{marks}" x="{left}" y="{top}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="5"/>'
    return "".join(
        (
            f"<g><title>{escape(f'{count}{box.noun} {box.name} {box.detail}'.strip())}</title>",
            rectangle,
            _text(left + 10, top + 18, _cut(f"{count}{box.noun}", _CHARACTERS), "n"),
            _text(left + 10, top + 35, _cut(box.name, _CHARACTERS), ""),
            _text(left + 10, top + 52, _cut(box.detail, _CHARACTERS + 3), "d") if box.detail else "",
            "</g>",
        )
    )


def _edge(start: tuple[int, int], end: tuple[int, int]) -> str:
    """A curve from the lower edge of one box to the upper edge of another, or side to side in one row."""
    if start[1] == end[1]:
        right = end[0] > start[0]
        x1, x2 = (start[0] + _BOX_WIDTH, end[0]) if right else (start[0], end[0] + _BOX_WIDTH)
        y = start[1] + _BOX_HEIGHT // 2
        bend = 30 if abs(x2 - x1) > _BOX_GAP else 0
        return f'<path class="e" d="M{x1} {y}C{x1} {y - bend} {x2} {y - bend} {x2} {y}"/>'
    x1, y1 = start[0] + _BOX_WIDTH // 2, start[1] + _BOX_HEIGHT
    x2, y2 = end[0] + _BOX_WIDTH // 2, end[1]
    if y2 - y1 > _FAR:
        # Past the boxes in between, or it would seem to come from one of them.
        side = end[0] - _BOX_GAP // 2
        down, up = y1 + _BOX_HEIGHT // 2, y2 - _BOX_HEIGHT // 2
        first, last = f"C{x1} {down} {side} {y1} {side} {down}", f"C{side} {y2} {x2} {up} {x2} {y2}"
        return f'<path class="e" d="M{x1} {y1}{first}L{side} {up}{last}"/>'
    middle = (y1 + y2) // 2
    return f'<path class="e" d="M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}"/>'


def _text(x: int, y: int, text: str, style: str) -> str:
    kind = f' class="{style}"' if style else ""
    return f'<text{kind} x="{x}" y="{y}">{escape(text)}</text>'


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"
