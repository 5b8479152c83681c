"""The tests mirror the rooms; `tests/e2e/` holds the real-engine suite."""
