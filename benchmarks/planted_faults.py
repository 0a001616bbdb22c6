"""Sentences with planted faults, taken through the pipeline, and whether blame finds who planted them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar, cast

from msgspec import Struct, structs
from msgspec.structs import replace

from hallumeter.aspects.agents.protocol import AgentReply
from hallumeter.aspects.metrics.tuples import tidy_term
from hallumeter.aspects.records.aspect import (
    POLARITIES,
    Aspect,
    AspectSentiment,
    AspectTerm,
    AspectTuple,
    CorrectionProposal,
    Polarity,
    StructuralRisk,
    TextSpan,
)
from hallumeter.aspects.records.blame import ErrorKind
from hallumeter.aspects.records.outputs import (
    AspectExtraction,
    AspectReview,
    AspectReviewItem,
    AspectSentiments,
    DebateSummary,
    DebateTurn,
    EditTarget,
    ProposedEdit,
    SentimentReview,
    SentimentReviewItem,
    StageOne,
    StructuralReview,
    StructuralValidation,
)
from hallumeter.aspects.settings import StageSettings
from hallumeter.aspects.stages.sequence import processed
from hallumeter.challenge.mutations.protocol import Choice
from hallumeter.errors import SettingsError

if TYPE_CHECKING:
    from hallumeter.aspects.agents.protocol import Agent, AgentAnswer, AgentTask, Role
    from hallumeter.aspects.readers.protocol import AspectReader
    from hallumeter.aspects.records.blame import SentenceBlame, UnitBlame
    from hallumeter.aspects.records.outputs import PipelineOutput
    from hallumeter.aspects.settings import Sentence


# Faults of agents, planted in right answers at known places, so that blame can be compared with the truth.
#
# A plan says what each agent of one sentence gets wrong, and which of these errors a later agent puts right again.
# `aspect_planting.planted` changes the answers; what the plan does not speak of stays as it was. The same seed, text
# and gold make the same plan.

FaultKind = Literal[
    "miscounted_span",
    "other_units",
    "invented_aspect",
    "spurious_span",
    "missed_aspect",
    "flipped_polarity",
    "proposed_flip",
    "reviewed_drop",
    "reviewed_flip",
    "pushed_polarity",
]
FAULT_STEPS: dict[FaultKind, str] = {
    "miscounted_span": "ate",
    "other_units": "ate",
    "invented_aspect": "ate",
    "spurious_span": "ate",
    "missed_aspect": "ate",
    "flipped_polarity": "atsa",
    "proposed_flip": "validator_proposals",
    "reviewed_drop": "ate_review",
    "reviewed_flip": "atsa_review",
    "pushed_polarity": "debate_override",
}
"""The step that introduces the error: offsets that are one to three too small, more so further on; offsets in UTF-16
units or bytes; a term that is not in the text; a word that is no aspect; an aspect that nobody names; a wrong polarity;
a validator that wants a right polarity turned; a review that drops a right aspect, or turns a right polarity; a debate
that agrees on a wrong polarity."""
FAULT_KINDS: tuple[FaultKind, ...] = tuple(FAULT_STEPS)
FAULT_ERRORS: dict[FaultKind, tuple[ErrorKind, ...]] = {
    "miscounted_span": ("ungrounded",),
    "other_units": ("ungrounded",),
    "invented_aspect": ("ungrounded", "spurious"),
    "spurious_span": ("spurious",),
    "missed_aspect": ("missing",),
    "flipped_polarity": ("polarity",),
    "proposed_flip": ("polarity",),
    "reviewed_drop": ("missing",),
    "reviewed_flip": ("polarity",),
    "pushed_polarity": ("polarity",),
}
"""The kinds of error that a fault is."""
_REPAIRS: dict[FaultKind, tuple[str, ...]] = {
    "miscounted_span": ("ate_review", "validator_proposals"),
    "other_units": ("ate_review", "validator_proposals"),
    "invented_aspect": ("ate_review", "validator_proposals"),
    "spurious_span": ("ate_review", "validator_proposals"),
    "missed_aspect": ("ate_review",),
    "flipped_polarity": ("atsa_review", "debate_override"),
}
"""The steps that can put a fault of stage 1 right."""
_WORDS = re.compile(r"\w+")
_LONG_WORD = re.compile(r"[^\W\d_]{2,}")
_OPPOSITE: dict[str, Polarity] = {"positive": "negative", "negative": "positive"}
_MOST_SHIFTED = 3


class PlantedFault(Struct, frozen=True, kw_only=True):
    """One fault, and all that is known about it."""

    kind: FaultKind
    step: str
    """Who introduces it."""
    term: str
    span: TextSpan
    """As it is stated: wrong, for faults about spans."""
    true_span: TextSpan | None = None
    """Where the term stands; None for a term that is not in the text."""
    polarity: Polarity
    """As it is stated or asked for: wrong, for faults about polarities."""
    true_polarity: Polarity | None = None
    """As gold has it; None for an aspect that is not in gold."""
    repaired_by: str | None = None
    """The step that puts it right again; None when none does."""


class _Place(Struct, frozen=True):
    """An aspect of gold in which a fault can be planted."""

    term: str
    span: TextSpan
    polarity: Polarity


class _Sentence(Struct, frozen=True):
    """What faults are made of."""

    text: str
    gold: tuple[AspectTuple, ...]
    donors: Sequence[str]
    choice: Choice

    def fault(self, kind: FaultKind, place: _Place) -> PlantedFault:
        """A fault that leaves everything about an aspect right so far."""
        return PlantedFault(
            kind=kind,
            step=FAULT_STEPS[kind],
            term=place.term,
            span=place.span,
            true_span=place.span,
            polarity=place.polarity,
            true_polarity=place.polarity,
        )


def planned_faults(
    text: str,
    gold: Sequence[AspectTuple],
    *,
    seed: int = 0,
    kinds: Iterable[FaultKind] = FAULT_KINDS,
    donors: Sequence[str] = (),
    are_repaired: bool = True,
) -> tuple[PlantedFault, ...]:
    """What agents get wrong in a sentence: each kind once where it finds a place, no aspect twice.

    Miscounted spans are planted in all aspects that are left. Aspects are passed over whose term stands in the text,
    or in another aspect, a second time: nobody could tell which one an agent means. `donors` are terms for invented
    aspects; the first one that shares no word with the text is taken. With `are_repaired` some faults of stage 1 are
    put right by a later step.

    >>> gold = [AspectTuple("battery", "positive", span=TextSpan(4, 11))]
    >>> [fault] = planned_faults("The battery is fine.", gold, kinds=["flipped_polarity"], are_repaired=False)
    >>> fault.step, fault.term, fault.polarity, fault.true_polarity
    ('atsa', 'battery', 'negative', 'positive')
    """
    wanted = tuple(kinds)
    if unknown := [kind for kind in wanted if kind not in FAULT_STEPS]:
        raise SettingsError(f"there is no fault of kind {unknown[0]!r}; choose from {', '.join(FAULT_KINDS)}")
    free = list(_places(text, gold))
    planned: list[PlantedFault] = []
    for kind in wanted:
        sentence = _Sentence(text, tuple(gold), donors, Choice(seed, text, kind))
        for fault in _MAKERS[kind](sentence, kind, list(sentence.choice.ordered(free))):
            planned.append(_repaired(fault, sentence.choice) if are_repaired else fault)
            free = [place for place in free if place.term != fault.term]
    return tuple(planned)


def _places(text: str, gold: Sequence[AspectTuple]) -> Iterator[_Place]:
    terms = [each.aspect_term.casefold() for each in gold]
    for each in gold:
        key, span = each.aspect_term.casefold(), each.span
        is_alone = sum(key in term or term in key for term in terms) == 1
        is_placed = span is not None and span.is_within(text) and text[span.start : span.end] == each.aspect_term
        polarity = next((known for known in POLARITIES if known == each.polarity), None)
        if key and span is not None and polarity and is_placed and is_alone and text.casefold().count(key) == 1:
            yield _Place(each.aspect_term, span, polarity)


def _repaired(fault: PlantedFault, choice: Choice) -> PlantedFault:
    """Half of the faults that can be repaired are; a debate can make nothing neutral."""
    steps = [
        step for step in _REPAIRS.get(fault.kind, ()) if step != "debate_override" or fault.true_polarity in _OPPOSITE
    ]
    chosen = next(choice.ordered([*steps, *[None] * len(steps)], "repair"), None)
    return structs.replace(fault, repaired_by=chosen)


def _miscounted(sentence: _Sentence, kind: FaultKind, free: list[_Place]) -> Iterator[PlantedFault]:
    """One character too early at the beginning of the sentence, three at its end; too late where there is no room."""
    for place in free:
        shift = 1 + _MOST_SHIFTED * place.span.start // (len(sentence.text) + 1)
        shift = -shift if place.span.start >= shift else shift
        span = TextSpan(place.span.start + shift, place.span.end + shift)
        yield structs.replace(sentence.fault(kind, place), span=span)


def _in_other_units(sentence: _Sentence, kind: FaultKind, free: list[_Place]) -> Iterator[PlantedFault]:
    for place in free:
        before = sentence.text[: place.span.start]
        for encoding, size in (("utf-16-le", 2), ("utf-8", 1)):
            start = len(before.encode(encoding, "surrogatepass")) // size
            length = len(place.term.encode(encoding, "surrogatepass")) // size
            span = TextSpan(start, start + length)
            if span != place.span:
                yield structs.replace(sentence.fault(kind, place), span=span)
                return


def _invented(sentence: _Sentence, kind: FaultKind, _: list[_Place]) -> Iterator[PlantedFault]:
    taken = {word.casefold() for word in _WORDS.findall(sentence.text)}
    for donor in sentence.choice.ordered(sentence.donors, "donor"):
        if donor.casefold() not in sentence.text.casefold() and taken.isdisjoint(_WORDS.findall(donor.casefold())):
            start = min(len(sentence.text) // 2, max(len(sentence.text) - len(donor), 0))
            yield _stranger(sentence, kind, donor, span=TextSpan(start, start + len(donor)))
            return


def _spurious(sentence: _Sentence, kind: FaultKind, _: list[_Place]) -> Iterator[PlantedFault]:
    folded = sentence.text.casefold()
    spans = [each.span for each in sentence.gold if each.span is not None]
    terms = [each.aspect_term.casefold() for each in sentence.gold]
    for match in sentence.choice.ordered(list(_LONG_WORD.finditer(sentence.text)), "word"):
        word = match.group().casefold()
        is_outside = all(match.end() <= span.start or span.end <= match.start() for span in spans)
        if is_outside and folded.count(word) == 1 and not any(word in term or term in word for term in terms):
            found = _stranger(sentence, kind, match.group(), span=TextSpan(match.start(), match.end()))
            yield structs.replace(found, true_span=found.span)
            return


def _stranger(sentence: _Sentence, kind: FaultKind, term: str, *, span: TextSpan) -> PlantedFault:
    """An aspect that is not in gold, with any polarity."""
    polarity = next(sentence.choice.ordered(POLARITIES, "polarity"))
    return PlantedFault(kind=kind, step=FAULT_STEPS[kind], term=term, span=span, polarity=polarity)


def _about_one(sentence: _Sentence, kind: FaultKind, free: list[_Place]) -> Iterator[PlantedFault]:
    for place in free[:1]:
        yield sentence.fault(kind, place)


def _flipped(sentence: _Sentence, kind: FaultKind, free: list[_Place]) -> Iterator[PlantedFault]:
    for place in free[:1]:
        either: list[Polarity] = ["positive", "negative"]
        wrong = _OPPOSITE.get(place.polarity) or next(sentence.choice.ordered(either, "polarity"))
        yield structs.replace(sentence.fault(kind, place), polarity=wrong)


def _turned(sentence: _Sentence, kind: FaultKind, free: list[_Place]) -> Iterator[PlantedFault]:
    """A validator can turn only what has an opposite."""
    return _flipped(sentence, kind, [place for place in free if place.polarity in _OPPOSITE])


_MAKERS: dict[FaultKind, Callable[[_Sentence, FaultKind, list[_Place]], Iterator[PlantedFault]]] = {
    "miscounted_span": _miscounted,
    "other_units": _in_other_units,
    "invented_aspect": _invented,
    "spurious_span": _spurious,
    "missed_aspect": _about_one,
    "flipped_polarity": _flipped,
    "proposed_flip": _turned,
    "reviewed_drop": _about_one,
    "reviewed_flip": _flipped,
    "pushed_polarity": _flipped,
}


# Puts planned faults into right answers of agents, and lets later agents put some of them right.

Answer = TypeVar("Answer")
_STRANGERS = ("invented_aspect", "spurious_span")
_MISPLACED = ("miscounted_span", "other_units")
_CONFIDENCE = 0.9
_WHY = "planted"


def planted(answer: Answer, faults: Sequence[PlantedFault]) -> Answer:
    """An answer with the faults, and the repairs, of its agent; answers of other roles come back as they are.

    >>> from planted_faults import planned_faults
    >>> from hallumeter.aspects.records.aspect import AspectTuple, TextSpan
    >>> gold = [AspectTuple("battery", "positive", span=TextSpan(4, 11))]
    >>> faults = planned_faults("The battery is fine.", gold, kinds=["miscounted_span"])
    >>> right = AspectExtraction((Aspect("battery", TextSpan(4, 11)),))
    >>> planted(right, faults).aspects[0].span
    TextSpan(start=3, end=10)
    """
    change = _CHANGES.get(type(answer))
    return answer if change is None or not faults else cast("Answer", change(answer, faults))


def _in_extraction(answer: AspectExtraction, faults: Sequence[PlantedFault]) -> AspectExtraction:
    missed = {fault.term for fault in faults if fault.kind == "missed_aspect"}
    moved = {fault.term: fault.span for fault in faults if fault.kind in _MISPLACED}
    aspects = [
        replace(aspect, span=moved.get(aspect.term, aspect.span))
        for aspect in answer.aspects
        if aspect.term not in missed
    ]
    aspects += [Aspect(fault.term, fault.span, _CONFIDENCE) for fault in faults if fault.kind in _STRANGERS]
    return AspectExtraction(tuple(aspects))


def _in_sentiments(answer: AspectSentiments, faults: Sequence[PlantedFault]) -> AspectSentiments:
    """Who misses an aspect has nothing to say about it; who invents one has."""
    missed = {fault.term for fault in faults if fault.kind == "missed_aspect"}
    turned = {fault.term: fault.polarity for fault in faults if fault.kind == "flipped_polarity"}
    sentiments = [
        replace(each, polarity=turned.get(each.term, each.polarity))
        for each in answer.aspect_sentiments
        if each.term not in missed
    ]
    sentiments += [
        AspectSentiment(AspectTerm(fault.term, fault.span), fault.polarity, _CONFIDENCE)
        for fault in faults
        if fault.kind in _STRANGERS
    ]
    return AspectSentiments(tuple(sentiments))


def _in_validation(answer: StructuralValidation, faults: Sequence[PlantedFault]) -> StructuralValidation:
    proposals, risks = list(answer.correction_proposals), list(answer.structural_risks)
    for fault in faults:
        if fault.kind == "proposed_flip":
            risks.append(StructuralRisk("NEGATION", fault.span, "high", _WHY))
            proposals.append(CorrectionProposal(fault.term, "FLIP_POLARITY", _WHY, confidence=_CONFIDENCE))
        elif fault.repaired_by == "validator_proposals" and fault.kind in _STRANGERS:
            proposals.append(CorrectionProposal(fault.term, "DROP_ASPECT", _WHY))
        elif fault.repaired_by == "validator_proposals":
            proposals.append(CorrectionProposal(fault.term, "REVISE_SPAN", _WHY, fault.true_span))
    return replace(answer, structural_risks=tuple(risks), correction_proposals=tuple(proposals))


def _pushed(faults: Sequence[PlantedFault]) -> Iterator[tuple[PlantedFault, Polarity]]:
    """Whose polarity a debate wants to set, and to what."""
    for fault in faults:
        if fault.kind == "pushed_polarity":
            yield fault, fault.polarity
        elif fault.repaired_by == "debate_override" and fault.true_polarity is not None:
            yield fault, fault.true_polarity


def _in_turn(answer: DebateTurn, faults: Sequence[PlantedFault]) -> DebateTurn:
    return replace(answer, proposed_edits=_edits(answer.proposed_edits, faults, "set_polarity"))


def _in_summary(answer: DebateSummary, faults: Sequence[PlantedFault]) -> DebateSummary:
    return replace(answer, final_patch=_edits(answer.final_patch, faults, "confirm_tuple"))


def _edits(edits: Sequence[ProposedEdit], faults: Sequence[PlantedFault], op: str) -> tuple[ProposedEdit, ...]:
    pushed = {fault.term: polarity for fault, polarity in _pushed(faults)}
    kept = [edit for edit in edits if edit.target.aspect_term not in pushed]
    added = [
        ProposedEdit(op, EditTarget(aspect_term=term, polarity=polarity), polarity, confidence=_CONFIDENCE)
        for term, polarity in pushed.items()
    ]
    return (*kept, *added)


def _in_aspect_review(answer: AspectReview, faults: Sequence[PlantedFault]) -> AspectReview:
    said: dict[str, AspectReviewItem] = {}
    for fault in faults:
        if fault.kind == "reviewed_drop":
            said[fault.term] = AspectReviewItem(fault.term, "drop", reason=_WHY)
        elif fault.repaired_by == "ate_review":
            said[fault.term] = AspectReviewItem(fault.term, _repair_of(fault), fault.true_span, _WHY)
    kept = [item for item in answer.aspect_review if item.term not in said]
    return AspectReview((*kept, *said.values()))


def _repair_of(fault: PlantedFault) -> str:
    if fault.kind in _STRANGERS:
        return "drop"
    return "add" if fault.kind == "missed_aspect" else "revise_span"


def _in_sentiment_review(answer: SentimentReview, faults: Sequence[PlantedFault]) -> SentimentReview:
    """A sentiment goes with an aspect that the other review adds."""
    said: dict[str, SentimentReviewItem] = {}
    for fault in faults:
        if fault.kind == "reviewed_flip":
            said[fault.term] = SentimentReviewItem(fault.term, "flip_polarity", fault.polarity, reason=_WHY)
        elif fault.repaired_by == "atsa_review":
            said[fault.term] = SentimentReviewItem(fault.term, "flip_polarity", fault.true_polarity, reason=_WHY)
        elif fault.kind == "missed_aspect" and fault.repaired_by is not None:
            said[fault.term] = SentimentReviewItem(fault.term, "add", fault.true_polarity, reason=_WHY)
        elif fault.repaired_by == "ate_review" and fault.kind in _STRANGERS:
            said[fault.term] = SentimentReviewItem(fault.term, "drop", reason=_WHY)
    kept = [item for item in answer.sentiment_review if item.aspect_term not in said]
    return SentimentReview((*kept, *said.values()))


_CHANGES: dict[type, Callable[..., object]] = {
    AspectExtraction: _in_extraction,
    AspectSentiments: _in_sentiments,
    StructuralValidation: _in_validation,
    DebateTurn: _in_turn,
    DebateSummary: _in_summary,
    AspectReview: _in_aspect_review,
    SentimentReview: _in_sentiment_review,
}


# Agents that know the truth, and agents that err at known places: with both, blame can be compared with the truth.

_AGENT_CONFIDENCE = 0.9


class GoldAgent:
    """Says what gold says of a sentence in stage 1, and later keeps everything as it finds it.

    Sentences that it has no gold of have no aspect.
    """

    def __init__(self, gold: Mapping[str, Sequence[AspectTuple]]) -> None:
        """Take the gold by text."""
        self._gold = gold

    @property
    def spec(self) -> str:
        """That it knows gold."""
        return "gold"

    def answer(self, task: AgentTask) -> AgentReply:
        """The right answer, or one that changes nothing."""
        return AgentReply(answer=_answer(task, self._gold.get(task.text, ())))


class FaultyAgent:
    """Another agent, with faults planted in what it says."""

    def __init__(
        self, agent: Agent, faults: Mapping[str, Sequence[PlantedFault]], *, roles: Sequence[Role] | None = None
    ) -> None:
        """Take the faults by text; they are planted in all roles unless some are named."""
        self._agent = agent
        self._faults = faults
        self._roles = roles

    @property
    def spec(self) -> str:
        """The other agent, and how many faults there are."""
        return f"faulty;faults={sum(map(len, self._faults.values()))};{self._agent.spec}"

    def answer(self, task: AgentTask) -> AgentReply:
        """What the other agent says, with the faults of its role."""
        reply = self._agent.answer(task)
        if self._roles is not None and task.role not in self._roles:
            return reply
        return replace(reply, answer=planted(reply.answer, self._faults.get(task.text, ())))


def _answer(task: AgentTask, gold: Sequence[AspectTuple]) -> AgentAnswer:
    stage1 = task.stage1 or StageOne()
    if task.role in ("ate", "atsa", "validator"):
        return _read(task, gold)
    if task.role in ("ate_review", "atsa_review", "validator_review"):
        return _kept(task, stage1)
    return _debated(task, stage1)


def _read(task: AgentTask, gold: Sequence[AspectTuple]) -> AgentAnswer:
    if task.role == "ate":
        return AspectExtraction(tuple(Aspect(each.aspect_term, each.span, _AGENT_CONFIDENCE) for each in _named(gold)))
    if task.role == "atsa":
        return AspectSentiments(tuple(map(_sentiment, gold)))
    return StructuralValidation(consistency_score=1.0)


def _kept(task: AgentTask, stage1: StageOne) -> AgentAnswer:
    if task.role == "ate_review":
        return AspectReview(tuple(AspectReviewItem(aspect.term, "keep") for aspect in stage1.ate.aspects))
    if task.role == "atsa_review":
        terms = [each.term for each in stage1.atsa.aspect_sentiments if each.term]
        return SentimentReview(tuple(SentimentReviewItem(term, "maintain") for term in terms))
    return StructuralReview(consistency_score=1.0)


def _debated(task: AgentTask, stage1: StageOne) -> DebateTurn | DebateSummary:
    edits = tuple(
        ProposedEdit("confirm_tuple", EditTarget(aspect_term=each.term, polarity=each.polarity))
        for each in stage1.atsa.aspect_sentiments
        if each.term
    )
    if task.role == "debate_summary":
        return DebateSummary(sentence_evidence_spans=(task.text,))
    return DebateTurn(task.role, edits)


def _named(gold: Sequence[AspectTuple]) -> list[AspectTuple]:
    """Each term once at each place."""
    return list({(each.aspect_term, each.span): each for each in gold if each.aspect_term}.values())


def _sentiment(each: AspectTuple) -> AspectSentiment:
    polarity = next((known for known in POLARITIES if known == each.polarity), None)
    term = AspectTerm(each.aspect_term, each.span) if each.aspect_term else None
    return AspectSentiment(term, polarity, _AGENT_CONFIDENCE, is_implicit=term is None)


Finding = Literal["found", "blamed_on_another", "without_effect"]
"""The planted step is blamed; another one is; or code kept the fault from having any effect."""
STAGE_ONE: tuple[Role, ...] = ("ate", "atsa", "validator")
_TAKE_ALL: tuple[FaultKind, ...] = ("miscounted_span",)
"""Planted last, since they leave no aspect for others."""


class PlantedCase(Struct, frozen=True):
    """A sentence and what its agents get wrong."""

    sentence: Sentence
    faults: tuple[PlantedFault, ...]


class Recovery(Struct, frozen=True):
    """What blame says of one planted error."""

    fault: PlantedFault
    error: ErrorKind
    finding: Finding
    is_repair_found: bool | None
    """Whether the step that was to put it right is said to have done so; None where none was, or had no effect."""
    unit: UnitBlame | None


def planted_cases(
    sentences: Iterable[Sentence],
    *,
    seed: int = 0,
    kinds: Sequence[FaultKind] = FAULT_KINDS,
    at_once: int = 2,
    are_repaired: bool = True,
) -> Iterator[PlantedCase]:
    """Plant up to so many kinds of faults in each sentence that has gold; those without any place for one are left out.

    Terms of all sentences serve as invented aspects of others in the same language.
    """
    known = [sentence for sentence in sentences if sentence.gold_tuples]
    donors: dict[str, dict[str, None]] = {}
    for sentence in known:
        terms = (each.aspect_term for each in sentence.gold_tuples or () if each.aspect_term)
        donors.setdefault(sentence.language, {}).update(dict.fromkeys(terms))
    listed = {language: list(terms) for language, terms in donors.items()}
    for sentence in known:
        choice = Choice(seed, sentence.text, "kinds")
        chosen = list(choice.ordered(kinds))[:at_once]
        faults = planned_faults(
            sentence.text,
            sentence.gold_tuples or (),
            seed=seed,
            kinds=sorted(chosen, key=lambda kind: kind in _TAKE_ALL),
            donors=listed[sentence.language],
            are_repaired=are_repaired,
        )
        if faults:
            yield PlantedCase(sentence, faults)


def suite_agents(cases: Iterable[PlantedCase], *, reviewer: Agent | None = None) -> Callable[[AgentTask], AgentAnswer]:
    """Whom to ask: agents who know gold, with the faults planted; another one for debate and reviews, if given."""
    listed = list(cases)
    gold = {case.sentence.text: case.sentence.gold_tuples or () for case in listed}
    faulty = FaultyAgent(GoldAgent(gold), {case.sentence.text: case.faults for case in listed})

    def ask(task: AgentTask) -> AgentAnswer:
        agent: Agent = faulty if reviewer is None or task.role in ("ate", "atsa") else reviewer
        return agent.answer(task).answer

    return ask


def outputs_of(
    cases: Sequence[PlantedCase],
    *,
    readers: dict[str, AspectReader],
    reviewer: Agent | None = None,
    settings: StageSettings | None = None,
) -> Iterator[PipelineOutput]:
    """Every case taken through the whole pipeline."""
    ask = suite_agents(cases, reviewer=reviewer)
    used = StageSettings() if settings is None else settings
    for case in cases:
        yield processed(case.sentence, used, ask, reader=readers[case.sentence.language])


def recoveries(case: PlantedCase, blame: SentenceBlame) -> Iterator[Recovery]:
    """What blame says of every planted error of a sentence."""
    for fault in case.faults:
        for error in FAULT_ERRORS[fault.kind]:
            unit = next((unit for unit in blame.units if unit.error == error and _is_about(unit, fault)), None)
            yield _recovery(fault, error, unit)


def _recovery(fault: PlantedFault, error: ErrorKind, unit: UnitBlame | None) -> Recovery:
    introducers = [] if unit is None else [change.step for change in unit.changes if change.became == "wrong"]
    if not introducers:
        return Recovery(fault, error, "without_effect", None, unit)
    finding: Finding = "found" if fault.step in introducers else "blamed_on_another"
    repaired = None
    if unit is not None and fault.repaired_by is not None:
        repaired = fault.repaired_by in unit.repaired_by
    return Recovery(fault, error, finding, repaired, unit)


def _is_about(unit: UnitBlame, fault: PlantedFault) -> bool:
    """Terms of units may have lost a particle that the planted term has."""
    stated, meant = tidy_term(unit.term), tidy_term(fault.term)
    return bool(stated) and (stated == meant or (fault.true_polarity is None and meant.startswith(stated)))
