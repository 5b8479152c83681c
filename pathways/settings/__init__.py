"""The stack file as typed, validated, frozen values: one module per section, `stack.Settings` for the whole."""

from pathways.settings.stack import OURS, PROJECT_KEY, Settings

__all__ = ["OURS", "PROJECT_KEY", "Settings"]
