"""The history of every aspect of a sentence, and how the aspects stand to gold after each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from hallumeter.aspects.grounding import CountedText, drop_class_of, is_at
from hallumeter.aspects.metrics.tuples import tidy_polarity, tidy_term
from hallumeter.aspects.records.aspect import AspectTuple, TextSpan
from hallumeter.aspects.records.blame import ABSENT, COARSE_STEPS, RIGHT, WRONG, ErrorKind
from hallumeter.aspects.records.outputs import (
    STEPS,
    AspectState,
    FinalResult,
    PipelineOutput,
    StageOne,
    StructuralReview,
    StructuralValidation,
)
from hallumeter.aspects.stages.terms import term_key

_STAGE_ONE = STEPS[: STEPS.index("atsa_tidying") + 1]
_FIRST_JUDGED = STEPS.index("atsa")
_CLOSING = STEPS[STEPS.index("atsa_review") :]
"""Steps behind which nobody adds a sentiment to an aspect that has none, but the debate."""


class History(NamedTuple):
    """The aspects of a sentence after each step."""

    steps: tuple[str, ...]
    states: tuple[tuple[AspectState, ...], ...]
    are_judged: tuple[bool, ...]
    """Whether somebody has spoken about polarities by then; before, none can be wrong or missing."""
    heard: int
    """The place of the last step of stage 1, of which all speakers speak."""


def history_of_output(output: PipelineOutput) -> History | None:
    """None when neither states nor a final result are known."""
    if output.states:
        return _full_history(output)
    if output.final_result is None:
        return None
    first = _after_stage_one(output.stage1, output.final_result)
    named = [
        AspectState(aspect.term, aspect.span if aspect.term else None, aspect.polarity)
        for aspect in output.final_result.final_aspects
    ]
    last = tuple(named) or _stated(output.final_result.final_tuples)
    return History(COARSE_STEPS, (first, last), (True, True), 0)


def did_validate(validation: StructuralValidation | StructuralReview) -> bool:
    """Whether a validator was asked: one that is switched off leaves nothing behind, not even a score."""
    has_said = validation.structural_risks or validation.correction_proposals
    return bool(has_said) or validation.consistency_score is not None


def _full_history(output: PipelineOutput) -> History:
    """A step that changed nothing left what it found. In the end, an aspect that nobody felt anything about is none."""
    known = {state.step: state.aspects for state in output.states}
    steps = tuple(step for step in STEPS if step in known or _is_taken(step, output))
    states: list[tuple[AspectState, ...]] = []
    current: tuple[AspectState, ...] = ()
    for step in steps:
        current = known.get(step, current)
        if step in _CLOSING and not all(aspect.has_sentiment for aspect in current):
            states.append(tuple(aspect for aspect in current if aspect.has_sentiment))
        else:
            states.append(current)
    judged = tuple(STEPS.index(step) >= _FIRST_JUDGED for step in steps)
    return History(steps, tuple(states), judged, len(_STAGE_ONE) - 1)


def _is_taken(step: str, output: PipelineOutput) -> bool:
    if step in _STAGE_ONE:
        return True
    if step == "moderator":
        return output.moderator is not None
    if step == "debate_override":
        return bool(output.override_log)
    if step == "validator_proposals":
        return output.stage2 is not None and did_validate(output.stage1.validator)
    return output.stage2 is not None


def _after_stage_one(stage: StageOne, result: FinalResult) -> tuple[AspectState, ...]:
    """Aspects in their order with the first sentiment about each, then sentiments about anything else."""
    sentiments = list(stage.atsa.aspect_sentiments)
    states = []
    for aspect in stage.ate.aspects:
        said = next((each for each in sentiments if each.term == aspect.term), None)
        if said is None:
            states.append(AspectState(aspect.term, aspect.span, None, has_sentiment=False))
        else:
            sentiments.remove(said)
            states.append(AspectState(aspect.term, aspect.span, said.polarity))
    for said in sentiments:
        span = None if said.aspect_term is None else said.aspect_term.span
        states.append(AspectState(said.term, span, said.polarity))
    return tuple(states) or _stated(result.stage1_tuples)


def _stated(tuples: Iterable[AspectTuple]) -> tuple[AspectState, ...]:
    return tuple(AspectState(each.aspect_term, each.span, each.polarity) for each in tuples)


# Which aspect after a step is which aspect before it: terms are trimmed, spans corrected, aspects dropped and added.
#
# A thread is one aspect through all steps. An aspect that is dropped and comes back with the same term is one thread.

ThreadRow: TypeAlias = "list[AspectState | None]"
"""Every thread as it stands after a step; None where it does not. Earlier rows are shorter than later ones."""


def follow(states: Sequence[tuple[AspectState, ...]]) -> list[ThreadRow]:
    """One row per state, the very same one while nothing changes."""
    rows: list[ThreadRow] = []
    current: ThreadRow = []
    last_seen: list[AspectState] = []
    for number, aspects in enumerate(states):
        if number and aspects == states[number - 1]:
            rows.append(current)
            continue
        places = _places(current, aspects, last_seen)
        row: ThreadRow = [None] * len(current)
        for place, aspect in zip(places, aspects, strict=True):
            if place is None:
                row.append(aspect)
                last_seen.append(aspect)
            else:
                row[place] = last_seen[place] = aspect
        rows.append(row)
        current = row
    return rows


def _places(
    current: ThreadRow, aspects: tuple[AspectState, ...], last_seen: Sequence[AspectState]
) -> Sequence[int | None]:
    """The thread of every aspect; None for a new one."""
    live = [place for place, aspect in enumerate(current) if aspect is not None]
    if [last_seen[place].term for place in live] == [aspect.term for aspect in aspects]:
        return live
    found: dict[int, int] = {}
    left = dict(enumerate(aspects))
    threads = {place: last_seen[place] for place in live}
    for is_same in _SAMENESS:
        found |= _paired(left, threads, is_same)
    gone = {place: last_seen[place] for place, aspect in enumerate(current) if aspect is None}
    found |= _paired(left, gone, _has_same_term)
    return [found.get(place) for place in range(len(aspects))]


def _paired(
    aspects: dict[int, AspectState],
    threads: dict[int, AspectState],
    is_same: Callable[[AspectState, AspectState], bool],
) -> dict[int, int]:
    """Give each aspect the first thread that is the same; both are then no longer to be had."""
    found: dict[int, int] = {}
    for place, aspect in aspects.items():
        thread = next((thread for thread, before in threads.items() if is_same(before, aspect)), None)
        if thread is not None:
            found[place] = thread
            del threads[thread]
    for place in found:
        del aspects[place]
    return found


def _is_equal(before: AspectState, after: AspectState) -> bool:
    return before == after


def _is_in_place(before: AspectState, after: AspectState) -> bool:
    return before.term == after.term and before.span == after.span


def _has_same_term(before: AspectState, after: AspectState) -> bool:
    return term_key(before.term) == term_key(after.term)


def _is_trimmed(before: AspectState, after: AspectState) -> bool:
    """A particle cut off, a word taken in: one term holds the other, and their places meet."""
    if before.span is None or after.span is None or not (before.term and after.term):
        return False
    do_meet = before.span.start < after.span.end and after.span.start < before.span.end
    return do_meet and (before.term in after.term or after.term in before.term)


def _is_renamed(before: AspectState, after: AspectState) -> bool:
    return before.span is not None and before.span == after.span and bool(before.term) == bool(after.term)


_SAMENESS = (_is_equal, _is_in_place, _has_same_term, _is_trimmed, _is_renamed)
"""From the strictest to the loosest."""


StatusRows: TypeAlias = "list[list[int]]"
"""The status of every unit of a kind, one row per step; the very same row while nothing changes."""
Pair: TypeAlias = tuple[str, str]
_SILENT_STEPS = ("ate", "ate_tidying", "ate_review")
"""Steps that find aspects and do not say what is felt about them."""


class Compared(NamedTuple):
    """Which thread stands for which pair of gold, and what is wrong, one row per step."""

    matches: list[list[int]]
    """-1 where none does."""
    spurious: StatusRows
    missing: StatusRows
    polarity: StatusRows


class _Line(NamedTuple):
    """A thread as it is compared."""

    thread: int
    term: str
    polarity: str
    span: TextSpan | None
    is_felt: bool


def compared(
    history: History, threads: list[ThreadRow], pairs: Sequence[Pair], *, spans: Sequence[TextSpan | None]
) -> Compared:
    """Compare the threads with gold after every step."""
    found = Compared([], [], [], [])
    before = None
    felt = [ABSENT] * len(pairs)
    for step, row, is_judged in zip(history.steps, threads, history.are_judged, strict=True):
        if before == (id(row), is_judged, step in _SILENT_STEPS):
            for rows in found:
                rows.append(rows[-1])
            continue
        before = (id(row), is_judged, step in _SILENT_STEPS)
        lines = [
            _Line(place, tidy_term(aspect.term), tidy_polarity(aspect.polarity), aspect.span, aspect.has_sentiment)
            for place, aspect in enumerate(row)
            if aspect is not None
        ]
        match = _matched(lines, pairs, spans) if is_judged else _named(lines, pairs)
        felt = _polarities(row, match, pairs, earlier=felt, is_silent=step in _SILENT_STEPS) if is_judged else felt
        found.matches.append(match)
        found.spurious.append(_spurious(len(row), lines, match, pairs=pairs, is_judged=is_judged))
        found.missing.append(_missing(match, pairs, is_judged=is_judged))
        found.polarity.append(felt)
    return found


def _named(lines: list[_Line], pairs: Sequence[Pair]) -> list[int]:
    """Before anyone spoke of polarities, a term stands for all pairs that have it."""
    first: dict[str, int] = {}
    for line in lines:
        first.setdefault(line.term, line.thread)
    return [first.get(term, -1) if term else -1 for term, _ in pairs]


def _matched(lines: list[_Line], pairs: Sequence[Pair], spans: Sequence[TextSpan | None]) -> list[int]:
    """Of the threads with a pair's term, the one of its polarity, at its place first; then any at its place, any."""
    candidates: dict[str, list[_Line]] = {}
    for line in lines:
        candidates.setdefault(line.term, []).append(line)
    if len(candidates) == len(lines) and len({term for term, _ in pairs}) == len(pairs):
        return [candidates[term][0].thread if term in candidates else -1 for term, _ in pairs]
    match = [-1] * len(pairs)
    for likeness in (3, 2, 1, 0):
        for number, (term, polarity) in enumerate(pairs):
            if match[number] >= 0:
                continue
            like = [line for line in candidates.get(term, ()) if _likeness(line, polarity, spans[number]) >= likeness]
            if like:
                match[number] = like[0].thread
                candidates[term].remove(like[0])
    return match


def _likeness(line: _Line, polarity: str, span: TextSpan | None) -> int:
    return 2 * (line.polarity == polarity) + (span is None or line.span == span)


def _spurious(size: int, lines: list[_Line], match: list[int], *, pairs: Sequence[Pair], is_judged: bool) -> list[int]:
    """Who says once more what gold says adds nothing; where polarities are not known, neither does who repeats a term.

    Nobody has spoken of the polarity of an aspect that was found but now, either.
    """
    row = [ABSENT] * size
    terms = {term for term, _ in pairs}
    for line in lines:
        is_open = not (is_judged and line.is_felt)
        is_repeated = line.term in terms if is_open else (line.term, line.polarity) in pairs
        row[line.thread] = RIGHT if line.thread in match or is_repeated else WRONG
    return row


def _missing(match: list[int], pairs: Sequence[Pair], *, is_judged: bool) -> list[int]:
    """Who extracts terms cannot find what is not named."""
    return [
        RIGHT if thread >= 0 else WRONG if is_judged or term else ABSENT
        for thread, (term, _) in zip(match, pairs, strict=True)
    ]


def _polarities(
    row: ThreadRow, match: list[int], pairs: Sequence[Pair], *, earlier: list[int], is_silent: bool
) -> list[int]:
    """To say nothing about an aspect is wrong, except of those that have just found it."""
    statuses = [ABSENT] * len(pairs)
    for number, (thread, (_, polarity)) in enumerate(zip(match, pairs, strict=True)):
        aspect = row[thread] if thread >= 0 else None
        if aspect is None or not polarity:
            continue
        if aspect.has_sentiment:
            statuses[number] = RIGHT if tidy_polarity(aspect.polarity) == polarity else WRONG
        else:
            statuses[number] = ABSENT if is_silent and earlier[number] == ABSENT else WRONG
    return statuses


# How everything that can be wrong with the aspects of a sentence stands after each step.


class Units(NamedTuple):
    """All units of a sentence, one row per step."""

    threads: list[ThreadRow]
    gold: tuple[AspectTuple, ...]
    """Each pair of a term and a polarity once."""
    matches: list[list[int]]
    """The thread that stands for each aspect of gold; -1 for none."""
    statuses: dict[ErrorKind, StatusRows]
    """Only the kinds that can be told: without gold, ``ungrounded`` alone."""
    details: dict[int, str]
    """By thread: what was last wrong with its place, ``H1`` or ``H2``."""


def units_of(history: History, *, text: str, gold: Sequence[AspectTuple] | None) -> Units:
    """Follow aspects through the steps and look at each after each step.

    As in tuple F1, what gold or a step says twice counts once. An aspect that is not named in gold is found only by
    one that is not named either.
    """
    threads = follow(history.states)
    for row in threads:
        row.extend([None] * (len(threads[-1]) - len(row)))
    details: dict[int, str] = {}
    statuses: dict[ErrorKind, StatusRows] = {"ungrounded": _grounded(threads, text, details)}
    if gold is None:
        return Units(threads, (), [], statuses, details)
    wanted = {(tidy_term(each.aspect_term), tidy_polarity(each.polarity)): each for each in reversed(gold)}
    pairs = list(reversed(wanted))
    found = compared(history, threads, pairs, spans=[wanted[pair].span for pair in pairs])
    statuses |= {"spurious": found.spurious, "missing": found.missing, "polarity": found.polarity}
    return Units(threads, tuple(wanted[pair] for pair in pairs), found.matches, statuses, details)


def _grounded(threads: list[ThreadRow], text: str, details: dict[int, str]) -> StatusRows:
    """An aspect that is not named stands nowhere, so that it can be neither right nor wrong."""
    known: dict[tuple[str, TextSpan | None], str | None] = {}
    rows: StatusRows = []
    for number, aspects in enumerate(threads):
        if number and aspects is threads[number - 1]:
            rows.append(rows[-1])
            continue
        row = [ABSENT] * len(aspects)
        for place, aspect in enumerate(aspects):
            if aspect is None or not aspect.term:
                continue
            stated = (aspect.term, aspect.span)
            if stated not in known:
                known[stated] = _misgrounded(text, aspect.term, aspect.span)
            fault = known[stated]
            row[place] = RIGHT if fault is None else WRONG
            if fault is not None:
                details[place] = fault
        rows.append(row)
    return rows


def _misgrounded(text: str, term: str, span: TextSpan | None) -> str | None:
    """``H1`` for a term that is not in the text, ``H2`` for one that does not stand at its span, else None."""
    if span is not None and is_at(text, term, span):
        return None
    return drop_class_of(CountedText(text), term, span)
