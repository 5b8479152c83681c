"""What every run of the program loads but its own modules; imported once by the process that runs are forked from."""

from __future__ import annotations

import gc

from pulumi import automation  # noqa: F401

import components.stack  # noqa: F401 - for what it imports; the program of a copy loads its own
import pathways.load  # noqa: F401

gc.freeze()  # so that the collector of a fork does not write into, and so copy, all of it
