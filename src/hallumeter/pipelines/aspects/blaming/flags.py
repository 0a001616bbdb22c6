"""Which units the demands of validators, debates and reviews speak of."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from hallumeter.pipelines.aspects.stages.terms import term_key
from hallumeter.records.aspects import TextSpan
from hallumeter.records.aspects.blame import ErrorFlag, Ignoring

from .asks import kept_by_reviews

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hallumeter.records.aspects import AspectState, AspectTuple, PipelineOutput
    from hallumeter.records.aspects.blame import ErrorKind

    from .asks import Ask
    from .units import Units

    Flags: TypeAlias = dict[ErrorKind, dict[int, list[ErrorFlag]]]
    """By kind of error and place of the unit."""

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
    flags: Sequence[ErrorFlag], error: ErrorKind, keys: Sequence[str], *, output: PipelineOutput
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


def _wants_change(ask: Ask, aspect: AspectState) -> bool:
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
