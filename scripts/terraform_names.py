"""Extract or check the Terraform names of what a stack makes, `policy/terraform.json`.

The input is the Google provider's Terraform schema as a program that links the provider prints it, the same document
that `scripts/provider_facts.py` reads. `PATHWAYS_GCP_SCHEMA` names the file.

    PATHWAYS_GCP_SCHEMA=… python scripts/terraform_names.py          # say what differs from the committed table
    PATHWAYS_GCP_SCHEMA=… python scripts/terraform_names.py --write  # write it anew

Most names follow from Pulumi's (`nodeConfig`, `node_config`); the table holds per type only its own name and
    names    paths whose Terraform name is another
    single   paths that are one object in Pulumi and a list of one in Terraform
    maps     paths whose keys are the user's own words
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).absolute().parents[1]
sys.path.insert(0, str(ROOT))
from offline.diff.facts import TABLE as FACTS  # noqa: E402 - the checkout is no package
from policy.terraform import TABLE, snake  # noqa: E402

VARIABLE = "PATHWAYS_GCP_SCHEMA"
# A cluster's own pools are not used: pools are resources of their own. Of its nodes only the account is.
_NOT_ENTERED = {("gcp:container/cluster:Cluster", path) for path in ("nodeConfig", "nodePools", "nodePoolDefaults")}


def extract(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The table, for the types that `offline/diff/facts.json` is about.

    Raises:
        KeyError: the schema lacks one of the types.
    """
    types = json.loads(FACTS.read_text(encoding="utf-8"))["types"]
    return {type_: _type(type_, schema["resources"][type_]) for type_ in types}


def _type(type_: str, raw: Mapping[str, Any]) -> dict[str, Any]:
    names: dict[str, str] = {}
    single: list[str] = []
    maps: list[str] = []
    for path, declared in _settable(type_, raw["properties"], ""):
        if declared["tf"] != snake(path.rpartition(".")[2]):
            names[path] = declared["tf"]
        if declared.get("flattened"):
            single.append(path)
        if declared["type"] == "map":
            maps.append(path)
    rest = {"names": names, "single": single, "maps": maps}
    return {"type": raw["tf"], **{key: value for key, value in rest.items() if value}}


def _settable(type_: str, properties: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, raw in sorted(properties.items()):
        if raw.get("required") or raw.get("optional"):
            yield prefix + name, raw
            if (type_, prefix + name) not in _NOT_ENTERED:
                yield from _settable(type_, raw.get("properties", {}), f"{prefix}{name}.")


def differences(schema: Mapping[str, Any], table: Mapping[str, Any]) -> list[str]:
    """The types for which the committed table says something else than the schema."""
    expected = extract(schema)
    return [
        f"{type_}: the schema says {expected.get(type_)}, the table {table.get(type_)}"
        for type_ in sorted(expected.keys() | table.keys())
        if expected.get(type_) != table.get(type_)
    ]


def main() -> int:
    """Check the committed table, or write it; 1 if it differs, 2 if there is no schema to compare with."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table instead of checking it")
    options = parser.parse_args()
    place = os.environ.get(VARIABLE)
    if not place:
        print(f"{VARIABLE}: not set; it names the provider's schema; write {VARIABLE}=FILE", file=sys.stderr)
        return 2
    schema = json.loads(Path(place).read_text(encoding="utf-8"))
    if options.write:
        TABLE.write_text(json.dumps(extract(schema), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return 0
    found = differences(schema, json.loads(TABLE.read_text(encoding="utf-8")))
    print(*found or ["terraform.json agrees with the schema"], sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
