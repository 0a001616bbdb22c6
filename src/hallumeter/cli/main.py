"""The command line: commands are parsed here, and import what they need when they run."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

import click

from hallumeter.errors import HallumeterError

from .output import encode_everything, stop_printing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


EXIT_INPUT = 2
EXIT_INTERRUPTED = 130
"""What a shell says of a program that Ctrl-C has ended: 128 and the number of SIGINT."""
EXIT_CLOSED_PIPE = 141
"""What a shell says of a program whose reader stopped early: 128 and the number of SIGPIPE."""


class UserFault(click.ClickException):
    """Something the user can mend: one line, no traceback."""

    exit_code = EXIT_INPUT

    def show(self, file: object = None) -> None:
        """Say it on the standard error."""
        from hallumeter.text.normalize import one_line

        click.echo(f"hallumeter: {one_line(self.format_message())}", err=True)


@contextmanager
def _faults_of_the_user() -> Iterator[None]:
    """Every fault that a user can mend becomes one line; a reader that stops early is no fault."""
    try:
        yield
    except HallumeterError as error:
        raise UserFault(str(error)) from error
    except click.UsageError as error:
        command = error.ctx.command_path if error.ctx else "hallumeter"
        raise UserFault(f"{error.format_message().rstrip('.?')}; `{command} --help` has examples") from error
    except RecursionError as error:
        raise UserFault("a record is nested too deeply to be read; flatten it") from error
    except KeyboardInterrupt as error:
        click.echo("\nhallumeter: interrupted", err=True)
        raise click.exceptions.Exit(EXIT_INTERRUPTED) from error
    except BrokenPipeError as error:
        stop_printing(errors_too=True)
        raise click.exceptions.Exit(EXIT_CLOSED_PIPE) from error
    except OSError as error:
        raise _refusal(error) from error


def _refusal(error: OSError) -> UserFault:
    """What the system would not do, and with which file; it names none when an open file, such as the output, fails."""
    reason = error.strerror or str(error) or type(error).__name__
    if error.filename is not None:
        return UserFault(f"{error.filename}: {reason}")
    stop_printing(errors_too=False)
    return UserFault(f"the system refuses to read or write: {reason}")


_COMMANDS = (
    "aspects",
    "audit",
    "baselines",
    "cache",
    "calibrate",
    "check",
    "compare",
    "correct",
    "demo",
    "dialogue",
    "gate",
    "ingest",
    "integrity",
    "label",
    "measure",
    "metrics",
    "report",
    "stress",
    "transcripts",
    "view",
)
"""Each in a module of its name, imported when it is called or listed."""


class Commands(click.Group):
    """A group whose commands report the user's faults in one line."""

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        """Read the words before a command; help pages are printed here."""
        encode_everything()
        with _faults_of_the_user():
            return super().make_context(*arguments, **options)

    def parse_args(self, context: click.Context, words: list[str]) -> list[str]:
        """Read the words; none at all ask for help."""
        return super().parse_args(context, words or ["--help"])

    def list_commands(self, _: click.Context) -> list[str]:
        """The commands by name."""
        return list(_COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """The command of a name."""
        if name not in _COMMANDS:
            return None
        command = getattr(import_module(f"hallumeter.cli.{name}"), name)
        assert isinstance(command, click.Command)
        return command

    def invoke(self, context: click.Context) -> object:
        """Run a command."""
        with _faults_of_the_user():
            return super().invoke(context)


@click.group(
    "hallumeter", cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="hallumeter", message="%(prog)s %(version)s")
def main() -> None:
    """Measure hallucination in what language and vision models write.

    Works offline, needs no key and no download. A measurement that failed is never written as a number.

    \b
    Examples:
      hallumeter demo                                 see it work on bundled real samples
      hallumeter measure verdicts.jsonl --by model    rates, intervals and a risk profile from verdicts
      hallumeter measure verdicts.jsonl --out run     the same, with a run folder and an HTML report
      hallumeter transcripts truth/ ocr/ vlm/         what OCR engines and vision models invented or left out
      hallumeter compare baseline candidate           what changed between two runs, and is it worse
      hallumeter gate run --policy policy.toml        hold a run to bounds, with an exit code for CI
      hallumeter baselines run                        is a judge better than counting characters
      hallumeter ingest ragas.csv                     results of Ragas, DeepEval, TruLens, promptfoo, Inspect, ...
      hallumeter metrics mihr                         what a metric means, and what it does not tell
    """
