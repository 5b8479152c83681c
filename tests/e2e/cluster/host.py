"""Run the controllers that charts install: for each of their pods the real program, as a process of this machine.

It plays the kubelet of those pods (mounts, service account, readiness, restarts) and the certificate manager of their
webhooks. The pod's own configuration, arguments and permissions are used; only what names the pod's network and disk is
changed: ports and folders become local ones, and leader election is off, as each Deployment has one process.
"""

from __future__ import annotations

import base64
import logging
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import requests
import yaml

from tests.e2e.cluster import podstatus, webhook_ca
from tests.e2e.cluster.credentials import Credentials
from tests.e2e.cluster.kube import Kube, KubeError, Object, wait_for
from tests.e2e.cluster.processes import Process, Processes, free_port
from tests.e2e.tools.build import Tool

HOSTED_LABEL = "app.kubernetes.io/name"
HOSTED_NAMES = ("jobset", "kueue", "lws")
_WEBHOOK_PORT = 9443
_CONFIG_FILE = "controller_manager_config.yaml"
# Kueue's aggregated API keeps its certificates in a folder of the file system's root: the one part not run here.
_EXTRA_ARGUMENTS = {"kueue": ("--feature-gates=VisibilityOnDemand=false",)}
# Makes its webhooks' certificates and trust itself, in the folder it is told; the others only know a fixed folder or
# the namespace file of a real pod.
_OWN_CERTIFICATES = "kueue"
_log = logging.getLogger(__name__)


@dataclass
class Hosted:
    """A pod and the process that stands for it."""

    pod: Object
    tool: Tool
    address: str
    service: str
    folder: Path
    command: list[str]
    environment: dict[str, str]
    webhook_port: int
    health_port: int
    process: Process | None = None
    ready: bool = False
    restarts: int = -1
    not_before: float = 0.0

    @property
    def namespace(self) -> str:
        """The pod's namespace."""
        return str(self.pod["metadata"]["namespace"])

    @property
    def name(self) -> str:
        """The pod's name."""
        return str(self.pod["metadata"]["name"])


@dataclass
class ControllerHost:
    """Watches for pods of known controllers and runs their processes until stopped.

    Args:
        kube: A client of its own, for the host's thread.
        credentials: Signs the webhooks' certificates.
        processes: Where the processes run.
        tools: Programs by name; a pod of a version that is not there stays in `ErrImagePull`.
    """

    kube: Kube
    credentials: Credentials
    processes: Processes
    tools: Mapping[str, Tool]
    hosted: dict[str, Hosted] = field(default_factory=dict)
    _down: set[str] = field(default_factory=set)
    _stop: threading.Event = field(default_factory=threading.Event)
    _addresses: Iterator[int] = field(default_factory=lambda: iter(range(2, 65000)))

    def start(self) -> None:
        """Start watching."""
        self._thread = threading.Thread(target=self._run, name="controller-host", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop watching and end the processes."""
        self._stop.set()
        self._thread.join(30)
        for hosted in list(self.hosted.values()):
            self._end(hosted)

    def local_port(self, address: str, port: int) -> int | None:
        """The local port behind a hosted pod's address and port; None if no ready process is there."""
        for hosted in list(self.hosted.values()):
            if (hosted.address, _WEBHOOK_PORT) == (address, port) and hosted.process is not None:
                return hosted.webhook_port
        return None

    def running(self, program: str) -> list[Hosted]:
        """The pods of a program (`jobset`, `kueue`, `lws`) that have a ready process."""
        return [h for h in list(self.hosted.values()) if h.tool.program.binary_name == program and h.ready]

    @contextmanager
    def without(self, program: str) -> Iterator[None]:
        """A program is killed and stays down for the body of a `with`: its webhooks do not answer."""
        self._down.add(program)
        try:
            wait_for(f"{program} ended", lambda: not self._processes_of(program))
            yield
        finally:
            self._down.discard(program)

    def _processes_of(self, program: str) -> list[Process]:
        hosted = [h for h in list(self.hosted.values()) if h.tool.program.binary_name == program]
        return [h.process for h in hosted if h.process is not None]

    def _run(self) -> None:
        # Looking costs several requests; where all is well there is less to see.
        while not self._stop.wait(0.2 if self._unsettled() else 0.6):
            self._guarded(self._round)

    def _unsettled(self) -> bool:
        return any(not hosted.ready for hosted in self.hosted.values())

    def _guarded(self, step: Callable[..., None], *arguments: Any) -> None:
        """One pod's trouble is not another's, and the API server may be down on purpose: the next round tries again."""
        try:
            step(*arguments)
        except (KubeError, requests.RequestException, OSError) as error:
            _log.warning("controller host: %s: %s", step.__name__, error)

    def _round(self) -> None:
        pods = self.kube.objects("Pod", labels=f"{HOSTED_LABEL} in ({','.join(HOSTED_NAMES)})")
        live = {p["metadata"]["uid"]: p for p in pods if "deletionTimestamp" not in p["metadata"]}
        for uid in set(self.hosted) - set(live):
            self._end(self.hosted.pop(uid))
        for uid, pod in live.items():
            if uid not in self.hosted and pod["spec"].get("nodeName"):
                self._guarded(self._admit, uid, pod)
        for hosted in list(self.hosted.values()):
            self._guarded(self._attend, hosted)

    def _admit(self, uid: str, pod: Object) -> None:
        tool, wanted = self._tool_for(pod)
        if tool is None:
            waiting = podstatus.waiting(pod, "ErrImagePull", f"this machine has no {wanted}")
            if pod.get("status", {}).get("containerStatuses") != waiting["containerStatuses"]:
                self._patch_status(pod, waiting)
            return
        self.hosted[uid] = self._prepare(pod, tool)

    def _tool_for(self, pod: Object) -> tuple[Tool | None, str]:
        """The program of the version that the image's tag names, else the chart's label, else the only one there is."""
        labels = pod["metadata"]["labels"]
        name = labels[HOSTED_LABEL]
        tag = pod["spec"]["containers"][0]["image"].rpartition(":")[2]
        version = tag if re.fullmatch(r"v?\d+\.\d+\.\d+", tag) else labels.get("app.kubernetes.io/version", "")
        version = version.removeprefix("v")
        if not version:
            return self.tools.get(name), name
        found = {t.program.version.removeprefix("v"): t for t in self.tools.values() if t.program.binary_name == name}
        return found.get(version), f"{name} {version}"

    def _prepare(self, pod: Object, tool: Tool) -> Hosted:
        meta, spec = pod["metadata"], pod["spec"]
        folder = self.processes.folder / "pods" / meta["name"]
        folder.mkdir(parents=True, exist_ok=True)
        namespace = meta["namespace"]
        config = self._config(pod)
        certificates = dict(config.get("internalCertManagement") or {})
        service = certificates.get("webhookServiceName") or f"{tool.program.binary_name}-webhook-service"
        if tool.program.binary_name != _OWN_CERTIFICATES:
            certificates["enable"] = False
            self.credentials.issue(folder, f"{service}.{namespace}.svc")
        hosted = Hosted(
            pod,
            tool,
            address=_address(next(self._addresses)),
            service=service,
            folder=folder,
            command=[],
            environment={},
            webhook_port=free_port(),
            health_port=free_port(),
        )
        config |= {
            "webhook": (config.get("webhook") or {})
            | {"host": "127.0.0.1", "port": hosted.webhook_port, "certDir": str(folder)},
            "health": {"healthProbeBindAddress": f"127.0.0.1:{hosted.health_port}"},
            "metrics": {"bindAddress": "0"},
            "leaderElection": {"leaderElect": False},
            "internalCertManagement": certificates,
        }
        if tool.program.binary_name == "kueue":  # in a pod it reads this from the service account's folder
            config.setdefault("namespace", namespace)
        config_file = folder / _CONFIG_FILE
        config_file.write_text(yaml.safe_dump(config))
        container = spec["containers"][0]
        arguments = [a for a in container.get("args", []) if not a.startswith("--config=")]
        extra = _EXTRA_ARGUMENTS.get(tool.program.binary_name, ())
        hosted.command = [str(tool.binary), f"--config={config_file}", *arguments, *extra]
        token = self._token(namespace, spec.get("serviceAccountName", "default"))
        kubeconfig = self.credentials.kubeconfig(folder / "kubeconfig", self.kube.server, token)
        variables = {e["name"]: e["value"] for e in container.get("env", []) if "value" in e}
        hosted.environment = variables | {"KUBECONFIG": str(kubeconfig), "POD_NAMESPACE": namespace}
        return hosted

    def _config(self, pod: Object) -> dict[str, Any]:
        """The controller's configuration from the ConfigMap that the pod mounts."""
        for volume in pod["spec"].get("volumes", []):
            if "configMap" in volume:
                found = self.kube.get("ConfigMap", volume["configMap"]["name"], pod["metadata"]["namespace"])
                if found is not None and _CONFIG_FILE in found.get("data", {}):
                    config: dict[str, Any] = yaml.safe_load(found["data"][_CONFIG_FILE])
                    return config
        message = f"pod {pod['metadata']['name']} mounts no ConfigMap with {_CONFIG_FILE}"
        raise OSError(message)

    def _token(self, namespace: str, account: str) -> str:
        path = self.kube.path("ServiceAccount", namespace, account) + "/token"
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 86400}}
        return str(self.kube.request("POST", path, json=body)["status"]["token"])

    def _attend(self, hosted: Hosted) -> None:
        """One look at a pod's process: start it, end it, or report a change of readiness."""
        down = hosted.tool.program.binary_name in self._down
        if hosted.process is not None and (down or not hosted.process.alive()):
            self.processes.stop(hosted.process, patience=0)
            hosted.process, hosted.not_before = None, time.monotonic() + 1
        if hosted.process is None and not down and time.monotonic() >= hosted.not_before:
            self._remove_aggregated_apis(hosted.namespace)
            hosted.process = self.processes.start(hosted.name, hosted.command, hosted.environment, hosted.folder)
            hosted.restarts += 1
            if hosted.tool.program.binary_name != _OWN_CERTIFICATES:
                webhook_ca.inject_into_conversions(self.kube, self.credentials.ca_pem, hosted.namespace, hosted.service)
        if hosted.tool.program.binary_name == _OWN_CERTIFICATES:
            self._mount_certificates(hosted)
        elif hosted.process is not None:
            webhook_ca.inject_into_webhooks(self.kube, self.credentials.ca_pem, hosted.namespace, hosted.service)
        ready = hosted.process is not None and _answers(hosted.health_port)
        if ready != hosted.ready or "status" not in hosted.pod or not hosted.pod["status"].get("podIP"):
            status = podstatus.running(hosted.pod, hosted.address, ready=ready, restarts=max(hosted.restarts, 0))
            hosted.pod = self._patch_status(hosted.pod, status)
            hosted.ready = ready

    def _mount_certificates(self, hosted: Hosted) -> None:
        """The pod's Secret volumes in its folder, as a kubelet keeps them, only without its minute of delay."""
        for volume in hosted.pod["spec"].get("volumes", []):
            name = volume.get("secret", {}).get("secretName")
            secret = self.kube.get("Secret", name, hosted.namespace) if name else None
            for key, value in ((secret or {}).get("data") or {}).items():
                content, file = base64.b64decode(value), hosted.folder / key
                if content and (not file.exists() or file.read_bytes() != content):
                    file.write_bytes(content)

    def _patch_status(self, pod: Object, status: Object) -> Object:
        meta = pod["metadata"]
        return self.kube.patch("Pod", meta["name"], meta["namespace"], {"status": status}, sub="status")

    def _remove_aggregated_apis(self, namespace: str) -> None:
        """An aggregated API that never answers would hold up the deletion of every namespace."""
        for found in self.kube.objects("APIService"):
            if (found["spec"].get("service") or {}).get("namespace") == namespace:
                self.kube.delete("APIService", found["metadata"]["name"])

    def _end(self, hosted: Hosted) -> None:
        if hosted.process is not None:
            self.processes.stop(hosted.process)
            hosted.process = None
        shutil.rmtree(hosted.folder, ignore_errors=True)


def _address(number: int) -> str:
    """An address outside the nodes' pod ranges, as pods of the system pool would have."""
    return f"10.80.{number // 256}.{number % 256}"


def _answers(port: int) -> bool:
    try:
        session = requests.Session()
        session.trust_env = False
        return session.get(f"http://127.0.0.1:{port}/readyz", timeout=1).ok
    except requests.RequestException:
        return False
