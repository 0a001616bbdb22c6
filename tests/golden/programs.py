"""Golden cases that are more than commands: help pages, public names, the library, pytest's plugin, the viewer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import click
from click.testing import CliRunner
from golden_case import case
from library_calls import compat_calls, library_calls
from public_names import public_names
from viewing import viewed

from hallumeter.cli.main import main

CHECKED = """
EVIDENCE = "The tower is 330 m high and stands in Paris."


def test_supported(hallumeter):
    hallumeter.check("The tower is 330 m high.", EVIDENCE)


def test_unsupported(hallumeter):
    hallumeter.check("The tower is 999 m high. It stands in Paris.", [EVIDENCE], "How high?", judge="rules")


def test_nothing_to_measure(hallumeter):
    hallumeter.check("", EVIDENCE)
"""
SETTINGS = "[pytest]\nhallumeter_policy = policy.toml\nhallumeter_judge = rules\n"
# Where the package is not installed with its entry points, the plugin is named.
IS_INSTALLED = bool([each for each in entry_points(group="pytest11") if each.name == "hallumeter"])
NAMED = [] if IS_INSTALLED else ["-p", "hallumeter.pytest_plugin"]
LOOSE = 'name = "p"\n[[bounds]]\nmetric = "mihr"\nat_most = 0.5\n'


def commands_below(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Words of all commands, groups too."""
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands_below(below, (*path, name))


def help_of(words: tuple[str, ...]) -> str:
    """A help page as it is printed."""
    result = CliRunner().invoke(main, [*words, "--help"], prog_name="hallumeter")
    return f"$ hallumeter {' '.join((*words, '--help'))}\nexit code {result.exit_code}\n{result.output}"


def options_of_the_plugin() -> str:
    """What pytest's users can set."""
    lines = subprocess.run(
        [sys.executable, "-m", "pytest", *NAMED, "-p", "no:xdist", "--help"],
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout.splitlines()
    places = [number for number, line in enumerate(lines) if "hallumeter_" in line and ":" in line]
    return "\n".join(" ".join(" ".join(lines[place : place + 2]).split()) for place in places)


def plugin(folder: Path) -> list[str]:
    """What a test says that fails."""
    (folder / "test_checked.py").write_text(CHECKED, encoding="utf-8")
    said = []
    for settings in ("[pytest]\n", SETTINGS):
        (folder / "pytest.ini").write_text(settings, encoding="utf-8")
        (folder / "policy.toml").write_text(LOOSE, encoding="utf-8")
        words = [*NAMED, "-p", "no:cacheprovider", "-p", "no:xdist", "-q", "--tb=line", "-rA"]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *words], capture_output=True, encoding="utf-8", check=False
        )
        kept = [line for line in done.stdout.splitlines() if " in " not in line or "hallumeter" in line]
        said += [settings, f"exit code {done.returncode}", *kept]
    return ["\n".join([options_of_the_plugin(), *said])]


PROGRAMS = (
    *(
        case("-".join(("help", *words)), program=lambda _, words=words: [help_of(words)], digests=False)  # type: ignore[misc]
        for words in commands_below(main)
    ),
    case("public-names", program=lambda _: public_names(), digests=False),
    case("library", program=library_calls, given="verdicts-jsonl answers rag newspapers"),
    case("compat", program=compat_calls),
    case("pytest-plugin", program=plugin, digests=False),
    case("view-audit", program=viewed, after="compare-two", digests=False),
    case(
        "view-fr", program=lambda folder: viewed(folder, "--language", "fr"), after="transcripts-folders", digests=False
    ),
    case("view-ko", program=lambda folder: viewed(folder, "--language", "ko"), after="audit-rules", digests=False),
)
