"""What trees and network say of texts that they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from hallumeter.claims.judges.embedded import model_files
from hallumeter.claims.judges.embedded.judge import read_by_network, signals_of

from .claim_table import MeasuredText
from .decisions import HeldBack
from .model_folder import use_model
from .readings import measured_claims, response_of

NOT_DECIDED_ON = ("begin", "q2_wow")
"""Sets that are kept to choose by; of those, notes on dialogues alone tell how dialogues are read."""


def held_back(texts: Sequence[MeasuredText], folder: Path, *, workers: int = 2) -> list[HeldBack]:
    """What a model that has not seen these texts says of them; its trees alone where it has no network."""
    texts = [each for each in texts if each.example.data_set not in NOT_DECIDED_ON]
    with ProcessPoolExecutor(workers, initializer=use_model, initargs=(folder,)) as pool:
        return list(pool.map(_held_back, texts, chunksize=8))


def _held_back(text: MeasuredText) -> HeldBack:
    has_network = (model_files.FOLDER / model_files.FILES["full"][-1]).exists()
    measured = measured_claims(text.example, [claim.text for claim in text.claims]) if has_network else []
    reads = read_by_network(response_of(text.example), measured) if has_network else None
    logits = model_files.trees().logits(text.features)
    return HeldBack(
        example=text.example,
        claims=text.claims,
        signals=signals_of(logits, reads, traits=text.traits, reasons=text.reasons),
        kind=text.traits.kind,
        reads=reads,
    )
