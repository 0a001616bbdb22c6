"""Whether models that answer the same question state the same claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct
from rapidfuzz import fuzz, process

from hallumeter.errors import RecordError, SettingsError
from hallumeter.records.columns import Support
from hallumeter.records.rate import Rate
from hallumeter.text.normalize import claim_key

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray


# When two texts are the same claim.


def claim_codes(texts: Sequence[str], *, similarity: float | None = None) -> list[int]:
    """Number claims so that the same claim has the same number, in order of first appearance.

    A final period, case, white space and Unicode form make no difference. With a `similarity` between 0 and 1, a
    claim also takes the number of the most similar earlier claim that is at least that alike: one minus the insertions
    and deletions between the two, as a share of their characters.

    >>> claim_codes(["Paris is the capital.", "paris is  the capital", "Lyon is not"])
    [0, 0, 1]
    >>> claim_codes(["Curie was born in 1867.", "Curie was born in 1867 AD."], similarity=0.85)
    [0, 0]
    """
    known: dict[Hashable, int] = {}
    if similarity is None:
        return [known.setdefault(claim_key(text), len(known)) for text in texts]
    if not 0 < similarity <= 1:
        raise SettingsError(f"similarity is {similarity:g}; expected a number above 0 and up to 1")
    codes: dict[str, int] = {}
    originals: list[str] = []
    for key in _distinct(claim_key(text) for text in texts):
        match = process.extractOne(key, originals, scorer=fuzz.ratio, score_cutoff=similarity * 100)
        if match is None:
            codes[key] = len(originals)
            originals.append(key)
        else:
            codes[key] = match[2]
    return [codes[claim_key(text)] for text in texts]


def _distinct(keys: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(keys))


ConsensusPart = Literal["precision", "recall", "f1"]
CONSENSUS_SHARE = 0.5
"""A claim is consensus when at least this share of the models supports it."""
_ROUNDING = 1e-9


class ConsensusScore(Struct, frozen=True):
    """How far one model goes along with the others."""

    model: str
    precision: Rate
    """Claims of the model that another model supports, of all its claims."""
    recall: Rate
    """Consensus claims that the model includes, of all consensus claims."""

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall; 0 when both are 0; None when either is undefined."""
        precision, recall = self.precision.value, self.recall.value
        if precision is None or recall is None:
            return None
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def consensus_scores(
    support: Support, *, share: float = CONSENSUS_SHARE, is_left_out: bool = False
) -> tuple[ConsensusScore, ...]:
    """Consensus precision and recall of every model, counts added up over questions.

    With `is_left_out` the scored model has no vote on what is consensus, and its precision asks for consensus
    of the others rather than for one other model: agreeing with oneself counts for nothing.
    """
    totals = consensus_counts(support, share=share, is_left_out=is_left_out).sum(axis=0).astype(np.float64)
    return tuple(
        ConsensusScore(name, Rate(float(precise), float(own)), Rate(float(included), float(wanted)))
        for name, (precise, own, included, wanted) in zip(support.model_names, totals, strict=True)
    )


def consensus_counts(
    support: Support, *, share: float = CONSENSUS_SHARE, is_left_out: bool = False
) -> NDArray[np.int64]:
    """What consensus scores are made of, for each question and model.

    The last axis holds the model's claims that count for precision, all its claims, its consensus claims, and all
    consensus claims of the question.
    """
    voters = np.bincount(support.asked[:, 0])
    statements = _Statements(support)
    per_question = voters[support.questions]
    if is_left_out:
        needed = np.maximum(share * (per_question - 1), 1) - _ROUNDING
        is_consensus = support.is_supported & (statements.others >= needed) & (per_question > 1)
        is_precise = is_consensus
        sizes = statements.consensus_sizes_without(support, voters, share)
    else:
        is_consensus = support.is_supported & (statements.votes >= share * per_question - _ROUNDING)
        is_precise = support.is_supported & (statements.others >= 1)
        sizes = statements.consensus_sizes(voters, share)[support.asked[:, 0]]
    models = len(support.model_names)
    stated = support.questions * models + support.models
    length = len(voters) * models
    columns = [
        np.bincount(stated, is_precise, minlength=length),
        np.bincount(stated, minlength=length),
        np.bincount(stated, is_consensus, minlength=length),
        np.bincount(support.asked[:, 0] * models + support.asked[:, 1], sizes, minlength=length),
    ]
    by_question = np.stack(columns, axis=-1).astype(np.int64).reshape(len(voters), models, len(columns))
    return np.asarray(by_question[voters > 0])


def mean_over_models(counts: NDArray[np.float64], *, part: ConsensusPart) -> NDArray[np.float64]:
    """Mean over models of consensus precision, recall or F1, for counts of one or of many resamples.

    The last two axes are those of `consensus_counts`; models for which the part is undefined are left out, and the
    mean is NaN when it is undefined for all.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        precision, recall = counts[..., 0] / counts[..., 1], counts[..., 2] / counts[..., 3]
        both = precision + recall
        f1 = np.where(both == 0, 0.0, 2 * precision * recall / both)
        values = {"precision": precision, "recall": recall, "f1": f1}[part]
        is_defined = ~np.isnan(values)
        return np.asarray(np.where(is_defined, values, 0).sum(axis=-1) / is_defined.sum(axis=-1))


def disputed_and_consensus(support: Support, share: float = CONSENSUS_SHARE) -> tuple[list[int], list[int]]:
    """Codes of the claims that too few models support, and of those that enough do; in order of code."""
    statements = _Statements(support)
    voters = np.bincount(support.asked[:, 0])
    is_consensus = statements.claim_votes >= share * voters[statements.claim_questions] - _ROUNDING
    is_consensus &= statements.claim_votes > 0
    codes = statements.claim_codes
    return sorted(codes[~is_consensus].tolist()), sorted(codes[is_consensus].tolist())


def support_from_matrix(matrix: Sequence[Sequence[int]], models: Sequence[str]) -> Support:
    """One question's claim verification matrix (rows claims, columns models, entries 0 or 1) as statements.

    >>> matrix = [[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 1]]
    >>> [round(score.f1, 6) for score in consensus_scores(support_from_matrix(matrix, ["a", "b", "c"]))]
    [0.8, 1.0, 0.5]
    """
    if any(len(row) != len(models) or set(row) - {0, 1} for row in matrix):
        raise RecordError(f"a claim verification matrix has {len(models)} entries per row, one per model, 0 or 1 each")
    table = np.asarray(matrix, dtype=np.int64).reshape(len(matrix), len(models))
    claims, columns = np.nonzero(table)
    asked = np.stack([np.zeros(len(models), dtype=np.int64), np.arange(len(models))], axis=1)
    return Support(
        questions=np.zeros(len(claims), dtype=np.int64),
        claims=claims.astype(np.int64),
        models=columns.astype(np.int64),
        is_supported=np.ones(len(claims), dtype=bool),
        asked=asked,
        model_names=tuple(models),
    )


class _Statements:
    """Votes per claim of a question, and what they mean for each statement."""

    def __init__(self, support: Support) -> None:
        width = int(support.claims.max()) + 1 if len(support.claims) else 1
        keys, inverse = np.unique(support.questions * width + support.claims, return_inverse=True)
        self.claim_questions = keys // width
        self.claim_codes = keys % width
        self.claim_votes = np.bincount(inverse, support.is_supported, minlength=len(keys))
        self.votes = self.claim_votes[inverse]
        self.others = self.votes - support.is_supported

    def consensus_sizes(self, voters: NDArray[np.int64], share: float) -> NDArray[np.float64]:
        """How many consensus claims each question has, all models voting."""
        is_consensus = (self.claim_votes >= share * voters[self.claim_questions] - _ROUNDING) & (self.claim_votes > 0)
        return np.bincount(self.claim_questions, is_consensus, minlength=len(voters)).astype(np.float64)

    def consensus_sizes_without(self, support: Support, voters: NDArray[np.int64], share: float) -> NDArray[np.float64]:
        """For each asked pair of question and model: consensus claims of the question by the other models alone."""
        needed = np.maximum(share * (voters - 1), 1) - _ROUNDING
        reached = (self.claim_votes >= needed[self.claim_questions]) & (voters[self.claim_questions] > 1)
        sizes = np.bincount(self.claim_questions, reached, minlength=len(voters))
        own_vote_decided = support.is_supported & (self.votes >= needed[support.questions])
        own_vote_decided &= (self.others < needed[support.questions]) & (voters[support.questions] > 1)
        models = len(support.model_names)
        lost = np.bincount(
            support.questions * models + support.models, own_vote_decided, minlength=len(voters) * models
        )
        return np.asarray(sizes[support.asked[:, 0]] - lost[support.asked[:, 0] * models + support.asked[:, 1]])
