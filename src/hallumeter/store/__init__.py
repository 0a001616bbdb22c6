"""What is remembered on disk."""

from .event_shelf import EventShelf, ShelvedEvent
from .journal import Done, Entry, Journal
from .labels import LABELS, HumanLabel, LabelStore, claim_fingerprint, is_attached, labels_csv
from .page_shelf import PageShelf, ShelvedPage, ShelvedReading
from .pages_table import read_pages, write_pages
from .places import VIEWS, cache_folder
from .progress import PROGRESS, Progress, ProgressFile, is_alive, read_progress
from .record_places import PlacedRecord, RecordPlace, placed_records, record_at
from .run_folder import (
    BASELINES,
    CLAIMS,
    EVENTS,
    FAILURES,
    JOURNAL,
    MANIFEST,
    MEASUREMENTS,
    PAGES,
    RECORDS,
    REPORT,
    RUN_FILES,
    SCRIPTS,
    SUMMARY,
    VERDICTS,
    RunFolder,
    new_run_folder,
    write_json,
)
from .verdict_cache import VerdictCache

__all__ = [
    "BASELINES",
    "CLAIMS",
    "EVENTS",
    "FAILURES",
    "JOURNAL",
    "LABELS",
    "MANIFEST",
    "MEASUREMENTS",
    "PAGES",
    "PROGRESS",
    "RECORDS",
    "REPORT",
    "RUN_FILES",
    "SCRIPTS",
    "SUMMARY",
    "VERDICTS",
    "VIEWS",
    "Done",
    "Entry",
    "EventShelf",
    "HumanLabel",
    "Journal",
    "LabelStore",
    "PageShelf",
    "PlacedRecord",
    "Progress",
    "ProgressFile",
    "RecordPlace",
    "RunFolder",
    "ShelvedEvent",
    "ShelvedPage",
    "ShelvedReading",
    "VerdictCache",
    "cache_folder",
    "claim_fingerprint",
    "is_alive",
    "is_attached",
    "labels_csv",
    "new_run_folder",
    "placed_records",
    "read_pages",
    "read_progress",
    "record_at",
    "write_json",
    "write_pages",
]
