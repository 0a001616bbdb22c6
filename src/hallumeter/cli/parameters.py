"""Parameters that several commands have."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from hallumeter.claims.settings import MeasureSettings

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


FORMATS = ("table", "json", "markdown", "csv")
PATH, PATH_OR_DASH = click.Path(path_type=Path), click.Path(path_type=Path, allow_dash=True)
option = partial(click.option, show_default=True)
"""An option whose default, if it has one, is in the help page."""


def joined_names(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Names given by repeating an option, by commas, or both; each once."""
    return tuple(dict.fromkeys(name.strip() for value in values for name in value.split(",") if name.strip()))


def _login_name(_: click.Context, __: click.Parameter, value: str | None) -> str:
    """The name that was given, else that of whoever sits here; a container may know none."""
    from hallumeter.run.labels import login_name

    return value or login_name()


class OrderedCommands(click.Group):
    """A group that lists its commands in the order of their use."""

    def parse_args(self, context: click.Context, words: list[str]) -> list[str]:
        """Read the words; none at all ask for help."""
        return super().parse_args(context, words or ["--help"])

    def list_commands(self, _: click.Context) -> list[str]:
        """The commands as they were added."""
        return list(self.commands)


def given_paths(paths: tuple[Path, ...], what: str) -> tuple[Path, ...]:
    """The files that were named, or the standard input if something is piped in."""
    if paths:
        return paths
    if sys.stdin.isatty():
        raise click.UsageError(f"give a file of {what}, or pipe JSONL in", click.get_current_context())
    return (Path("-"),)


def together(*options: Decorator) -> Decorator:
    """Several options as one, in the order in which help pages list them."""

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        for decorate in reversed(options):
            command = decorate(command)
        return command

    return decorated


output_options = together(
    option("--format", "form", type=click.Choice(FORMATS), default="table", help="What to print."),
    option("--out", type=PATH, metavar="RUN", help="Write a run folder with an HTML report."),
)
interval_options = together(
    option("--seed", type=int, default=0, help="Of the random numbers."),
    option("--resamples", type=int, default=2000, help="Of the bootstrap."),
    option("--confidence", type=float, default=0.95, help="Of the intervals."),
)
measure_options = together(
    option("--policy", type=PATH, metavar="FILE", help="Judge the summary by a TOML policy."),
    option(
        "--consensus",
        type=click.Choice(["majority", "dawid-skene"]),
        default="majority",
        help="How several judges are joined.",
    ),
    option("--headline", metavar="JUDGE", help="Judge the headline figures rest on; default: the consensus."),
    option(
        "--uncertainty",
        type=click.Choice(["information", "variance", "literal"]),
        default="information",
        help="How uncertainty is split.",
    ),
    option("--similarity", type=float, metavar="S", help="Claims at least this alike (0 to 1) are the same claim."),
    option("--cluster", default="response", metavar="FIELD", help="The unit of resampling."),
)
annotator_option = option(
    "--annotator", callback=_login_name, metavar="NAME", help="Whose labels are given.  [default: your login name]"
)
form_option = option(
    "--format", "form", type=click.Choice(["table", "json", "markdown"]), default="table", help="What to print."
)
width_option = option(
    "--width",
    "half_width",
    type=float,
    default=0.03,
    metavar="W",
    help="Say how many more labels make a rate known to plus or minus W.",
)
quiet_option = option("--quiet", is_flag=True, help="No progress and no notices on the standard error.")


def measure_settings(options: dict[str, Any]) -> MeasureSettings:
    """What `measure_options`, `interval_options`, --by and --strict say; they are taken out of the options."""
    from hallumeter.claims.settings import MeasureSettings

    given = {name: options.pop(name) for name in MeasureSettings.__struct_fields__ if name in options}
    policy = options.pop("policy", None)
    if policy is not None:
        from hallumeter.catalog import METRICS_BY_ID
        from hallumeter.claims.measure.commands import read_policy

        given["policies"] = (read_policy(policy, METRICS_BY_ID),)
    return MeasureSettings(is_strict=options.pop("strict"), **given)


def parsed_map(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Paths by field, as --map gives them."""
    if not given:
        return {}
    from hallumeter.formats.shapes import parse_map

    return parse_map(given)


by_option = option(
    "--by", multiple=True, callback=joined_names, metavar="FIELD", help="Group by a field; repeat for several."
)
map_option = option(
    "--map",
    multiple=True,
    callback=parsed_map,
    metavar="FIELD=PATH",
    help="Where a field stands: response=output.text, evidence=docs[].content. Repeat for several.",
)
workers_option = option(
    "--workers", type=click.IntRange(min=1), metavar="N", help="Processes to use; default: one per core."
)


def known_language(_: click.Context, __: click.Parameter, code: str) -> str:
    """The language, if a page can be written in it; asked before any run is read."""
    from hallumeter.report.languages.speaking import catalogue

    catalogue(code)
    return code
