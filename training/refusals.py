"""Fits the weights that tell refusals from answers, from answers that were labelled as a whole.

    python -m training.refusals [--check]

Of the labelled answers in `benchmarks/abstention_labels` those for development are learned from. Each sentence gets the
log odds that it refuses, and that it answers; an answer refuses when any of its sentences does. Both models are fitted
to that by L-BFGS. With `--check` nothing is written: a quarter of the realistic answers (`wide_answers.jsonl`) at a
time is left out and read by the weights of the rest, and the figures by threshold and language are printed.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, hstack

from hallumeter.text.abstention import default_detector, sentence_spans_of, sentences_with
from hallumeter.text.normalize import clean_text
from hallumeter.text.refusal_model import (
    FACTS,
    LETTER_BITS,
    PLACES,
    SCALE,
    Weights,
    facts_of,
    runs_of,
    unpacked,
)

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from abstention_detection import Answer, read_answers  # noqa: E402

WEIGHTS = ROOT / "src/hallumeter/text/weights/refusals.bin"
PENALTY = 0.006
"""On the squares of weights; from 0.002 to 0.02 the figures differ by chance."""
ROUNDS = 150
FEWEST = 2
"""Sentences that must have a run of letters or words for it to count."""
FOLDS = 4
AFTER_THE_CUES = ("wide:", "more:", "real:")
"""How the ids begin of answers that are newer than the lexicons."""
HIDDEN = 0.3
"""Of these, how many are read as if there were no cues, so that the weights do without them as well."""
WRITTEN = ("written", "tofu")
"""Sources of answers that no model gave."""
PROSE = re.compile(r"more:\w+:f")
"""Ids of texts that answer nobody: reviews, letters, reports."""
PROSE_WEIGHT = 0.5
MODELS_WEIGHT = 2.0
"""Of answers of chat models, which are fewer than the written ones and what matters most."""
Array = npt.NDArray[Any]


class Sentences(Struct):
    """The sentences of answers: what they are made of, and the number of the answer that each is from."""

    runs: csr_matrix
    facts: Array
    taught: Array
    """The facts that weights are fitted to: with the cues of some answers, and without those of others."""
    answer: Array


def read_sentences(answers: Sequence[Answer]) -> Sentences:
    """The sentences of answers as the detector reads them."""
    rows: list[Array] = []
    facts: list[Array] = []
    taught: list[Array] = []
    numbers: list[int] = []
    for number, answer in enumerate(answers):
        clean = clean_text(answer.text)
        spans = sentence_spans_of(clean)
        texts = [clean.lower[start:end].strip() for start, end in spans]
        with_cue = sentences_with(spans, default_detector()._valid_cues(clean, spans))
        rows += [np.concatenate(runs_of(text)) for text in texts]
        facts.append(facts_of(texts, with_cue))
        taught.append(facts_of(texts, with_cue, trust=float(teaches_cues(answer))))
        numbers += [number] * len(texts)
    ends = np.cumsum([0, *map(len, rows)])
    places = np.concatenate(rows)
    return Sentences(
        csr_matrix((np.ones(len(places)), places, ends), shape=(len(rows), PLACES)),
        np.concatenate(facts),
        np.concatenate(taught),
        np.array(numbers),
    )


def teaches_cues(answer: Answer) -> bool:
    """Whether the worth of a cue is learned from an answer: most of those that came after the cues."""
    hidden = hashlib.blake2b(answer.text.encode(), digest_size=1).digest()[0] < HIDDEN * 256
    return answer.id.startswith(AFTER_THE_CUES) and not hidden


def rarities(runs: csr_matrix) -> Array:
    """How rare each run is among the sentences, as it will be kept; nothing for those hardly seen."""
    seen = np.bincount(runs.indices, minlength=PLACES)
    found = np.log((1 + runs.shape[0]) / (1 + seen)) + 1
    found[seen < FEWEST] = 0
    return np.asarray(np.round(found / SCALE) * SCALE)


def weighed(runs: csr_matrix, facts: Array, rarity: Array) -> csr_matrix:
    """Sentences as rows of numbers: the rarities of their runs, brought to one length, then the facts."""
    found = runs.copy()
    found.data = rarity[found.indices]
    row = np.repeat(np.arange(found.shape[0]), np.diff(found.indptr))
    is_word = found.indices >= 1 << LETTER_BITS
    for part in (is_word, ~is_word):
        length = np.sqrt(np.bincount(row[part], found.data[part] ** 2, minlength=found.shape[0]))
        length[length == 0] = 1
        found.data[part] /= length[row[part]]
    found.eliminate_zeros()
    return hstack([found, csr_matrix(facts)]).tocsr()


def fitted(rows: csr_matrix, answer: Array, does: Array, weight: Array) -> Array:
    """The weights and the bias with which an answer does something when any of its sentences does."""
    columns = rows.T.tocsr()

    def loss(weights: Array) -> tuple[float, Array]:
        odds = rows @ weights[:-1] + weights[-1]
        hazard = np.maximum(np.bincount(answer, np.logaddexp(0, odds), minlength=len(does)), 1e-9)
        none = np.exp(-hazard)
        some = np.maximum(1 - none, 1e-12)
        value = weight @ np.where(does, -np.log(some), hazard) + PENALTY * weights[:-1] @ weights[:-1]
        slope = (weight * np.where(does, -none / some, 1.0))[answer] / (1 + np.exp(-odds))
        return value, np.append(columns @ slope + 2 * PENALTY * weights[:-1], slope.sum())

    start = np.append(np.zeros(rows.shape[1]), -2.0)
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ROUNDS}).x)


def fit(sentences: Sentences, answers: Sequence[Answer]) -> Weights:
    """Weights from answers with their labels."""
    labels = labels_of(answers)
    weight = np.array([weight_of(answer) for answer in answers])
    rarity = rarities(sentences.runs)
    rows = weighed(sentences.runs, sentences.taught, rarity)
    refuses, answers_ = (fitted(rows, sentences.answer, labels != none, weight) for none in ("answer", "refusal"))
    return Weights(rarity, refuses, answers_)


def weight_of(answer: Answer) -> float:
    """How much an answer counts in the fit."""
    if PROSE.match(answer.id):
        return PROSE_WEIGHT
    return 1.0 if answer.source in WRITTEN else MODELS_WEIGHT


def labels_of(answers: Sequence[Answer]) -> Array:
    """What each was found to be by a reader."""
    return np.array([answer.label for answer in answers])


def some(odds: Array, answer: Array, count: int) -> Array:
    """The probability that some sentence of each answer does it."""
    return np.asarray(1 - np.exp(-np.bincount(answer, np.logaddexp(0, odds), minlength=count)))


def probabilities(sentences: Sentences, weights: Weights, count: int) -> Array:
    """Of a whole refusal, for each answer."""
    rows = weighed(sentences.runs, sentences.facts, weights.rarity)
    refused, answered = (
        some(rows @ each[:-1] + each[-1], sentences.answer, count) for each in (weights.refuses, weights.answers)
    )
    return np.asarray(refused * (1 - answered))


def part_of(sentences: Sentences, chosen: Array) -> Sentences:
    """The sentences of some answers, which are numbered anew."""
    rows = np.flatnonzero(np.isin(sentences.answer, chosen))
    numbers = np.full(int(sentences.answer.max()) + 1, -1)
    numbers[chosen] = np.arange(len(chosen))
    return Sentences(
        sentences.runs[rows], sentences.facts[rows], sentences.taught[rows], numbers[sentences.answer[rows]]
    )


def check(answers: Sequence[Answer], sentences: Sentences) -> None:
    """Print what the weights say of answers that were left out."""
    realistic = np.array([answer.id.startswith("wide:") for answer in answers])
    left_out = np.flatnonzero(realistic)
    left_out = left_out[np.argsort([answers[number].text[::-1] for number in left_out])]
    found = np.zeros(len(answers))
    for fold in range(FOLDS):
        out = np.sort(left_out[fold::FOLDS])
        rest = np.setdiff1d(np.arange(len(answers)), out)
        weights = unpacked(fit(part_of(sentences, rest), [answers[number] for number in rest]).packed())
        found[out] = probabilities(part_of(sentences, out), weights, len(out))
    language = np.array([answer.language for answer in answers])
    is_refusal = labels_of(answers) == "refusal"
    for threshold in np.arange(0.3, 0.95, 0.05):
        line = [f"{threshold:.2f}"]
        for one in ("en", "fr", "ko"):
            here = realistic & (language == one)
            said = here & (found >= threshold)
            right = int((said & is_refusal).sum())
            line.append(f"{one} recall {right}/{(here & is_refusal).sum()} precision {right}/{said.sum()}")
        print("  ".join(line), flush=True)


def main() -> None:
    """Fit and write, or check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="cross-validate, and write nothing")
    options = parser.parse_args()
    answers = [answer for answer in read_answers() if answer.part == "development" and answer.label != "unclear"]
    sentences = read_sentences(answers)
    print(f"{len(answers):,} answers, {len(sentences.answer):,} sentences, {FACTS} facts", flush=True)
    if options.check:
        check(answers, sentences)
        return
    data = fit(sentences, answers).packed()
    WEIGHTS.parent.mkdir(exist_ok=True)
    WEIGHTS.write_bytes(data)
    print(f"{WEIGHTS.relative_to(ROOT)}: {len(data):,} bytes")


if __name__ == "__main__":
    main()
