"""`hallumeter aspects`: agents read reviews, and every error gets an author."""

from __future__ import annotations

import click

from .aggregate import aggregate
from .replay import replay
from .run import run
from .score import score


class AspectCommands(click.Group):
    """A group that lists its commands in the order of their use."""

    def parse_args(self, context: click.Context, words: list[str]) -> list[str]:
        """Read the words; none at all ask for help."""
        return super().parse_args(context, words or ["--help"])

    def list_commands(self, _: click.Context) -> list[str]:
        """The commands as they were added."""
        return list(self.commands)


@click.group(cls=AspectCommands)
def aspects() -> None:
    """Let agents find what reviews say about what, and see which of them erred: runs, scorecards, replays.

    \b
    Examples:
      hallumeter aspects run --config experiment.yaml
      hallumeter aspects score outputs.jsonl --gold gold.jsonl
      hallumeter aspects aggregate scorecards.jsonl
      hallumeter aspects replay runs/my-run --set enable_validator=false
    """


for command in (run, score, aggregate, replay):
    aspects.add_command(command)
