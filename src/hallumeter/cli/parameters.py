"""Parameters that several commands have."""

from __future__ import annotations

import click


def joined_names(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Names given by repeating an option, by commas, or both; each once."""
    return tuple(dict.fromkeys(name.strip() for value in values for name in value.split(",") if name.strip()))
