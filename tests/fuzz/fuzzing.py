"""Change valid files in ways that hypothesis draws, and run commands on them: a program of its own, within limits.

    python tests/fuzz/fuzzing.py CASES SECONDS SEED [TARGET...]

It prints one JSON object: how many cases each target had, and what went wrong.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from pathlib import Path
from types import FrameType

from click.testing import CliRunner, Result
from fuzzed_files import OUT, TARGETS, Target
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from hallumeter.cli.main import main

SECONDS_OF_A_CASE = 20
"""Of the processor; of the clock it may take fifteen times as long, on a machine that has other work."""
BYTES = 4 << 30
"""Of address space, of which libraries take a part."""
TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null|[A-Za-z_]+')
HOSTILE = (
    *(b'"\\ud800"', b'"a\\udfffb"', b'"\\ud83d\\ude00"', b"\xed\xa0\x80", b"\xff", b"\xc3", b"\0", b"\xef\xbb\xbf"),
    *(b"9" * 5000, b"-" + b"9" * 400, b"0." + b"1" * 2000, b"1e999", b"-1e999", b"1e-999", b"NaN", b"-0", b"1_0"),
    *(b"Infinity", b"nan", b"0x1F", b"9223372036854775808", b"true", b"false", b"null", b'""', b"[]", b"{}", b"~"),
    *(b"[" * 3000, b'{"a":' * 2000, b"- " * 400, b"[[[]]]", b'{"":""}', b'{"a":1,"a":2}', b"[null]", b'["x",1]'),
    *(b"2020-13-45", b'"9999-12-31T25:61:61Z"', b'"0000-00-00"', b"12:99:99", b"1979-05-27"),
    *(b"&a", b"*a", b"!!python/object:os.system", b"<<: *a", b"|", b">", b": ", b"\t", b"\r", b"\n", b"#", b"%"),
    *(b"&lol;", b"&#xD800;", b"&#0;", b"&#x110000;", b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"<![CDATA[", b"]]>", b"<a>"),
    *(b"</", b"xmlns=''", b"<?xml version='1.1'?>", b"../../../etc/passwd", b"/dev/null", b"=1+1", b'"', b"'", b"\\"),
    *("\u202e\u0000\ufeff".encode(), "é".encode("latin-1"), b"a" * 70_000, b",", b";", b"SUPPORTED", b"PK\x03\x04"),
)
CHANGES = ("token", "insert", "delete", "repeat", "byte", "cut", "swap")


class HangError(BaseException):
    """A case took too long."""


class EnoughError(KeyboardInterrupt):
    """The time is over; hypothesis lets an interruption pass at once."""


def _hang(_: int, __: FrameType | None) -> None:
    raise HangError


def catch_hangs() -> None:
    """End a case that takes too long."""
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, _hang)


def changed(content: bytes, change: str, places: tuple[int, int], hostile: bytes) -> bytes:
    """A file after one change."""
    first, last = sorted(place % (len(content) + 1) for place in places)
    near = min(last, first + 200)
    tokens = list(TOKEN.finditer(content)) if change == "token" else []
    start, end = tokens[places[0] % len(tokens)].span() if tokens else (first, first)
    made = {
        "token": content[:start] + hostile + content[end:],
        "insert": content[:first] + hostile + content[first:],
        "delete": content[:first] + content[near:],
        "repeat": content[:near] + content[first:near] * 3 + content[near:],
        "byte": content[:first] + bytes([places[1] % 256]) + content[first + 1 :],
        "cut": content[:first],
        "swap": content[:first] + content[near:last] + content[first:near] + content[last:],
    }
    return made[change]


def wrong(result: Result, target: Target, *, is_valid: bool) -> str:
    """What is wrong with how a command ended; empty when nothing is."""
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        assert result.exc_info is not None
        return "".join(traceback.format_exception(*result.exc_info)[-6:])
    allowed = {0, 3} | ({1} if target.may_be_one else set()) | (set() if is_valid else {2})
    if result.exit_code not in allowed:
        return f"exit code {result.exit_code}: {result.output[-1500:]}"
    if "Traceback (most recent" in result.output:
        return f"a traceback: {result.output[-1500:]}"
    lines = result.stderr.splitlines()
    if result.exit_code == 2 and not (lines and lines[-1].startswith("hallumeter: ")):
        return f"exit code 2 without its line: {result.output[-1500:]}"
    return ""


class Fuzzed:
    """One target in a folder of its own."""

    def __init__(self, folder: Path, target: Target) -> None:
        self.target, self.faults, self.cases = target, dict[str, str](), 0
        folder.mkdir()
        os.chdir(folder)
        target.make(folder)
        self._there = {path.relative_to(folder) for path in folder.rglob("*")}
        self._folder = folder

    def case(self, words: tuple[str, ...], file: str, content: bytes) -> None:
        """Run one command on a changed file; one that is not changed must be read."""
        original = Path(file).read_bytes()
        typed = [word.format(file=file) for word in words]
        Path(file).write_bytes(content)
        signal.setitimer(signal.ITIMER_PROF, SECONDS_OF_A_CASE)
        signal.setitimer(signal.ITIMER_REAL, 15 * SECONDS_OF_A_CASE)
        try:
            said = wrong(CliRunner().invoke(main, typed), self.target, is_valid=content == original)
        except HangError:
            said = f"no end after {SECONDS_OF_A_CASE} s: {' '.join(words)}"
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.setitimer(signal.ITIMER_PROF, 0)
            self._clean(file, original)
        self.cases += 1
        if said and len(self.faults) < 20:
            kind = said.strip().splitlines()[-1][:160]
            self.faults.setdefault(kind, f"{' '.join(words)} ({file}: {content[:3000]!r})\n{said}")

    def _clean(self, file: str, original: bytes) -> None:
        for name in (OUT, "runs"):
            if Path(name) not in self._there:
                shutil.rmtree(name, ignore_errors=True)
        for name in ("out.html", "out.jsonl"):
            Path(name).unlink(missing_ok=True)
        Path(file).write_bytes(original)


def fuzz(fuzzed: Fuzzed, cases: int, seconds: float, number: int) -> None:
    """Run that many cases, or as many as fit into the time."""
    target = fuzzed.target
    contents = {file: Path(file).read_bytes() for file in target.files}
    fuzzed.case(target.commands[0], target.files[0], contents[target.files[0]])  # imports take no time from the others
    end = time.monotonic() + seconds
    places = st.tuples(st.integers(0, 1 << 20), st.integers(0, 1 << 20))
    change = st.tuples(st.sampled_from(CHANGES), places, st.sampled_from(HOSTILE))

    @seed(number)
    @settings(
        max_examples=cases,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(target.commands), st.sampled_from(target.files), st.lists(change, min_size=1, max_size=3))
    def run(words: tuple[str, ...], file: str, changes: list[tuple[str, tuple[int, int], bytes]]) -> None:
        if time.monotonic() > end:
            raise EnoughError
        content = contents[file]
        for each in changes:
            content = changed(content, *each)
        fuzzed.case(words, file, content)

    with suppress(EnoughError):
        run()


def program(cases: int, seconds: float, number: int, names: list[str]) -> dict[str, dict[str, object]]:
    """Fuzz the targets of these names, or all."""
    found: dict[str, dict[str, object]] = {}
    catch_hangs()
    with tempfile.TemporaryDirectory() as place:
        for order, name in enumerate(names or TARGETS):
            begun = time.monotonic()
            fuzzed = Fuzzed(Path(place) / str(order), TARGETS[name])
            resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
            fuzz(fuzzed, cases, seconds, number)
            found[name] = {
                "cases": fuzzed.cases,
                "seconds": round(time.monotonic() - begun, 2),
                "faults": list(fuzzed.faults.values()),
            }
            os.chdir("/")
    return found


if __name__ == "__main__":
    _, _cases, _seconds, _number, *_names = sys.argv
    _limit = 900 if float(_seconds) <= 900 else 36_000
    resource.setrlimit(resource.RLIMIT_CPU, (_limit, _limit))
    sys.stdout.write(json.dumps(program(int(_cases), float(_seconds), int(_number), _names)))
