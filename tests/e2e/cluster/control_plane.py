"""etcd, API server, controller manager, scheduler and simulated kubelets on loopback, as one object."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.cluster.credentials import Credentials
from tests.e2e.cluster.host import ControllerHost
from tests.e2e.cluster.kube import Kube, wait_for
from tests.e2e.cluster.kwok import stage_files
from tests.e2e.cluster.network import ServiceNetwork
from tests.e2e.cluster.processes import Process, Processes, free_port
from tests.e2e.tools.build import Tool

# Ranges as a VPC-native cluster has them; no packet is ever sent to one.
SERVICE_RANGE = "10.0.0.0/16"
POD_RANGE = "10.64.0.0/12"
PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
# Go collects garbage whenever the heap has doubled: a quarter of their work, with memory to spare for some minutes.
_RARE_COLLECTION = {"GOGC": "400", "GOMEMLIMIT": "1GiB"}


@dataclass(repr=False)
class ControlPlane:
    """A running control plane.

    Attributes:
        tools: The programs, by name.
        processes: Where everything runs; its folder holds all files.
        credentials: Certificate authority and admin token.
        server: URL of the API server, also after a restart.
        kube: A client with all rights, for the thread that made the control plane.
        host: Runs the processes of the controllers that charts install.
    """

    tools: Mapping[str, Tool]
    processes: Processes
    credentials: Credentials
    server: str
    kube: Kube
    network: ServiceNetwork
    host: ControllerHost
    started: dict[str, Process] = field(default_factory=dict)

    @classmethod
    def start(cls, tools: Mapping[str, Tool], processes: Processes) -> ControlPlane:
        """Start everything and wait until the API server is ready.

        Raises:
            AssertionError: A program ended, or the API server was not ready in time; the message has the log's end.
        """
        credentials = Credentials.create(processes.folder / "credentials")
        server = f"https://127.0.0.1:{free_port()}"
        kube = Kube(server, credentials.ca_file, credentials.admin_token)
        host = ControllerHost(kube.copy(), credentials, processes, tools)
        network = ServiceNetwork(processes.folder / "network.sock", kube.copy(), host.local_port)
        plane = cls(tools, processes, credentials, server, kube, network, host)
        network.start()
        plane._start_etcd()
        plane._start_api_server()
        kubeconfig = credentials.kubeconfig(plane.kubeconfig, server)
        plane._start_controllers(kubeconfig)
        host.start()
        wait_for("a default service account", lambda: kube.get("ServiceAccount", "default", "default"))
        return plane

    @property
    def kubeconfig(self) -> Path:
        """A kubeconfig with the admin token."""
        return self.processes.folder / "admin.kubeconfig"

    @property
    def ca_pem(self) -> bytes:
        """The certificate that signs the API server's, PEM."""
        return self.credentials.ca_pem

    def stop(self) -> None:
        """End the stand-ins and all programs; the processes' folder stays."""
        self.host.stop()
        for process in reversed(list(self.started.values())):
            self.processes.stop(process)
        self.network.stop()

    @contextmanager
    def without_api_server(self) -> Iterator[None]:
        """The API server is killed for the body of a `with`, and back under the same address after it."""
        self.processes.stop(self.started["kube-apiserver"], patience=0)
        yield
        self._start_api_server()

    def restart_api_server(self, downtime: float = 0) -> None:
        """Kill the API server, wait `downtime` seconds, start it again and wait until it is ready."""
        with self.without_api_server():
            time.sleep(downtime)

    def _run(self, name: str, *flags: str) -> None:
        self.started[name] = self.processes.start(name, [self.tools[name].binary, *flags], _RARE_COLLECTION)

    def _start_etcd(self) -> None:
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        self._etcd = client
        self._run(
            "etcd",
            f"--data-dir={self.processes.folder / 'etcd'}",
            *(f"--{flag}-client-urls={client}" for flag in ("listen", "advertise")),
            *(f"--{flag}-peer-urls={peer}" for flag in ("listen", "initial-advertise")),
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",  # the data lives as long as the run
            "--log-level=warn",
        )

    def _start_api_server(self) -> None:
        files = self.credentials
        self._run(
            "kube-apiserver",
            f"--etcd-servers={self._etcd}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self.server.rpartition(':')[2]}",
            "--endpoint-reconciler-type=none",  # it would refuse to advertise loopback
            f"--tls-cert-file={files.folder / 'tls.crt'}",
            f"--tls-private-key-file={files.folder / 'tls.key'}",
            f"--client-ca-file={files.ca_file}",
            f"--service-account-key-file={files.service_account_key}",
            f"--service-account-signing-key-file={files.service_account_key}",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-cluster-ip-range={SERVICE_RANGE}",
            "--authorization-mode=Node,RBAC",
            f"--token-auth-file={files.token_file}",
            "--allow-privileged=true",
            f"--egress-selector-config-file={self.network.write_egress_config(self.processes.folder)}",
        )
        process = self.started["kube-apiserver"]

        def ready() -> bool:
            dead = [p for p in self.started.values() if not p.alive()]
            if dead:
                message = f"{dead[0].name} ended with {dead[0].child.poll()}:\n{dead[0].tail()}"
                raise RuntimeError(message)
            return self.kube.ready()

        try:
            wait_for("ready", ready, seconds=60)
        except AssertionError as error:
            message = f"API server: {error}\n{process.tail()}"
            raise AssertionError(message) from error

    def _scheduler_config(self, kubeconfig: Path) -> Path:
        """A pod that found no place is tried again after a second; up to ten, the default, a test would only wait."""
        config = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 200, "burst": 400},
            "leaderElection": {"leaderElect": False},
            "podMaxBackoffSeconds": 1,
        }
        file = self.processes.folder / "scheduler.json"
        file.write_text(json.dumps(config))
        return file

    def _start_controllers(self, kubeconfig: Path) -> None:
        common = [f"--{flag}={kubeconfig}" for flag in ("kubeconfig", "authentication-kubeconfig")]
        common += [f"--authorization-kubeconfig={kubeconfig}", "--leader-elect=false", "--secure-port=0"]
        self._run(
            "kube-controller-manager",
            *common,
            f"--service-account-private-key-file={self.credentials.service_account_key}",
            f"--root-ca-file={self.credentials.ca_file}",
            "--use-service-account-credentials",
            "--allocate-node-cidrs",
            f"--cluster-cidr={POD_RANGE}",
            f"--service-cluster-ip-range={SERVICE_RANGE}",
            "--kube-api-qps=200",
            "--kube-api-burst=400",
        )
        self._run("kube-scheduler", *common, f"--config={self._scheduler_config(kubeconfig)}")
        stages = stage_files(self.tools["kwok"].folder, self.processes.folder / "stages")
        self._run(
            "kwok",
            f"--kubeconfig={kubeconfig}",
            "--manage-all-nodes=false",
            "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
            "--node-lease-duration-seconds=40",
            "--server-address=127.0.0.1:0",
            *(f"--config={stage}" for stage in stages),
        )
