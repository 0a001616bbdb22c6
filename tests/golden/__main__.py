"""Record the golden files anew, compare with them, or keep what cases write, to be looked at.

python tests/golden --record                  all
python tests/golden --record audit-rules      some, by the beginning of their names
python tests/golden audit                     compare
python tests/golden audit-rules --keep /tmp/a run, and keep the folders
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from pathlib import Path

from cases import CASES
from comparing import RECORDED, differences, record, stale
from given_files import PACKAGE
from playing import Stage


def main() -> int:
    """The exit code: 1 when something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="how the names of cases begin; default: all")
    parser.add_argument("--record", action="store_true", help="write what cases say now")
    parser.add_argument("--keep", type=Path, help="run cases in this folder and leave what they write there")
    options = parser.parse_args()
    chosen = [name for name in CASES if not options.names or name.startswith(tuple(options.names))]
    is_different = False
    sys.stderr.write(f"the package in {PACKAGE}\n")
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        stage = Stage(folder, CASES, keeps=options.keep is not None)
        for name in chosen:
            start = time.process_time()
            try:
                played = stage.play(name)
            except Exception:
                sys.stderr.write(f"{name}:\n{traceback.format_exc()}")
                is_different = True
                continue
            changed = differences(name, played)
            if options.record:
                record(name, played)
            elif changed:
                is_different = True
                sys.stdout.write(changed)
            said = "differs" if changed else "same"
            sys.stderr.write(f"{time.process_time() - start:6.2f} s  {said:8} {name}\n")
    if options.record and not options.names:
        for path in stale(CASES):
            path.unlink()
            sys.stderr.write(f"removed {path.relative_to(RECORDED)}\n")
    return int(is_different)


if __name__ == "__main__":
    sys.exit(main())
