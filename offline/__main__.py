"""`python -m offline`."""

from __future__ import annotations

import gc
import os
import sys

from offline.cli import main

if __name__ == "__main__":
    gc.disable()  # a short process: collecting costs more than it frees
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # The interpreter would take its time to unload two thousand modules one by one.
    os._exit(status)
