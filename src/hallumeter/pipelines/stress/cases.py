"""What the judges are asked: every claim as it is, with each error, and in each other form."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from hallumeter.mutations import Donors, Facts, Mutation, controls_of, errors_of, facts_of
from hallumeter.pipelines.audit.entries import Prepared
from hallumeter.records import Claim

from .claims import SourceClaim

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hallumeter.runner import Watch

UNCHANGED = "unchanged"
"""The kind of a claim as it was."""
_OTHER_RECORDS = 40
"""Records whose names may stand in the claims of others."""
_OTHER_CHARACTERS = 4_000
"""As much of the evidence of each is read for them."""


class Case(Struct, frozen=True):
    """One claim, edited or not, for the judges to look at."""

    source: SourceClaim
    mutation: Mutation | None = None
    """None for the claim as it was."""

    @property
    def kind(self) -> str:
        """What was done to the claim."""
        return UNCHANGED if self.mutation is None else self.mutation.kind

    @property
    def is_error(self) -> bool:
        """Whether a judge should catch it."""
        return self.mutation is not None and self.mutation.is_error

    @property
    def text(self) -> str:
        """What the judges read."""
        return self.source.text if self.mutation is None else self.mutation.text

    def prepared(self) -> Prepared:
        """A response of its own, which says nothing but this claim."""
        response = structs.replace(self.source.response, response=self.text, samples=(), token_logprobs=None)
        claim_id = f"{self.source.claim_id}:{self.kind}"
        claim = Claim(response.record_id, claim_id, start=0, end=len(self.text), text=self.text)
        return Prepared(response, (claim,), response.record_id)


def cases_of(claims: Sequence[SourceClaim], *, seed: int, watch: Watch) -> Iterator[Case]:
    """Every claim as it is, then its errors, then its controls; the claims of a record stand together."""
    others = _names_of_others(claims)
    for _, group in groupby(claims, key=lambda claim: claim.response.record_id):
        own = list(group)
        donors = Donors(facts_of(passage.text for passage in own[0].response.evidence), others)
        for claim in own:
            yield Case(claim)
            errors = errors_of(claim.text, donors=donors, seed=seed, language=claim.language)
            controls = controls_of(claim.text, seed=seed, language=claim.language)
            yield from (Case(claim, mutation) for mutation in (*errors, *controls))
            watch.done(1)


def _names_of_others(claims: Sequence[SourceClaim]) -> Facts:
    """What a claim whose own evidence has no other name is given instead."""
    evidence = {claim.response.record_id: claim.response.evidence for claim in claims}
    chosen = list(evidence.values())[:_OTHER_RECORDS]
    return facts_of(passage.text[:_OTHER_CHARACTERS] for passages in chosen for passage in passages[:1])
