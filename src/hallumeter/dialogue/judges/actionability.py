"""Whether an answer includes what its turn must include to be acted on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hallumeter.dialogue.reading.reader import ClinicalText
from hallumeter.dialogue.records import Element

from .wording import element_finders, list_finder, ordinal_finders, plain

# Lists in an answer: items on lines of their own, counted off in a sentence, or announced and joined by commas.

_NUMBERED_LINE = re.compile(r"^([ \t]*)(?:\*\*)?(\d{1,2})[.)](?:\*\*)?[ \t]+\S", re.MULTILINE)
_BULLET_LINE = re.compile(r"^([ \t]*)[-*•▪◦·‣–][ \t]+\S", re.MULTILINE)
_INLINE_NUMBER = re.compile(r"(\d{1,2})[.)]\s*(?=[^\s\d])")
_BEFORE_NUMBER = frozenset(" \t\n(:,;.")
_CIRCLED = re.compile("[①-⑳]")
_CIRCLED_ONE = ord("①")
_COMMA = re.compile(r",\s|、|·|;\s")
_LEAST_LIST = 2


class FoundList(NamedTuple):
    """A list in a text."""

    items: int
    start: int
    end: int


def lists_in(text: str, sentences: Sequence[tuple[int, int]]) -> Iterator[FoundList]:
    r"""The lists of a text, the plainest first: lines, numbers, ordinals, announced enumerations.

    >>> next(lists_in("1. Eat less salt.\n2. Drink water.\n3. Sleep.", []))
    FoundList(items=3, start=0, end=43)
    """
    for find in (_lines, _numbers, _circled, _ordinals):
        yield from (found for found in find(text) if found.items >= _LEAST_LIST)
    yield from (found for found in _announced(text, sentences) if found.items >= _LEAST_LIST)


def enumerated_items(text: str) -> int:
    """How many things a sentence lists with commas and words that join."""
    prepared = plain(text)
    commas = len(_COMMA.findall(text))
    return commas + 1 + (1 if commas and _has_last_joint(text, prepared) else 0)


def _has_last_joint(text: str, prepared: str) -> bool:
    """Whether the last two things are joined by a word instead of a comma, as in "A, B and C"."""
    last = max((match.end() for match in _COMMA.finditer(text)), default=0)
    following = text[last:].lstrip()
    if following.startswith(("and ", "or ", "then ", "그리고 ")):
        return False
    return any(start >= last for start, _ in list_finder("joints").spans(prepared))


def _lines(text: str) -> Iterator[FoundList]:
    """Numbered lines, or bullets where none is numbered; only those of the outermost depth."""
    for pattern in (_NUMBERED_LINE, _BULLET_LINE):
        lines = list(pattern.finditer(text))
        if len(lines) >= _LEAST_LIST:
            depth = min(len(line[1].expandtabs()) for line in lines)
            outer = [line for line in lines if len(line[1].expandtabs()) == depth]
            yield from _runs(outer, text) if pattern is _NUMBERED_LINE else [_over(outer, text)]


def _runs(lines: list[re.Match[str]], text: str) -> Iterator[FoundList]:
    """Numbered lines, cut where they begin again; lines that are all numbered 1 are one list."""
    if len({line[2] for line in lines}) == 1:
        yield _over(lines, text)
        return
    run: list[re.Match[str]] = []
    for line in lines:
        if run and int(line[2]) <= int(run[-1][2]):
            yield _over(run, text)
            run = []
        run.append(line)
    yield _over(run, text)


def _over(lines: list[re.Match[str]], text: str) -> FoundList:
    end = text.find("\n", lines[-1].end())
    return FoundList(len(lines), lines[0].start(), len(text) if end < 0 else end)


def _numbers(text: str) -> Iterator[FoundList]:
    """1) 2) 3) within a line, counted as long as each is one more than the last."""
    expected, first, last = 1, 0, 0
    for match in _INLINE_NUMBER.finditer(text):
        stands_alone = match.start() == 0 or text[match.start() - 1] in _BEFORE_NUMBER
        if stands_alone and int(match[1]) == expected:
            first = match.start() if expected == 1 else first
            last = match.end()
            expected += 1
    if expected > _LEAST_LIST:
        yield FoundList(expected - 1, first, last)


def _circled(text: str) -> Iterator[FoundList]:
    found = list(_CIRCLED.finditer(text))
    distinct = {ord(match.group()) - _CIRCLED_ONE for match in found}
    if found:
        yield FoundList(len(distinct), found[0].start(), found[-1].end())


def _ordinals(text: str) -> Iterator[FoundList]:
    """First, second and so on, each after the last."""
    prepared = plain(text)
    first = last = count = 0
    for finder in ordinal_finders():
        place = next((span for span in finder.spans(prepared) if span[0] >= last), None)
        if place is None:
            break
        first = place[0] if not count else first
        last = place[1]
        count += 1
    if count:
        yield FoundList(count, first, last)


def _announced(text: str, sentences: Sequence[tuple[int, int]]) -> Iterator[FoundList]:
    """A sentence that says how many things it lists."""
    for place, _ in list_finder("announced").spans(plain(text)):
        for start, end in sentences:
            if start <= place < end:
                yield FoundList(enumerated_items(text[start:end]), start, end)


RULES, PRIORITIES = "three_to_five_rules", "top_three_priorities"
_FEWEST_RULES, _MOST_RULES = 3, 5
_PRIORITIES = 3


def judge_actionability(answer: ClinicalText, elements: Sequence[str]) -> tuple[Element, ...]:
    """Which of these elements an answer includes, and where."""
    prepared = plain(answer.text)
    return tuple(_element(name, answer, prepared) for name in elements)


def known_elements() -> tuple[str, ...]:
    """The elements that can be found, under the names that settings give them."""
    return (*element_finders(), RULES, PRIORITIES)


def _element(name: str, answer: ClinicalText, prepared: str) -> Element:
    if name == RULES:
        place = _rules(answer)
    elif name == PRIORITIES:
        place = _priorities(answer)
    else:
        place = element_finders()[name].first(prepared)
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
    named = list_finder("priorities").spans(plain(text))
    for start, end in named:
        holder = next(((first, last) for first, last in sentences if first <= start < last), (start, end))
        if enumerated_items(text[slice(*holder)]) >= _PRIORITIES:
            return holder
        following = [found for found in lists_in(text, sentences) if found.items >= _PRIORITIES and found.end > start]
        if following:
            return min(start, following[0].start), following[0].end
    return None
