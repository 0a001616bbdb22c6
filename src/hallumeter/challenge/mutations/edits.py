"""Edits of a claim: errors of every kind, and controls that leave its meaning alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from hallumeter.errors import SettingsError
from hallumeter.stats.choice import Choice

from .controls import CONTROLS
from .donors import Donors
from .negation import negation_edits
from .protocol import CONTROL_KINDS, ERROR_KINDS, Edit, Mutation, Reading, control, error, read
from .values import date_edits, name_edits, number_edits
from .words import addition_edits, comparison_edits, unit_edits

_ERRORS: dict[str, Callable[[Reading, Donors, Choice], Iterator[Edit]]] = {
    "number": number_edits,
    "date": date_edits,
    "unit": unit_edits,
    "name": name_edits,
    "negation": negation_edits,
    "addition": addition_edits,
    "comparison": comparison_edits,
}


def errors_of(
    text: str,
    *,
    donors: Donors,
    seed: int = 0,
    kinds: Iterable[str] = ERROR_KINDS,
    language: str | None = None,
) -> list[Mutation]:
    """A claim with one error put in, at most once for every kind; none for a kind that finds nothing to change.

    `language` settles whether a claim without telling words is French or English; it is English when None.

    >>> from hallumeter.challenge.mutations.donors import donors_of
    >>> text = "The tower is 330 metres high."
    >>> [(each.kind, each.text) for each in errors_of(text, donors=donors_of([text]), kinds=["negation"])]
    [('negation', 'The tower is not 330 metres high.')]
    """
    wanted = _checked(kinds, ERROR_KINDS)
    reading = read(text, language=language)
    return [
        error(kind, text, edit)
        for kind in wanted
        if (edit := _first_change(text, _ERRORS[kind](reading, donors, Choice(seed, text, kind)))) is not None
    ]


def controls_of(
    text: str, *, seed: int = 0, kinds: Iterable[str] = CONTROL_KINDS, language: str | None = None
) -> list[Mutation]:
    """A claim in other forms that say the same, at most once for every kind.

    >>> [each.text for each in controls_of("It isn't about 1,200 km long.", kinds=["contraction", "number_form"])]
    ['It is not about 1,200 km long.', "It isn't about 1200 km long."]
    """
    wanted = _checked(kinds, CONTROL_KINDS)
    reading = read(text, language=language)
    return [
        control(kind, text, edit)
        for kind in wanted
        if (edit := _first_change(text, CONTROLS[kind](reading, Choice(seed, text, kind)))) is not None
    ]


def _first_change(text: str, edits: Iterator[Edit]) -> Edit | None:
    return next((edit for edit in edits if text[edit.start : edit.end] != edit.written), None)


def _checked(kinds: Iterable[str], known: tuple[str, ...]) -> tuple[str, ...]:
    wanted = tuple(kinds)
    if unknown := [kind for kind in wanted if kind not in known]:
        raise SettingsError(f"there is no edit of kind {unknown[0]!r}; choose from {', '.join(known)}")
    return wanted
