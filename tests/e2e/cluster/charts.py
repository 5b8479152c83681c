"""Install the controllers by their own charts, with the Helm release that the Kubernetes provider embeds."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from tests.e2e.cluster.control_plane import ControlPlane
from tests.e2e.cluster.kube import wait_for


@dataclass(frozen=True)
class Chart:
    """A chart of one of the Go modules.

    Attributes:
        tool: Program whose folder holds the chart.
        name: Chart, release and program.
    """

    tool: str
    name: str

    @property
    def namespace(self) -> str:
        """Where it is installed."""
        return f"{self.name}-system"


JOBSET = Chart("jobset", "jobset")
JOBSET_PREVIOUS = Chart("jobset-previous", "jobset")
KUEUE = Chart("kueue", "kueue")
LWS = Chart("lws", "lws")


def install(plane: ControlPlane, chart: Chart, values: Mapping[str, str] | None = None) -> None:
    """Install or upgrade a chart and wait until its controller answers.

    Args:
        plane: Needs a node without taints for the controller's pod.
        chart: Which one.
        values: `--set` values.

    Raises:
        AssertionError: Helm failed or the controller did not become ready; the message has the last lines.
    """
    folder = plane.tools[chart.tool].folder / "charts" / chart.name
    settings = [f"--set={key}={value}" for key, value in (values or {}).items()]
    _helm(plane, chart, "upgrade", "--install", chart.name, str(folder), "--create-namespace", *settings)

    def deployed() -> bool:
        deployments = plane.kube.objects("Deployment", chart.namespace)
        return bool(deployments) and all(
            d.get("status", {}).get("readyReplicas") == d["spec"]["replicas"]
            and d["status"].get("observedGeneration") == d["metadata"]["generation"]
            and d["status"].get("updatedReplicas") == d["status"].get("replicas")
            for d in deployments
        )

    try:
        wait_for(f"{chart.name} ready", deployed, seconds=60)
    except AssertionError as error:
        logs = {name: text for name, text in plane.processes.tails().items() if name.startswith(chart.name)}
        pods = [p.get("status", {}) for p in plane.kube.objects("Pod", chart.namespace)]
        message = f"{error}\npods: {pods}\nlogs: {logs}"
        raise AssertionError(message) from error


def uninstall(plane: ControlPlane, chart: Chart) -> None:
    """Remove a release; custom resource definitions of a chart's `crds` folder stay, as Helm leaves them."""
    _helm(plane, chart, "uninstall", chart.name, "--wait")


def _helm(plane: ControlPlane, chart: Chart, *words: str) -> None:
    command = [
        str(plane.tools["helm"].binary),
        *words,
        f"--namespace={chart.namespace}",
        f"--kubeconfig={plane.kubeconfig}",
    ]
    home = plane.processes.folder / "helm"
    run = subprocess.run(
        command, capture_output=True, text=True, check=False, env={"HOME": str(home), "PATH": ""}, timeout=120
    )
    if run.returncode != 0:
        message = f"`{' '.join(command)}`:\n{run.stderr[-2000:]}"
        raise AssertionError(message)
