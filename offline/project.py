"""The project file, as far as it decides what a program sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType

from offline.errors import OfflineError
from offline.text import shown_path

PROJECT_FILE = "Pulumi.yaml"


class Missing(Enum):
    """A declared key has no value of its own: each stack file must give one."""

    REQUIRED = "required"


@dataclass(frozen=True)
class Project:
    """A Pulumi project.

    Attributes:
        name: the default namespace of configuration keys.
        directory: where `Pulumi.yaml` is.
        program: the directory whose `__main__.py` is the program.
        stacks: the directory of the stack files (`stackConfigDir`).
        declared: per full key the value that `Pulumi.yaml` gives it, or `Missing.REQUIRED`.
        secret_keys: the full keys declared `secret: true`.
    """

    name: str
    directory: Path
    program: Path
    stacks: Path
    declared: Mapping[str, object]
    secret_keys: frozenset[str]

    def full_key(self, key: str) -> str:
        """`key` with the project's name as namespace unless it has one."""
        return key if ":" in key else f"{self.name}:{key}"


def find_project(start: Path | None = None) -> Project:
    """The project of `start` (default: the current directory): the nearest `Pulumi.yaml` there or above.

    Raises:
        OfflineError: there is none, or it is not a project file.
    """
    begin = (start or Path.cwd()).absolute()
    for directory in (begin, *begin.parents):
        if (directory / PROJECT_FILE).is_file():
            return load_project(directory)
    raise OfflineError(
        f"{shown_path(begin / PROJECT_FILE)}: no such project file; the directory or one above it has {PROJECT_FILE}; "
        "change to the checkout, or write --project DIRECTORY"
    )


def load_project(directory: Path) -> Project:
    """Read `directory/Pulumi.yaml`.

    Types of declared keys are not checked: the models of the program are stricter than the engine's `type:`.

    Raises:
        OfflineError: it is missing or not a project file.
    """
    from offline.yamlfile import read_yaml  # noqa: PLC0415 - `schema` reads no YAML

    file = directory / PROJECT_FILE
    label = shown_path(file)
    document = read_yaml(file, label)
    if not isinstance(document, Mapping) or not isinstance(document.get("name"), str):
        raise OfflineError(f"{label}: name: missing; a project has a name; write name: pathways")
    declared, secrets = _declared(document, label)
    return Project(
        name=document["name"],
        directory=directory,
        program=directory / str(document.get("main") or "."),
        stacks=directory / str(document.get("stackConfigDir") or "."),
        declared=declared,
        secret_keys=secrets,
    )


def given_config(project: Project, config: Mapping[str, object]) -> dict[str, object]:
    """A stack file's `config` over the values of `Pulumi.yaml`, without the keys that have no value anywhere."""
    values = {key: value for key, value in project.declared.items() if value is not Missing.REQUIRED}
    return values | dict(config)


def effective_config(project: Project, config: Mapping[str, object], label: str) -> dict[str, object]:
    """What the engine hands to a program; `label` is how messages call the stack file.

    Raises:
        OfflineError: a declared key has no value anywhere.
    """
    given = given_config(project, config)
    missing = sorted(project.declared.keys() - given.keys())
    if missing:
        raise OfflineError(
            *(f"{label}: {key}: missing; {PROJECT_FILE} declares it; write {key}: and its value" for key in missing)
        )
    return given


def _declared(document: Mapping[str, object], label: str) -> tuple[Mapping[str, object], frozenset[str]]:
    entries = document.get("config") or {}
    if isinstance(entries, str):  # the old spelling of stackConfigDir
        raise OfflineError(f"{label}: config: text ({entries}); it declares keys; write stackConfigDir: {entries}")
    if not isinstance(entries, Mapping):
        raise OfflineError(f"{label}: config: not a map; it declares keys; write one line per key")
    declared: dict[str, object] = {}
    secrets: set[str] = set()
    for key, entry in entries.items():
        full_key = key if ":" in key else f"{document['name']}:{key}"
        if not isinstance(entry, Mapping):
            declared[full_key] = entry  # the short form: the value itself
            continue
        declared[full_key] = entry.get("value", entry.get("default", Missing.REQUIRED))
        if entry.get("secret") is True:
            secrets.add(full_key)
    return MappingProxyType(declared), frozenset(secrets)
