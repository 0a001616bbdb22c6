"""Write what the commands on the pages print anew, below each command of a console block.

    python docs/record_output.py                     all pages
    python docs/record_output.py docs/guides/gate.md one page

Only blocks are changed in which a line is no longer printed, as `tests/test_documentation.py` would find. Long outputs
are cut with three dots; read the diff, and shorten it further where a reader needs less.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

from hallumeter.cli.main import main as command_line

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from test_documentation import PAGES, SHELLS, Block, Command, blocks_of, commands_of, plain, run_python  # noqa: E402

MOST_LINES, KEPT_LINES = 48, 32
"""Lines that are shown whole, and how many are kept of more."""


class Printed(NamedTuple):
    """What a command came to."""

    output: str
    errors: str


def record(page: Path, demo: Path) -> bool:
    """Run a page beside the samples; whether something on it was changed."""
    text = page.read_text(encoding="utf-8")
    lines = text.splitlines()
    namespace: dict[str, object] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        with resources.as_file(resources.files("hallumeter") / "samples") as samples:
            shutil.copytree(samples, folder, dirs_exist_ok=True)
        changes: list[tuple[Block, Command, Printed]] = []
        for block in blocks_of(text):
            if block.language in {"python", "pycon"}:
                with contextlib.redirect_stdout(io.StringIO()):
                    run_python(block, namespace, page)
            for command in commands_of(block) if block.language in SHELLS else ():
                printed = run(command, Path(folder), demo)
                shown = plain(printed.errors + printed.output)
                if any(line not in ("", "...") and line not in shown for line in map(plain, command.output)):
                    changes.append((block, command, printed))
    for block, command, printed in reversed(changes):
        replace(lines, block, command, printed)
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return bool(changes)


def run(command: Command, folder: Path, demo: Path) -> Printed:
    """What a command prints."""
    words = shlex.split(command.words, comments=True)
    if words[0] != "hallumeter":
        done = subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        return Printed(done.stdout, done.stderr)
    if words[1] == "demo":
        out = words[words.index("--out") + 1] if "--out" in words else "demo-run"
        shutil.copytree(demo / "demo-run", folder / out)
        return Printed((demo / "printed.txt").read_text(encoding="utf-8").replace("demo-run", out), "")
    streams = {mark: words.index(mark) for mark in "<>" if mark in words}
    given = (folder / words[streams["<"] + 1]).read_bytes() if "<" in streams else b""
    result = CliRunner().invoke(command_line, words[1 : min(streams.values(), default=len(words))], input=given)
    if ">" in streams:
        (folder / words[streams[">"] + 1]).write_bytes(result.stdout_bytes)
    return Printed("" if ">" in streams else result.stdout, result.stderr)


def replace(lines: list[str], block: Block, command: Command, printed: Printed) -> None:
    """Put what is printed in the place of what is shown."""
    start = next(
        place
        for place in range(block.line - 1, len(lines))
        if lines[place].strip().startswith("$ ")
        and command.words.split()[:3] == lines[place].split()[1:4]
        and plain(lines[place + 1 + lines[place].rstrip().endswith("\\")]) in map(plain, command.output)
    )
    start += 1 + lines[start].rstrip().endswith("\\")
    new = [*printed.output.splitlines(), *printed.errors.splitlines()]
    if len(new) > MOST_LINES:
        new = [*new[:KEPT_LINES], "..."]
    lines[start : start + len(command.output)] = new


def main() -> None:
    """Record the pages that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*", type=Path)
    chosen = [page.resolve() for page in parser.parse_args().pages] or PAGES
    os.environ.pop("COLUMNS", None)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HALLUMETER_CACHE"] = str(Path(folder) / "cache")
        demo = Path(folder)
        with contextlib.chdir(demo):
            printed = CliRunner().invoke(command_line, ["demo"]).stdout
        (demo / "printed.txt").write_text(printed, encoding="utf-8")
        for page in chosen:
            try:
                is_changed = record(page, demo)
            except Exception as error:  # The other pages are recorded all the same.
                sys.stderr.write(f"{page.name}: {type(error).__name__}: {error}\n")
                continue
            sys.stderr.write(f"{'changed' if is_changed else 'same':8} {page.name}\n")


if __name__ == "__main__":
    main()
