"""From inputs to outputs and back: what a preview shows, what an update leaves, what a refresh reads as inputs."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from tests.e2e.cloud.config import ProviderConfig
from tests.e2e.cloud.diff import same_scalar
from tests.e2e.cloud.facts import Property, ResourceFacts, Shape
from tests.e2e.cloud.wire import UNKNOWN, Props, has_unknown

DEFAULTS = "__defaults"


def plain(inputs: Props) -> Props:
    """The inputs without the provider's own notes."""
    return {key: value for key, value in inputs.items() if not key.startswith("__")}


def labelled(facts: ResourceFacts, props: Props, config: ProviderConfig) -> Props:
    """The properties with the provider's labels merged in, where the type has labels."""
    if "pulumiLabels" not in facts.properties:
        return props
    own: Any = props.get("labels", props.get("resourceLabels", {}))
    merged: Any = UNKNOWN if has_unknown(own) else {**config.labels, **own}
    return {**props, "pulumiLabels": merged, "effectiveLabels": merged}


def previewed(facts: ResourceFacts, inputs: Props, config: ProviderConfig) -> Props:
    """Outputs of a create that has not happened: what only the cloud knows is unknown."""
    given = plain(inputs)
    known: Props = {"deletionPolicy": "DELETE", "project": config.project}
    known = {key: value for key, value in known.items() if key in facts.properties and value}
    return labelled(facts, _with_unknowns(facts.properties, {**known, **given}), config)


def _with_unknowns(properties: Mapping[str, Property], props: Props) -> Props:
    result: Props = {}
    for key, prop in properties.items():
        value = props.get(key)
        if value is None:
            if prop.computed:
                result[key] = UNKNOWN
        elif prop.shape is Shape.BLOCK and isinstance(value, dict):
            result[key] = _with_unknowns(prop.properties, value)
        elif prop.shape in (Shape.BLOCKS, Shape.BLOCK_SET) and isinstance(value, list):
            result[key] = [_with_unknowns(prop.properties, item) if isinstance(item, dict) else item for item in value]
        else:
            result[key] = value
    return result


def merged(properties: Mapping[str, Property], olds: Props, news: Props, roots: Iterable[str] | None = None) -> Props:
    """The old outputs with the new inputs over them: computed values stay where nothing is said.

    ``roots`` limits it to those top-level properties.
    """
    chosen = set(properties) if roots is None else set(roots)
    result = {key: copy.deepcopy(value) for key, value in olds.items() if key not in chosen}
    for key in sorted(chosen & set(properties)):
        value = _merged_value(properties[key], olds.get(key), news.get(key))
        if value is not None:
            result[key] = value
    return result


def _merged_value(prop: Property, old: Any, new: Any) -> Any:
    if new is None:
        return copy.deepcopy(old) if prop.computed else None
    if prop.shape is Shape.SCALAR:
        # A reference keeps the spelling of the service.
        return old if old is not None and not isinstance(new, list) and same_scalar(prop, old, new) else new
    if prop.shape is Shape.BLOCK and isinstance(old, dict) and isinstance(new, dict):
        return merged(prop.properties, old, new)
    if prop.shape is Shape.BLOCKS and isinstance(old, list) and isinstance(new, list):
        pairs = [(old[i] if i < len(old) else None, item) for i, item in enumerate(new)]
        return [merged(prop.properties, a, b) if isinstance(a, dict) and isinstance(b, dict) else b for a, b in pairs]
    return new


def inputs_of(facts: ResourceFacts, old_inputs: Props, outputs: Props) -> Props:
    """The inputs after a refresh: what was said before, with the values of now; all of it for an import."""
    if not old_inputs:
        known = {key: prop for key, prop in facts.properties.items() if not prop.output_only}
        return {DEFAULTS: [], **{key: outputs[key] for key in known if key in outputs}}
    result = _projected(facts.properties, plain(old_inputs), outputs)
    return {DEFAULTS: old_inputs.get(DEFAULTS, []), **result}


def _projected(properties: Mapping[str, Property], olds: Props, outputs: Props) -> Props:
    result: Props = {}
    for key, old in olds.items():
        now, prop = outputs.get(key), properties.get(key)
        if prop is None:
            continue
        if now is None:
            if prop.shape is Shape.SCALAR and not old:
                result[key] = old  # an unset scalar and its zero value are one
        elif prop.shape is Shape.BLOCK and isinstance(old, dict):
            result[key] = _projected(prop.properties, old, now)
        elif prop.shape is Shape.BLOCKS and isinstance(old, list) and len(old) == len(now):
            result[key] = [_projected(prop.properties, a, b) for a, b in zip(old, now, strict=True)]
        elif prop.shape is Shape.SCALAR and not isinstance(now, list) and same_scalar(prop, now, old):
            result[key] = old
        else:
            result[key] = now
    return result
