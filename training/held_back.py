"""What trees and network say of texts that they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from hallumeter.claims.judges.embedded import model_files
from hallumeter.claims.judges.embedded.decision import reasons_of, signals_of, traits_of
from hallumeter.claims.judges.embedded.features import measured_of
from hallumeter.claims.judges.embedded.judge import can_be_weighed, read_by_network, tree_logits

from .decisions import HeldBack
from .examples import Example
from .model_folder import use_model
from .readings import claims_of, response_of

DECIDED_ON = (
    "ragtruth",
    "quintd1",
    "d2t_eval",
    "summedits",
    "defacto",
    "written",
    "gofigure",
    "wice",
    "begin",
    "q2_wow",
    "mts_dialog",
)
"""Sets on which the decisions are fitted."""


def held_back(examples: Sequence[Example], folder: Path, *, workers: int = 2) -> list[HeldBack]:
    """What a model that has not seen these examples says of them; its trees alone where it has no network."""
    chosen = [each for each in examples if each.data_set.partition("/")[0] in DECIDED_ON]
    with ProcessPoolExecutor(workers, initializer=use_model, initargs=(folder,)) as pool:
        return [each for each in pool.map(_held_back, chosen, chunksize=8) if each is not None]


def _held_back(example: Example) -> HeldBack | None:
    claims = claims_of(example)
    response = response_of(example)
    both = zip(claims, measured_of(response, [claim.text for claim in claims]), strict=True)
    kept = [(claim, each) for claim, each in both if can_be_weighed(each)]
    if not kept:
        return None
    measured = [each for _, each in kept]
    has_network = (model_files.FOLDER / model_files.FILES["full"][-1]).exists()
    reads = read_by_network(response, measured) if has_network else None
    traits = traits_of(response, measured)
    return HeldBack(
        example=example,
        claims=tuple(claim for claim, _ in kept),
        signals=signals_of(tree_logits(measured), reads, traits=traits, reasons=list(map(reasons_of, measured))),
        kind=traits.kind,
        reads=reads,
    )
