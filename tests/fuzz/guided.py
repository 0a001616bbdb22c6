"""The same cases as `fuzzing.py`, chosen by atheris for the code that they reach: a program of its own.

    python tests/fuzz/guided.py CASES SECONDS SEED TARGET

It prints one JSON object, as `fuzzing.py` does.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path

import atheris
import fuzzing
from fuzzed_files import TARGETS


def program(cases: int, seconds: float, number: int, name: str) -> None:
    """Fuzz one target; atheris ends the process itself."""
    with tempfile.TemporaryDirectory() as place:
        fuzzed = fuzzing.Fuzzed(Path(place) / "target", TARGETS[name])
        target = fuzzed.target
        contents = {file: Path(file).read_bytes() for file in target.files}
        for alarm in (signal.SIGALRM, signal.SIGPROF):
            signal.signal(alarm, signal.SIG_IGN)  # to instrument what is imported takes long, once
        # Commands import what they need when they run: what is imported here is watched from then on.
        with atheris.instrument_imports(include=["hallumeter"], enable_loader_override=False):
            for words in target.commands:
                fuzzed.case(words, target.files[0], contents[target.files[0]])

        begun = time.monotonic()

        def end() -> None:
            took = round(time.monotonic() - begun, 2)
            found = {name: {"cases": fuzzed.cases, "seconds": took, "faults": list(fuzzed.faults.values())}}
            sys.stdout.write(json.dumps(found) + "\n")
            sys.stdout.flush()
            os._exit(0)

        def one(data: bytes) -> None:
            if fuzzed.cases >= cases or time.monotonic() - begun > seconds:
                end()
            drawn = atheris.FuzzedDataProvider(data)
            words = target.commands[drawn.ConsumeIntInRange(0, len(target.commands) - 1)]
            file = target.files[drawn.ConsumeIntInRange(0, len(target.files) - 1)]
            content = contents[file]
            for _ in range(drawn.ConsumeIntInRange(1, 3)):
                change = fuzzing.CHANGES[drawn.ConsumeIntInRange(0, len(fuzzing.CHANGES) - 1)]
                places = (drawn.ConsumeIntInRange(0, 1 << 20), drawn.ConsumeIntInRange(0, 1 << 20))
                hostile = fuzzing.HOSTILE[drawn.ConsumeIntInRange(0, len(fuzzing.HOSTILE) - 1)]
                content = fuzzing.changed(content, change, places, hostile)
            fuzzed.case(words, file, content)

        atheris.Setup([sys.argv[0], f"-seed={number}", "-max_len=64", "-verbosity=0", "-rss_limit_mb=0"], one)
        fuzzing.catch_hangs()
        resource.setrlimit(resource.RLIMIT_AS, (fuzzing.BYTES, fuzzing.BYTES))
        atheris.Fuzz()


if __name__ == "__main__":
    _, _cases, _seconds, _number, _name = sys.argv
    program(int(_cases), float(_seconds), int(_number), _name)
