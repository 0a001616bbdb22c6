"""What a network on its way says of what it has not seen, beside the one that ships: python -m training.peek.

The shipped network has learned from all sources of the sets it was made from; only on the others, which have a star, is
it a fair rival.
"""

from __future__ import annotations

import argparse
import os
import pickle
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import torch
from msgspec import Struct
from sklearn.metrics import roc_auc_score

from hallumeter.claims.judges.embedded.encoder import onnx_engine
from hallumeter.claims.judges.embedded.network import ATTENTION, VOTE, vectors

from .batches import Batch, Item
from .examples import Example
from .folds import fold_of, some_of
from .readers import READERS, TO_CHOOSE_BY, read_all
from .readings import LENGTH, Reading, claims_of, readings_of
from .swaps import swapped
from .train_network import half_precision, saved_network

NEW = ("d2t_eval", "defacto", "q2_wow", "mts_dialog", "swapped")
"""Sets of which the shipped network has seen nothing."""
Rows = Callable[[Sequence[Reading]], list[np.ndarray]]
"""Reads, and says four numbers for each token of each reading."""


class Peeked(Struct, frozen=True):
    """A text that was held back, and how it is read."""

    example: Example
    readings: list[Reading]
    labels: list[bool | None]
    """Of its claims."""


def chosen(data: Path, *, fold: int, texts: int) -> list[Peeked]:
    """Texts of a fold and of the sets to choose by, some of each set; those of one source stay together."""
    examples = [each for each in read_all(data, READERS) if fold_of(each) == fold]
    apart = read_all(data, TO_CHOOSE_BY)
    pairs = swapped(apart, sets=("mts_dialog",))
    found = [_peeked(each) for each in some_of([*examples, *apart, *pairs], texts)]
    return [each for each in found if each.readings]


def _peeked(example: Example) -> Peeked:
    labels = [claim.is_unsupported for claim in claims_of(example)]
    return Peeked(example, list(readings_of(example, number=0, length=LENGTH)), labels)


def rows_of_saved(path: Path) -> Rows:
    """A network that is being trained or was, its weights averaged."""
    model = saved_network(path)

    def rows(readings: Sequence[Reading]) -> list[np.ndarray]:
        batch = Batch([Item((each,)) for each in readings])
        with torch.inference_mode(), half_precision():
            words = model.encoder.embeddings.word_embeddings(batch.ids)
            return list(model(words, batch.kinds, batch.mask).float().numpy())

    return rows


def rows_of_shipped(readings: Sequence[Reading]) -> list[np.ndarray]:
    """The network in the package."""
    return [onnx_engine()(vectors(np.asarray(each.chunk.ids)), np.asarray(each.chunk.kinds)) for each in readings]


def votes_of(peeked: Sequence[Peeked], rows: Rows, *, at_once: int = 8) -> list[np.ndarray]:
    """The vote of each claim of each text."""
    flat = [(number, reading) for number, each in enumerate(peeked) for reading in each.readings]
    flat.sort(key=lambda each: len(each[1].chunk.ids))
    sums = [np.zeros((2, len(each.labels))) for each in peeked]
    for first in range(0, len(flat), at_once):
        group = flat[first : first + at_once]
        for (number, reading), said in zip(group, rows([reading for _, reading in group]), strict=True):
            for part in reading.chunk.parts:
                tokens = said[part.at : part.at + part.count]
                weights = np.exp(np.clip(tokens[:, ATTENTION], -15, 15))
                sums[number][:, part.claim] += (weights * tokens[:, VOTE]).sum(), weights.sum()
    return [each[0] / np.maximum(each[1], 1e-9) for each in sums]


def table(peeked: Sequence[Peeked], votes: Sequence[np.ndarray], rival: Sequence[np.ndarray]) -> Iterable[str]:
    """Lines of a table by data set: figures of a network, and after a slash those of another.

    A claim is called unsupported from the vote on at which as many are called as are, all sets together.
    """
    yield "| set | texts | claims | wrong | AUROC claims | AUROC texts | pairs | precision | recall | F1 |"
    yield "| --- | --: | --: | --: | --- | --- | --- | --- | --- | --- |"
    names = list(dict.fromkeys(f"{each.example.data_set}:{each.example.task}" for each in peeked))
    both = [_Said(peeked, votes), _Said(peeked, rival)]
    for name in [*names, ""]:
        counts = both[0].counts(name)
        cells = [
            " / ".join(_shown(value) for value in pair) for pair in zip(*(s.figures(name) for s in both), strict=True)
        ]
        star = "*" if name.partition(":")[0].partition("/")[0] in NEW else ""
        yield f"| {name or '**all**'}{star} | {' | '.join(map(str, counts))} | {' | '.join(cells)} |"


class _Said:
    """Claims and texts in a row, with their votes."""

    def __init__(self, peeked: Sequence[Peeked], votes: Sequence[np.ndarray]) -> None:
        self.peeked = peeked
        self.highest = np.asarray([each.max() for each in votes])
        names = [f"{each.example.data_set}:{each.example.task}" for each in peeked]
        self.text_names = np.asarray(names)
        self.names = np.asarray([name for name, each in zip(names, peeked, strict=True) for _ in each.labels])
        labels = [-1 if label is None else int(label) for each in peeked for label in each.labels]
        self.labels = np.asarray(labels)
        self.votes = np.concatenate(list(votes))
        known = self.labels >= 0
        self.threshold = np.quantile(self.votes[known], 1 - self.labels[known].mean())

    def _rows(self, name: str) -> np.ndarray:
        return (self.labels >= 0) & ((self.names == name) if name else True)

    def counts(self, name: str) -> tuple[int, int, int]:
        rows = self._rows(name)
        texts = int((self.text_names == name).sum()) if name else len(self.peeked)
        return texts, int(rows.sum()), int(self.labels[rows].sum())

    def figures(self, name: str) -> list[float | None]:
        rows = self._rows(name)
        wrong, called = self.labels[rows] == 1, self.votes[rows] >= self.threshold
        both = (wrong & called).sum()
        precision = both / called.sum() if called.any() else None
        recall = both / wrong.sum() if wrong.any() else None
        f1 = 2 * both / (wrong.sum() + called.sum()) if (wrong | called).any() else None
        texts = [number for number, each in enumerate(self.text_names) if not name or each == name]
        labels = np.asarray([self.peeked[number].example.is_unsupported for number in texts])
        return [
            _auroc(wrong, self.votes[rows]),
            _auroc(labels, self.highest[texts]),
            self._pairs(texts),
            precision,
            recall,
            f1,
        ]

    def _pairs(self, texts: Sequence[int]) -> float | None:
        """How often a wrong text of a family has the higher vote than a right one."""
        families: dict[tuple[str, str], tuple[list[float], list[float]]] = {}
        for number in texts:
            example = self.peeked[number].example
            if example.family:
                both = families.setdefault((example.source, example.family), ([], []))
                both[example.is_unsupported].append(self.highest[number])
        won = [wrong > right for rights, wrongs in families.values() for right in rights for wrong in wrongs]
        return float(np.mean(won)) if won else None


def _auroc(labels: np.ndarray, scores: np.ndarray) -> float | None:
    return float(roc_auc_score(labels, scores)) if len(set(labels.tolist())) == 2 else None


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def main() -> None:
    """Read the options, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m training.peek", description=__doc__)
    parser.add_argument("saved", type=Path, help="network-0.state or network-0.pt")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--texts", type=int, default=100, help="of each data set")
    options = parser.parse_args()
    torch.set_num_threads(1)
    os.nice(5)
    kept = options.saved.parent / f"peek-{options.fold}-{options.texts}.pickle"
    if not kept.exists():
        peeked = chosen(options.data, fold=options.fold, texts=options.texts)
        kept.write_bytes(pickle.dumps((peeked, votes_of(peeked, rows_of_shipped))))
    peeked, shipped = pickle.loads(kept.read_bytes())
    print("\n".join(table(peeked, votes_of(peeked, rows_of_saved(options.saved)), shipped)))


if __name__ == "__main__":
    main()
