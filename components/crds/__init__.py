"""The JobSet CRDs as released, one file a version (`scripts/jobset_crd.py`); reading one needs no SDK."""

import json
from pathlib import Path
from typing import Any


def job_set_crd(version: str) -> dict[str, Any]:
    """The custom resource definition of a JobSet release (`0.11.1`)."""
    crd: dict[str, Any] = json.loads((Path(__file__).parent / f"jobset-{version}.json").read_text())
    return crd
