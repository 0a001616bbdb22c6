"""Take in results of other tools."""

from .commands import ingest, ingest_to_folder
from .pipeline import IngestedRun

__all__ = ["IngestedRun", "ingest", "ingest_to_folder"]
