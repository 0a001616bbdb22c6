"""What many scorecards come to: rates with intervals, tables, and the files of a run."""

from .commands import aggregate_to_folder
from .pipeline import Aggregated, aggregate, aggregate_file
from .quality_report import drop_words, quality_report
from .run_writer import RunWriter, write_aspect_run, write_manifest, write_scorecard_run
from .settings import INSTRUMENT, AggregateSettings
from .tables import column_of, spread_csv, spread_table, structural_csv, structural_table

__all__ = [
    "INSTRUMENT",
    "AggregateSettings",
    "Aggregated",
    "RunWriter",
    "aggregate",
    "aggregate_file",
    "aggregate_to_folder",
    "column_of",
    "drop_words",
    "quality_report",
    "spread_csv",
    "spread_table",
    "structural_csv",
    "structural_table",
    "write_aspect_run",
    "write_manifest",
    "write_scorecard_run",
]
