"""Loads what every run of the program loads but its own modules; imported by the process that runs are forked from."""

from __future__ import annotations

import gc

import pulumi_kubernetes as kubernetes
from pulumi import automation  # noqa: F401
from pulumi_gcp import artifactregistry, compute, container, organizations, projects, serviceaccount, storage

import components.stack  # noqa: F401 - for what it imports; the program of a copy loads its own modules
import pathways.load  # noqa: F401

# The SDKs load a part at its first use.
for _part in (artifactregistry, compute, container, organizations, projects, serviceaccount, storage):
    hasattr(_part, "outputs")  # an attribute that it has not is one as well
for _part in (kubernetes.core.v1, kubernetes.networking.v1, kubernetes.helm.v3, kubernetes.apiextensions):
    hasattr(_part, "outputs")  # an attribute that it has not is one as well
gc.freeze()  # so that the collector of a fork does not write into, and so copy, all of it
