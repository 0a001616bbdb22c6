"""What is remembered on disk."""

from .run_folder import (
    CLAIMS,
    FAILURES,
    MANIFEST,
    MEASUREMENTS,
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
    "RECORDS",
    "REPORT",
    "RUN_FILES",
    "SUMMARY",
    "VERDICTS",
    "RunFolder",
    "new_run_folder",
    "write_json",
]
