"""Which model the judge loads: the one in the package, or one that has not seen a fold."""

from __future__ import annotations

from pathlib import Path

from hallumeter.claims.judges.embedded import model_files
from hallumeter.claims.judges.embedded import model_files as trees
from hallumeter.claims.judges.embedded import network as encoder
from hallumeter.claims.judges.embedded import network as tokens
from hallumeter.claims.judges.embedded import network as word_table


def use_model(folder: Path) -> None:
    """Let the judge load its files from a folder, and forget what it had loaded."""
    model_files.FOLDER = folder
    for kept in (
        model_files.shipped_model,
        encoder.session,
        tokens.tokenizer,
        trees.trees,
        word_table.table,
        word_table.mean,
    ):
        kept.cache_clear()
