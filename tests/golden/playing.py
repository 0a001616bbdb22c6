"""Run a golden case in a folder of its own, and say what came of it in texts that can be compared."""

from __future__ import annotations

import functools
import gc
import hashlib
import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner
from given_files import PACKAGE, write_given
from golden_case import Case
from model_server import model_server
from normalising import Normaliser

from hallumeter.cli.main import main

MOST_CHARACTERS = 16_000
"""A longer output is recorded by its beginning and its digest."""
LINES_SHOWN = 60
LEFT_OUT = (".sqlite", ".sqlite-wal", ".sqlite-shm", ".pyc")
"""Databases differ in bytes although they hold the same."""
KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "HALLUMETER_API_KEY", "OPENAI_BASE_URL", "NO_PROXY", "no_proxy")
ENVIRONMENT = {
    "COLUMNS": "80",
    "LINES": "40",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "TZ": "UTC",
    "LOGNAME": "kim",
    "USER": "kim",
    "LANG": "C.UTF-8",
    "PYTHONIOENCODING": "utf-8",
    # onnxruntime says other last digits on other processors.
    "HALLUMETER_ENCODER": "numpy",
}


class Played(NamedTuple):
    """What is recorded of a case."""

    printed: str
    digests: dict[str, str]


@contextmanager
def _surroundings(root: Path, proxy: str | None) -> Iterator[Path]:
    """The folder, the environment and the modules of one case; all as before at the end."""
    folder = root / "work"
    folder.mkdir(exist_ok=True)
    was_in, environment, paths, modules = Path.cwd(), dict(os.environ), list(sys.path), set(sys.modules)
    # Programs that a case starts import the package that these tests import.
    os.environ.update(ENVIRONMENT, HALLUMETER_CACHE=str(root / "cache"), PYTHONPATH=str(PACKAGE.parent))
    # pytest shortens what it prints unless CI is set.
    for name in (*KEYS, "CI", "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        os.environ.pop(name, None)
    if proxy:
        os.environ["http_proxy"] = proxy
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(was_in)
        os.environ.clear()
        os.environ.update(environment)
        sys.path[:] = paths
        for name in set(sys.modules) - modules:  # modules of the case's own folder
            if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(root.resolve())):
                del sys.modules[name]


def _step(command: str, normaliser: Normaliser) -> str:
    """One command, and everything that it said."""
    words, _, source = command.partition(" < ")
    given = Path(source).read_bytes() if source else None
    result = CliRunner().invoke(main, shlex.split(words), input=given, prog_name="hallumeter")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    pieces = [f"$ hallumeter {command}".rstrip(), f"exit code {result.exit_code}"]
    for name, text in (("output", result.stdout), ("errors", result.stderr)):
        if text:
            pieces += [f"--- {name}", _shortened(normaliser.text(text))]
    return "\n".join(pieces).rstrip("\n") + "\n"


def _shortened(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text.rstrip("\n")
    digest = hashlib.sha256(text.encode()).hexdigest()[:32]
    lines = text.splitlines()
    shown = [line[:200] for line in lines[:LINES_SHOWN]]
    return "\n".join([*shown, f"... {len(lines)} lines, {len(text)} characters, sha256 {digest}"])


def _written(folder: Path) -> dict[str, tuple[int, str]]:
    """Digests of the bytes of all files, to tell which a case has written."""
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in LEFT_OUT
    }


def play(case: Case, root: Path, earlier: Path | None = None) -> Played:
    """Run a case below a folder that is empty; `earlier` is where the case that it begins with was run."""
    with ExitStack() as stack:
        proxy = stack.enter_context(model_server()) if case.has_model else None
        if earlier is not None:
            shutil.copytree(earlier, root, dirs_exist_ok=True)
        folder = stack.enter_context(_surroundings(root, proxy))
        normaliser = Normaliser(root, {proxy: "<proxy>"} if proxy else None)
        write_given(folder, case.given)
        before = _written(folder)
        texts = [_step(step, normaliser) for step in case.steps]
        if case.program is not None:
            texts += [_shortened(normaliser.text(text)) + "\n" for text in case.program(folder)]
        digests: dict[str, str] = {}
        if case.is_listed_by_digest:
            for name, digest in _written(folder).items():
                if before.get(name) != digest:
                    digests |= normaliser.digests(folder / name, name)
        gc.collect()  # what a command left open would be complained of in the next test
    return Played("\n".join(texts), digests)


class Stage:
    """Plays cases, each that others begin with only once."""

    def __init__(self, folder: Path, cases: dict[str, Case], *, keeps: bool = False) -> None:
        self._folder, self._cases, self._keeps = folder, cases, keeps
        self._play_earlier = functools.cache(self._play)

    def play(self, name: str) -> Played:
        """Run a case by name."""
        is_needed_later = any(each.after == name for each in self._cases.values())
        played, root = (self._play_earlier if is_needed_later else self._play)(name)
        if not is_needed_later and not self._keeps:
            shutil.rmtree(root)
        return played

    def _play(self, name: str) -> tuple[Played, Path]:
        case = self._cases[name]
        earlier = self._play_earlier(case.after)[1] if case.after else None
        if self._keeps:
            root = self._folder.resolve() / name
            root.mkdir()
        else:
            root = Path(tempfile.mkdtemp(prefix="case-", dir=self._folder)).resolve()
        return play(case, root, earlier), root


def written_form(digests: dict[str, str]) -> str:
    """Digests as they are recorded."""
    return json.dumps(digests, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
