"""What a person did wrong, as the lines to print."""

from __future__ import annotations


class OfflineError(Exception):
    """A mistake in a stack file, a project file or the program, fit to be shown without a traceback.

    Each of `lines` is one error in the form `FILE: key.path: what is wrong (value); the rule; what to write`.
    """

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines
