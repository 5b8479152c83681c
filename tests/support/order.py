"""What a recorded resource waits for, directly or through others."""

from __future__ import annotations

from functools import cached_property

from tests.support.recording import Recording


class Order:
    """The waiting relation of a recording, by logical names (unique within one stack of ours).

    A resource waits for what its `dependsOn` names (values included), for its provider, and for its parent: the SDK
    sends a child's registration only when the parent's is answered, and that one waits for what the component depends
    on. On the way down the engine follows the same three.
    """

    def __init__(self, recording: Recording) -> None:
        """Read the relation of `recording`."""
        self._resources = {resource.urn: resource for resource in recording.resources}

    @cached_property
    def _names(self) -> dict[str, str]:
        return {resource.name: urn for urn, resource in self._resources.items()}

    def _direct(self, urn: str) -> set[str]:
        resource = self._resources[urn]
        provider = resource.options.get("provider")
        candidates = (*resource.options.get("dependsOn", ()), resource.parent, provider)
        return {each for each in candidates if each in self._resources}

    def waits_for(self, name: str) -> set[str]:
        """Logical names of all that `name` waits for.

        Raises:
            KeyError: the recording has no resource of that name.
        """
        seen: set[str] = set()
        left = [self._names[name]]
        while left:
            for urn in self._direct(left.pop()) - seen:
                seen.add(urn)
                left.append(urn)
        return {self._resources[urn].name for urn in seen}
