"""Where mentions stand: the sentences, cues and marks of a text put together, and the scopes that come of it."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from .roles import CLAUSE, EXAMPLE, Reach, Role
from .scopes import CLOSE, COLON, COMMA, CUE, OPEN, SEMICOLON, TARGET, Facts, Item, Target, settle
from .sweeps import Actives, BackwardSweep, ForwardSweep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .cue_words import CueWords
    from .particles import Endings
    from .scopes import Span
    from .vocabulary import FoundCue

_CODES = {",": COMMA, ";": SEMICOLON, ":": COLON, "(": OPEN, "[": OPEN, ")": CLOSE, "]": CLOSE}
_MARK = re.compile(r"[,;:()\[\]]")
_AFTER_WORDS = frozenset({COLON, CLOSE})
_BULLET = re.compile(r"\s*(?:[-*•·▪◦–—]+|\(?\d{1,3}[.)]|[①-⑳])")
_HEADING = re.compile(r"(?:#{1,6} |\*\*(?!.*\*\*.)).*")
_AFTER_LABEL = re.compile(r"[* ]*(?::|$)", re.MULTILINE)
_FACT_AT_START = Role(is_fact=True, is_noted=True, works_ahead=True)
_EXAMPLE_MARK = Role(ahead=(Reach(EXAMPLE, CLAUSE),), works_ahead=True)
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
        self._korean_bridges = tuple(bridge for bridge in self._bridges if not bridge.isascii())
        marks = {mark for each in words for effects in each.cues.values() for mark in effects.marks}
        self._example_words = tuple(sorted(marks))
        self._example_marks = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, self._example_words))})\Z")

    def find(
        self, lower: str, sentences: Sequence[Span], *, cues: Sequence[FoundCue], targets: Sequence[Target]
    ) -> Standing:
        """Decide the scope of every target, and keep what is needed to decide others; targets come in order."""
        standing = Standing(lower, sentences, cues, [])
        families = [start for start, _, role in cues if role.is_family]
        heading = last = _NOTHING
        end = after = 0
        for span in sentences:
            if heading is not _NOTHING and not _is_listed(lower, end, span[0]):
                heading = _NOTHING
            given = heading._replace(is_family=True) if last.is_family else heading
            standing.handed.append(given)
            first, end = after, span[1]
            while after < len(targets) and targets[after].start < end:
                after += 1
            last = _NOTHING
            if after > first or _hands_on(lower, span, families):
                inside = targets[first:after]
                if given is not _NOTHING or not self._settle_plain(standing, span, inside):
                    last = self._read(standing, span, inside, handed=given)
                heading = last if last.is_heading else heading
        return standing

    def scope_of(self, standing: Standing, target: Target) -> None:
        """Decide the scope of one more target."""
        place = bisect_left(standing.sentences, (target.start + 1,)) - 1
        if place >= 0:
            self._read(standing, standing.sentences[place], [target], handed=standing.handed[place])

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
        forward = ForwardSweep(lower, levels, handed.actives, is_family=handed.is_family)
        forward.run(items)
        facts = forward.facts
        if facts.cue is None:
            facts.cue = handed.fact
        question = (end - 1, end) if lower[end - 1] == "?" else None
        for target in targets:
            settle(target, facts, question=question if target.clause == forward.clause else None)
        if is_heading:
            return _Handed(forward.remaining, facts.cue, forward.has_family, is_heading=True)
        return _Handed({}, None, is_family=True) if forward.has_family else _NOTHING

    def _settle_plain(self, standing: Standing, span: Span, targets: Sequence[Target]) -> bool:
        """Settle a sentence without any cue of scope at once, if it is one: most that state facts are."""
        lower, cues = standing.lower, standing.cues
        start, end = span
        place = bisect_left(cues, start, key=_start)
        fact: Span | None = None
        while place < len(cues) and cues[place][0] < end:
            cue_start, cue_end, role = cues[place]
            if role.gives_scope or role.is_label:
                return False
            if role.is_fact and fact is None:
                fact = cue_start, cue_end
            place += 1
        if lower[end - 1] in ":*?" or lower[start] in "#*":
            return False
        if any(lower.find(mark, start, end) >= 0 for mark in self._example_words):
            return False
        facts = Facts(set(), fact)
        for target in targets:
            settle(target, facts, question=None)
        return True

    def _items(self, standing: Standing, span: Span, targets: Sequence[Target]) -> list[Item]:
        """The cues, marks and targets of a sentence in order."""
        lower, cues = standing.lower, standing.cues
        start, end = span
        first = bisect_left(cues, start, key=_start)
        last = bisect_left(cues, end, first, key=_start)
        items = self._cue_items(lower, start, cues[first:last])
        items += self._mark_items(lower, span)
        if len(targets) == 1:  # a place that was asked for may have cues in it
            target = targets[0]
            items = [item for item in items if not target.start <= item[0] < target.end]
        items += [(target.start, target.end, TARGET, None, target) for target in targets]
        items.sort(key=_start)
        if any(role.is_relative for _, _, role in cues[first:last]):
            _bracket_relatives(items)
        return items

    def _cue_items(self, lower: str, start: int, cues: Sequence[FoundCue]) -> list[Item]:
        """The cues of a sentence, without those that undo each other."""
        items: list[Item] = []
        last: Item | None = None
        for cue in cues:
            role = cue[2]
            item: Item = (cue[0], cue[1], CUE, role, None)
            if not role.is_special:
                items.append(item)
            elif not _is_void(lower, start, cue):
                if last is not None and self._undo(lower, last, item):
                    _drop(items, last)
                    last = None
                    continue
                last = item if role.denies or role.avoids else last
                is_subject = role.is_inner and item[0] == start
                items.append((*item[:3], _FACT_AT_START, None) if is_subject else item)
        return items

    def _undo(self, lower: str, one: Item, other: Item) -> bool:
        """Whether a denial and advice to avoid undo each other: "do not have to avoid", 피할 필요는 없습니다."""
        first, second = one[3], other[3]
        assert first is not None
        assert second is not None
        between = lower[one[1] : other[0]].strip()
        if first.denies and first.ahead and second.avoids and second.ahead:
            return not between or between in self._bridges
        if not (first.avoids and first.back and (second.denies or second.avoids) and second.back):
            return False
        return len(between) <= 10 and (lower[other[0]] == "지" or between.endswith(self._korean_bridges))

    def _mark_items(self, lower: str, span: Span) -> list[Item]:
        items: list[Item] = []
        for match in _MARK.finditer(lower, *span):
            start, end = match.span()
            code = _CODES[match.group()]
            if code in _AFTER_WORDS and self._example_marks.search(lower, max(0, end - 5), end):
                items.append((start, end, CUE, _EXAMPLE_MARK, None))
            elif code != COLON or not lower[end : end + 1].isdigit():
                items.append((start, end, code, None, None))
        return items


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
    return lower[start] in "#*" and _HEADING.fullmatch(lower, start, end) is not None


def _hands_on(lower: str, span: Span, families: Sequence[int]) -> bool:
    """Whether a sentence without targets matters to the next one."""
    start, end = span
    if families:
        place = bisect_left(families, start)
        if place < len(families) and families[place] < end:
            return True
    return lower[start] in "#*" or lower[end - 1] in ":*"


def _is_listed(lower: str, end: int, start: int) -> bool:
    """Whether a sentence belongs to a list: it begins an item, or goes on in its line."""
    return "\n" not in lower[end:start] or _BULLET.match(lower, start) is not None


def _bracket_relatives(items: list[Item]) -> None:
    """Put brackets in the place of the commas around a clause such as ", which is hard on the kidneys,"."""
    commas = [place for place, item in enumerate(items) if item[2] == COMMA]
    for one, other in pairwise(commas):
        start, _, _, role, _ = items[one + 1]
        if role is not None and role.is_relative and start - items[one][1] <= 1:
            items[one] = (*items[one][:2], OPEN, None, None)
            items[other] = (*items[other][:2], CLOSE, None, None)
