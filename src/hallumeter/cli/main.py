"""The command line: commands are parsed here, and import what they need when they run."""

from __future__ import annotations

import click

from hallumeter.errors import HallumeterError

from .demo import demo
from .measure import measure
from .metrics import metrics
from .report import report

EXIT_INPUT = 2


class UserFault(click.ClickException):
    """Something the user can mend: one line, no traceback."""

    exit_code = EXIT_INPUT

    def show(self, file: object = None) -> None:
        """Say it on the standard error."""
        click.echo(f"hallumeter: {self.format_message()}", err=True)


class Commands(click.Group):
    """A group whose commands report the user's faults in one line."""

    def invoke(self, context: click.Context) -> object:
        """Run a command."""
        try:
            return super().invoke(context)
        except HallumeterError as error:
            raise UserFault(str(error)) from error
        except RecursionError as error:
            raise UserFault("a record is nested too deeply to be read; flatten it") from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="hallumeter", message="%(prog)s %(version)s")
def main() -> None:
    """Measure hallucination in what language and vision models write.

    Works offline, needs no key and no download. A measurement that failed is never written as a number.

    \b
    Examples:
      hallumeter demo                                 see it work on bundled real samples
      hallumeter measure verdicts.jsonl --by model    rates, intervals and a risk profile from verdicts
      hallumeter measure verdicts.jsonl --out run     the same, with a run folder and an HTML report
      hallumeter metrics mihr                         what a metric means, and what it does not tell
    """


for command in (demo, measure, metrics, report):
    main.add_command(command)
