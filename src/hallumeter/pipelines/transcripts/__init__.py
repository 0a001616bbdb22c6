"""Transcripts of engines against ground truth."""

from .commands import transcripts, transcripts_of_jobs, transcripts_to_folder
from .inputs import opened_paths, opened_records
from .pipeline import MeasuredTranscripts
from .settings import RANKABLE, Columns, TranscriptSettings
from .witness import opened_witness

__all__ = [
    "RANKABLE",
    "Columns",
    "MeasuredTranscripts",
    "TranscriptSettings",
    "opened_paths",
    "opened_records",
    "opened_witness",
    "transcripts",
    "transcripts_of_jobs",
    "transcripts_to_folder",
]
