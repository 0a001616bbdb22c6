"""Parameters that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

FORMATS = ("table", "json", "markdown", "csv")


def joined_names(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Names given by repeating an option, by commas, or both; each once."""
    return tuple(dict.fromkeys(name.strip() for value in values for name in value.split(",") if name.strip()))


def _together(*options: Decorator) -> Decorator:
    """Several options as one, in the order in which help pages list them."""

    def decorated(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorated


output_options = _together(
    click.option(
        "--format", "form", type=click.Choice(FORMATS), default="table", show_default=True, help="What to print."
    ),
    click.option(
        "--out", type=click.Path(path_type=Path), metavar="RUN", help="Write a run folder with an HTML report."
    ),
)
interval_options = _together(
    click.option("--seed", type=int, default=0, show_default=True, help="Of the random numbers."),
    click.option("--resamples", type=int, default=2000, show_default=True, help="Of the bootstrap."),
    click.option("--confidence", type=float, default=0.95, show_default=True, help="Of the intervals."),
)
quiet_option = click.option("--quiet", is_flag=True, help="No progress and no notices on the standard error.")
