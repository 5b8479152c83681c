from __future__ import annotations

import pytest


@pytest.fixture
def remembering(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that runs in this process takes its recording of this checkout's program from those already made."""
    from tests.support.recordings import remembered  # noqa: PLC0415 - loads the SDK

    monkeypatch.setattr("offline.runner.record_stack", remembered)
