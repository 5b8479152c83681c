"""What a stack is deployed into: engine, simulated Google Cloud, and a real control plane behind its clusters."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from tests.e2e.cloud.client import ApiServer, SimulatedCloud
from tests.e2e.cloud.kube import KubeBackend
from tests.e2e.cluster.control_plane import ControlPlane
from tests.e2e.cluster.credentials import write_auth_plugin
from tests.e2e.cluster.processes import Processes
from tests.e2e.engine.deployment import ROOT, Deployment
from tests.e2e.engine.keys import KeyService
from tests.e2e.tools.pulumi_home import make_pulumi_home

JOBSET_KEY = "pathways:operators"
Change = Callable[[dict[str, Any]], None]


def empty(plane: ControlPlane) -> None:
    """Remove all that a control plane has been given, as when its cluster is deleted."""
    KubeBackend(plane.server, plane.credentials.admin_token, plane.credentials.ca_file).stop_cluster("")


@dataclass
class World:
    """One simulated Google Cloud and the control plane that stands behind the clusters made in it.

    Attributes:
        processes: The run's processes and folder.
        plane: The control plane.
        cloud: The simulated Google Cloud.
        keys: The key of its stacks' secrets.
        environment: Variables that let an engine see only these.
    """

    processes: Processes
    plane: ControlPlane
    cloud: SimulatedCloud
    keys: KeyService
    environment: Mapping[str, str]
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    @classmethod
    def start(cls, processes: Processes, plane: ControlPlane) -> World:
        """Start the cloud beside a control plane whose tools have the engine and the Kubernetes provider."""
        folder = processes.folder / "world"
        token = folder / "token"
        token.parent.mkdir()
        token.write_text(plane.credentials.admin_token)
        endpoint = urlsplit(plane.server).netloc
        cloud = SimulatedCloud(
            folder / "cloud", ApiServer(plane.server, token, plane.credentials.ca_file, endpoint)
        ).start()
        keys = KeyService()
        home = make_pulumi_home(folder / "pulumi", plane.tools)
        plugin = write_auth_plugin(folder / "bin", plane.credentials.admin_token)
        environment = {
            **home,
            **cloud.environment(),
            **keys.environment(),
            "PATH": os.pathsep.join([str(plugin.parent), home["PATH"]]),
            # A cluster's DNS name has a certificate of a public authority; here, of the test's own.
            "SSL_CERT_FILE": str(plane.credentials.ca_file),
            # The Kubernetes provider leaves a kubeconfig there for each Helm release.
            "TMPDIR": str(processes.temporary),
            # Engine and provider live for seconds: collecting garbage is a tenth of their work.
            "GOGC": "400",
            # Nobody goes back to an earlier state.
            "PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS": "true",
        }
        return cls(processes, plane, cloud, keys, environment)

    def stop(self) -> None:
        """End the cloud and the key service."""
        self.cloud.stop()
        self.keys.stop()

    def reset(self) -> None:
        """Empty cloud and control plane, as after the deletion of everything; faults and durations are forgotten."""
        self.cloud.clear_faults()
        self.cloud.stop()
        self.cloud.state.unlink()
        self.cloud.start()
        empty(self.plane)

    def config(self, stack: str) -> dict[str, Any]:
        """The config of a committed stack file, with the operator's chart where this machine has it."""
        found: dict[str, Any] = yaml.safe_load((ROOT / "stacks" / f"Pulumi.{stack}.yaml").read_text())["config"]
        operators = found.setdefault(JOBSET_KEY, {}).setdefault("jobset", {})
        if operators.get("install", True):
            operators["chart"] = str(self.chart("jobset"))
        return found

    def chart(self, tool: str) -> Path:
        """The folder of the JobSet chart that belongs to a built release (`jobset`, `jobset-previous`)."""
        return self.plane.tools[tool].folder / "charts" / "jobset"

    def deployment(self, stack: str, *changes: Change) -> Deployment:
        """A copy of the project with this stack, its config changed by `changes`; nothing has been made yet."""
        config = self.config(stack)
        for change in changes:
            change(config)
        folder = self.processes.folder / f"{next(self._numbers):02}-{stack}"
        return Deployment.create(self.processes, folder, stack, config, self.environment)
