"""The part of the cloud that gives Services of type LoadBalancer their addresses."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import requests

from tests.e2e.cluster.kube import Kube, KubeError

_INTERNAL = "networking.gke.io/load-balancer-type"


@contextmanager
def internal_load_balancers(kube: Kube, addresses: Iterator[str]) -> Iterator[None]:
    """For the body of a `with`, every Service that asks for internal load balancing gets the next address.

    A Service without the annotation gets none, so that whoever forgets it waits in vain instead of being public.
    """
    stop, own = threading.Event(), kube.copy()

    def work() -> None:
        while not stop.wait(0.2):
            try:
                _serve(own, addresses)
            except (KubeError, requests.RequestException):
                continue  # the API server may be away; the next round tries again

    thread = threading.Thread(target=work, name="load-balancers", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(10)


def _serve(kube: Kube, addresses: Iterator[str]) -> None:
    for service in kube.objects("Service"):
        meta = service["metadata"]
        asked = service["spec"]["type"] == "LoadBalancer"
        internal = meta.get("annotations", {}).get(_INTERNAL) == "Internal"
        if asked and internal and not service.get("status", {}).get("loadBalancer", {}).get("ingress"):
            status = {"loadBalancer": {"ingress": [{"ip": next(addresses)}]}}
            kube.patch("Service", meta["name"], meta["namespace"], {"status": status}, sub="status")
