"""Which model the judge loads: the one in the package, or one that has not seen a fold."""

from __future__ import annotations

from pathlib import Path

from hallumeter.claims.judges.embedded import model_files, network


def use_model(folder: Path) -> None:
    """Let the judge load its files from a folder, and forget what it had loaded."""
    model_files.FOLDER = folder
    for kept in (
        *(model_files.shipped_model, model_files.trees),
        *(network.session, network.tokenizer, network.table, network.mean),
    ):
        kept.cache_clear()
