"""A Pulumi home of a test's own: the built engine and Kubernetes provider, nothing of the user's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from tests.e2e.tools.build import Tool

PROVIDER = "pulumi-resource-kubernetes"


def make_pulumi_home(folder: Path, tools: Mapping[str, Tool]) -> dict[str, str]:
    """Put the provider where the engine looks for its plugins and return the variables that select this home.

    Args:
        folder: The new `PULUMI_HOME`.
        tools: With `pulumi` and `pulumi-resource-kubernetes`.

    Returns:
        `PULUMI_HOME`, a `PATH` that finds this `pulumi` first, and what keeps the engine from asking the network.
    """
    provider = tools[PROVIDER]
    plugin = folder / "plugins" / f"resource-kubernetes-v{provider.program.version}" / PROVIDER
    plugin.parent.mkdir(parents=True, exist_ok=True)
    if not plugin.exists():
        plugin.symlink_to(provider.binary)
    return {
        "PULUMI_HOME": str(folder),
        "PATH": os.pathsep.join([str(tools["pulumi"].folder), os.environ.get("PATH", "")]),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    }
