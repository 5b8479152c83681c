"""The logic of `.github/workflows`: which stacks a change affects, the sticky comment, and what the engine is asked.

The standard library only, beside the renderer of `offline.diff`: the job that may comment installs nothing.
"""
