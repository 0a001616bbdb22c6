"""Which model makes which claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.errors import RecordError
from hallumeter.metrics.claim_identity import claim_codes
from hallumeter.metrics.consensus import support_from_matrix

from .verdicts import Claim, Verdict, VerdictLabel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hallumeter.records import Support


class ClaimVerificationMatrix(Struct, frozen=True):
    """Distinct claims and the models that support them."""

    claims: list[Claim]
    """In order of first appearance, as first spelled."""
    models: list[str]
    support_matrix: list[list[int]]
    """One row per claim, one column per model; 1 where the model supports the claim, else 0."""

    def __post_init__(self) -> None:
        if len(self.support_matrix) != len(self.claims):
            raise RecordError(f"{len(self.claims)} claims, but {len(self.support_matrix)} rows; give a row per claim")
        for claim, row in zip(self.claims, self.support_matrix, strict=True):
            if len(row) != len(self.models) or not set(row) <= {0, 1}:
                raise RecordError(
                    f"claim {claim.text!r} has the row {row}; expected 0 or 1 for each of {len(self.models)} models"
                )

    @property
    def support(self) -> Support:
        """The matrix as the statements that hallumeter's consensus metrics read."""
        return support_from_matrix(self.support_matrix, self.models)


class ClaimVerificationMatrixBuilder:
    """Brings the claims of several models about the same question together."""

    def build_matrix(
        self,
        model_claims: Mapping[str, Sequence[Claim]],
        model_verdicts: Mapping[str, Sequence[Verdict]] | None = None,
    ) -> ClaimVerificationMatrix:
        """Find equal claims and note who supports them.

        Case, white space and a final period make no difference. Without verdicts, stating a claim is supporting it;
        with verdicts, only SUPPORTED is. The verdicts of a model are in the order of its claims; claims beyond the
        last verdict count as supported.

        >>> claims = {"a": [Claim("Paris is the capital.", (0, 21))], "b": [Claim("paris is the capital", (0, 20))]}
        >>> ClaimVerificationMatrixBuilder().build_matrix(claims).support_matrix
        [[1, 1]]
        """
        verdicts = model_verdicts or {}
        _check_verdicts(model_claims, verdicts)
        models = list(model_claims)
        stated = [(column, claim) for column, model in enumerate(models) for claim in model_claims[model]]
        is_supported = [
            place >= len(verdicts.get(model, ())) or verdicts[model][place].label is VerdictLabel.SUPPORTED
            for model in models
            for place in range(len(model_claims[model]))
        ]
        claims: list[Claim] = []
        matrix: list[list[int]] = []
        codes = claim_codes([claim.text for _, claim in stated])
        for row, (column, claim), supports in zip(codes, stated, is_supported, strict=True):
            if row == len(claims):
                claims.append(claim)
                matrix.append([0] * len(models))
            matrix[row][column] |= supports
        return ClaimVerificationMatrix(claims, models, matrix)


def _check_verdicts(claims: Mapping[str, Sequence[Claim]], verdicts: Mapping[str, Sequence[Verdict]]) -> None:
    for model, given in verdicts.items():
        if model not in claims:
            raise RecordError(
                f"verdicts for {model!r}, but no claims; models with claims: {', '.join(claims) or 'none'}"
            )
        if len(given) > len(claims[model]):
            raise RecordError(
                f"{model!r} has {len(claims[model])} claims but {len(given)} verdicts; give at most one per claim"
            )
