"""Options that say where the truth about a run comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .parameters import PATH, joined_names, option, together

if TYPE_CHECKING:
    from hallumeter.claims.labelled.sources import LabelSettings


label_options = together(
    option(
        "--labels",
        type=PATH,
        metavar="FILE",
        help="Labels as CSV, TSV, JSONL or Parquet.  [default: those kept in the run folder]",
    ),
    option("--reference", metavar="JUDGE", help="Take the verdicts of this judge of the run as the truth."),
    option("--gold", metavar="FIELD", help="Field of the records that says whether a response is hallucinated."),
    option("--annotator", metavar="NAME", help="Only the labels of this person."),
    option("--judge", metavar="NAME", help="Whose verdicts are examined.  [default: as in the headline]"),
    option("--by", multiple=True, callback=joined_names, metavar="FIELD", help="Slices; repeat for several."),
    option("--cluster", metavar="FIELD", help="What is drawn together, such as patient_id."),
)


def label_settings(options: dict[str, Any]) -> LabelSettings:
    """What `label_options` say; they are taken out of the options."""
    from hallumeter.claims.labelled.sources import LabelSettings

    return LabelSettings(**{name: options.pop(name) for name in LabelSettings.__struct_fields__})
