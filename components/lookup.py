"""What exists already and is looked up; a name that nothing answers to is a fault of the stack file."""

from dataclasses import dataclass
from typing import TypeVar

import pulumi
from pulumi import InvokeOutputOptions, Output

from pathways.errors import Problem

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """How a stack looks things up; `file` is the stack file that names them."""

    file: str
    opts: InvokeOutputOptions

    def answer(self, found: Output[T], *, key: str, name: str, rule: str, fix: str) -> Output[T]:
        """The answer to a look-up of `name`, which stands at `key`.

        The program fails with one sentence, and no traceback, if Google Cloud has none or does not show it.
        """

        def refuse(error: Exception) -> T:
            said = " ".join(str(error).split())
            raise self.refusal(key, f"{name} is not there or may not be seen (Google Cloud: {said})", rule, fix)

        return found.recover(refuse)

    def refusal(self, key: str, what: str, rule: str, fix: str) -> pulumi.RunError:
        """The exception that ends a program in one sentence about its stack file."""
        return pulumi.RunError(Problem(key, what, rule, fix).line(self.file))
