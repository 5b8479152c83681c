"""Certificates, tokens and kubeconfigs of a control plane, and the credential plugin that a kubeconfig calls."""

from __future__ import annotations

import json
import secrets
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trustme
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

PLUGIN_NAME = "gke-gcloud-auth-plugin"


@dataclass(frozen=True)
class Credentials:
    """What a control plane needs before its first start.

    Attributes:
        folder: Where the files are.
        authority: Signs the API server's certificate and those of the webhooks.
        admin_token: Bearer token of a user in `system:masters`.
    """

    folder: Path
    authority: trustme.CA
    admin_token: str

    @classmethod
    def create(cls, folder: Path) -> Credentials:
        """Make a certificate authority, the API server's certificate, the service-account key and the token file."""
        folder.mkdir(parents=True)
        credentials = cls(folder, trustme.CA(), secrets.token_urlsafe(24))
        credentials.authority.cert_pem.write_to_path(credentials.ca_file)
        credentials.issue(folder, "127.0.0.1", "localhost")
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        credentials.service_account_key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
            )
        )
        _write_private(credentials.token_file, f'{credentials.admin_token},admin,admin,"system:masters"\n')
        return credentials

    @property
    def ca_file(self) -> Path:
        """The authority's certificate."""
        return self.folder / "ca.crt"

    @property
    def ca_pem(self) -> bytes:
        """The authority's certificate, PEM."""
        return self.ca_file.read_bytes()

    @property
    def service_account_key(self) -> Path:
        """Signs the tokens of service accounts."""
        return self.folder / "service-account.key"

    @property
    def token_file(self) -> Path:
        """The API server's `--token-auth-file`."""
        return self.folder / "tokens.csv"

    def issue(self, folder: Path, *names: str) -> None:
        """Write `tls.crt` and `tls.key` for these DNS names and addresses into a folder."""
        certificate = self.authority.issue_cert(*names)
        certificate.cert_chain_pems[0].write_to_path(folder / "tls.crt")
        certificate.private_key_pem.write_to_path(folder / "tls.key")

    def kubeconfig(self, file: Path, server: str, token: str | None = None) -> Path:
        """Write a kubeconfig for `server` with a token in it (default: the admin's) and return its path."""
        user = {"token": token or self.admin_token}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "e2e", "cluster": {"server": server, "certificate-authority": str(self.ca_file)}}],
            "users": [{"name": "e2e", "user": user}],
            "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "e2e"}}],
            "current-context": "e2e",
        }
        _write_private(file, yaml.safe_dump(document))
        return file


def write_auth_plugin(folder: Path, token: str) -> Path:
    """Write a `gke-gcloud-auth-plugin` that answers with this token; put `folder` first on the PATH to use it.

    It answers in the protocol of the real one (ExecCredential v1beta1), so a kubeconfig with the exec plugin works
    unchanged. The token is in a file beside it that only the user can read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    answer: dict[str, Any] = {
        "kind": "ExecCredential",
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "status": {"token": token},
    }
    _write_private(folder / "credential.json", json.dumps(answer))
    plugin = folder / PLUGIN_NAME
    plugin.write_text('#!/bin/sh\nexec cat "$(dirname "$0")/credential.json"\n')
    plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
    return plugin


def _write_private(file: Path, text: str) -> None:
    file.touch(mode=0o600)
    file.write_text(text)
