"""From what a model said of a claim, window by window, to one verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, structs

from hallumeter.models.instructions import instruction_spans
from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.judging import GIVES_INSTRUCTIONS
from hallumeter.records.response import Quote

from .replies import OUTCOMES, find_quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .replies import ClaimReply
    from .windows import Piece, Windows


QUOTE_NOT_FOUND = "quote_not_found"
INSTRUCTION_IN_EVIDENCE = "instruction_in_evidence"
WINDOWS_DISAGREE = "windows_disagree"
EVIDENCE_CUT = "evidence_cut"
UNCERTAIN = "uncertain"


class Vote(Struct, frozen=True):
    """What is left, after checking, of what a model said of a claim on seeing one window."""

    label: Label
    reason: str | None = None
    quotes: tuple[Quote, ...] = ()
    note: str | None = None
    probabilities: tuple[float, ...] | None = None

    @property
    def confidence(self) -> float | None:
        """The probability of the label, where it is known."""
        if self.probabilities is None or self.label not in OUTCOMES:
            return None
        return self.probabilities[OUTCOMES.index(self.label)]


class WindowReader:
    """Checks what a model said against the window that it was shown."""

    def __init__(self, pieces: Sequence[Piece], *, wants_quotes: bool) -> None:
        self._pieces = pieces
        self._wants_quotes = wants_quotes
        self._instructions = {
            (piece.passage.evidence_id, *span)
            for piece in pieces
            for span in instruction_spans(piece.text, offset=piece.start)
        }

    def vote(self, reply: ClaimReply, probabilities: tuple[float, ...] | None) -> Vote:
        """A reply as a vote; a label that nothing in the evidence bears out becomes UNDECIDED.

        Evidence that gives the judge instructions is named in the note, whatever became of the label.
        """
        vote = self._checked(reply, probabilities)
        if not self._instructions or vote.reason == INSTRUCTION_IN_EVIDENCE:
            return vote
        return structs.replace(vote, note="; ".join(filter(None, (vote.note, GIVES_INSTRUCTIONS))))

    def _checked(self, reply: ClaimReply, probabilities: tuple[float, ...] | None) -> Vote:
        if reply.label is Label.UNDECIDED:
            return Vote(Label.UNDECIDED, UNCERTAIN, note=reply.note)
        if reply.label is Label.NOT_ENOUGH_INFO:
            return Vote(reply.label, note=reply.note, probabilities=probabilities)
        if self._wants_quotes:
            return self._quoted_vote(reply, probabilities)
        if self._instructions:  # there is no telling whether the label was dictated
            return Vote(Label.UNDECIDED, INSTRUCTION_IN_EVIDENCE, note="the evidence speaks to the judge")
        return Vote(reply.label, note=reply.note, probabilities=probabilities)

    def _quoted_vote(self, reply: ClaimReply, probabilities: tuple[float, ...] | None) -> Vote:
        named = None if reply.evidence_id is None else reply.evidence_id - 1
        quote = find_quote(reply.quote or "", self._pieces, first=named)
        if quote is None:
            said = f"the evidence does not say: {reply.quote}" if reply.quote else "nothing was quoted"
            return Vote(Label.UNDECIDED, QUOTE_NOT_FOUND, note=f"{reply.label.value}, but {said}")
        if self._is_instruction(quote):
            return Vote(Label.UNDECIDED, INSTRUCTION_IN_EVIDENCE, (quote,), "the quoted words speak to the judge")
        return Vote(reply.label, None, (quote,), reply.note, probabilities)

    def _is_instruction(self, quote: Quote) -> bool:
        assert quote.start is not None
        assert quote.end is not None
        return any(
            evidence_id == quote.evidence_id and start < quote.end and end > quote.start
            for evidence_id, start, end in self._instructions
        )


def verdict_of(claim: Claim, votes: Sequence[Vote], windows: Windows, *, judge: str, cost_usd: float | None) -> Verdict:
    """One verdict from the votes of all windows that were seen.

    Support in one window and refutation in none is support, and the other way round; both are `windows_disagree`.
    Where neither is, the evidence is silent only if all of it was seen.
    """
    vote = _together(votes, is_whole=windows.is_whole)
    notes = [vote.note, None if windows.is_whole else windows.in_words]
    probabilities = vote.probabilities if vote.label in OUTCOMES else None
    return Verdict(
        record_id=claim.record_id,
        claim_id=claim.claim_id,
        judge=judge,
        label=vote.label,
        unsupported_probability=None if probabilities is None else 1 - probabilities[0],
        reason=vote.reason,
        start=claim.start,
        end=claim.end,
        evidence=vote.quotes,
        note="; ".join(note for note in notes if note) or None,
        cost_usd=cost_usd,
        confidence=vote.confidence,
        probabilities=probabilities,
    )


def _together(votes: Sequence[Vote], *, is_whole: bool) -> Vote:
    deciding = [vote for vote in votes if vote.label in (Label.SUPPORTED, Label.REFUTED)]
    if len({vote.label for vote in deciding}) > 1:
        quotes = tuple(quote for vote in deciding for quote in vote.quotes)
        return Vote(Label.UNDECIDED, WINDOWS_DISAGREE, quotes, "some windows support the claim and others refute it")
    if deciding:
        return max(deciding, key=lambda vote: vote.confidence or 0)
    undecided = [vote for vote in votes if vote.label is Label.UNDECIDED]
    if undecided:
        return undecided[0]
    if not is_whole:
        return Vote(Label.UNDECIDED, EVIDENCE_CUT)
    # That all windows are silent is as sure as the least sure of them.
    return min(votes, key=lambda vote: 1 if vote.confidence is None else vote.confidence)
