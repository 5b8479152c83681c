"""Reaching a control plane: which address, and the kubeconfig for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

AUTH_PLUGIN = "gke-gcloud-auth-plugin"


@dataclass(frozen=True)
class ControlPlane:
    """A control plane's URL, and its CA (base64 PEM) where it is reached by address; its DNS name has a public one."""

    url: str
    ca: str | None


def created_server(endpoint: Literal["dns", "private", "authorized"], known: Mapping[str, Any]) -> ControlPlane:
    """The control plane of a created cluster, from its outputs `dns`, `ip`, `private_ip` and `ca`."""
    if endpoint == "dns":
        return ControlPlane(f"https://{known['dns']}", None)
    address = known["private_ip"] if endpoint == "private" else known["ip"]
    return ControlPlane(f"https://{address}", known["ca"])


def existing_server(ip: str, ca: str, dns: str | None) -> ControlPlane:
    """The control plane of an existing cluster: by its DNS name where that is open to us, else by address."""
    return ControlPlane(f"https://{dns}", None) if dns else ControlPlane(f"https://{ip}", ca)


def kubeconfig(name: str, server: ControlPlane) -> dict[str, Any]:
    """A kubeconfig without any secret: the plugin asks for a token when one is needed."""
    ca = {"certificate-authority-data": server.ca} if server.ca else {}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "clusters": [{"name": name, "cluster": {"server": server.url, **ca}}],
        "users": [
            {
                "name": name,
                "user": {
                    "exec": {
                        "apiVersion": "client.authentication.k8s.io/v1beta1",
                        "command": AUTH_PLUGIN,
                        "interactiveMode": "IfAvailable",
                        "provideClusterInfo": True,
                        "installHint": "install it with: gcloud components install gke-gcloud-auth-plugin",
                    }
                },
            }
        ],
    }
