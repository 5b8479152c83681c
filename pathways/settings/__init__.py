"""The stack file as typed, validated, frozen values: one module per section, `stack.Settings` for the whole."""

from pathways.settings.stack import Settings

__all__ = ["Settings"]
