from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from tests.workflows.server import TOKEN, GitHub, serving
from workflows.github import Client

NOW = 1_800_000_000.0


@dataclass
class Time:
    """A clock that passes only in sleep."""

    now: float = NOW
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def clock(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def hub() -> Iterator[GitHub]:
    with serving(GitHub()) as hub:
        yield hub


@pytest.fixture
def client(hub: GitHub, time: Time) -> Client:
    return Client(hub.url, TOKEN, sleep=time.sleep, clock=time.clock)
