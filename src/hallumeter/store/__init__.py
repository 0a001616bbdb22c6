"""What is remembered on disk."""

from .event_shelf import EventShelf, ShelvedEvent
from .journal import Done, Entry, Journal
from .page_shelf import PageShelf, ShelvedPage, ShelvedReading
from .pages_table import read_pages, write_pages
from .places import cache_folder
from .run_folder import (
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
    "CLAIMS",
    "EVENTS",
    "FAILURES",
    "JOURNAL",
    "MANIFEST",
    "MEASUREMENTS",
    "PAGES",
    "RECORDS",
    "REPORT",
    "RUN_FILES",
    "SCRIPTS",
    "SUMMARY",
    "VERDICTS",
    "Done",
    "Entry",
    "EventShelf",
    "Journal",
    "PageShelf",
    "RunFolder",
    "ShelvedEvent",
    "ShelvedPage",
    "ShelvedReading",
    "VerdictCache",
    "cache_folder",
    "new_run_folder",
    "read_pages",
    "write_json",
    "write_pages",
]
