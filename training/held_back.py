"""What trees and network say of texts that they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from hallumeter.claims.judges.embedded import model_files
from hallumeter.claims.judges.embedded.features import measured_of
from hallumeter.claims.judges.embedded.judge import can_be_weighed, is_structured, read_by_network, tree_logits

from .decisions import HeldBack
from .examples import Example
from .model_folder import use_model
from .readings import claims_of, response_of

DECIDED_ON = ("ragtruth", "quintd1", "d2t_eval", "summedits", "defacto", "written")
"""Sets on which the decisions are fitted: those of the three kinds of tasks."""


def held_back(examples: Sequence[Example], folder: Path, *, workers: int = 2) -> list[HeldBack]:
    """What a model that has not seen these examples says of them; its trees alone where it has no network."""
    chosen = [each for each in examples if each.data_set.partition("/")[0] in DECIDED_ON]
    with ProcessPoolExecutor(workers, initializer=use_model, initargs=(folder,)) as pool:
        return [each for each in pool.map(_held_back, chosen, chunksize=8) if each is not None]


def _held_back(example: Example) -> HeldBack | None:
    claims = claims_of(example)
    response = response_of(example)
    told = zip(claims, measured_of(response, [claim.text for claim in claims]), strict=True)
    kept = [(claim, each) for claim, each in told if can_be_weighed(each)]
    if not kept:
        return None
    measured = [each for _, each in kept]
    has_network = (model_files.FOLDER / model_files.FILES["full"][-1]).exists()
    return HeldBack(
        example=example,
        claims=tuple(claim for claim, _ in kept),
        logits=tree_logits(measured),
        reads=read_by_network(response, measured) if has_network else None,
        is_structured=is_structured(measured),
    )
