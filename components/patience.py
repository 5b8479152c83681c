"""Refusals that pass: a webhook that does not answer while its controller moves, restarts or is being upgraded."""

import asyncio

import pulumi

_TRIES = 15
_LONGEST_PAUSE = 10.0
"""Seconds; with the pauses before, two minutes in all."""


async def wait_for_webhook(failure: pulumi.ErrorHookArgs) -> bool:
    """Wait, and have it tried again, if a webhook did not answer; one that said no is not asked twice."""
    tries = len(failure.errors)
    if tries >= _TRIES or "failed calling webhook" not in failure.errors[0]:
        return False
    pulumi.log.info(f"{failure.name}: its webhook does not answer (try {tries} of {_TRIES}); trying again")
    await asyncio.sleep(min(2.0 ** (tries - 1), _LONGEST_PAUSE))
    return True
