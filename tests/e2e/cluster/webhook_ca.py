"""What a certificate manager does for webhooks: write the authority into every configuration that names a Service."""

from __future__ import annotations

import base64

from tests.e2e.cluster.kube import Kube, Object

_CONFIGURATIONS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
_DEFINITION = "CustomResourceDefinition"


def inject_into_webhooks(kube: Kube, ca_pem: bytes, namespace: str, service: str) -> None:
    """Admission webhooks of this Service trust this authority; already right ones are not written."""
    bundle = _encoded(ca_pem)
    for kind in _CONFIGURATIONS:
        for found in kube.objects(kind):
            operations: list[Object] = [
                {"op": "add", "path": f"/webhooks/{index}/clientConfig/caBundle", "value": bundle}
                for index, webhook in enumerate(found.get("webhooks", []))
                if _lacks(webhook["clientConfig"], bundle, namespace, service)
            ]
            if operations:
                kube.patch(kind, found["metadata"]["name"], None, operations)


def inject_into_conversions(kube: Kube, ca_pem: bytes, namespace: str, service: str) -> None:
    """The same for conversion webhooks of custom resource definitions."""
    bundle = _encoded(ca_pem)
    for found in kube.objects(_DEFINITION):
        client = found["spec"].get("conversion", {}).get("webhook", {}).get("clientConfig", {})
        if _lacks(client, bundle, namespace, service):
            operation: Object = {
                "op": "add",
                "path": "/spec/conversion/webhook/clientConfig/caBundle",
                "value": bundle,
            }
            kube.patch(_DEFINITION, found["metadata"]["name"], None, [operation])


def _lacks(client: Object, bundle: str, namespace: str, service: str) -> bool:
    target = client.get("service", {})
    ours = (target.get("namespace"), target.get("name")) == (namespace, service)
    return ours and client.get("caBundle") != bundle


def _encoded(pem: bytes) -> str:
    return base64.b64encode(pem).decode()
