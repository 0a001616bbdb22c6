"""Which model the judge loads: the one in the package, or one that has not seen a fold."""

from __future__ import annotations

from pathlib import Path

from hallumeter.claims.judges.embedded import encoder, model_files, network, word_pieces


def use_model(folder: Path) -> None:
    """Let the judge load its files from a folder, and forget what it had loaded."""
    model_files.FOLDER = folder
    for kept in (
        *(model_files.shipped_model, model_files.trees),
        *(encoder.onnx_engine, encoder.numpy_engine, network.table, network.mean),
        *(word_pieces.vocabulary, word_pieces.tokens_of),
    ):
        kept.cache_clear()
