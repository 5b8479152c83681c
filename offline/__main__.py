"""`python -m offline`."""

from __future__ import annotations

import gc
import os
import sys

if __name__ == "__main__":
    # Looking for plugins reads the metadata of all that is installed: a sixth of the time of a short answer.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    gc.disable()  # a short process: collecting costs more than it frees
    from offline.cli import main

    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # The interpreter would take its time to unload two thousand modules one by one.
    os._exit(status)
