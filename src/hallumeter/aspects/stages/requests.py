"""What validators and reviews ask for, in one form."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from hallumeter.aspects.records.aspect import CorrectionProposal, Polarity, TextSpan
from hallumeter.aspects.records.outputs import AspectReviewItem, Correction, IgnoredReason, SentimentReviewItem, Step

Kind = Literal["keep", "flip", "span", "drop", "add", "rename", "unsupported"]
_PROPOSALS: dict[str, Kind] = {"flip_polarity": "flip", "drop_aspect": "drop", "revise_span": "span"}
_OF_ASPECTS: dict[str, Kind] = {
    **dict.fromkeys(("keep", "maintain"), "keep"),
    **dict.fromkeys(("revise_span", "revise"), "span"),
    **dict.fromkeys(("drop", "remove"), "drop"),
    "add": "add",
}
_OF_SENTIMENTS: dict[str, Kind] = {
    **dict.fromkeys(("keep", "maintain"), "keep"),
    **dict.fromkeys(("flip_polarity", "flip", "revise_polarity"), "flip"),
    **dict.fromkeys(("drop", "remove"), "drop"),
    "add": "add",
    "revise_span": "span",
    "revise_term": "rename",
}
_NAMES = {
    "validator_proposals": {"flip": "FLIP_POLARITY", "drop": "DROP_ASPECT", "span": "REVISE_SPAN"},
    "ate_review": {"keep": "keep", "span": "revise_span", "drop": "drop", "add": "add"},
    "atsa_review": {
        "keep": "maintain",
        "flip": "flip_polarity",
        "drop": "drop",
        "add": "add",
        "span": "revise_span",
        "rename": "revise_term",
    },
}
"""What a request is called in logs, whichever synonym was used."""


class Request(Struct, frozen=True, kw_only=True):
    """One thing that is asked for."""

    step: Step
    kind: Kind
    name: str
    """As it stands in logs."""
    target: str | None
    polarity: Polarity | None = None
    """None stands for the opposite."""
    span: TextSpan | None = None
    term: str | None = None
    rationale: str = ""
    provenance: str | None = None

    def entry(
        self, *, applied: bool, reason: str, ignored: IgnoredReason | None = None, polarity: str | None = None
    ) -> Correction:
        """Its entry in a log."""
        return Correction(
            self.name,
            self.target,
            self.rationale,
            applied,
            f"{reason} [{self.provenance}]" if applied and self.provenance else reason,
            self.step,
            ignored,
            polarity,
            self.provenance,
        )


def request_of_proposal(proposal: CorrectionProposal) -> Request:
    """What a validator proposes."""
    kind = proposal_kind(proposal)
    return Request(
        step="validator_proposals",
        kind=kind,
        name=_name("validator_proposals", kind, proposal.proposal_type),
        target=proposal.target_aspect,
        span=proposal.revised_span,
        rationale=proposal.rationale,
    )


def proposal_kind(proposal: CorrectionProposal) -> Kind:
    """What kind of thing a validator proposes."""
    return _PROPOSALS.get(_plain(proposal.proposal_type), "unsupported")


def request_of_aspect_item(item: AspectReviewItem) -> Request:
    """What a review of the aspects asks for."""
    kind = _OF_ASPECTS.get(_plain(item.action), "unsupported")
    return Request(
        step="ate_review",
        kind=kind,
        name=_name("ate_review", kind, item.action),
        target=item.term,
        span=item.revised_span,
        rationale=item.reason,
        provenance=item.provenance,
    )


def request_of_sentiment_item(item: SentimentReviewItem) -> Request:
    """What a review of the sentiments asks for; plain ``revise`` means what is revised."""
    action = _plain(item.action)
    kind = _OF_SENTIMENTS.get(action, "unsupported")
    if action == "revise":
        kind = "flip" if item.revised_polarity is not None else "rename" if item.revised_term else "span"
    return Request(
        step="atsa_review",
        kind=kind,
        name=_name("atsa_review", kind, item.action),
        target=item.aspect_term,
        polarity=item.revised_polarity,
        span=item.revised_span,
        term=item.revised_term,
        rationale=item.reason,
        provenance=item.provenance,
    )


def _name(step: Step, kind: Kind, given: str) -> str:
    return _NAMES[step].get(kind, given)


def _plain(action: str) -> str:
    return action.strip().lower().replace("-", "_").replace(" ", "_")
