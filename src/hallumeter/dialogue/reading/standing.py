"""Where mentions stand: the sentences, cues and marks of a text put together, and the scopes that come of it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

from .bearing import BearingFinder
from .cues import CLAUSE, EXAMPLE, CueWords, Endings, Reach, Role
from .lexicon import Finds, FoundCue
from .scopes import (
    CLOSE,
    COLON,
    COMMA,
    CUE,
    OPEN,
    SEMICOLON,
    TARGET,
    Facts,
    Given,
    Item,
    Span,
    Target,
    colon_of_label,
    label_cues,
    settle,
    turn_verdicts,
)
from .sweeps import Actives, BackwardSweep, ForwardSweep

_CODES = {",": COMMA, ";": SEMICOLON, ":": COLON, "(": OPEN, "[": OPEN, ")": CLOSE, "]": CLOSE}
_MARK = re.compile(r"[,;:()\[\]]")
_AFTER_WORDS = frozenset({COLON, CLOSE})
_BULLET = re.compile(r"\s*(?:[-+•·▪◦–—]+|\*(?!\*)|\(?\d{1,3}[.)]|[①-⑳])")
_UNTITLED = re.compile(r"[ *]*\n\s*(?:[-+•·▪◦–—]|\*(?!\*)|1[.)]) ")
_HEADING = re.compile(r"(?:#{1,6} |\*\*(?!.*\*\*.)).*")
_AFTER_LABEL = re.compile(r"[* ]*(?::|$)", re.MULTILINE)
_FACT_AT_START = Role(is_fact=True, is_noted=True, works_ahead=True)
_EXAMPLE_MARK = Role(ahead=(Reach(EXAMPLE, CLAUSE),), works_ahead=True)
_DENIED_NOUN = 6
"""Characters between what is forbidden and the denial of it."""
_start = itemgetter(0)


class _Handed(NamedTuple):
    """What a sentence is given by those before it."""

    actives: Actives
    """Cues of a heading such as "Avoid:", for the list under it."""
    fact: Span | None = None
    """Words of the heading that speak of this patient."""
    is_family: bool = False
    """Whether the last sentence spoke of the family, so that "she" may be the mother."""
    is_heading: bool = False


_NOTHING = _Handed({})


class Standing(NamedTuple):
    """A text as it is read for scopes; all places are those of the clean text."""

    lower: str
    sentences: Sequence[Span]
    cues: Sequence[FoundCue]
    handed: list[_Handed]
    """What each sentence was given by those before it."""


class ScopeFinder:
    """Decides scopes; made once, it can be used for any number of texts."""

    def __init__(self, words: Sequence[CueWords], endings: Endings) -> None:
        self._endings = endings
        self._bridges = frozenset(bridge for each in words for bridge in each.words.bridges)
        self._doing = frozenset(verb for each in words for verb in each.words.doing)
        self._korean_bridges = tuple(bridge for bridge in self._bridges if not bridge.isascii())
        marks = {mark for each in words for effects in each.cues.values() for mark in effects.marks}
        self._example_words = tuple(sorted(marks))
        self._bearing = BearingFinder([each.bearing for each in words])
        self._example_marks = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, self._example_words))})\Z")

    def find(self, lower: str, sentences: Sequence[Span], *, cues: Finds, targets: Sequence[Target]) -> Standing:
        """Decide the scope of every target, and keep what is needed to decide others; targets come in order."""
        handed: list[_Handed] = []
        standing = Standing(lower, sentences, cues.cues, handed)
        families = cues.families
        has_examples = any(map(lower.__contains__, self._example_words))
        headings: list[tuple[int, _Handed]] = []
        last = given = _NOTHING
        end = after = 0
        count = len(targets)
        for span in sentences:
            if headings:
                _close(headings, lower, end, start=span[0])
            if headings or last is not _NOTHING or given is not _NOTHING:
                heading = headings[-1][1] if headings else _NOTHING
                given = heading._replace(is_family=True) if last.is_family else heading
                last = _NOTHING
            handed.append(given)
            first, end = after, span[1]
            while after < count and targets[after].start < end:
                after += 1
            if after == first and not _hands_on(lower, span, families):
                continue
            inside = targets[first:after]
            if given is not _NOTHING or has_examples or not _settle_plain(standing, span, inside):
                last = self._read(standing, span, inside, handed=given)
                if last.is_heading:
                    headings.append((_depth(lower, span[0]), last))
            self._bearing.settle(lower, span, inside)
        return standing

    def scope_of(self, standing: Standing, target: Target) -> None:
        """Decide the scope of one more target."""
        place = bisect_left(standing.sentences, (target.start + 1,)) - 1
        if place >= 0:
            self._read(standing, standing.sentences[place], [target], handed=standing.handed[place])
            self._bearing.settle(standing.lower, standing.sentences[place], [target])

    def _read(self, standing: Standing, span: Span, targets: Sequence[Target], *, handed: _Handed) -> _Handed:
        """Read one sentence both ways; what it hands on."""
        lower = standing.lower
        end = span[1]
        items = self._items(standing, span, targets)
        is_heading = _is_heading(lower, span)
        if is_heading and items and items[-1][2] == COLON:
            items.pop()
        levels: dict[int, int] = {}
        if targets:
            BackwardSweep(lower, levels, self._endings).run(items)
        colon = colon_of_label(items, lower, span) if lower.find(":", *span) >= 0 else None
        label = {} if colon is None else label_cues(items[:colon], items[colon][0])
        forward = ForwardSweep(lower, levels, Given(handed.actives, handed.is_family, label, colon, self._doing))
        forward.run(items)
        facts = forward.facts
        if facts.cue is None:
            facts.cue = handed.fact
        question = (end - 1, end) if lower[end - 1] == "?" else None
        for target in targets:
            settle(target, facts, question=question if target.clause == forward.clause else None)
        if is_heading:
            cues = forward.remaining | label_cues(items, end)
            return _Handed(cues, facts.cue, forward.has_family, is_heading=True)
        return _Handed({}, None, is_family=True) if forward.has_family else _NOTHING

    def _items(self, standing: Standing, span: Span, targets: Sequence[Target]) -> list[Item]:
        """The cues, marks and targets of a sentence in order."""
        lower, cues = standing.lower, standing.cues
        start, end = span
        first = bisect_left(cues, (start,))
        inside = cues[first : bisect_left(cues, (end,), first)]
        items, has_special = self._cue_items(lower, start, inside)
        items += self._mark_items(lower, span)
        if len(targets) == 1:  # a place that was asked for may have cues in it
            first, last = targets[0].start, targets[0].end
            items = [item for item in items if not first <= item[0] < last]
        for target in targets:
            items.append((target.start, target.end, TARGET, None, target))
        items.sort(key=_start)
        if has_special:
            _bracket_relatives(items)
            turn_verdicts(items, lower, span)
        return items

    def _cue_items(self, lower: str, start: int, cues: Sequence[FoundCue]) -> tuple[list[Item], bool]:
        """The cues of a sentence, without those that undo each other; and whether any has to be looked at again."""
        items: list[Item] = []
        last: Item | None = None
        has_special = False
        for cue in cues:
            role = cue[2]
            item: Item = (cue[0], cue[1], CUE, role, None)
            if not role.is_special:
                items.append(item)
                continue
            has_special = True
            if not _is_void(lower, start, cue):
                if last is not None and self._undo(lower, last, item):
                    _drop(items, last)
                    last = None
                    continue
                last = item if role.denies or role.avoids else last
                is_subject = role.is_inner and item[0] == start
                items.append((*item[:3], _FACT_AT_START, None) if is_subject else item)
        return items, has_special

    def _undo(self, lower: str, one: Item, other: Item) -> bool:
        """Whether a denial and advice to avoid undo each other: "do not have to avoid", 피할 필요는 없습니다."""
        first, second = one[3], other[3]
        assert first is not None
        assert second is not None
        between = lower[one[1] : other[0]].strip()
        if first.denies and second.avoids and second.ahead:
            return not between or between in self._bridges
        if not (first.avoids and first.back and (second.denies or second.avoids) and second.back):
            return False
        if len(between) <= _DENIED_NOUN and "아" in lower[other[0] : other[0] + 3]:  # 금기가 아닙니다
            return True
        return len(between) <= 10 and (lower[other[0]] == "지" or between.endswith(self._korean_bridges))

    def _mark_items(self, lower: str, span: Span) -> list[Item]:
        items: list[Item] = []
        for match in _MARK.finditer(lower, *span):
            start = match.start()
            end = start + 1
            code = _CODES[lower[start]]
            if code == COMMA:
                items.append((start, end, code, None, None))
            elif code in _AFTER_WORDS and self._example_marks.search(lower, max(0, end - 5), end):
                items.append((start, end, CUE, _EXAMPLE_MARK, None))
            elif code != COLON or not lower[end : end + 1].isdigit():
                items.append((start, end, code, None, None))
        return items


def _settle_plain(standing: Standing, span: Span, targets: Sequence[Target]) -> bool:
    """Settle a sentence without any cue of scope at once, if it is one: most that state facts are."""
    lower, cues = standing.lower, standing.cues
    start, end = span
    if lower[end - 1] in ":*?" or lower[start] in "#*":
        return False
    fact: Span | None = None
    for place in range(bisect_left(cues, (start,)), len(cues)):
        cue_start, cue_end, role = cues[place]
        if cue_start >= end:
            break
        if role.gives_scope or role.is_label:
            return False
        if fact is None and role.is_fact:
            fact = cue_start, cue_end
    facts = Facts(set(), fact)
    for target in targets:
        settle(target, facts, question=None)
    return True


def _is_void(lower: str, start: int, cue: FoundCue) -> bool:
    """Whether a cue of a sentence is none where it stands: a label without a colon, or "No, you do not …"."""
    cue_start, cue_end, role = cue
    if role.is_label:
        return _AFTER_LABEL.match(lower, cue_end) is None
    return role.denies and cue_start == start and lower[cue_end : cue_end + 1] == ","


def _drop(items: list[Item], last: Item) -> None:
    """Take out one of the last items."""
    place = len(items) - 1
    while items[place] is not last:
        place -= 1
    del items[place]


def _is_heading(lower: str, span: Span) -> bool:
    """Whether a sentence introduces what follows: by a colon at its end, or as a heading of Markdown."""
    start, end = span
    if lower[end - 1] in ":*" and lower[start:end].rstrip("* ").endswith(":"):
        return True
    if lower[end : end + 1] == "\n" and _is_untitled(lower, span):
        return True
    return lower[start] in "#*" and _HEADING.fullmatch(lower, start, end) is not None


def _hands_on(lower: str, span: Span, families: Sequence[int]) -> bool:
    """Whether a sentence without targets matters to the next one."""
    start, end = span
    if lower[start] in "#*" or lower[end - 1] in ":*":
        return True
    if families and bisect_left(families, start) < bisect_left(families, end):
        return True
    return lower[end : end + 1] == "\n" and _is_untitled(lower, span)


def _is_untitled(lower: str, span: Span) -> bool:
    """Whether a line without a mark at its end stands over a list, and is no item itself."""
    start, end = span
    if lower[end - 1] in ".!?다요":
        return False
    return _UNTITLED.match(lower, end) is not None and _BULLET.match(lower, start) is None


def _close(headings: list[tuple[int, _Handed]], lower: str, end: int, *, start: int) -> None:
    """Take out the headings that do not hold for a sentence: its line is no item under them."""
    if "\n" in lower[end:start]:
        depth = _depth(lower, start)
        while headings and headings[-1][0] >= depth:
            headings.pop()


def _depth(lower: str, start: int) -> int:
    """How deep a line stands in lists: 0 outside of them, then numbers, then bullets, then both of them indented."""
    bullet = _BULLET.match(lower, start)
    if bullet is None:
        return 0
    is_indented = start > 0 and lower[start - 1] in " \t"
    return (1 if bullet.group()[-1] in ".)" else 2) + 2 * is_indented


def _bracket_relatives(items: list[Item]) -> None:
    """Put brackets in the place of the commas around a clause such as ", which is hard on the kidneys,"."""
    commas = [place for place, item in enumerate(items) if item[2] == COMMA]
    for one, other in pairwise(commas):
        start, _, _, role, _ = items[one + 1]
        if role is not None and role.is_relative and start - items[one][1] <= 1:
            items[one] = (*items[one][:2], OPEN, None, None)
            items[other] = (*items[other][:2], CLOSE, None, None)
