"""Find a stack file and read it as strictly as the engine does, and a little more so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from offline.errors import OfflineError
from offline.project import Project
from offline.text import did_you_mean, shortened, shown_path

TOP_LEVEL_KEYS = ("config", "environment", "secretsprovider", "encryptedkey", "encryptionsalt")
SECRET_PLACEHOLDER = "[secret]"


@dataclass(frozen=True)
class StackFile:
    """One stack and its configuration.

    Attributes:
        stack: the stack's name.
        label: how messages name the file.
        config: parsed values by their full key, `pathways:team`.
        secret_keys: the keys whose value holds a secret; there `config` has a placeholder.
    """

    stack: str
    label: str
    config: Mapping[str, object]
    secret_keys: frozenset[str] = field(default_factory=frozenset)


def known_stacks(project: Project) -> tuple[str, ...]:
    """The names of all stacks that have a file in the project's `stackConfigDir`, sorted."""
    pattern = re.compile(r"Pulumi\.(.+)\.yaml")
    names = (pattern.fullmatch(path.name) for path in project.stacks.glob("Pulumi.*.yaml"))
    return tuple(sorted(match[1] for match in names if match))


def load_stack(project: Project, stack: str) -> StackFile:
    """Read the file of `stack`, which is a stack's name or a path to any stack file.

    Raises:
        OfflineError: there is no such file, or it is not a stack file.
    """
    from offline.yamlfile import read_yaml  # noqa: PLC0415 - `schema` reads no YAML

    path, label = locate(project, stack)
    return parse(project, read_yaml(path, label), label=label, stack=_stack_name(path))


def locate(project: Project, stack: str) -> tuple[Path, str]:
    """The path of a stack's file and the name that messages give it.

    Raises:
        OfflineError: neither a stack nor a file is called `stack`.
    """
    # The engine writes "-" for the "/" of a stack's name; `org/project/dev` is `dev`.
    short = stack.rsplit("/", 1)[-1]
    by_name = project.stacks / f"Pulumi.{short}.yaml"
    looks_like_path = "/" in stack or stack.endswith((".yaml", ".yml"))
    if not looks_like_path and by_name.is_file():
        return by_name, shown_path(by_name)
    if looks_like_path or Path(stack).is_file():
        return Path(stack), stack
    known = known_stacks(project)
    listed = f"write one of {', '.join(known)}" if known else "no stack has a file yet"
    raise OfflineError(
        f"{shown_path(by_name)}: no such stack file ({stack}); STACK is the name of a stack or the path of a stack "
        f"file; {did_you_mean(stack, known)}{listed}"
    )


def parse(project: Project, document: object, *, label: str, stack: str) -> StackFile:
    """Turn the parsed YAML of a stack file into a `StackFile`.

    Raises:
        OfflineError: the document or its `config` is not a map, or it has a key that no stack file has, or one twice.
    """
    top = _map_or_none(document, label, "the file", "config:, and below it one line per key")
    errors = [
        f"{label}: {key}: unknown key ({key}); a stack file has {', '.join(TOP_LEVEL_KEYS)} at its top; "
        f"{did_you_mean(str(key), TOP_LEVEL_KEYS)}settings go below config:"
        for key in top
        if key not in TOP_LEVEL_KEYS
    ]
    entries = _map_or_none(top.get("config"), label, "config", "one line per key, such as pathways:team: vision")
    config: dict[str, object] = {}
    secret_keys: set[str] = set()
    spelled: dict[str, str] = {}
    for key, value in entries.items():
        full_key = project.full_key(str(key))
        if spelled.setdefault(full_key, str(key)) != str(key):
            errors.append(
                f"{label}: config.{full_key}: written twice ({spelled[full_key]} and {key}); "
                "a key without a namespace is the project's own; keep one of the two"
            )
        config[full_key], is_secret = _without_secrets(value)
        if is_secret:
            secret_keys.add(full_key)
    if errors:
        raise OfflineError(*errors)
    return StackFile(stack, label, MappingProxyType(config), frozenset(secret_keys))


def _map_or_none(value: object, label: str, key: str, write: str) -> Mapping[object, object]:
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return value
    raise OfflineError(f"{label}: {key}: not a map ({shortened(value)}); it maps keys to values; write {write}")


def _without_secrets(value: object) -> tuple[object, bool]:
    """`value` with a placeholder for each `{secure: …}`, and whether there was one."""
    if isinstance(value, Mapping):
        if set(value) == {"secure"} and isinstance(value["secure"], str):
            return SECRET_PLACEHOLDER, True
        parts = {key: _without_secrets(item) for key, item in value.items()}
        return {key: item for key, (item, _) in parts.items()}, any(secret for _, secret in parts.values())
    if isinstance(value, list):
        items = [_without_secrets(item) for item in value]
        return [item for item, _ in items], any(secret for _, secret in items)
    return value, False


def _stack_name(path: Path) -> str:
    """`vision-dev` for `Pulumi.vision-dev.yaml`; any other file gives its name, in a stack name's alphabet."""
    stem = path.stem.removeprefix("Pulumi.")
    return re.sub(r"[^A-Za-z0-9_.-]", "-", stem)[:100] or "stack"
