"""Programs of the real-engine suite, each built from a pinned Go module of its own.

They cannot share one module: they pin different releases of the same libraries. `python -m tests.e2e.tools` builds
what is missing; the tests only look up what is there.
"""
