"""Who asked for a change of which aspect, and what became of it, as an output and its logs tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hallumeter.pipelines.aspects.stages.requests import (
    request_of_aspect_item,
    request_of_proposal,
    request_of_sentiment_item,
)
from hallumeter.pipelines.aspects.stages.terms import term_key

from .histories import did_validate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hallumeter.pipelines.aspects.stages.requests import Request
    from hallumeter.records.aspects import (
        Correction,
        CorrectionProposal,
        DebateOutput,
        OverrideDecision,
        PipelineOutput,
        StageTwo,
        StructuralRisk,
        TextSpan,
    )
    from hallumeter.records.aspects.blame import ErrorKind

POLARITY: tuple[ErrorKind, ...] = ("polarity",)
PLACE: tuple[ErrorKind, ...] = ("ungrounded",)
PRESENCE: tuple[ErrorKind, ...] = ("ungrounded", "spurious")
"""Who wants an aspect dropped says that it is not in the text, or no aspect."""
ABSENCE: tuple[ErrorKind, ...] = ("missing",)
ANYTHING: tuple[ErrorKind, ...] = ("ungrounded", "spurious", "missing", "polarity")
_ABOUT = (
    ("MISSING", ABSENCE),
    ("SPAN", PLACE),
    ("DROP", PRESENCE),
    *((word, POLARITY) for word in ("POLARITY", "NEGATION", "CONTRAST", "IRONY", "SARCASM", "EVIDENCE")),
)
"""What risks and proposals are about, by words in their types; the first that fits. Others may be about anything."""
_EDITS: dict[str, tuple[ErrorKind, ...]] = {
    "set_polarity": POLARITY,
    "drop_tuple": PRESENCE,
    "merge_tuples": ("spurious",),
}
"""Edits that say that something measured here is wrong; a confirmation or another name for an aspect does not."""
_REQUESTS: dict[str, tuple[ErrorKind, ...]] = {
    "flip": POLARITY,
    "drop": PRESENCE,
    "span": PLACE,
    "rename": PRESENCE,
    "add": ABSENCE,
}
"""What requests of reviews are about; others ask for no change."""


class Ask(NamedTuple):
    """One demand."""

    by: str
    asks: str
    kinds: tuple[ErrorKind, ...]
    keys: tuple[str, ...] = ()
    """Of the terms that it is about."""
    scope: TextSpan | None = None
    """The place that it is about, where it names no term."""
    polarity: str | None = None
    """What it wants; who wants what is so already asks for no change."""
    span: TextSpan | None = None
    step: str | None = None
    """Who applied it or did not; None where no log tells."""
    is_applied: bool = False
    reason: str | None = None


class Kept(NamedTuple):
    """A review that looked at an aspect and kept it as it was."""

    by: str
    key: str


def asks_of(output: PipelineOutput) -> list[Ask]:
    """All demands, in the order in which they were made."""
    validator = output.stage1.validator
    logged = _Log(output.correction_applied_log)
    asks = [*_of_risks("validator", validator.structural_risks)]
    asks += _of_proposals("validator", validator.correction_proposals, logged)
    if output.debate is not None:
        asks += _of_edits(output.debate, output.override_log)
        asks += _of_messages(output)
    if output.stage2 is not None:
        logged = _Log(output.review_applied_log)
        for request in _review_requests(output.stage2):
            if request.kind in _REQUESTS:
                asks.append(logged.answered(_asked(request.step, request, _REQUESTS[request.kind]), request))
        asks += _of_risks("validator_review", output.stage2.validator.structural_risks)
        asks += _of_proposals("validator_review", output.stage2.validator.correction_proposals, None)
    return asks


def kept_by_reviews(output: PipelineOutput) -> list[Kept]:
    """What the reviews of stage 2 looked at and left as it was."""
    requests = () if output.stage2 is None else _review_requests(output.stage2)
    return [Kept(request.step, term_key(request.target or "")) for request in requests if request.kind not in _REQUESTS]


def speakers_of(output: PipelineOutput) -> list[str]:
    """Who spoke, each once, in order."""
    speakers = ["validator"] if did_validate(output.stage1.validator) else []
    if output.debate is not None:
        speakers += [turn.name.casefold() for part in output.debate.rounds for turn in part.turns]
        speakers += [] if output.debate.summary is None else ["debate_summary"]
    if output.stage2 is not None:
        speakers += ["ate_review", "atsa_review"]
        speakers += ["validator_review"] if did_validate(output.stage2.validator) else []
    return list(dict.fromkeys(speakers))


class _Log:
    """What became of demands: entries are used up in their order, so that two equal demands have one each."""

    def __init__(self, entries: Iterable[Correction]) -> None:
        self._entries = list(entries)

    def answered(self, ask: Ask, request: Request) -> Ask:
        for place, entry in enumerate(self._entries):
            is_its_step = entry.step in (request.step, None)
            if is_its_step and entry.proposal_type == request.name and entry.target_aspect == request.target:
                del self._entries[place]
                reason = None if entry.applied else entry.ignored_reason or entry.reason or None
                return ask._replace(step=request.step, is_applied=entry.applied, reason=reason)
        return ask


def _asked(by: str, request: Request, kinds: tuple[ErrorKind, ...]) -> Ask:
    keys = () if request.target is None else (term_key(request.target),)
    polarity = request.polarity if request.kind == "flip" else None
    span = request.span if request.kind == "span" else None
    return Ask(by, request.name, kinds, keys, polarity=polarity, span=span)


def _review_requests(stage: StageTwo) -> Iterator[Request]:
    yield from map(request_of_aspect_item, stage.ate.aspect_review)
    yield from map(request_of_sentiment_item, stage.atsa.sentiment_review)


def _about(kind: str) -> tuple[ErrorKind, ...]:
    written = kind.upper()
    return next((kinds for word, kinds in _ABOUT if word in written), ANYTHING)


def _of_risks(by: str, risks: Iterable[StructuralRisk]) -> Iterator[Ask]:
    """A risk without a place speaks of nothing in particular."""
    return (Ask(by, risk.type, _about(risk.type), scope=risk.scope) for risk in risks if risk.scope is not None)


def _of_proposals(by: str, proposals: Iterable[CorrectionProposal], logged: _Log | None) -> Iterator[Ask]:
    """Without a log for those of the last validator, which nobody applies."""
    for request in map(request_of_proposal, proposals):
        ask = _asked(by, request, _about(request.name))
        yield ask if logged is None else logged.answered(ask, request)


def _of_edits(debate: DebateOutput, decisions: Iterable[OverrideDecision]) -> Iterator[Ask]:
    decided = {term_key(entry.aspect_term): entry for entry in decisions}
    turns = [turn for part in debate.rounds for turn in part.turns]
    edits = [(turn.name.casefold(), edit) for turn in turns for edit in turn.proposed_edits]
    edits += [("debate_summary", edit) for edit in (() if debate.summary is None else debate.summary.final_patch)]
    for by, edit in edits:
        kinds = _EDITS.get(edit.op)
        term = edit.target.aspect_term or edit.target.aspect_ref
        if kinds is not None and term is not None:
            wanted = edit.value if kinds is POLARITY else None
            ask = Ask(by, edit.op, kinds, (term_key(term),), polarity=wanted)
            yield _weighed(ask, decided.get(term_key(term)) if kinds is POLARITY else None)


def _weighed(ask: Ask, entry: OverrideDecision | None) -> Ask:
    if entry is None:
        return ask
    is_applied = entry.decision == "applied" and entry.target == ask.polarity
    reason = None if is_applied else entry.reason or None
    return ask._replace(step="debate_override", is_applied=is_applied, reason=reason)


def _of_messages(output: PipelineOutput) -> Iterator[Ask]:
    """Turns without edits: the polarity that code read out of them."""
    context = output.debate_review_context
    for point in () if context is None else context.rebuttal_points:
        if point.polarity_hint is not None and not point.proposed_edits:
            keys = tuple(map(term_key, point.aspect_terms))
            yield Ask(point.speaker.casefold(), "message", POLARITY, keys, polarity=point.polarity_hint)
