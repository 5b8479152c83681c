"""Build the programs of the real-engine suite: `python -m tests.e2e.tools [PROGRAM …]`."""

from __future__ import annotations

import argparse
import shutil
import sys
import time

from tests.e2e.tools.build import ToolError, cache_folder, ensure, missing, without_go
from tests.e2e.tools.programs import BY_NAME, PROGRAMS


def main(arguments: list[str] | None = None) -> int:
    """Build, or with `--missing` only say what would be built; 0 when everything asked for is there.

    Without Go nothing can be built, which is said and no failure: the tests leave out what needs it.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.tools", description=__doc__)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=f"default: all of {', '.join(BY_NAME)}")
    parser.add_argument("--missing", action="store_true", help="only list what would have to be built")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.programs) - set(BY_NAME))
    if unknown:
        parser.error(f"no such program: {', '.join(unknown)}; there are {', '.join(BY_NAME)}")
    wanted = [BY_NAME[name] for name in options.programs] or list(PROGRAMS)
    if options.missing:
        absent = missing(wanted)
        for program in absent:
            print(f"{program.name} {program.version}")
        return 1 if absent else 0
    if shutil.which("go") is None and (absent := missing(wanted)):
        print(without_go(absent))
        return 0
    print(f"programs of the real-engine suite in {cache_folder()}")
    start = time.monotonic()
    try:
        ensure(wanted, say=lambda line: print(line, flush=True))
    except ToolError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"all there after {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
