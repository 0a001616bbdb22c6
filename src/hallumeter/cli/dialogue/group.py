"""`hallumeter dialogue`: scripts from patients' records, answers of systems, and what is found in them."""

from __future__ import annotations

import click

from .config import config
from .lint import lint
from .measure import measure
from .run import run
from .script import script


class DialogueCommands(click.Group):
    """A group that lists its commands in the order of their use."""

    def parse_args(self, context: click.Context, words: list[str]) -> list[str]:
        """Read the words; none at all ask for help."""
        return super().parse_args(context, words or ["--help"])

    def list_commands(self, _: click.Context) -> list[str]:
        """The commands as they were added."""
        return list(self.commands)


@click.group(cls=DialogueCommands)
def dialogue() -> None:
    """Compare systems that answer simulated patients: scripts from FHIR records, runs, measures.

    \b
    Examples:
      hallumeter dialogue script --fhir_dir synthea/fhir --output_path scripts_5turn.jsonl
      hallumeter dialogue run --config experiment.yaml
      hallumeter dialogue measure runs/my-run/events.jsonl
      hallumeter dialogue config --init my-rules
      hallumeter dialogue lint my-rules
    """


for command in (script, run, measure, config, lint):
    dialogue.add_command(command)
