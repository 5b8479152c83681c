"""A webhook that does not answer is waited for; what it refuses is refused."""

from __future__ import annotations

import asyncio

import pulumi
import pytest

from components import patience
from tests.program.support import config, run

AWAY = 'failed calling webhook "validate-jobset.x-k8s.io": failed to call webhook: Post "https://…": no endpoints'
DENIED = 'admission webhook "validate-jobset.x-k8s.io" denied the request: spec.replicatedJobs: field is immutable'


def asked_again(*errors: str) -> bool:
    failure = pulumi.ErrorHookArgs(
        urn="urn", id="", name="workload-jobset", type="t", failed_operation="create", errors=list(errors)
    )
    return asyncio.run(patience.wait_for_webhook(failure))


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that were made, none of them spent."""
    made: list[float] = []

    async def pause(seconds: float) -> None:
        made.append(seconds)

    def silent(message: str) -> None:
        assert "does not answer" in message

    monkeypatch.setattr(asyncio, "sleep", pause)
    monkeypatch.setattr(pulumi.log, "info", silent)
    return made


@pytest.mark.parametrize(
    ("errors", "again"),
    [
        ((AWAY,), True),
        ((DENIED,), False),
        ((DENIED, AWAY), False),  # the newest first
        (("connection refused",), False),
        ((AWAY,) * 14, True),
        ((AWAY,) * 15, False),
    ],
)
def test_only_a_webhook_that_does_not_answer_is_tried_again(errors: tuple[str, ...], again: bool) -> None:
    assert asked_again(*errors) is again


def test_the_pauses_grow_to_two_minutes_in_all(pauses: list[float]) -> None:
    tries = 1
    while asked_again(*(AWAY,) * tries):
        tries += 1
    assert pauses[:5] == [1, 2, 4, 8, 10]
    assert 100 < sum(pauses) < 130


def test_the_job_set_has_this_patience_since_its_predecessor_is_gone_by_then() -> None:
    recording = run(config())
    (job_set,) = [resource for resource in recording.resources if resource.name == "workload-jobset"]
    assert job_set.options.hooks == {"on_error": ("workload-webhook",)}
    assert "workload-webhook" in recording.hooks
