"""The command line: commands are parsed here, and import what they need when they run."""

from __future__ import annotations

import errno
import gc
import sys
import traceback
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

import click

from hallumeter.errors import HallumeterError

from .output import encode_everything, stop_printing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any


_OBJECTS_BETWEEN_COLLECTIONS = 50_000
EXIT_INPUT = 2
EXIT_OWN_FAULT = 70
"""A fault of hallumeter itself, as sysexits.h counts it: 1 would be read as a verdict."""
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
        raise UserFault(f"{_usage_words(error)}; `{command} --help` has examples") from error
    except (RecursionError, UnicodeError, MemoryError) as error:
        raise UserFault(_unreadable(error)) from error
    except KeyboardInterrupt as error:
        click.echo("\nhallumeter: interrupted", err=True)
        raise click.exceptions.Exit(EXIT_INTERRUPTED) from error
    except BrokenPipeError as error:
        stop_printing(errors_too=True)
        raise click.exceptions.Exit(EXIT_CLOSED_PIPE) from error
    except OSError as error:
        raise _refusal(error) from error


def _unreadable(error: RecursionError | UnicodeError | MemoryError) -> str:
    """What is wrong with an input that no reader refused, though it cannot be worked on."""
    if isinstance(error, RecursionError):
        return "a record is nested too deeply to be read; flatten it"
    if isinstance(error, MemoryError):
        return "the memory is not enough for this input; give less at once"
    return f"a text holds half of a character (a lone surrogate) or is not UTF-8 ({error}); repair it"


_MEANT = {
    "--model": "--by model",
    "--models": "--by model",
    "--group": "--by FIELD",
    "--group-by": "--by FIELD",
    "--groupby": "--by FIELD",
    "--slice": "--by FIELD",
    "--output": "--out",
    "--output-dir": "--out",
    "-o": "--out",
    "-v": "--verbose",
    "-q": "--quiet",
    "--json": "--format json",
    "--csv": "--format csv",
    "--markdown": "--format markdown",
}
"""What people type, and the option that does it."""


def _usage_words(error: click.UsageError) -> str:
    """What is wrong with a command line, and what was probably meant; only what the command has is suggested."""
    if not isinstance(error, click.NoSuchOption):
        return error.format_message().rstrip(".")
    known = [spelling for each in error.ctx.command.params for spelling in each.opts] if error.ctx else []
    words = _MEANT.get(error.option_name, "")
    if words.partition(" ")[0] in known:
        near = [words]
    else:
        near = get_close_matches(error.option_name, [each for each in known if each.startswith("--")], n=2)
    meant = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"no such option: {error.option_name}{meant}"


def _refusal(error: OSError) -> UserFault:
    """What the system would not do, and with which file; it names none when an open file, such as the output, fails."""
    reason = error.strerror or str(error) or type(error).__name__
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        reason += "; make room and start the command again"
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
    "ci",
    "compare",
    "correct",
    "demo",
    "dialogue",
    "export",
    "gate",
    "ingest",
    "integrity",
    "label",
    "mcp",
    "measure",
    "metrics",
    "report",
    "stress",
    "transcripts",
    "verify",
    "view",
)
"""Each in a module of its name, imported when it is called or listed."""
_SECTIONS = {
    "Measure": ("demo", "audit", "check", "measure", "transcripts", "dialogue", "aspects", "ingest"),
    "Look at the result": ("report", "view", "verify", "export", "metrics"),
    "Decide": ("compare", "gate", "ci", "label", "correct", "calibrate"),
    "Test the judge": ("baselines", "stress", "integrity"),
}
"""Under which headings help lists the commands, in the order of their use; others come last."""


class Commands(click.Group):
    """A group whose commands report the user's faults in one line."""

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        """Read the words before a command; help pages are printed here."""
        encode_everything()
        with _faults_of_the_user():
            return super().make_context(*arguments, **options)

    def main(self, args: Sequence[str] | None = None, *arguments: Any, **options: Any) -> Any:
        """Run as a program; whoever gives the words in Python sees a fault of hallumeter as it is."""
        if args is None:
            # Records hold no cycles: to look for them after every 700 objects is up to a tenth of a command's time.
            gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
        try:
            return super().main(args, *arguments, **options)
        except Exception:
            if args is not None:
                raise
            traceback.print_exc()
            click.echo("hallumeter: this is a fault of hallumeter itself; please report it", err=True)
            sys.exit(EXIT_OWN_FAULT)

    def parse_args(self, context: click.Context, words: list[str]) -> list[str]:
        """Read the words; none at all ask for help."""
        return super().parse_args(context, words or ["--help"])

    def list_commands(self, _: click.Context) -> list[str]:
        """The commands by name."""
        return list(_COMMANDS)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands under their headings."""
        sorted_in = {name for names in _SECTIONS.values() for name in names}
        rest = tuple(name for name in _COMMANDS if name not in sorted_in)
        for heading, names in (*_SECTIONS.items(), ("Other", rest)):
            commands = [(name, self.get_command(context, name)) for name in names if name in _COMMANDS]
            with formatter.section(heading):
                formatter.write_dl([(name, found.get_short_help_str(80)) for name, found in commands if found])

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        """The command of a name."""
        if name not in _COMMANDS:
            return None
        command = getattr(import_module(f"hallumeter.cli.{name}"), name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, context: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names; one that is misspelt is refused with what was meant."""
        near = [] if words[0] in _COMMANDS or words[0].startswith("-") else get_close_matches(words[0], _COMMANDS, n=2)
        if near:
            context.fail(f"no such command: {words[0]}; did you mean {' or '.join(near)}?")
        return super().resolve_command(context, words)

    def invoke(self, context: click.Context) -> object:
        """Run a command."""
        with _faults_of_the_user():
            return super().invoke(context)


@click.group(
    "hallumeter", cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(package_name="hallumeter", message="%(prog)s %(version)s")
def main() -> None:
    """Find and count what language and vision models make up.

    Works offline, without a key or a download. A measurement that fails is never reported as a number.

    \b
    Examples:
      hallumeter demo                            see it work on bundled samples
      hallumeter audit answers.jsonl             find the unsupported sentences
      hallumeter audit answers.jsonl --by model  the same, for each model
      hallumeter measure verdicts.jsonl          rates from verdicts you have
      hallumeter transcripts truth/ ocr/ vlm/    what OCR and VLMs invented
      hallumeter compare baseline candidate      what changed between two runs
      hallumeter gate run --policy policy.toml   pass or fail, for CI
      hallumeter ingest ragas.csv                import Ragas, DeepEval, ...
      hallumeter metrics mihr                    what a metric means
    """
