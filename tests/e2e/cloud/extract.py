"""Cut the provider's schema down to the resource types of this project.

The full schema (every property of every type the Google provider has for us, at every depth) is an input of the
developers and is not part of the repository. Its path is in PATHWAYS_GCP_SCHEMA. What the simulated cloud needs of it
is committed beside this file as ``schema_facts.json``:

    PATHWAYS_GCP_SCHEMA=…/gcp_schema.json python -m tests.e2e.cloud.extract
"""

from __future__ import annotations

import copy
import json
import os
import sys
from pathlib import Path
from typing import Any

FACTS_FILE = Path(__file__).with_name("schema_facts.json")
SCHEMA_VARIABLE = "PATHWAYS_GCP_SCHEMA"

TYPES = (
    "gcp:artifactregistry/repositoryIamMember:RepositoryIamMember",
    "gcp:compute/address:Address",
    "gcp:compute/firewall:Firewall",
    "gcp:compute/network:Network",
    "gcp:compute/resourcePolicy:ResourcePolicy",
    "gcp:compute/router:Router",
    "gcp:compute/routerNat:RouterNat",
    "gcp:compute/subnetwork:Subnetwork",
    "gcp:container/cluster:Cluster",
    "gcp:container/nodePool:NodePool",
    "gcp:kms/cryptoKey:CryptoKey",
    "gcp:kms/keyRing:KeyRing",
    "gcp:projects/iAMMember:IAMMember",
    "gcp:projects/service:Service",
    "gcp:serviceaccount/account:Account",
    "gcp:serviceaccount/iAMMember:IAMMember",
    "gcp:storage/bucket:Bucket",
    "gcp:storage/bucketIAMMember:BucketIAMMember",
)

# The schema has no entry for the members of a key. All single-resource IAM members have one shape; only the property
# that names the resource differs, so this one is written by analogy.
MEMBER_MODEL = "gcp:serviceaccount/iAMMember:IAMMember"
DERIVED = {"gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember": ("serviceAccountId", "cryptoKeyId")}

_DROPPED = frozenset({"tf", "sensitive"})


def compact(prop: dict[str, Any]) -> dict[str, Any]:
    """One property without what the simulation does not use, its children included."""
    kept = {key: value for key, value in prop.items() if key not in _DROPPED and key != "properties"}
    if "items" in kept:
        kept["items"] = {key: value for key, value in kept["items"].items() if key not in _DROPPED}
    if "properties" in prop:
        kept["properties"] = {name: compact(child) for name, child in prop["properties"].items()}
    return kept


def extract(schema: dict[str, Any]) -> dict[str, Any]:
    """The facts of TYPES in the full schema, in a stable order.

    Raises KeyError when the schema lacks one of them.
    """
    types: dict[str, Any] = {}
    for token in TYPES:
        full = schema["resources"][token]
        types[token] = {
            "updatable": full["updatable"],
            "required": full["requiredInputs"],
            "timeouts": full["timeouts"],
            "properties": {name: compact(prop) for name, prop in full["properties"].items()},
        }
    for token, (old, new) in DERIVED.items():
        derived = copy.deepcopy(types[MEMBER_MODEL])
        derived["properties"][new] = derived["properties"].pop(old)
        derived["properties"][new].pop("validated", None)
        derived["required"] = sorted(new if name == old else name for name in derived["required"])
        derived["derivedFrom"] = MEMBER_MODEL
        types[token] = derived
    return {"source": schema["source"], "types": dict(sorted(types.items()))}


def render(facts: dict[str, Any]) -> str:
    """JSON with one line for each top-level property, so that a change of the schema reads as one."""

    def dump(value: object) -> str:
        return json.dumps(value, sort_keys=True, separators=(",", ":"))

    lines = ["{", f'"source":{dump(facts["source"])},', '"types":{']
    blocks = []
    for token, resource in facts["types"].items():
        head = {key: value for key, value in resource.items() if key != "properties"}
        props = ",\n".join(f"  {dump(name)}:{dump(prop)}" for name, prop in sorted(resource["properties"].items()))
        blocks.append(f'{dump(token)}:{dump(head)[:-1]},"properties":{{\n{props}\n}}}}')
    return "\n".join(lines) + "\n" + ",\n".join(blocks) + "\n}}\n"


def main() -> int:
    """Write ``schema_facts.json``; 1 when the variable is unset."""
    path = os.environ.get(SCHEMA_VARIABLE)
    if not path:
        print(f"{SCHEMA_VARIABLE} is not set: give it the path of the provider's schema (JSON)", file=sys.stderr)
        return 1
    facts = extract(json.loads(Path(path).read_text(encoding="utf-8")))
    FACTS_FILE.write_text(render(facts), encoding="utf-8")
    print(f"{FACTS_FILE.name}: {len(facts['types'])} types")
    return 0


if __name__ == "__main__":
    sys.exit(main())
