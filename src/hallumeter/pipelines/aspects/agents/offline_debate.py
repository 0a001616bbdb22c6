"""The debate offline: patches for polarities, for aspects, for consistency, and what they come to."""

from __future__ import annotations

from collections.abc import Iterable

from hallumeter.extractors.aspects.protocol import FoundPolarity
from hallumeter.records.aspects import (
    AspectTuple,
    DebateSummary,
    DebateTurn,
    EditTarget,
    ProposedEdit,
    StageOne,
    TextSpan,
)

from .opinions import Opinion, opinions_of, right_polarity
from .sentence_facts import SentenceFacts

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
    return DebateSummary(
        final_patch=tuple(patch),
        final_tuples=tuple(tuples),
        sentence_polarity=label,
        sentence_evidence_spans=_sentence_evidence(facts, tuples, evidence, label=label),
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


def _sentence_evidence(
    facts: SentenceFacts, tuples: list[AspectTuple], evidence: dict[str, str], *, label: str
) -> tuple[str, ...]:
    """Words of the text for the label; the text itself where no words stand out."""
    shown = [evidence[each.aspect_term] for each in tuples if each.aspect_term in evidence]
    fitting = [evidence[each.aspect_term] for each in tuples if each.aspect_term in evidence and each.polarity == label]
    whole = facts.evidence_of(facts.sentence_polarity)
    others = [whole] if whole else []
    return tuple(dict.fromkeys(fitting or shown or others)) or (facts.text.strip() or facts.text,)
