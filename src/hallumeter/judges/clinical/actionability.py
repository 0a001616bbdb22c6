"""Whether an answer includes what its turn must include to be acted on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.records import Element

from .listing import enumerated_items, lists_in
from .wording import EncodedText, element_finders, list_finder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.extractors.clinical import ClinicalText

RULES, PRIORITIES = "three_to_five_rules", "top_three_priorities"
_FEWEST_RULES, _MOST_RULES = 3, 5
_PRIORITIES = 3


def judge_actionability(answer: ClinicalText, elements: Sequence[str]) -> tuple[Element, ...]:
    """Which of these elements an answer includes, and where."""
    encoded = EncodedText(answer.text)
    return tuple(_element(name, answer, encoded) for name in elements)


def known_elements() -> tuple[str, ...]:
    """The elements that can be found, under the names that settings give them."""
    return (*element_finders(), RULES, PRIORITIES)


def _element(name: str, answer: ClinicalText, encoded: EncodedText) -> Element:
    if name == RULES:
        place = _rules(answer)
    elif name == PRIORITIES:
        place = _priorities(answer)
    else:
        place = element_finders()[name].first(encoded)
    return Element(name, False) if place is None else Element(name, True, *place)


def _rules(answer: ClinicalText) -> tuple[int, int] | None:
    """A list of three to five."""
    for found in lists_in(answer.text, answer.sentences):
        if _FEWEST_RULES <= found.items <= _MOST_RULES:
            return found.start, found.end
    return None


def _priorities(answer: ClinicalText) -> tuple[int, int] | None:
    """A word for priorities with three things beside it: in its sentence, or in a list that is not far."""
    text = answer.text
    sentences = answer.sentences
    named = list_finder("priorities").spans(EncodedText(text))
    for start, end in named:
        holder = next(((first, last) for first, last in sentences if first <= start < last), (start, end))
        if enumerated_items(text[slice(*holder)]) >= _PRIORITIES:
            return holder
        following = [found for found in lists_in(text, sentences) if found.items >= _PRIORITIES and found.end > start]
        if following:
            return min(start, following[0].start), following[0].end
    return None
