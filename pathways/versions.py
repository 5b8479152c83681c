"""GKE and Kubernetes version numbers: text in, ordered numbers out (1.30 is not 1.3)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Self

GKE_VERSION_PATTERN = r"^1\.[1-9]\d{0,3}(\.(0|[1-9]\d{0,3})(-gke\.[1-9]\d{0,8})?)?$"


@dataclass(frozen=True, order=True)
class GkeVersion:
    """A GKE version `1.MINOR.PATCH-gke.BUILD`; parts that are left out count as "the newest of these"."""

    minor: int
    patch: float
    build: float
    text: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `1.34`, `1.34.1` or `1.34.1-gke.2541000`; raises ValueError for anything else."""
        if not re.fullmatch(GKE_VERSION_PATTERN, text, re.ASCII):
            raise ValueError(f"{text!r} is not a GKE version such as 1.34.1-gke.2541000")
        minor, *rest = [int(part) for part in re.findall(r"\d+", text)[1:]]
        patch, build = (*rest, float("inf"), float("inf"))[:2]
        return cls(minor, patch, build, text)

    def __str__(self) -> str:
        """The version as it was written."""
        return self.text
