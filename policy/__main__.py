"""`python -m policy`, and the entry of the policy pack: the engine runs this folder, and not the package."""

import sys
from pathlib import Path

if __package__:
    from policy.cli import main

    sys.exit(main())

sys.path.insert(0, str(Path(__file__).absolute().parents[1]))
from policy.pack import serve

serve()
