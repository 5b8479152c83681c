"""What the engine decides for one resource."""

from __future__ import annotations

from dataclasses import dataclass

from offline.diff.model import Operation, PathChange
from offline.recording import Resource


@dataclass(frozen=True, slots=True)
class Decision:
    """What happens to one resource.

    Attributes:
        operation: what the engine does.
        old: the deployed resource; None where there is none.
        new: the resource of the head; None where it leaves.
        paths: the inputs that change.
        because: why it is replaced, beside its own inputs.
        delete_first: of a replacement, whether the old one goes first.
        goes_with: URN (of the head) of the resource whose end ends this one without a call.
        takes_along: URNs of the base that go before the old one does, in dependency order.
    """

    operation: Operation
    old: Resource | None
    new: Resource | None
    paths: tuple[PathChange, ...] = ()
    because: tuple[str, ...] = ()
    delete_first: bool = False
    goes_with: str | None = None
    takes_along: tuple[str, ...] = ()

    @property
    def resource(self) -> Resource:
        """The resource as the head has it, or as it was."""
        found = self.new or self.old
        assert found is not None  # noqa: S101 - one of them is always there
        return found
