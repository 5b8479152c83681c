"""`python -m workflows`."""

from __future__ import annotations

import sys

from workflows.cli import main

sys.exit(main())
