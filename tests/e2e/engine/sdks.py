"""Loads what every run of the program loads; imported by the process that runs are forked from."""

from __future__ import annotations

import gc

import grpc.experimental  # noqa: F401 - loaded by every channel
import pulumi_kubernetes as kubernetes
from pulumi import log
from pulumi_gcp import artifactregistry, compute, container, organizations, projects, serviceaccount, storage

import components.stack  # noqa: F401 - the program's own modules too, which a copy without changes shares
import pathways.load  # noqa: F401

# The SDKs load a part at its first use.
for _part in (artifactregistry, compute, container, organizations, projects, serviceaccount, storage):
    hasattr(_part, "outputs")  # an attribute that it has not is one as well
for _part in (kubernetes.core.v1, kubernetes.networking.v1, kubernetes.helm.v3, kubernetes.apiextensions):
    hasattr(_part, "outputs")  # an attribute that it has not is one as well
# The SDK sends each of its own debug messages to the engine and waits, a fifth of a run; the engine throws them away.
log.debug = lambda *_, **__: None
gc.freeze()  # so that the collector of a fork does not write into, and so copy, all of it
