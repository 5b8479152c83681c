"""Settings of the controllers that a stack installs."""

from __future__ import annotations

import math
from typing import Any

from pathways.plan import Plan
from pathways.settings.platform import JobSetOperator

JOBSET_NAMESPACE = "jobset-system"
_LEAST_MIB = 4096
_MIB_PER_NODE = 1.2
"""The controller's memory grows with the nodes it watches (xpk)."""


def job_set_values(plan: Plan, settings: JobSetOperator) -> dict[str, Any]:
    """Values of the JobSet chart: the released image (the chart names a moving one), and room for the cluster."""
    memory = f"{max(_LEAST_MIB, math.ceil(_MIB_PER_NODE * plan.addresses.nodes))}Mi"
    return {
        "image": {"repository": settings.image, "tag": f"v{settings.version}", "pullPolicy": "IfNotPresent"},
        "controller": {
            "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"cpu": "2", "memory": memory}}
        },
    }


_FIRST_PAUSES = (1.0, 2.0, 4.0, 8.0)
_LONGEST_PAUSE = 10.0
_TRIES = 15


def pause_after(tries: int) -> float | None:
    """Seconds to wait after the n-th time a webhook did not answer (from 1), or None to give up: two minutes in all."""
    if tries >= _TRIES:
        return None
    return _FIRST_PAUSES[tries - 1] if tries <= len(_FIRST_PAUSES) else _LONGEST_PAUSE
