"""The configuration of the bootstrap stack."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from pydantic.alias_generators import to_camel

PROJECT = "pathways-bootstrap"

ProjectId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{4,28}[a-z0-9]$")]
NumericId = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,18}$")]

# What to write, by the key that is wrong.
_FIXES = {
    "gcp:project": "the id of the project that holds state, key and identities, such as acme-platform",
    "region": "a region such as us-east5",
    "repository": 'a map such as {name: acme/pathways, id: "123456789", ownerId: "9876543"}',
    "repository.name": "OWNER/NAME as GitHub shows it, such as acme/pathways",
    "repository.id": "the number that gh api repos/OWNER/NAME --jq .id prints, in quotes",
    "repository.ownerId": "the number that gh api repos/OWNER/NAME --jq .owner.id prints, in quotes",
    "projects": "a list of project ids, each once, such as [acme-ml-dev, acme-ml-prod]",
    "branch": "the branch that is deployed, such as main",
}


class SettingsError(Exception):
    """A configuration that is refused; one line a fault."""


class _Model(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, extra="forbid", frozen=True, strict=True)


class Repository(_Model):
    """The GitHub repository whose workflows are let in."""

    name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$")]
    """For people; nothing is decided by it, because a name can change hands."""
    id: NumericId
    owner_id: NumericId


class Settings(_Model):
    """Everything the stack is made from."""

    project: Annotated[ProjectId, Field(alias="gcp:project")]
    region: Annotated[str, StringConstraints(pattern=r"^[a-z]+-[a-z]+[0-9]+$")]
    repository: Repository
    projects: Annotated[list[ProjectId], Field(min_length=1)]
    branch: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]*$")] = "main"


def load(config: Mapping[str, str], file: str) -> Settings:
    """The settings in `config`, which has full keys and, for maps and lists, JSON.

    Raises:
        SettingsError: something is wrong; every fault of `file` is a line.
    """
    values = {key.removeprefix(f"{PROJECT}:"): value for key, value in config.items() if not key.startswith("pulumi:")}
    try:
        settings = Settings.model_validate({key: _decoded(value) for key, value in values.items()})
    except ValidationError as error:
        raise SettingsError("\n".join(_line(file, fault["loc"], fault["msg"]) for fault in error.errors())) from None
    if len(set(settings.projects)) < len(settings.projects):
        raise SettingsError(_line(file, ("projects",), "a project stands there twice"))
    return settings


def _decoded(value: str) -> object:
    try:
        return json.loads(value) if value.startswith(("{", "[")) else value
    except ValueError:
        return value


def _line(file: str, place: tuple[int | str, ...], what: str) -> str:
    path = ".".join(part for part in place if isinstance(part, str))
    fix = _FIXES.get(path, "only keys that bootstrap/Pulumi.yaml and docs/bootstrap.md name")
    key = path if ":" in path else f"{PROJECT}:{path}"
    return f"{file}: {key}: {what[:1].lower()}{what[1:]}; write {fix}"
