"""How sure the reader may be: fitted on sentences that the networks had not seen, read as the package reads them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LogisticRegression

from hallumeter.aspects.readers.english.reader import Analysis, Instruments

from .examples import Example


class HeldOut(Struct, frozen=True):
    """What the reader says of sentences that it was not trained on."""

    term_scores: list[float]
    """Logits of the terms that it marks."""
    term_hits: list[bool]
    """Whether people marked exactly these words."""
    missed: int
    """Terms that only people marked."""
    polarity_scores: list[NDArray[np.float32]]
    polarities: list[int]


def read_held_out(examples: Sequence[Example], instruments: Instruments) -> HeldOut:
    """Read sentences with instruments that are not calibrated yet."""
    said = HeldOut([], [], 0, [], [])
    missed = 0
    for example in examples:
        analysis = Analysis(example.sentence.text, instruments)
        marked = {(first, last) for first, last, _ in example.terms}
        found = analysis.scored_spans
        for first, last, confidence in found:
            said.term_scores.append(float(np.log(confidence / (1 - confidence))))
            said.term_hits.append((first, last) in marked)
        missed += len(marked - {span[:2] for span in found})
        for first, last, polarity in example.terms:
            said.polarity_scores.append(analysis.heard_of(first, last)[0])
            said.polarities.append(polarity)
    return HeldOut(said.term_scores, said.term_hits, missed, said.polarity_scores, said.polarities)


def calibration(said: HeldOut) -> NDArray[np.float32]:
    """Slope and constant of the logits of terms, and the factor of the scores of polarities."""
    scores = np.array(said.term_scores)[:, None]
    line = LogisticRegression(C=1e6).fit(scores, np.array(said.term_hits))
    rows, right = np.array(said.polarity_scores, np.float64), np.array(said.polarities)

    def loss(factor: float) -> float:
        scaled = rows * factor
        return float((np.logaddexp.reduce(scaled, axis=1) - scaled[np.arange(len(right)), right]).mean())

    best = minimize_scalar(loss, bounds=(0.1, 5.0), method="bounded")
    # Four digits, so that the last bits of sums in another order do not show.
    return np.array([line.coef_[0, 0], line.intercept_[0], best.x]).round(4).astype(np.float32)


def summary(said: HeldOut) -> str:
    """Figures of the held-out sentences, in one line."""
    hits = sum(said.term_hits)
    precision, recall = hits / len(said.term_hits), hits / (hits + said.missed)
    f1 = 2 * precision * recall / (precision + recall)
    right = np.array(said.polarity_scores).argmax(axis=1) == np.array(said.polarities)
    return (
        f"terms: precision {precision:.4f}, recall {recall:.4f}, F1 {f1:.4f}; "
        f"polarity of marked terms: {right.sum()}/{len(right)} = {right.mean():.4f}"
    )
