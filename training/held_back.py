"""What trees and network say of texts that they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from hallumeter.judges.embedded.chunks import chunks_of
from hallumeter.judges.embedded.encoder import read_claims
from hallumeter.judges.embedded.marks import marked
from hallumeter.judges.embedded.trees import trees
from hallumeter.judges.embedded.units import units_of

from .decisions import HeldBack
from .examples import Example
from .model_folder import use_model
from .readings import claims_of, measured_claims, passages_of

DECIDED_ON = ("ragtruth", "quintd1", "summedits", "written")
"""Sets on which the decisions are fitted: those of the three kinds of tasks."""


def held_back(examples: Sequence[Example], folder: Path, *, with_network: bool, workers: int = 2) -> list[HeldBack]:
    """What the model in a folder, which has not seen these examples, says of them."""
    chosen = [each for each in examples if each.data_set.partition("/")[0] in DECIDED_ON]
    with ProcessPoolExecutor(workers, initializer=use_model, initargs=(folder,)) as pool:
        said = pool.map(partial(_held_back, with_network=with_network), chosen, chunksize=8)
        return [each for each in said if each is not None]


def _held_back(example: Example, *, with_network: bool) -> HeldBack | None:
    claims = claims_of(example)
    passages = passages_of(example)
    measured = measured_claims(example, [claim.text for claim in claims])
    kept = [number for number, each in enumerate(measured) if each.statement.keys and each.statement.evidence.sentences]
    if not kept:
        return None
    measured = [measured[number] for number in kept]
    reads = None
    if with_network:
        chunks = chunks_of([marked(each) for each in measured], units_of(passages), question=example.question)
        reads = read_claims(chunks, len(measured))
    return HeldBack(
        example=example,
        claims=tuple(claims[number] for number in kept),
        logits=trees().logits(np.stack([each.features for each in measured])),
        reads=reads,
        is_structured=any(block.leaf is not None for block in measured[0].statement.evidence.blocks),
    )
