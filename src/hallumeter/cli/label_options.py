"""Options that say where the truth about a run comes from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .parameters import joined_names, together

if TYPE_CHECKING:
    from hallumeter.claims.labelled.sources import LabelSettings


label_options = together(
    click.option(
        "--labels",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Labels as CSV, TSV, JSONL or Parquet.  [default: those kept in the run folder]",
    ),
    click.option("--reference", metavar="JUDGE", help="Take the verdicts of this judge of the run as the truth."),
    click.option("--gold", metavar="FIELD", help="Field of the records that says whether a response is hallucinated."),
    click.option("--annotator", metavar="NAME", help="Only the labels of this person."),
    click.option("--judge", metavar="NAME", help="Whose verdicts are examined.  [default: as in the headline]"),
    click.option("--by", multiple=True, callback=joined_names, metavar="FIELD", help="Slices; repeat for several."),
    click.option("--cluster", metavar="FIELD", help="What is drawn together, such as patient_id."),
)


def label_settings(options: dict[str, Any]) -> LabelSettings:
    """What `label_options` say; they are taken out of the options."""
    from hallumeter.claims.labelled.sources import LabelSettings

    return LabelSettings(**{name: options.pop(name) for name in LabelSettings.__struct_fields__})
