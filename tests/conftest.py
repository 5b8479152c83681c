"""What holds for every test."""

from __future__ import annotations

import gc

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What is there by now stays to the end; without this the collector looks at all of it again and again."""
    gc.collect()
    gc.freeze()
