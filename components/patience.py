"""Refusals that pass: a webhook that does not answer while its controller moves, restarts or is being upgraded."""

import asyncio

import pulumi

from pathways.operators import pause_after


async def wait_for_webhook(failure: pulumi.ErrorHookArgs) -> bool:
    """Wait, and have it tried again, if a webhook did not answer; one that said no is not asked twice."""
    tries = len(failure.errors)
    pause = pause_after(tries)
    if pause is None or "failed calling webhook" not in failure.errors[0]:
        return False
    pulumi.log.info(f"{failure.name}: its webhook does not answer (try {tries}); trying again in {pause:g} s")
    await asyncio.sleep(pause)
    return True
