"""What the engine makes of a request before it acts on it: inheritance first, transforms after.

The order is the engine's: `deletedWith`, `protect`, `retainOnDelete` and a matching provider come from the parent where
the request leaves them unset; then the resource's own transforms run, each ancestor's, and the stack's. All functions
change the request they are given.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from offline.sdk import resource_pb2, run_transform
from offline.urn import PROVIDER_PREFIX, package_of

Request = resource_pb2.RegisterResourceRequest

# Names that differ between a transform's options and a request; the rest is snake_case for camelCase.
_SCALARS = (
    ("version", "version"),
    ("provider", "provider"),
    ("plugin_download_url", "pluginDownloadURL"),
    ("deleted_with", "deletedWith"),
    ("import", "importId"),
)
_LISTS = (
    ("depends_on", "dependencies"),
    ("ignore_changes", "ignoreChanges"),
    ("replace_on_changes", "replaceOnChanges"),
    ("additional_secret_outputs", "additionalSecretOutputs"),
    ("hide_diff", "hideDiffs"),
    ("replace_with", "replace_with"),
    ("aliases", "aliases"),
)


def inherit(request: Request, parent: Request | None) -> None:
    """Fill from `parent`'s effective request what `request` leaves unset."""
    if parent is None:
        return
    if not request.deletedWith and parent.deletedWith:
        request.deletedWith = parent.deletedWith
    if not request.HasField("protect") and parent.HasField("protect"):
        request.protect = parent.protect
    if not request.HasField("retainOnDelete") and parent.HasField("retainOnDelete"):
        request.retainOnDelete = parent.retainOnDelete
    if request.custom:
        _inherit_provider(request, parent)
    else:
        # A component hands on what it has and what it was handed.
        for package, reference in parent.providers.items():
            if package not in request.providers:
                request.providers[package] = reference


def _inherit_provider(request: Request, parent: Request) -> None:
    if request.provider or request.type.startswith(PROVIDER_PREFIX):
        return
    package = package_of(request.type)
    if package in parent.providers:
        request.provider = parent.providers[package]
    elif parent.custom and parent.provider and package_of(parent.type) == package:
        request.provider = parent.provider


def transform(request: Request, tokens: Iterable[str]) -> None:
    """Run the transforms of `tokens` over `request`, one after the other."""
    for token in tokens:
        response = run_transform(token, _transform_request(request))
        request.object.CopyFrom(response.properties)
        if response.HasField("options"):
            _take_options(request, response.options)


def _transform_request(request: Request) -> resource_pb2.TransformRequest:
    options = resource_pb2.TransformResourceOptions()
    for theirs, ours in _SCALARS:
        setattr(options, theirs, getattr(request, ours))
    for theirs, ours in _LISTS:
        getattr(options, theirs).extend(getattr(request, ours))
    for name in ("protect", "retainOnDelete"):
        if request.HasField(name):
            setattr(options, "retain_on_delete" if name == "retainOnDelete" else name, getattr(request, name))
    if request.deleteBeforeReplaceDefined:
        options.delete_before_replace = request.deleteBeforeReplace
    options.providers.update(request.providers)
    options.hooks.CopyFrom(request.hooks)
    if request.HasField("customTimeouts"):
        options.custom_timeouts.CopyFrom(request.customTimeouts)
    if request.HasField("replacement_trigger"):
        options.replacement_trigger.CopyFrom(request.replacement_trigger)
    return resource_pb2.TransformRequest(
        type=request.type,
        name=request.name,
        custom=request.custom,
        parent=request.parent,
        properties=request.object,
        options=options,
    )


def _take_options(request: Request, options: resource_pb2.TransformResourceOptions) -> None:
    for theirs, ours in _SCALARS:
        setattr(request, ours, getattr(options, theirs))
    for theirs, ours in _LISTS:
        _replace_list(request, ours, getattr(options, theirs))
    for theirs, ours in (("protect", "protect"), ("retain_on_delete", "retainOnDelete")):
        request.ClearField(ours)  # type: ignore[arg-type]
        if options.HasField(theirs):  # type: ignore[arg-type]
            setattr(request, ours, getattr(options, theirs))
    request.deleteBeforeReplaceDefined = options.HasField("delete_before_replace")
    request.deleteBeforeReplace = options.delete_before_replace
    request.providers.clear()
    request.providers.update(options.providers)
    request.hooks.CopyFrom(options.hooks)
    for theirs, ours in (("custom_timeouts", "customTimeouts"), ("replacement_trigger", "replacement_trigger")):
        request.ClearField(ours)  # type: ignore[arg-type]
        if options.HasField(theirs):  # type: ignore[arg-type]
            getattr(request, ours).CopyFrom(getattr(options, theirs))


def _replace_list(request: Request, name: str, values: Any) -> None:
    kept = list(values)
    field = getattr(request, name)
    del field[:]
    field.extend(kept)
