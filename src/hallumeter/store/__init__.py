"""What is remembered on disk."""

from .page_shelf import PageShelf, ShelvedPage, ShelvedReading
from .pages_table import read_pages, write_pages
from .run_folder import (
    CLAIMS,
    FAILURES,
    MANIFEST,
    MEASUREMENTS,
    PAGES,
    RECORDS,
    REPORT,
    RUN_FILES,
    SUMMARY,
    VERDICTS,
    RunFolder,
    new_run_folder,
    write_json,
)

__all__ = [
    "CLAIMS",
    "FAILURES",
    "MANIFEST",
    "MEASUREMENTS",
    "PAGES",
    "RECORDS",
    "REPORT",
    "RUN_FILES",
    "SUMMARY",
    "VERDICTS",
    "PageShelf",
    "RunFolder",
    "ShelvedPage",
    "ShelvedReading",
    "new_run_folder",
    "read_pages",
    "write_json",
    "write_pages",
]
