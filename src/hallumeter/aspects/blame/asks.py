"""Who asked for a change of which aspect, and what became of it, as an output and its logs tell."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from hallumeter.aspects.records import outputs
from hallumeter.aspects.records.aspect import AspectTuple, CorrectionProposal, StructuralRisk, TextSpan
from hallumeter.aspects.records.blame import ErrorFlag, ErrorKind, Ignoring
from hallumeter.aspects.stages.requests import (
    Request,
    request_of_aspect_item,
    request_of_proposal,
    request_of_sentiment_item,
)
from hallumeter.aspects.stages.terms import term_key

from .against_gold import Units, did_validate

Flags: TypeAlias = dict[ErrorKind, dict[int, list[ErrorFlag]]]
"""By kind of error and place of the unit."""


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


def asks_of(output: outputs.PipelineOutput) -> list[Ask]:
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


def kept_by_reviews(output: outputs.PipelineOutput) -> list[Kept]:
    """What the reviews of stage 2 looked at and left as it was."""
    requests = () if output.stage2 is None else _review_requests(output.stage2)
    return [Kept(request.step, term_key(request.target or "")) for request in requests if request.kind not in _REQUESTS]


def speakers_of(output: outputs.PipelineOutput) -> list[str]:
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

    def __init__(self, entries: Iterable[outputs.Correction]) -> None:
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


def _review_requests(stage: outputs.StageTwo) -> Iterator[Request]:
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


def _of_edits(debate: outputs.DebateOutput, decisions: Iterable[outputs.OverrideDecision]) -> Iterator[Ask]:
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


def _weighed(ask: Ask, entry: outputs.OverrideDecision | None) -> Ask:
    if entry is None:
        return ask
    is_applied = entry.decision == "applied" and entry.target == ask.polarity
    reason = None if is_applied else entry.reason or None
    return ask._replace(step="debate_override", is_applied=is_applied, reason=reason)


def _of_messages(output: outputs.PipelineOutput) -> Iterator[Ask]:
    """Turns without edits: the polarity that code read out of them."""
    context = output.debate_review_context
    for point in () if context is None else context.rebuttal_points:
        if point.polarity_hint is not None and not point.proposed_edits:
            keys = tuple(map(term_key, point.aspect_terms))
            yield Ask(point.speaker.casefold(), "message", POLARITY, keys, polarity=point.polarity_hint)


# Which units the demands of validators, debates and reviews speak of.

_REVIEWS = ("ate_review", "atsa_review", "validator_review")


def flags_of(asks: Iterable[Ask], units: Units, *, heard: int, text: str) -> Flags:
    """Every unit that somebody spoke of, as the units stood when they spoke."""
    flags: Flags = {kind: {} for kind in units.statuses}
    row = units.threads[heard]
    keys = _keys_of_threads(units, heard)
    sought = [(term_key(each.aspect_term), _place_of(each, text)) for each in units.gold]
    for ask in asks:
        threads = [
            place
            for place, aspect in enumerate(row)
            if aspect is not None and _does_speak_of(ask, keys[place], aspect.span) and _wants_change(ask, aspect)
        ]
        flag = _flag(ask)
        for kind in ask.kinds:
            if kind not in flags:
                continue
            if kind == "missing":
                places = [place for place, (key, span) in enumerate(sought) if _does_speak_of(ask, (key,), span)]
            elif kind == "polarity":
                places = [place for place, thread in enumerate(units.matches[heard]) if thread in threads]
            else:
                places = threads
            for place in places:
                flags[kind].setdefault(place, []).append(flag)
    return flags


def ignored_by(
    flags: Sequence[ErrorFlag], error: ErrorKind, keys: Sequence[str], *, output: outputs.PipelineOutput
) -> tuple[Ignoring, ...]:
    """Who let it stand: steps that did not apply what was asked, and the review that kept what others had flagged.

    Whether an aspect is one and where it stands is for one review to say, what is felt about it for the other.
    """
    found = [Ignoring(flag.ignored_by, flag.reason or "") for flag in flags if flag.ignored_by is not None]
    if any(flag.by not in _REVIEWS for flag in flags):
        asked = "atsa_review" if error == "polarity" else "ate_review"
        kept = any(each.by == asked and each.key in keys for each in kept_by_reviews(output))
        found += [Ignoring(asked, "kept")] if kept else []
    return tuple(dict.fromkeys(found))


def _keys_of_threads(units: Units, heard: int) -> list[set[str]]:
    """All names that a thread has had so far: who saw a term before it was tidied may use that."""
    keys: list[set[str]] = [set() for _ in units.threads[heard]]
    for row in units.threads[: heard + 1]:
        for place, aspect in enumerate(row):
            if aspect is not None:
                keys[place].add(term_key(aspect.term))
    return keys


def _does_speak_of(ask: Ask, keys: Iterable[str], span: TextSpan | None) -> bool:
    if ask.scope is not None:
        return span is not None and ask.scope.start < span.end and span.start < ask.scope.end
    return any(key in ask.keys for key in keys)


def _wants_change(ask: Ask, aspect: outputs.AspectState) -> bool:
    if ask.polarity is not None and ask.polarity == aspect.polarity:
        return False
    return ask.span is None or ask.span != aspect.span


def _place_of(wanted: AspectTuple, text: str) -> TextSpan | None:
    if wanted.span is not None:
        return wanted.span
    start = text.find(wanted.aspect_term) if wanted.aspect_term else -1
    return None if start < 0 else TextSpan(start, start + len(wanted.aspect_term))


def _flag(ask: Ask) -> ErrorFlag:
    if ask.step is None:
        return ErrorFlag(ask.by, ask.asks)
    if ask.is_applied:
        return ErrorFlag(ask.by, ask.asks, "applied")
    return ErrorFlag(ask.by, ask.asks, "ignored", ask.step, ask.reason)
