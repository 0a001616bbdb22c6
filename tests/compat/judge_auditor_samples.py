"""Verdicts, claims and samples that the tests of judge-auditor's names share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hallumeter.compat.judge_auditor import (
    Claim,
    ClaimType,
    ClaimVerificationMatrix,
    ClaimVerificationMatrixBuilder,
    Verdict,
    VerdictLabel,
)

SUPPORTED = Verdict(VerdictLabel.SUPPORTED, 0.9, [], "Supported")
REFUTED = Verdict(VerdictLabel.REFUTED, 0.8, [], "Refuted")
UNCLEAR = Verdict(VerdictLabel.NOT_ENOUGH_INFO, 0.5, [], "Unclear")
OF_LETTER = {"S": SUPPORTED, "R": REFUTED, "N": UNCLEAR}


def verdicts_of(letters: str) -> list[Verdict]:
    return [OF_LETTER[letter] for letter in letters]


def claims_of(*texts: str) -> list[Claim]:
    return [Claim(text, (0, len(text)), ClaimType.FACTUAL) for text in texts]


def matrix_of(model_claims: Mapping[str, Sequence[str]]) -> ClaimVerificationMatrix:
    return ClaimVerificationMatrixBuilder().build_matrix(
        {model: claims_of(*texts) for model, texts in model_claims.items()}
    )


THREE_MODELS = {"a": ["A", "B", "X"], "b": ["A", "B"], "c": ["A", "C"]}
"""Who claims what: A is claimed by all, B by two, X and C by one."""

THREE_SAMPLES = [[0.7, 0.2, 0.1], [0.65, 0.25, 0.1], [0.72, 0.18, 0.1]]
OPPOSED = [[1, 0], [0, 1]]
"""Two inferences, each certain, of opposite things."""
