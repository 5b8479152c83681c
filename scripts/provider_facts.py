"""Extract or check what decides a Google resource's replacement, `offline/diff/facts.json`.

The input is the Google provider's Terraform schema as a program that links the provider prints it: one JSON document
with every property of every type at every depth. `PATHWAYS_GCP_SCHEMA` names the file.

    PATHWAYS_GCP_SCHEMA=… python scripts/provider_facts.py          # say what differs from the committed table
    PATHWAYS_GCP_SCHEMA=… python scripts/provider_facts.py --write  # write it anew
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

VARIABLE = "PATHWAYS_GCP_SCHEMA"
TABLE = Path(__file__).absolute().parents[1] / "offline" / "diff" / "facts.json"

TYPES = (
    "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember",
    "gcp:compute/firewall:Firewall",
    "gcp:compute/network:Network",
    "gcp:compute/resourcePolicy:ResourcePolicy",
    "gcp:compute/router:Router",
    "gcp:compute/routerNat:RouterNat",
    "gcp:compute/subnetwork:Subnetwork",
    "gcp:container/cluster:Cluster",
    "gcp:container/nodePool:NodePool",
    "gcp:projects/iAMMember:IAMMember",
    "gcp:projects/service:Service",
    "gcp:serviceaccount/account:Account",
    "gcp:serviceaccount/iAMMember:IAMMember",
    "gcp:storage/bucket:Bucket",
    "gcp:storage/bucketIAMMember:BucketIAMMember",
)
# A cluster's own pools are not used: pools are resources of their own. What is below would be half of the table.
_NOT_ENTERED = {("gcp:container/cluster:Cluster", "nodeConfig"), ("gcp:container/cluster:Cluster", "nodePools")}


@dataclass
class _Lists:
    """Paths of one type by what is true of them; list positions are left out of paths."""

    replaces: list[str] = field(default_factory=list)
    replaces_whole: list[str] = field(default_factory=list)
    sets: list[str] = field(default_factory=list)
    server_set: list[str] = field(default_factory=list)
    suppressed: list[str] = field(default_factory=list)
    caseless: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, list[str]]:
        names = {"replaces_whole": "replacesWhole", "server_set": "serverSet"}
        return {names.get(key, key): sorted(paths) for key, paths in vars(self).items() if paths}


def extract(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The table for `TYPES` out of the whole schema.

    Raises:
        KeyError: the schema lacks one of the types.
    """
    return {type_: _type(type_, schema["resources"][type_]["properties"]) for type_ in TYPES}


def differences(schema: Mapping[str, Any], table: Mapping[str, Any]) -> list[str]:
    """How the committed table differs from what the schema says, a line for each path."""
    found: list[str] = []
    expected = extract(schema)
    for type_ in sorted(expected.keys() | table["types"].keys()):
        theirs, ours = expected.get(type_, {}), table["types"].get(type_, {})
        for key in sorted((theirs.keys() | ours.keys()) - {"labels"}):
            a, b = set(theirs.get(key, ())), set(ours.get(key, ()))
            found += [f"{type_}: {key}: {path}: the schema has it, the table does not" for path in sorted(a - b)]
            found += [f"{type_}: {key}: {path}: the table has it, the schema does not" for path in sorted(b - a)]
        if theirs.get("labels") != ours.get("labels"):
            found.append(f"{type_}: labels: the schema says {theirs.get('labels')}, the table {ours.get('labels')}")
    return found


def _type(type_: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    lists = _Lists()
    for path, raw in _settable(type_, properties, ""):
        is_block = "properties" in raw
        if raw.get("replaces"):
            (lists.replaces_whole if is_block else lists.replaces).append(path)
        if raw["type"] == "set":
            lists.sets.append(path)
        if raw.get("optional") and raw.get("computed"):
            lists.server_set.append(path)
        if raw.get("diffSuppressed"):
            lists.suppressed.append(path)
        if raw.get("normalised"):
            lists.caseless.append(path)
    # Types with labels of the provider's own get every change of its default labels.
    return {**lists.to_json(), **({"labels": True} if "pulumiLabels" in properties else {})}


def _settable(type_: str, properties: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, raw in properties.items():
        if not raw.get("required") and not raw.get("optional"):
            continue
        yield prefix + name, raw
        if (type_, prefix + name) not in _NOT_ENTERED:
            yield from _settable(type_, raw.get("properties", {}), f"{prefix}{name}.")


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
        table = {"source": schema["source"], "types": extract(schema)}
        TABLE.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return 0
    found = differences(schema, json.loads(TABLE.read_text(encoding="utf-8")))
    print(*found or ["facts.json agrees with the schema"], sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
