"""`python -m offline`."""

from __future__ import annotations

import sys

from offline.cli import main

if __name__ == "__main__":
    sys.exit(main())
