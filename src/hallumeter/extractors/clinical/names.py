"""The lexicon's names for what patients' records and questions call drugs, conditions, labs and vitals."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

from .reader import shared_vocabulary
from .tables import Measurement, load_tables
from .units import measurements_by_name

if TYPE_CHECKING:
    from .vocabulary import Found


@lru_cache(maxsize=4096)
def drug_named(text: str) -> str | None:
    """The drug that a text names first; None when it names none.

    >>> drug_named("Metformin hydrochloride 500 MG Oral Tablet"), drug_named("아스피린"), drug_named("statin")
    ('metformin', 'aspirin', None)
    """
    return next((name for found in shared_vocabulary().names_in(text) for name in _meant(found, "medication")), None)


@lru_cache(maxsize=4096)
def condition_named(text: str) -> str | None:
    """The condition that a text names, by the longest name in it; None when it names none.

    >>> condition_named("Type 2 Diabetes Mellitus"), condition_named("고혈압"), condition_named("신장")
    ('type 2 diabetes mellitus', 'hypertension', None)
    """
    found = [each for each in shared_vocabulary().names_in(text) if _meant(each, "condition")]
    longest = max(found, key=lambda each: each.end - each.start, default=None)
    return None if longest is None else _meant(longest, "condition")[0]


def measurement_named(key: str) -> Measurement | None:
    """The lab or vital of a slot; None when the lexicon does not have it.

    >>> measurement_named("hba1c").unit
    '%'
    """
    return measurements_by_name().get(key)


def is_same_condition(one: str, other: str) -> bool:
    """Whether two texts name the same condition, or one a form of the other.

    >>> is_same_condition("diabetes", "Type 2 diabetes mellitus"), is_same_condition("제1형 당뇨병", "제2형 당뇨병")
    (True, False)
    """
    first, second = condition_named(one), condition_named(other)
    if first is None or second is None:
        return False
    return first == second or first in _wider(second) or second in _wider(first)


def is_wider_condition(wider: str, narrower: str) -> bool:
    """Whether the second text names a form of what the first names.

    >>> is_wider_condition("당뇨병", "제2형 당뇨병"), is_wider_condition("제2형 당뇨병", "당뇨병")
    (True, False)
    """
    first, second = condition_named(wider), condition_named(narrower)
    return first is not None and second is not None and first in _wider(second)


def classes_of(drug: str) -> tuple[str, ...]:
    """The classes of a drug of the lexicon, the narrowest first; none when it is unknown.

    >>> classes_of("metformin")
    ('biguanide', 'antidiabetic')
    """
    return _classes().get(drug, ())


def _meant(found: Found, kind: str) -> list[str]:
    return [meaning.name for meaning in found.meanings if meaning.kind == kind]


@cache
def _classes() -> dict[str, tuple[str, ...]]:
    return {drug.name: drug.classes for drug in load_tables().drugs}


@cache
def _wider_names() -> dict[str, tuple[str, ...]]:
    return {condition.name: condition.wider for condition in load_tables().conditions}


@cache
def _wider(name: str) -> frozenset[str]:
    """All conditions of which one is a form, at any remove."""
    reached: set[str] = set()
    ahead = [name]
    while ahead:
        following = [wider for each in ahead for wider in _wider_names().get(each, ()) if wider not in reached]
        reached.update(following)
        ahead = following
    return frozenset(reached)
