"""Whether models that answer the same question state the same claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from hallumeter.records import Rate, Support

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

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
    voters = np.bincount(support.asked[:, 0])
    statements = _Statements(support)
    per_question = voters[support.questions]
    if is_left_out:
        needed = share * (per_question - 1)
        is_consensus = (statements.others >= np.maximum(needed, 1) - _ROUNDING) & (per_question > 1)
        is_precise = support.is_supported & is_consensus
        sizes = statements.consensus_sizes_without(support, voters, share)
    else:
        is_consensus = statements.votes >= share * per_question - _ROUNDING
        is_precise = support.is_supported & (statements.others >= 1)
        sizes = statements.consensus_sizes(voters, share)[support.asked[:, 0]]
    models = len(support.model_names)
    own = np.bincount(support.models, minlength=models)
    precise = np.bincount(support.models, is_precise, minlength=models)
    included = np.bincount(support.models, support.is_supported & is_consensus, minlength=models)
    wanted = np.bincount(support.asked[:, 1], sizes, minlength=models)
    return tuple(
        ConsensusScore(name, Rate(float(precise[i]), float(own[i])), Rate(float(included[i]), float(wanted[i])))
        for i, name in enumerate(support.model_names)
    )


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
