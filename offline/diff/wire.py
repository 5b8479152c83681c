"""A recording as JSON, whole, and back: what another process recorded, or what `show --json` saved.

The saved form lacks the property dependencies and the source positions: with it as the base, what a replacement takes
along is judged by the head's, and a value that only the cloud knows counts as unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from offline.recording import Options, Recording, Resource, Timeouts


def dump(recording: Recording) -> dict[str, Any]:
    """The public form, and what a comparison needs beside it."""
    form = recording.to_json()
    for raw, resource in zip(form["resources"], recording.resources, strict=True):
        raw["propertyDependencies"] = {key: list(urns) for key, urns in resource.property_dependencies.items()}
        raw["source"] = resource.source
        raw["options"]["replaceWith"] = list(resource.options.replace_with)
    return {**form, "mode": recording.mode}


def load(form: Mapping[str, Any]) -> Recording:
    """A recording from either form.

    Raises:
        KeyError, TypeError, AttributeError: it is neither.
    """
    resources = sorted(map(_resource, form["resources"]), key=lambda resource: resource.urn)
    return Recording(
        project=form["project"],
        stack=form["stack"],
        mode=form.get("mode", "preview"),
        resources=tuple(resources),
        outputs=form["outputs"],
    )


def _resource(raw: Mapping[str, Any]) -> Resource:
    return Resource(
        urn=raw["urn"],
        type=raw["type"],
        name=raw["name"],
        parent=raw["parent"],
        custom=raw["custom"],
        inputs=raw["inputs"],
        options=_options(raw["options"]),
        read_id=raw.get("read"),
        property_dependencies={key: tuple(urns) for key, urns in raw.get("propertyDependencies", {}).items()},
        source=raw.get("source"),
    )


def _options(raw: Mapping[str, Any]) -> Options:
    timeouts = raw.get("customTimeouts")
    return Options(
        depends_on=tuple(raw.get("dependsOn", ())),
        provider=raw.get("provider"),
        protect=raw.get("protect"),
        retain_on_delete=raw.get("retainOnDelete"),
        deleted_with=raw.get("deletedWith"),
        delete_before_replace=raw.get("deleteBeforeReplace"),
        ignore_changes=tuple(raw.get("ignoreChanges", ())),
        replace_on_changes=tuple(raw.get("replaceOnChanges", ())),
        aliases=tuple(raw.get("aliases", ())),
        custom_timeouts=Timeouts(**timeouts) if timeouts else None,
        replace_with=tuple(raw.get("replaceWith", ())),
    )
