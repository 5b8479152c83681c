"""Rules about every text of a recording: nothing unresolved, nothing left to fill in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.support.recording import Recording, leaves

_UNRESOLVED = re.compile(r"Output<|Calling __str__ on an Output|Calling \[str\] on an Output|object at 0x|<pulumi\.")
_NONE = re.compile(r"(?<![A-Za-z0-9_])None(?![A-Za-z0-9_])")
_PLACEHOLDER = re.compile(r"(?<![A-Za-z0-9])(?:TODO|FIXME|REPLACE|CHANGE_?ME|PLACEHOLDER)(?![A-Za-z])|<[A-Za-z][\w-]*>")

# Fields of Kubernetes whose own vocabulary has the word.
_SAYS_NONE = re.compile(r"\.(clusterIPs?(\[\d+\])?|sessionAffinity)$")


def texts_resolved(recording: Recording) -> list[str]:
    """No text of a resource or output is an Output's own text, `None`, or a placeholder."""
    found = [
        f"{resource.label}: {path}: {problem}: {text[:120]!r}"
        for resource in recording.resources
        for path, text, problem in _faulty(resource.inputs)
    ]
    return found + [f"outputs: {path}: {problem}: {text[:120]!r}" for path, text, problem in _faulty(recording.outputs)]


def _faulty(value: object) -> Iterator[tuple[str, str, str]]:
    for path, leaf in leaves(value):
        if not isinstance(leaf, str):
            continue
        if _UNRESOLVED.search(leaf):
            yield path, leaf, "an unresolved value's own text"
        elif _NONE.search(leaf) and not _SAYS_NONE.search(path):
            yield path, leaf, "says None"
        elif _PLACEHOLDER.search(leaf):
            yield path, leaf, "a placeholder"
