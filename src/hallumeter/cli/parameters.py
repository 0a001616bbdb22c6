"""Parameters that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from hallumeter.claims.settings import MeasureSettings

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


FORMATS = ("table", "json", "markdown", "csv")


def joined_names(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Names given by repeating an option, by commas, or both; each once."""
    return tuple(dict.fromkeys(name.strip() for value in values for name in value.split(",") if name.strip()))


def _login_name(_: click.Context, __: click.Parameter, value: str | None) -> str:
    """The name that was given, else that of whoever sits here; a container may know none."""
    import getpass

    try:
        return value or getpass.getuser()
    except (OSError, KeyError):
        return "unknown"


def together(*options: Decorator) -> Decorator:
    """Several options as one, in the order in which help pages list them."""

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


output_options = together(
    click.option(
        "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="What to print."
    ),
    click.option(
        "--out", type=click.Path(path_type=Path), metavar="RUN", help="Write a run folder with an HTML report."
    ),
)
interval_options = together(
    click.option("--seed", type=int, default=0, show_default=True, help="Of the random numbers."),
    click.option("--resamples", type=int, default=2000, show_default=True, help="Of the bootstrap."),
    click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the intervals."),
)
measure_options = together(
    click.option(
        "--policy", type=click.Path(path_type=Path), metavar="FILE", help="Judge the summary by a TOML policy."
    ),
    click.option(
        "--consensus",
        type=click.Choice(["majority", "dawid-skene"]),
        default="majority",
        show_default=True,
        help="How several judges are joined.",
    ),
    click.option("--headline", metavar="JUDGE", help="Judge the headline figures rest on; default: the consensus."),
    click.option(
        "--uncertainty",
        type=click.Choice(["information", "variance", "literal"]),
        default="information",
        show_default=True,
        help="How uncertainty is split.",
    ),
    click.option(
        "--similarity", type=float, metavar="S", help="Claims at least this alike (0 to 1) are the same claim."
    ),
    click.option("--cluster", default="response", show_default=True, metavar="FIELD", help="The unit of resampling."),
)
annotator_option = click.option(
    "--annotator", callback=_login_name, metavar="NAME", help="Whose labels are given.  [default: your login name]"
)
form_option = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json", "markdown"]),
    default="table",
    show_default=True,
    help="What to print.",
)
width_option = click.option(
    "--width",
    "half_width",
    type=float,
    default=0.03,
    show_default=True,
    metavar="W",
    help="Say how many more labels make a rate known to plus or minus W.",
)
quiet_option = click.option("--quiet", is_flag=True, help="No progress and no notices on the standard error.")


def measure_settings(options: dict[str, object]) -> MeasureSettings:
    """What `measure_options`, `interval_options`, --by and --strict say."""
    from hallumeter.claims.settings import MeasureSettings

    policy = options.pop("policy")
    options["is_strict"] = options.pop("strict")
    if isinstance(policy, Path):
        from hallumeter.catalog import METRICS_BY_ID
        from hallumeter.claims.measure.commands import read_policy

        options["policies"] = (read_policy(policy, METRICS_BY_ID),)
    return MeasureSettings(**options)  # type: ignore[arg-type]


def known_language(_: click.Context, __: click.Parameter, code: str) -> str:
    """The language, if a page can be written in it; asked before any run is read."""
    from hallumeter.report.languages.speaking import catalogue

    catalogue(code)
    return code
