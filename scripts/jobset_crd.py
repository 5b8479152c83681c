"""Turn the JobSet chart's CRD into the JSON kept beside the operators component, without its descriptions.

Usage: python scripts/jobset_crd.py CHART_FOLDER VERSION, with the chart's folder of that release (it has crds/).
The descriptions are documentation only and nine tenths of the file; what the API server enforces is left as it is.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import yaml

TARGET = Path(__file__).parent.parent / "components" / "crds"


def stripped(schema: Any) -> Any:
    """A copy without the descriptions; a *property* that is called `description` stays, as it is a map."""
    if isinstance(schema, dict):
        kept = ((key, value) for key, value in schema.items() if key != "description" or not isinstance(value, str))
        return {key: stripped(value) for key, value in kept}
    if isinstance(schema, list):
        return [stripped(value) for value in schema]
    return schema


def main(chart: str, version: str) -> None:
    """Write `components/crds/jobset-VERSION.json`."""
    (source,) = Path(chart, "crds").glob("*.yaml")
    crd = stripped(yaml.safe_load(source.read_text()))
    (TARGET / f"jobset-{version}.json").write_text(json.dumps(crd, separators=(",", ":"), sort_keys=True) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
