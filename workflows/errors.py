"""What ends a step with a sentence instead of a traceback."""

from __future__ import annotations


class WorkflowError(Exception):
    """A step cannot do its work; the text says what is wrong, the rule, and what to do."""
