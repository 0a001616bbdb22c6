"""Options that say where the truth about a run comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .parameters import JUDGING, OUTPUT, PATH, STATISTICS, joined_names, option, together

if TYPE_CHECKING:
    from hallumeter.claims.labelled.sources import LabelSettings


LABELS = "Where the labels are"
label_options = together(
    option(
        "--labels",
        type=PATH,
        metavar="FILE",
        section=LABELS,
        help="Labels as CSV, TSV, JSONL or Parquet.  [default: those in the run folder]",
    ),
    option("--reference", metavar="JUDGE", section=LABELS, help="Trust the verdicts of this judge of the run."),
    option("--gold", metavar="FIELD", section=LABELS, help="Field of the records that says what is hallucinated."),
    option("--annotator", metavar="NAME", section=LABELS, help="Use only the labels of this person."),
    option("--judge", metavar="NAME", section=JUDGING, help="The judge to examine.  [default: that of the headline]"),
    option(
        "--by",
        multiple=True,
        callback=joined_names,
        metavar="FIELD",
        section=OUTPUT,
        help="Also show each group; repeat for several fields.",
    ),
    option("--cluster", metavar="FIELD", section=STATISTICS, help="The unit that is resampled, such as patient_id."),
)


def label_settings(options: dict[str, Any]) -> LabelSettings:
    """What `label_options` say; they are taken out of the options."""
    from hallumeter.claims.labelled.sources import LabelSettings

    return LabelSettings(**{name: options.pop(name) for name in LabelSettings.__struct_fields__})
