"""Components recorded by themselves: a small program of the test's own that builds some of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from offline.project import load_project
from offline.runner import record_stack
from offline.stackfile import StackFile
from tests.support.recording import Recording, read

_PRELUDE = """
import json
import pulumi
import pulumi_gcp as gcp
from pulumi import ResourceOptions
from components.cluster import ClusterHandle
from components.common import Place
from pathways.load import load
from pathways.plan import derive

google = gcp.Provider("google", project="demo-project")
opts = ResourceOptions(providers=[google])
plans = [derive(load(each, "stack")) for each in json.loads(pulumi.Config().require("configs"))]
place = Place(project="demo-project", region="us-east5", zone="us-east5-b", labels={"team": "demo"})
cluster = ClusterHandle(name="c", location="us-east5", kubeconfig=pulumi.Output.from_input("{}"), resource=None)
"""


def build(directory: Path, program: str, configs: Sequence[Mapping[str, Any]]) -> Recording:
    """What `program` registers; it has `plans` (one of each config), `place`, `cluster` and `opts`."""
    (directory / "Pulumi.yaml").write_text("name: parts\nruntime: python\n")
    (directory / "__main__.py").write_text(_PRELUDE + program)
    stack = StackFile("dev", "Pulumi.dev.yaml", {"parts:configs": list(configs)})
    recorded = record_stack(load_project(directory), stack, "preview")
    return read(json.loads(json.dumps(recorded.to_json())))
