"""Container images: the grammar of a reference, what is mutable, and the Pathways release in a tag."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

_LABEL = r"[a-z0-9]+(?:-+[a-z0-9]+)*"
_PORT = r"[1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5]"
_HOST = rf"{_LABEL}(?:\.{_LABEL})*(?::(?:{_PORT}))?"
_PATH = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_TAG = r"\w[\w.-]{0,127}"
_DIGEST = r"sha256:[0-9a-f]{64}"
REFERENCE_PATTERN = rf"(?:{_HOST}/)?{_PATH}(?:/{_PATH})*(?::{_TAG})?(?:@{_DIGEST})?"
REPOSITORY_PATTERN = rf"(?:{_HOST}/)?{_PATH}(?:/{_PATH})*"
MUTABLE_TAGS = frozenset({"latest", "main", "master", "head", "dev", "nightly", "stable", "edge"})
"""Tags that name a moving target by convention: what ran yesterday cannot be had again today."""
RELEASE_TAG = r"(?:(\d{8})-)?(?:python_(\d+\.\d+)-)?jax[-_](\d+\.\d+\.\d+)"
"""A Pathways release in a tag: optional date, optional Python (sidecar only), JAX version."""


ARTIFACT_REGISTRY = "-docker.pkg.dev"
"""End of a host of Artifact Registry, after the location."""


@dataclass(frozen=True)
class RegistryRepository:
    """A repository of Artifact Registry; a project of a domain is `acme.com:ml`, which a path writes `acme.com/ml`."""

    project: str
    location: str
    name: str
    below: str
    """What the path goes on with: an image's name, or nothing."""

    @classmethod
    def of(cls, path: str) -> Self | None:
        """The repository that a path (with its host) begins with; None if its host is not Artifact Registry.

        Raises:
            ValueError: It names no project or no repository.
        """
        host, *parts = path.split("/")
        if not host.endswith(ARTIFACT_REGISTRY):
            return None
        if len(parts) > 1 and "." in parts[0]:
            parts = [":".join(parts[:2]), *parts[2:]]
        if len(parts) < 2:
            raise ValueError(f"{path} has no project or no repository")
        return cls(parts[0], host.removesuffix(ARTIFACT_REGISTRY), parts[1], "/".join(parts[2:]))


@dataclass(frozen=True)
class Image:
    """An image reference in its parts; a `:` before the last `/` is a registry port, not a tag."""

    repository: str
    tag: str | None
    digest: str | None

    @classmethod
    def parse(cls, reference: str) -> Self:
        """Split a reference; raises ValueError if it does not follow the grammar."""
        if not re.fullmatch(REFERENCE_PATTERN, reference, re.ASCII):
            raise ValueError(f"{reference!r} is not an image reference")
        rest, _, digest = reference.partition("@")
        head, slash, last = rest.rpartition("/")
        name, _, tag = last.partition(":")
        return cls(f"{head}{slash}{name}", tag or None, digest or None)

    @property
    def pinned(self) -> bool:
        """Whether the reference keeps naming the same bytes by convention: a digest, or a tag that does not move."""
        return self.digest is not None or (self.tag is not None and self.tag.lower() not in MUTABLE_TAGS)

    @property
    def release(self) -> Release | None:
        """The Pathways release that the tag names, or None for a digest alone or another kind of tag."""
        match = re.fullmatch(RELEASE_TAG, self.tag or "", re.ASCII)
        return Release(date=match[1], python=match[2], jax=match[3]) if match else None


@dataclass(frozen=True)
class Release:
    """A Pathways release: server and proxy have to come from one, and its JAX has to be the client's."""

    date: str | None
    python: str | None
    jax: str

    def __str__(self) -> str:
        """The release as its tag says it."""
        parts = (self.date, f"python_{self.python}" if self.python else None, f"jax-{self.jax}")
        return "-".join(part for part in parts if part)
