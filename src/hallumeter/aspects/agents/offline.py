"""Agents without a language model: deterministic, by what a reader of the language finds."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache

from hallumeter.aspects.readers.protocol import AspectReader, CueKind, FoundCue, FoundPolarity, FoundTerm
from hallumeter.aspects.records.aspect import (
    Aspect,
    AspectSentiment,
    AspectTerm,
    AspectTuple,
    CorrectionProposal,
    Polarity,
    StructuralRisk,
    TextSpan,
)
from hallumeter.aspects.records.outputs import (
    AspectExtraction,
    AspectReview,
    AspectReviewItem,
    AspectSentiments,
    DebateSummary,
    DebateTurn,
    EditTarget,
    FinalValidation,
    ProposedEdit,
    ReviewContext,
    SentimentReview,
    SentimentReviewItem,
    StageOne,
    StructuralReview,
    StructuralValidation,
)

from .protocol import AgentAnswer, AgentFault, AgentReply, AgentTask, Role, visible
from .sentence_facts import OfflineSettings, Opinion, SentenceFacts, opinions_of, right_polarity

# Stage 1 offline: three readings of a sentence, none of which knows the others.

RISK_OF: dict[CueKind, str] = {"negation": "NEGATION", "contrast": "CONTRAST", "irony": "IRONY"}
_DOUBT_OF = {"high": 0.2, "medium": 0.1, "low": 0.05}
"""What a risk takes from the clearness of a sentence."""
_LEAST_CLEAR = 0.1
_LAST_SINGLE = "\uffff"
"""The last character that every way of counting in units takes for one."""


def extracted(facts: SentenceFacts) -> AspectExtraction:
    """ATE: the terms of which the reader is sure enough."""
    return AspectExtraction(tuple(aspect_of(facts, found) for found in facts.terms(facts.settings.term_confidence)))


def aspect_of(facts: SentenceFacts, found: FoundTerm) -> Aspect:
    """A term as an aspect."""
    span = TextSpan(found.start, found.end)
    return Aspect(facts.words(found), span, confidence=found.confidence, syntactic_head=found.head)


def felt(facts: SentenceFacts) -> AspectSentiments:
    """ATSA: what is felt about the terms that it finds itself; about the sentence where it finds none."""
    terms = facts.terms(facts.settings.term_confidence)
    sentiments = [_sentiment(facts, facts.polarity_at(found.start, found.end), found) for found in terms]
    whole = facts.sentence_polarity
    if not sentiments and whole.polarity != "neutral" and whole.confidence >= facts.settings.term_confidence:
        sentiments = [_sentiment(facts, whole, None)]
    return AspectSentiments(tuple(sentiments))


def _sentiment(facts: SentenceFacts, polarity: FoundPolarity, found: FoundTerm | None) -> AspectSentiment:
    term = None if found is None else AspectTerm(facts.words(found), TextSpan(found.start, found.end))
    return AspectSentiment(
        term,
        polarity.polarity,
        confidence=polarity.confidence,
        evidence=facts.evidence_of(polarity),
        polarity_distribution=dict(polarity.distribution),
        is_implicit=found is None,
    )


def validated(facts: SentenceFacts) -> StructuralValidation:
    """Validator: what misleads, and corrections for what other readers will get wrong."""
    risks = tuple(_risk(facts, cue) for cue in facts.reading.cues)
    return StructuralValidation(
        risks, tuple(_proposals(facts)), consistency_score=clearness([risk.severity for risk in risks])
    )


def clearness(severities: list[str]) -> float:
    """How clearly a sentence with such risks can be read.

    >>> clearness([]), clearness(["high", "low"]), clearness(["high"] * 9)
    (1.0, 0.75, 0.1)
    """
    return max(_LEAST_CLEAR, round(1.0 - sum(_DOUBT_OF.get(severity, 0.1) for severity in severities), 4))


def _risk(facts: SentenceFacts, cue: FoundCue) -> StructuralRisk:
    words = facts.text[cue.start : cue.end]
    return StructuralRisk(
        RISK_OF[cue.kind],
        TextSpan(cue.scope_start, cue.scope_end),
        severity=_severity(facts, cue),
        description=f"{words!r} acts on {facts.text[cue.scope_start : cue.scope_end]!r}",
    )


def _severity(facts: SentenceFacts, cue: FoundCue) -> str:
    """High where who misses the cue gets a polarity wrong, low where it acts on no aspect."""
    terms = facts.terms(facts.settings.term_confidence)
    if cue.kind == "contrast":
        felt_here = {facts.polarity_at(term.start, term.end).polarity for term in terms}
        return "high" if {"positive", "negative"} <= felt_here else "medium" if terms else "low"
    acted_on = [term for term in terms if _is_acted_on(facts, term, cue)]
    if not acted_on:
        return "low"
    if cue.kind == "irony":
        return "high"
    polarities = [facts.polarity_at(term.start, term.end).polarity for term in acted_on]
    return "high" if any(polarity != "neutral" for polarity in polarities) else "medium"


def _is_acted_on(facts: SentenceFacts, term: FoundTerm, cue: FoundCue) -> bool:
    """Whether a cue acts on a term, or on the words that show what is felt about it."""
    shown = facts.polarity_at(term.start, term.end)
    places = [(term.start, term.end)]
    if shown.start is not None and shown.end is not None:
        places.append((shown.start, shown.end))
    return any(start < cue.scope_end and cue.scope_start < end for start, end in places)


def _proposals(facts: SentenceFacts) -> list[CorrectionProposal]:
    """Corrections that hold whatever stage 1 said; a polarity is never turned blindly."""
    terms = facts.terms(facts.settings.term_confidence)
    proposals = [*_not_about_the_product(facts, terms), *_miscounted(facts, terms)]
    return [proposal for _, proposal in sorted(proposals, key=lambda placed: placed[0])]


def _not_about_the_product(facts: SentenceFacts, terms: list[FoundTerm]) -> list[tuple[int, CorrectionProposal]]:
    """Terms that stand only in sentences which speak to the reader of the review."""
    outside = {facts.words(term) for term in terms if not facts.is_instructed(term.start, term.end)}
    return [
        (term.start, CorrectionProposal(words, "DROP_ASPECT", "it stands in words to the reader", confidence=0.9))
        for term in terms
        if (words := facts.words(term)) not in outside and facts.is_instructed(term.start, term.end)
    ]


def _miscounted(facts: SentenceFacts, terms: list[FoundTerm]) -> list[tuple[int, CorrectionProposal]]:
    """Terms behind characters that other ways of counting count twice, such as emoji; those that occur once."""
    first = next((place for place, sign in enumerate(facts.text) if sign > "\u02ff" and _is_counted_twice(sign)), None)
    if first is None:
        return []
    why = f"characters before it, such as {facts.text[first]!r}, are counted twice by others"
    return [
        (
            term.start,
            CorrectionProposal(words, "REVISE_SPAN", why, revised_span=TextSpan(term.start, term.end), confidence=0.9),
        )
        for term in terms
        if term.start > first and facts.text.count(words := facts.words(term)) == 1
    ]


def _is_counted_twice(sign: str) -> bool:
    """Whether a sign is two units of UTF-16, or a part of the character before it."""
    return sign > _LAST_SINGLE or unicodedata.combining(sign) > 0 or "\u1160" <= sign <= "\u11ff"


# The debate offline: patches for polarities, for aspects, for consistency, and what they come to.

_SURE = 0.95
"""Confidence of edits about what stands in the text and what does not."""


def polarity_edits(facts: SentenceFacts, stage1: StageOne) -> DebateTurn:
    """EPM: polarities that the text contradicts, and those that it shows."""
    opinions = opinions_of(facts, stage1.atsa.aspect_sentiments)
    edits = [edit for opinion in opinions if (edit := _polarity_edit(facts, opinion)) is not None]
    return DebateTurn("epm", tuple(edits))


def _polarity_edit(facts: SentenceFacts, opinion: Opinion) -> ProposedEdit | None:
    right = right_polarity(facts, opinion)
    if right is not None:
        return _set_polarity(facts, opinion, right)
    found = opinion.reading
    if found is None or opinion.polarity != found.polarity or facts.evidence_of(found) is None:
        return None
    return _confirm(facts, opinion, found)


def aspect_edits(facts: SentenceFacts, stage1: StageOne) -> DebateTurn:
    """TAN: aspects that are doubled, misplaced, or not there."""
    edits: list[ProposedEdit] = []
    seen: set[tuple[str, TextSpan | None]] = set()
    for aspect in stage1.ate.aspects:
        target = EditTarget(aspect_term=aspect.term)
        place = facts.place_of(aspect.term, aspect.span)
        if (aspect.term, aspect.span) in seen:
            edits.append(ProposedEdit("merge_tuples", target, value=aspect.term, confidence=_SURE))
        elif place is None or not facts.is_target(aspect.term, place):
            edits.append(ProposedEdit("drop_tuple", target, confidence=_SURE))
        elif not facts.stands_at(aspect.term, aspect.span):
            words = facts.text[place.start : place.end]
            edits.append(ProposedEdit("set_aspect_ref", target, value=words, evidence=words, confidence=_SURE))
        seen.add((aspect.term, aspect.span))
    return DebateTurn("tan", tuple(edits))


def consistent_edits(facts: SentenceFacts, stage1: StageOne, history: tuple[DebateTurn, ...]) -> DebateTurn:
    """CJ: for each aspect that was questioned the one edit that should stand; nothing about the others."""
    proposed = _by_term(edit for turn in history for edit in turn.proposed_edits)
    edits: list[ProposedEdit] = []
    for opinion in opinions_of(facts, stage1.atsa.aspect_sentiments):
        edit = _standing(facts, opinion, proposed.pop(opinion.term, []))
        edits += [] if edit is None else [edit]
    for of_aspect in proposed.values():  # aspects about which nothing is felt
        edits += [edit for edit in of_aspect if edit.op == "drop_tuple" and _is_absent(facts, edit)][:1]
    return DebateTurn("cj", tuple(edits))


def _standing(facts: SentenceFacts, opinion: Opinion, proposed: list[ProposedEdit]) -> ProposedEdit | None:
    """The edit that should stand for an aspect; None when nobody questioned it and it is consistent."""
    drops = [edit for edit in proposed if edit.op == "drop_tuple"]
    if drops:
        return next((edit for edit in drops if _is_absent(facts, edit)), None)
    turned = [edit for edit in proposed if edit.op == "set_polarity" and edit.value is not None]
    if not turned and not opinion.is_conflicting:
        return None
    found = opinion.reading
    shown = [edit for edit in turned if edit.evidence and edit.evidence in facts.text]
    if found is None or (turned and not shown):
        return None  # nothing in the text shows it
    others_for_the_reader = float(any(edit.value == found.polarity for edit in shown))
    right = right_polarity(facts, opinion, support=others_for_the_reader)
    if right is not None:
        return _set_polarity(facts, opinion, right)
    return _confirm(facts, opinion, found) if found.polarity == opinion.polarity else None


def summed_up(facts: SentenceFacts, stage1: StageOne, history: tuple[DebateTurn, ...]) -> DebateSummary:
    """The last word of the debate: the judge's edits, what they make of the tuples, and the words that show it."""
    patch = list(dict.fromkeys(_final_patch(history)))
    by_term = _by_term(patch)
    tuples: list[AspectTuple] = []
    evidence: dict[str, str] = {}
    for opinion in opinions_of(facts, stage1.atsa.aspect_sentiments):
        edits = by_term.get(opinion.term, [])
        if any(edit.op == "drop_tuple" for edit in edits):
            continue
        turned = [edit.value for edit in edits if edit.op == "set_polarity"]
        polarity = turned[-1] if turned else opinion.polarity
        tuples.append(AspectTuple(opinion.term, polarity, span=next(iter(opinion.places), None)))
        if (words := _shown(facts, opinion, polarity)) is not None:
            evidence[opinion.term] = words
    tuples += [AspectTuple("", each.polarity) for each in stage1.atsa.aspect_sentiments if not each.term]
    label = _label(facts, tuples)
    # Words of the text for the label; the text itself where no words stand out.
    shown = [evidence[each.aspect_term] for each in tuples if each.aspect_term in evidence]
    fitting = [evidence[each.aspect_term] for each in tuples if each.aspect_term in evidence and each.polarity == label]
    whole = facts.evidence_of(facts.sentence_polarity)
    others = [whole] if whole else []
    return DebateSummary(
        final_patch=tuple(patch),
        final_tuples=tuple(tuples),
        sentence_polarity=label,
        sentence_evidence_spans=tuple(dict.fromkeys(fitting or shown or others)) or (facts.text.strip() or facts.text,),
        unresolved_conflicts=tuple(_unresolved(facts, stage1, history)),
        aspect_evidence=evidence,
    )


def _final_patch(history: tuple[DebateTurn, ...]) -> Iterable[ProposedEdit]:
    """The judge's edits, and what nobody disputed of the others' edits."""
    judged = [edit for turn in history if turn.name == "cj" for edit in turn.proposed_edits]
    decided = {edit.target.aspect_term for edit in judged}
    questioned = {
        edit.target.aspect_term for turn in history for edit in turn.proposed_edits if edit.op != "confirm_tuple"
    }
    yield from judged
    for turn in history:
        for edit in turn.proposed_edits if turn.name != "cj" else ():
            term = edit.target.aspect_term
            is_undisputed = edit.op == "confirm_tuple" and term not in questioned
            if term not in decided and (is_undisputed or edit.op in ("set_aspect_ref", "merge_tuples")):
                yield edit


def _unresolved(facts: SentenceFacts, stage1: StageOne, history: tuple[DebateTurn, ...]) -> Iterable[str]:
    """Aspects on which speakers still differ, or which the reader reads otherwise without being sure."""
    by_term = _by_term(edit for turn in history for edit in turn.proposed_edits)
    patched = _by_term(_final_patch(history))
    for opinion in opinions_of(facts, stage1.atsa.aspect_sentiments):
        wanted = {edit.value for edit in by_term.get(opinion.term, []) if edit.op == "set_polarity"}
        settled = {edit.value for edit in patched.get(opinion.term, []) if edit.op == "set_polarity"}
        found = opinion.reading
        if wanted - settled:
            yield f"{opinion.term}: {' and '.join(sorted(filter(None, wanted - settled)))} was proposed and not taken"
        elif found is not None and not settled and _is_read_otherwise(facts, opinion, found):
            yield f"{opinion.term}: stated {opinion.polarity}, read as {found.polarity}"


def _is_read_otherwise(facts: SentenceFacts, opinion: Opinion, found: FoundPolarity) -> bool:
    is_other = opinion.polarity not in (None, found.polarity)
    return is_other and found.confidence >= facts.settings.doubtful_confidence


def _set_polarity(facts: SentenceFacts, opinion: Opinion, right: FoundPolarity) -> ProposedEdit:
    return ProposedEdit(
        "set_polarity",
        EditTarget(aspect_term=opinion.term, polarity=opinion.polarity),
        value=right.polarity,
        evidence=facts.evidence_of(right) or opinion.term,
        confidence=right.confidence,
    )


def _confirm(facts: SentenceFacts, opinion: Opinion, found: FoundPolarity) -> ProposedEdit:
    return ProposedEdit(
        "confirm_tuple",
        EditTarget(aspect_term=opinion.term, polarity=opinion.polarity),
        evidence=facts.evidence_of(found),
        confidence=found.confidence,
    )


def _by_term(edits: Iterable[ProposedEdit]) -> dict[str, list[ProposedEdit]]:
    by_term: dict[str, list[ProposedEdit]] = {}
    for edit in edits:
        by_term.setdefault(edit.target.aspect_term or "", []).append(edit)
    return by_term


def _is_absent(facts: SentenceFacts, edit: ProposedEdit) -> bool:
    """Whether the aspect that an edit drops does not stand in the text, or can be none."""
    term = edit.target.aspect_term or ""
    place = facts.place_of(term, None)
    return place is None or not facts.is_target(term, place)


def _shown(facts: SentenceFacts, opinion: Opinion, polarity: str | None) -> str | None:
    """Words of the text that show a polarity: the reader's, else those that were stated."""
    for found in opinion.found:
        if found.polarity == polarity and (words := facts.evidence_of(found)) is not None:
            return words
    stated = [each.evidence for each in opinion.stated if each.polarity == polarity and each.evidence]
    return next((words for words in stated if words in facts.text), None)


def _label(facts: SentenceFacts, tuples: list[AspectTuple]) -> str:
    """Of the sentence: that of its aspects, mixed where they are praised and blamed."""
    polarities = {each.polarity for each in tuples} - {None}
    felt = polarities - {"neutral"}
    if len(felt) == 2:
        return "mixed"
    if felt:
        return str(felt.pop())
    return "neutral" if polarities else facts.sentence_polarity.polarity


# Stage 2 offline: reviews of one's own stage 1, item by item, with what the debate said.

_OF_CODE = "MISSING_SECOND_ASPECT"
"""A risk that code raises, and of which code alone says whether it is left."""


def reviewed_aspects(facts: SentenceFacts, stage1: AspectExtraction, context: ReviewContext | None) -> AspectReview:
    """ATE: keep what stands at its place, move what stands elsewhere, drop what stands nowhere."""
    items = [_aspect_item(facts, aspect, context) for aspect in stage1.aspects]
    places = [facts.place_of(aspect.term, aspect.span) for aspect in stage1.aspects]
    items += [
        AspectReviewItem(
            facts.words(found), "add", TextSpan(found.start, found.end), f"missing, {found.confidence:.2f} sure"
        )
        for found in _left_out(facts, [place for place in places if place is not None])
    ]
    return AspectReview(tuple(items))


def _aspect_item(facts: SentenceFacts, aspect: Aspect, context: ReviewContext | None) -> AspectReviewItem:
    place = facts.place_of(aspect.term, aspect.span)
    if place is None:
        return AspectReviewItem(aspect.term, "drop", reason="the term does not stand in the text")
    if not facts.is_target(aspect.term, place):
        return AspectReviewItem(aspect.term, "drop", reason="the term is no target")
    if not facts.is_known(place) and _is_unwanted(facts, aspect, context):
        return AspectReviewItem(aspect.term, "drop", reason="few speak for it, and the reader does not know it")
    if place != aspect.span and facts.stands_at(aspect.term, place):
        reason = f"the term stands at {place.start}-{place.end}"
        return AspectReviewItem(aspect.term, "revise_span", place, reason)
    is_right = place == aspect.span
    return AspectReviewItem(
        aspect.term, "keep", reason="it stands at its place" if is_right else "it stands there in another form"
    )


def _is_unwanted(facts: SentenceFacts, aspect: Aspect, context: ReviewContext | None) -> bool:
    """Whether an aspect was a guess, or most who spoke about it want it dropped."""
    hints = () if context is None else context.aspect_hints.get(aspect.term, ())
    dropping = sum(hint.weight for hint in hints if hint.is_drop)
    keeping = sum(hint.weight for hint in hints if not hint.is_drop)
    is_guess = aspect.confidence is not None and aspect.confidence <= facts.settings.guess_confidence
    return is_guess or dropping > keeping


def _left_out(facts: SentenceFacts, places: list[TextSpan]) -> list[FoundTerm]:
    """Terms that overlap none of these places, and of which the reader is very sure, with what is felt about them."""
    return [
        found
        for found in facts.terms(facts.settings.add_confidence)
        if not any(found.start < place.end and place.start < found.end for place in places)
        and not facts.is_instructed(found.start, found.end)
        and _is_clearly_felt(facts, found)
    ]


def _is_clearly_felt(facts: SentenceFacts, found: FoundTerm) -> bool:
    felt = facts.polarity_at(found.start, found.end)
    return felt.polarity != "neutral" and felt.confidence >= facts.settings.flip_confidence


def reviewed_sentiments(
    facts: SentenceFacts, stage1: AspectSentiments, context: ReviewContext | None
) -> SentimentReview:
    """ATSA: turn a polarity only where the reader is sure; give one where none was stated."""
    opinions = opinions_of(facts, stage1.aspect_sentiments)
    items = [item for opinion in opinions for item in _sentiment_items(facts, opinion, context)]
    known = [place for opinion in opinions for place in opinion.places]
    for found in _left_out(facts, known):
        polarity = facts.polarity_at(found.start, found.end)
        items.append(
            SentimentReviewItem(
                facts.words(found),
                "add",
                revised_polarity=polarity.polarity,
                revised_span=TextSpan(found.start, found.end),
                reason="nothing was said about it",
            )
        )
    return SentimentReview(tuple(items))


def _sentiment_items(
    facts: SentenceFacts, opinion: Opinion, context: ReviewContext | None
) -> list[SentimentReviewItem]:
    """One item for each sentiment, and one for its place where that is wrong."""
    if not opinion.places:
        return [SentimentReviewItem(opinion.term, "drop", reason="the term does not stand in the text")]
    if not facts.is_target(opinion.term, opinion.places[0]):
        return [SentimentReviewItem(opinion.term, "drop", reason="the term is no target")]
    item = _polarity_item(facts, opinion, context)
    moved = _moved(facts, opinion)
    if moved is None:
        return [item]
    return [moved] if item.action == "maintain" else [item, moved]


def _moved(facts: SentenceFacts, opinion: Opinion) -> SentimentReviewItem | None:
    """The place of a sentiment whose term stands at one place, which is not the one that was stated."""
    spans = [each.aspect_term.span for each in opinion.stated if each.aspect_term is not None]
    place = opinion.places[0]
    if len(opinion.places) > 1 or not facts.stands_at(opinion.term, place) or all(span == place for span in spans):
        return None
    reason = f"the term stands at {place.start}-{place.end}"
    return SentimentReviewItem(opinion.term, "revise_span", revised_span=place, reason=reason)


def _polarity_item(facts: SentenceFacts, opinion: Opinion, context: ReviewContext | None) -> SentimentReviewItem:
    right = right_polarity(facts, opinion, support=_support(opinion, context))
    if right is None or all(each.polarity == right.polarity for each in opinion.stated):
        return SentimentReviewItem(opinion.term, "maintain", reason="nothing contradicts it")
    words = facts.evidence_of(right)
    shown = f"{words!r} shows it" if words is not None else "nothing in the text is felt about it"
    return SentimentReviewItem(opinion.term, "flip_polarity", revised_polarity=right.polarity, reason=shown)


def _support(opinion: Opinion, context: ReviewContext | None) -> float:
    """By how much the debate is for the reader, above 0, or for what was stated, below 0."""
    found = opinion.reading
    if context is None or found is None:
        return 0.0
    weights: dict[str | None, float] = {}
    for hint in context.aspect_hints.get(opinion.term, ()):
        if not hint.is_drop:
            weights[hint.polarity_hint] = weights.get(hint.polarity_hint, 0.0) + hint.weight
    stated: Polarity | None = opinion.polarity
    return weights.get(found.polarity, 0.0) - (0.0 if stated is None else weights.get(stated, 0.0))


def reviewed_risks(
    facts: SentenceFacts, stage1: StructuralValidation, context: ReviewContext | None
) -> StructuralReview:
    """Validator: the risks that are left, since what they act on is disputed, doubtful or still read wrongly."""
    doubted = _doubted_places(facts, context)
    raised = [risk for risk in stage1.structural_risks if risk.type != _OF_CODE]
    left = [risk for risk in raised if _is_left(facts, risk, doubted)]
    names = [_name(facts, risk) for risk in left]
    resolved = [_name(facts, risk) for risk in raised if risk not in left]
    score = clearness([risk.severity for risk in left])
    return StructuralReview(
        tuple(left),
        consistency_score=score,
        final_validation=FinalValidation(tuple(resolved), tuple(names), final_consistency_score=score),
    )


def _doubted_places(facts: SentenceFacts, context: ReviewContext | None) -> list[TextSpan]:
    """Where aspects stand whose polarity is not settled, with the words that show it."""
    context = context or ReviewContext()
    terms = context.aspect_terms or tuple(facts.words(found) for found in facts.terms(facts.settings.term_confidence))
    places: list[TextSpan] = []
    for term in dict.fromkeys(terms):
        place = facts.place_of(term, None)
        if place is None:
            continue
        found = facts.polarity_at(place.start, place.end)
        if _is_disputed(term, context, found.polarity) or found.confidence < facts.settings.doubtful_confidence:
            places.append(place)
            if found.start is not None and found.end is not None:
                places.append(TextSpan(found.start, found.end))
    return places


def _is_disputed(term: str, context: ReviewContext, polarity: Polarity) -> bool:
    """Whether speakers differ about a term, or what they came to differs from what the reader reads."""
    hinted = {hint.polarity_hint for hint in context.aspect_hints.get(term, ()) if not hint.is_drop} - {None}
    if len(hinted) > 1:
        return True
    summary = context.summary
    if summary is None:
        return False
    is_named = any(line.startswith(f"{term}:") for line in summary.unresolved_conflicts)
    came_to = {each.polarity for each in summary.final_tuples if each.aspect_term == term} - {None}
    return is_named or bool(came_to - {polarity})


def _is_left(facts: SentenceFacts, risk: StructuralRisk, doubted: list[TextSpan]) -> bool:
    scope = risk.scope if risk.scope is not None and risk.scope.is_within(facts.text) else TextSpan(0, len(facts.text))
    return any(place.start < scope.end and scope.start < place.end for place in doubted)


def _name(facts: SentenceFacts, risk: StructuralRisk) -> str:
    is_placed = risk.scope is not None and risk.scope.is_within(facts.text)
    words = facts.text[risk.scope.start : risk.scope.end] if is_placed and risk.scope is not None else risk.description
    return f"{risk.type}: {words}"


VERSION = "2"
"""Another one whenever offline agents may answer differently."""
_REMEMBERED = 64
"""Sentences whose facts are kept: all roles ask about one before the next comes."""
_Answering = Callable[[SentenceFacts, AgentTask], AgentAnswer]
_ANSWERING: dict[Role, _Answering] = {
    "ate": lambda facts, _: extracted(facts),
    "atsa": lambda facts, _: felt(facts),
    "validator": lambda facts, _: validated(facts),
    "epm": lambda facts, task: polarity_edits(facts, _stage1(task)),
    "tan": lambda facts, task: aspect_edits(facts, _stage1(task)),
    "cj": lambda facts, task: consistent_edits(facts, _stage1(task), task.history),
    "debate_summary": lambda facts, task: summed_up(facts, _stage1(task), task.history),
    "ate_review": lambda facts, task: reviewed_aspects(facts, _stage1(task).ate, task.context),
    "atsa_review": lambda facts, task: reviewed_sentiments(facts, _stage1(task).atsa, task.context),
    "validator_review": lambda facts, task: reviewed_risks(facts, _stage1(task).validator, task.context),
}


class OfflineAgent:
    """Answers in every role, in the languages of its readers. It may be called from several threads at once."""

    def __init__(self, readers: Iterable[AspectReader], settings: OfflineSettings | None = None) -> None:
        self._readers = {reader.language: reader for reader in readers}
        self._settings = settings or OfflineSettings()
        self._facts = lru_cache(maxsize=_REMEMBERED)(self._facts_of)

    @property
    def spec(self) -> str:
        """The readers by language and version, and all thresholds."""
        readers = ",".join(f"{language}={reader.version}" for language, reader in sorted(self._readers.items()))
        return f"offline;version={VERSION};readers={readers};{self._settings.described()}"

    def answer(self, task: AgentTask) -> AgentReply:
        """What the reader of the task's language makes of it.

        Raises:
            AgentFault: There is no reader for the language.
        """
        seen = visible(task)
        facts = self._facts(seen.text, seen.language)
        return AgentReply(answer=_ANSWERING[seen.role](facts, seen))

    def _facts_of(self, text: str, language: str) -> SentenceFacts:
        reader = self._readers.get(language)
        if reader is None:
            known = ", ".join(sorted(self._readers)) or "none"
            raise AgentFault("unknown_language", f"offline agents read {known}; the sentence is in {language!r}")
        return SentenceFacts(text, reader, self._settings)


def _stage1(task: AgentTask) -> StageOne:
    return task.stage1 or StageOne()
