"""What a program registered: plain, frozen, comparable data. No SDK is needed to read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal

Mode = Literal["preview", "up"]
"""`preview`: what only the cloud knows is unknown. `up`: it is answered by the tables of `offline.answers`."""

UNKNOWN: Mapping[str, bool] = {"$unknown": True}
"""In inputs and outputs: a value that only the cloud knows."""

SECRET: Mapping[str, bool] = {"$secret": True}
"""In inputs and outputs: a secret; its value is never kept."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long an operation may take, as text with units ("60m"); None leaves the provider's default."""

    create: str | None = None
    update: str | None = None
    delete: str | None = None
    read: str | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """A resource's options as they are in effect: given, inherited and transformed. None and () mean not set.

    Attributes:
        depends_on: URNs of all resources it waits for, by `dependsOn` or by a value.
        provider: the provider's URN.
        deleted_with: URN of the resource whose deletion deletes this one.
        aliases: URNs, or maps of the parts in which an earlier URN differed.
        additional_secret_outputs: not part of the JSON form, like all that follow.
        import_id: the ID of an object of the cloud to adopt.
        hooks: names of the hooks, by kind.
    """

    depends_on: tuple[str, ...] = ()
    provider: str | None = None
    protect: bool | None = None
    retain_on_delete: bool | None = None
    deleted_with: str | None = None
    delete_before_replace: bool | None = None
    ignore_changes: tuple[str, ...] = ()
    replace_on_changes: tuple[str, ...] = ()
    aliases: tuple[str | Mapping[str, object], ...] = ()
    custom_timeouts: Timeouts | None = None
    additional_secret_outputs: tuple[str, ...] = ()
    replace_with: tuple[str, ...] = ()
    hide_diffs: tuple[str, ...] = ()
    import_id: str | None = None
    version: str | None = None
    hooks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The options that are set, by their engine names."""
        values = ((name, getattr(self, attribute)) for attribute, name in _OPTION_NAMES)
        found = {name: value for name, value in values if value is not None and value != ()}
        if self.custom_timeouts is not None:
            found["customTimeouts"] = _set_fields(self.custom_timeouts)
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


_OPTION_NAMES = (
    ("depends_on", "dependsOn"),
    ("provider", "provider"),
    ("protect", "protect"),
    ("retain_on_delete", "retainOnDelete"),
    ("deleted_with", "deletedWith"),
    ("delete_before_replace", "deleteBeforeReplace"),
    ("ignore_changes", "ignoreChanges"),
    ("replace_on_changes", "replaceOnChanges"),
    ("aliases", "aliases"),
    ("custom_timeouts", "customTimeouts"),
)


@dataclass(frozen=True, slots=True)
class Resource:
    """One registered resource.

    Attributes:
        urn: its name for the engine.
        type: its own type token.
        name: its logical name.
        parent: the parent's URN; None for the Stack.
        custom: whether a provider manages it (a component is not custom).
        inputs: plain values; whole numbers are ints; see `UNKNOWN` and `SECRET`.
        options: in effect, see `Options`.
        read_id: the ID of the object it reads, if it is read and not managed.
        property_dependencies: per input the URNs that its value came from.
        providers: the providers that a component hands to its children: URN by package.
        outputs: what a component registered at its end.
        source: `file:line` below the project's directory of the line that made it, if it is known.
    """

    urn: str
    type: str
    name: str
    parent: str | None
    custom: bool
    inputs: Mapping[str, Any]
    options: Options
    read_id: str | None = None
    property_dependencies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    providers: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The public form: `urn, type, name, parent, custom, inputs, options`, and `read` where it is read."""
        form = {
            "urn": self.urn,
            "type": self.type,
            "name": self.name,
            "parent": self.parent,
            "custom": self.custom,
            "inputs": self.inputs,
            "options": self.options.to_json(),
        }
        return form if self.read_id is None else form | {"read": self.read_id}


@dataclass(frozen=True, slots=True)
class Invoke:
    """One look-up that the program made."""

    token: str
    arguments: Mapping[str, Any]
    provider: str | None


@dataclass(frozen=True, slots=True)
class Recording:
    """All that a run of a program registered.

    Attributes:
        project: the project's name.
        stack: the stack's name.
        mode: `preview` or `up`.
        resources: sorted by URN.
        outputs: what the program exported.
        invokes: the look-ups, in the order of their tokens and arguments.
        warnings: messages of `pulumi.log.warn`, in order.
        hooks: names of the registered hooks, sorted.
    """

    project: str
    stack: str
    mode: Mode
    resources: tuple[Resource, ...]
    outputs: Mapping[str, Any]
    invokes: tuple[Invoke, ...] = ()
    warnings: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()

    def by_urn(self) -> dict[str, Resource]:
        """The resources by their URN."""
        return {resource.urn: resource for resource in self.resources}

    def to_json(self) -> dict[str, Any]:
        """The public form: `project, stack, resources, outputs`; the same for every run of the same program."""
        return {
            "project": self.project,
            "stack": self.stack,
            "resources": [resource.to_json() for resource in self.resources],
            "outputs": self.outputs,
        }


def is_unknown(value: object) -> bool:
    """Whether `value` is one that only the cloud knows."""
    return value == UNKNOWN


def holds_unknown(value: object) -> bool:
    """Whether `value` is or holds one that only the cloud knows."""
    if isinstance(value, Mapping):
        return value == UNKNOWN or any(holds_unknown(item) for item in value.values())
    return isinstance(value, (list, tuple)) and any(holds_unknown(item) for item in value)


def _set_fields(timeouts: Timeouts) -> dict[str, str]:
    pairs = ((item.name, getattr(timeouts, item.name)) for item in fields(timeouts))
    return {name: value for name, value in pairs if value}
