"""Lines for a person: coloured on a terminal, plain elsewhere, within a width, in Unicode or ASCII."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, TextIO

WIDTH = 100

Role = Literal["plain", "title", "dim", "name", "warning", "unknown"]

_ANSI: dict[Role, str] = {"title": "1", "dim": "2", "name": "36", "warning": "33", "unknown": "35"}
_ASCII = str.maketrans(
    {"─": "-", "│": "|", "├": "|", "└": "`", "×": "x", "·": "-", "–": "-", "…": "~", "≤": "<", "•": "*"}
)


@dataclass(frozen=True)
class Look:
    """What the output can show."""

    colour: bool = False
    unicode: bool = True

    @staticmethod
    def of(stream: TextIO) -> Look:
        """What `stream` can show: colour only on a terminal and without NO_COLOR (https://no-color.org)."""
        terminal = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        try:
            "├─×…".encode(stream.encoding or "ascii")
        except (UnicodeEncodeError, LookupError):
            return Look(terminal, unicode=False)
        return Look(terminal, unicode=True)


@dataclass(frozen=True)
class Span:
    """A piece of a line in one colour."""

    text: str
    role: Role = "plain"


@dataclass
class Page:
    """Collects lines, none wider than `WIDTH`."""

    look: Look
    lines: list[str] = field(default_factory=list)

    def add(self, *spans: Span) -> None:
        """Add one line; what does not fit is cut."""
        room, kept = WIDTH, []
        for span in spans:
            text = self.plain(span.text)
            kept.append(Span(text if len(text) <= room else text[: max(room - 1, 0)] + "~"[: bool(room)], span.role))
            room -= len(kept[-1].text)
        while kept and not kept[-1].text.rstrip():
            kept.pop()
        if kept:
            kept[-1] = Span(kept[-1].text.rstrip(), kept[-1].role)
        self.lines.append("".join(map(self._painted, kept)))

    def add_wrapped(self, head: Iterable[Span], text: str, role: Role = "plain", hang: str | None = None) -> None:
        """Add `head` and then `text`, wrapped at blanks below its own start (or behind the prefix `hang`)."""
        spans = tuple(head)
        start = sum(len(span.text) for span in spans)
        prefix = " " * start if hang is None else hang
        room = WIDTH - max(start, len(prefix))
        pieces = textwrap.wrap(self.plain(text), room, break_on_hyphens=False) or [""]
        self.add(*spans, Span(pieces[0], role))
        for piece in pieces[1:]:
            self.add(Span(prefix), Span(piece, role))

    def add_notes(self, head: Iterable[Span], notes: Iterable[tuple[str, Role]], hang: str) -> None:
        """Add `head` and the notes beside it as long as they fit; the others go below, behind the prefix `hang`."""
        line, gap = [*head], "  "
        for text, role in notes:
            if sum(len(span.text) for span in line) + len(gap) + len(text) <= WIDTH:
                line += [Span(gap), Span(text, role)]
                gap = ", "
                continue
            self.add(*line)
            *whole, last = textwrap.wrap(self.plain(text), WIDTH - len(hang), break_on_hyphens=False)
            for piece in whole:
                self.add(Span(hang, "dim"), Span(piece, role))
            line, gap = [Span(hang, "dim"), Span(last, role)], ", "
        self.add(*line)

    def add_command(self, indent: str, command: str) -> None:
        """Add a shell command that can be copied though it takes several lines."""
        words = textwrap.wrap(command, WIDTH - len(indent) - 4, break_long_words=False, break_on_hyphens=False)
        lines: list[str] = []
        for number, piece in enumerate(words):
            prefix = indent + "  " * bool(number)
            # A long word moves to the left; one that is longer than the page goes on in the first column of the next.
            line = " " * min(len(prefix), max(WIDTH - 2 - len(piece), 0)) + piece
            while len(line) > WIDTH - 2:
                lines.append(line[: WIDTH - 1])
                line = line[WIDTH - 1 :]
            lines.append(line + " ")
        self.lines += [self.plain(f"{line}\\") for line in lines[:-1]] + [self.plain(lines[-1].rstrip())]

    def blank(self) -> None:
        """Add an empty line."""
        self.lines.append("")

    def plain(self, text: str) -> str:
        """`text` in the characters that the output has."""
        return text if self.look.unicode else text.translate(_ASCII).encode("ascii", "replace").decode()

    def text(self) -> str:
        """The whole page."""
        return "\n".join(self.lines) + "\n"

    def _painted(self, span: Span) -> str:
        code = _ANSI.get(span.role)
        return f"\x1b[{code}m{span.text}\x1b[0m" if self.look.colour and code and span.text.strip() else span.text
