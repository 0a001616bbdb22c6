"""Of whom and of what time something is said: of this patient today, of somebody else, or of the past.

A sentence is cut into parts at commas, "but", "and" and their like. Words for other people hold from their part on,
until words for the patient come ("my last patient's HbA1c was 9.8 %, yours is 7.4 %"). Words for the past hold in
their part ("from 8.9 % last year | to 7.4 % now"), and in the next when they are all of it ("Last year, …"); those for
days or weeks ago only where the sentence speaks of the present too ("last week 150/92, | this morning 138/84"). What
somebody else advises is no advice when the sentence turns against it ("your friend recommends ibuprofen, | but …"). It
is decided in one way for values, drugs, conditions, age and sex.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from .cues import ADVISED, FACT, FAMILY, GENERAL, MENTIONED, NEGATED, PAST, BearingWords, all_cue_words
from .scopes import Span, Target

_CUT = re.compile(
    r"[,;:](?=\s)|[()]|\b(?:but|while|whereas|although|though|and|to(?=\s\d))\b"
    r"|(?<=[가-힣])(?:지만|더라도|는데|은데|인데|면서|이고|고|으며|며|으므로|므로|아서|어서|니까)(?=[\s,])"
    r"|(?<=[가-힣%\d])에서(?=\s)"
)
_CONTRAST = frozenset({"but", "while", "whereas", "although", "though", ";", "지만", "는데", "은데", "인데"})
_TURNS = ("but", "however", "yet", "although", "though", ";", "지만", "는데", "은데", "더라도")
"""After them a sentence may take back what was said."""
_CAUSES = ("므로", "아서", "어서", "니까")
"""After them the patient may be spoken of again, who need not be named: "…, so the present 138/84 mmHg"."""
_TOGETHER = ("you and ", "환자분과 ", "환자분도 ", "귀하와 ")
"""Before somebody else of whom the same is said as of the patient."""
_OF_OTHERS = re.compile(r"(?:의|에|에서|을|를)?\s?(?:\S{1,8}[신은던한]\s)?")
"""Between words for somebody else and a word that then is no patient of ours: 옆 침대에 계신 환자분."""
_BESIDE = ("before ", "after ", "than ", "like ", "unlike ", "next to ", "beside ", "behind ", "ahead of ")
"""With them "you" only tells who somebody else is: "the man I saw before you"."""
_WITH_OTHERS = ("his ", "her ")
"""Behind a target they speak of somebody beside the one of whom it is said."""
_FROM = re.compile(
    r"\b(?:rose|risen|fell|fallen|went|gone|improved|dropped|decreased|increased|climbed|down|up|changed|moved|grew|grown"
    r"|declined|worsened|is|\w+ed)\s(?:\w+\s)?from\s(?:about\s|around\s)?\Z"
)
_BECAUSE = re.compile(r"\b(?:because of|due to|owing to|on account of)\s(?:(?:a|an|the|your|severe|repeated)\s)*\Z")
_THEREFORE = re.compile(r"\s?(?:때문에|탓에|(?:으로|로) 인해|[이가] (?:생겨|와서|있어서|심해))")
"""Beside what something was done for."""
_FALLEN = re.compile(
    r"\s?(?:에서(?=\s[^.,]{0,20}?\d[\d./]*\s?[^\s가-힣]{0,8}(?:으로|로)(?:\s|[.,]|\Z))|였던|이던|이었던)"
)
"""Beside a value that another one followed: "rose from 7.1 % to 7.4 %", 8.9%에서 7.4%로."""
_TO_FROM = re.compile(r"\bto\s\d[\d./]*\s?\S{0,8}\sfrom\s(?:about\s|around\s)?\Z")
"""The same told backwards: "up to 64 kg from 60 kg"."""
_NEXT_VALUE = re.compile(r"[^.;]{0,40}?\bto\s(?:about\s|around\s)?\d")
_COMPARED = frozenset({"보다", "than"})
_OWN_GAP = 4
"""Characters between words for the patient and a value that others are compared with: yours of 138/84."""
_IS = re.compile(r"\s(?:are|is|was|were|stand|stands|stood|come|came|have|had)\b")
"""After "you" or "yours" they tell something of the patient, of whom a rule for everybody would say "should"."""
_NOW = re.compile(r"\b(?:now|today|currently)\b|지금|현재|오늘|이번")
"""After "but" they, too, turn from a rule for everybody to the patient."""
_LITTLE = 6
"""Characters beside a word for the past in a part that says nothing else."""
_IN_PLACE = re.compile(r"\s(?:to|with|for|by)\s")
"""Between the words that a drug was stopped and the one that is taken in its place."""
_NEAR = 40
"""Characters between a drug and the words that it was stopped."""
_WILD = {"#": r"\d{1,4}", "*": r"\S{1,20}?"}
_LONGEST_SENTENCE = 1_000
"""Characters; nobody writes longer ones, and every target takes a look at its whole sentence."""
_SETTLED = frozenset({FACT, MENTIONED})


class BearingFinder:
    """Decides of whom and of what time targets are said that nothing else is said of."""

    def __init__(self, words: Sequence[BearingWords]) -> None:
        self._others = _pattern(word for each in words for word in each.others)
        self._own = _pattern(word for each in words for word in each.own)
        self._past = _pattern(word for each in words for word in each.past)
        self._recent = _pattern(word for each in words for word in each.recent)
        self._present = _pattern(word for each in words for word in each.present)
        self._lasting = _pattern(word for each in words for word in each.lasting)
        self._stopped_before = _pattern(word for each in words for word in each.stopped_before)
        self._stopped_after = _pattern(word for each in words for word in each.stopped_after)

    def settle(self, lower: str, span: Span, targets: Iterable[Target]) -> None:
        """Change the scopes of a sentence's targets that are said of somebody else, or of the past."""
        if span[1] - span[0] > _LONGEST_SENTENCE:
            return
        parts: list[Span] | None = None
        for target in targets:
            if parts is None:
                parts = _parts(lower, span)
            place = next(number for number, part in enumerate(parts) if target.start < part[1] or part is parts[-1])
            if target.scope in _SETTLED:
                self._settle_fact(lower, parts, place, target=target)
            elif target.scope == ADVISED:
                self._settle_advice(lower, parts, place, target=target)
            elif target.kind == "value" and self._is_own_again(lower, parts[place], target):
                target.scope, target.cue = FACT, None

    def _settle_fact(self, lower: str, parts: Sequence[Span], place: int, *, target: Target) -> None:
        if target.kind != "value" and (cue := _denial(lower, target.start, target.end)) is not None:
            target.scope, target.cue = NEGATED, cue
        elif (cue := self._other(lower, parts[: place + 1], target)) is not None:
            target.scope, target.cue = FAMILY, cue
        elif (cue := self._earlier(lower, parts, place, target=target)) is not None:
            target.scope, target.cue = PAST, cue

    def _settle_advice(self, lower: str, parts: Sequence[Span], place: int, *, target: Target) -> None:
        """Take advice of somebody else for what it is when the sentence turns against it."""
        start, end = parts[place]
        follows = lower[end : end + _LITTLE].lstrip(" ,").startswith(_TURNS)
        if follows or lower[start:end].rstrip(" ,").endswith(_TURNS):
            cue = self._other(lower, [parts[place]], target)
            if cue is not None and cue[0] < target.start:
                target.scope, target.cue = FAMILY, cue

    def _other(self, lower: str, parts: Sequence[Span], target: Target) -> Span | None:
        """The words for somebody else of whom a target is said."""
        for start, end in reversed(parts):
            others = [
                match.span()
                for match in self._others.finditer(lower, start, end)
                if not lower.endswith(_TOGETHER, 0, match.start())
            ]
            own = [
                match.span()
                for match in self._own.finditer(lower, start, end)
                if not any(_is_told_by(lower, match.span(), other) for other in others)
            ]
            if others or own:
                nearest = _nearest([*others, *own], target.start)
                # "A woman comes with her sister": who comes is not the sister.
                is_with_other = nearest[0] > target.start and lower.startswith(_WITH_OTHERS, nearest[0])
                return nearest if nearest in others and not is_with_other else None
            if self._begins_anew(lower, start, target):
                return None
        return None

    def _begins_anew(self, lower: str, start: int, target: Target) -> bool:
        """Whether a part gives a reason no more and speaks of the present, so that it is the patient's."""
        is_reason = lower.endswith(_CAUSES, 0, start) or lower.endswith(_CAUSES, 0, max(0, start - 1))
        return is_reason and self._present.search(lower, start, target.start) is not None

    def _earlier(self, lower: str, parts: Sequence[Span], place: int, *, target: Target) -> Span | None:
        """The words by which a target is said of the past."""
        start, end = parts[place]
        if target.kind == "value" and (cue := _left_behind(lower, target)) is not None:
            return cue
        if target.kind == "medication" and (cue := self._stopped(lower, (start, end), target)) is not None:
            return cue
        if target.kind == "condition" and (cue := self._reason_to_stop(lower, parts, target)) is not None:
            return cue
        if target.kind != "value" and self._lasting.search(lower, start, end) is not None:
            return None
        past = [match.span() for match in self._past.finditer(lower, start, end)]
        present = [match.span() for match in self._present.finditer(lower, start, end)]
        if past or present:
            nearest = _nearest([*past, *present], target.start)
            return nearest if nearest in past else None
        return self._earlier_by_other_parts(lower, parts, place, target=target)

    def _earlier_by_other_parts(self, lower: str, parts: Sequence[Span], place: int, *, target: Target) -> Span | None:
        """The words for the past that hold for a target by what the other parts of its sentence say."""
        recent = self._recent.search(lower, *parts[place]) if target.kind == "value" else None
        if recent is not None and self._present.search(lower, parts[0][0], parts[-1][1]) is not None:
            return recent.span()
        if recent is not None or not place:
            return None
        before = self._past.search(lower, *parts[place - 1])
        is_all = before is not None and parts[place - 1][1] - parts[place - 1][0] - len(before.group()) <= _LITTLE
        return before.span() if before is not None and is_all else None

    def _reason_to_stop(self, lower: str, parts: Sequence[Span], target: Target) -> Span | None:
        """The words that a drug was stopped because of a condition, which need not last."""
        if _BECAUSE.search(lower, max(0, target.start - _NEAR), target.start) is None and (
            _THEREFORE.match(lower, target.end) is None
        ):
            return None
        start, end = parts[0][0], parts[-1][1]
        found = self._stopped_before.search(lower, start, end) or self._stopped_after.search(lower, start, end)
        return None if found is None else found.span()

    def _stopped(self, lower: str, part: Span, target: Target) -> Span | None:
        before = self._stopped_before.search(lower, max(part[0], target.start - _NEAR), target.start)
        if before is not None and _IN_PLACE.search(lower, before.end(), target.start) is not None:
            before = None
        after = self._stopped_after.search(lower, target.end, min(part[1], target.end + _NEAR))
        found = before or after
        return None if found is None else found.span()

    def _is_own_again(self, lower: str, part: Span, target: Target) -> bool:
        """Whether a value is the patient's though an earlier part spoke of people at large: "…, but yours is 7.4 %"."""
        if target.bound is not None and self._is_compared_with(lower, target):
            return True
        is_earlier = target.cue is not None and target.cue[1] <= part[0]
        if target.scope == FAMILY and is_earlier and self._begins_anew(lower, part[0], target):
            return True
        if target.scope not in {GENERAL, FAMILY} or target.cue is None or target.cue[0] >= part[0]:
            return False
        cut = lower[max(0, part[0] - 8) : part[0]].rstrip()
        own = self._own.search(lower, part[0], target.start) or _NOW.search(lower, part[0], target.start)
        if own is None or target.bound is not None:
            return False
        is_told = target.scope == FAMILY or _IS.match(lower, own.end()) is not None
        begins = own.start() - part[0] <= 1 and is_told
        return (begins or cut.endswith(tuple(_CONTRAST))) and self._others.search(lower, *part) is None

    def _is_compared_with(self, lower: str, target: Target) -> bool:
        """Whether a value is no bound but the patient's own, with which another is compared: 환자분의 138/84보다."""
        assert target.bound is not None
        if lower[slice(*target.bound)] not in _COMPARED:
            return False
        near = self._own.search(lower, max(0, target.start - 2 * _OWN_GAP), target.start)
        return near is not None and target.start - near.end() <= _OWN_GAP


def _is_told_by(lower: str, own: Span, other: Span) -> bool:
    """Whether a word for the patient is a part of what tells who somebody else is."""
    if own[0] < other[1]:
        return own[1] > other[0]
    if lower[own[0]].isascii():
        return lower.endswith(_BESIDE, 0, own[0])
    return _OF_OTHERS.fullmatch(lower, other[1], own[0]) is not None


def _left_behind(lower: str, target: Target) -> Span | None:
    """The words that say of a value that another one followed it."""
    since = max(0, target.start - _NEAR)
    before = _FROM.search(lower, since, target.start)
    if before is not None and _NEXT_VALUE.match(lower, target.end) is not None:
        return before.span()
    if (before := _TO_FROM.search(lower, since, target.start)) is not None:
        return before.span()
    after = _FALLEN.match(lower, target.end)
    return None if after is None else after.span()


def _parts(lower: str, span: Span) -> list[Span]:
    """The parts of a sentence; the cuts between them belong to the part before."""
    ends = [match.end() for match in _CUT.finditer(lower, *span)]
    starts = [span[0], *ends]
    return [(start, end) for start, end in zip(starts, [*ends, span[1]], strict=True) if start < end]


def _nearest(cues: Sequence[Span], place: int) -> Span:
    """The last of the cues before a place; the first after it when there is none before."""
    before = [cue for cue in cues if cue[0] <= place]
    return max(before) if before else min(cues)


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    """Any of the words; those in Latin letters stand alone, `#` is a number, and `*` a word or the rest of one."""
    ordered = sorted(set(words))
    latin = _choice([word for word in ordered if word.isascii()])
    korean = _choice([word for word in ordered if not word.isascii()])
    return re.compile(rf"(?<![a-z]){latin}(?![a-z])|{korean}(?!부터)")


def _choice(words: Sequence[str]) -> str:
    """An expression for any of some words, the longest first; what they begin with alike is looked at once.

    >>> _choice(["you", "your", "me"])
    '(?:me|you(?:r)?)'
    """
    by_first: dict[str, list[str]] = {}
    for word in words:
        if word:
            by_first.setdefault(word[0], []).append(word[1:])
    if not words or not by_first:
        return "" if words else "(?!)"
    parts = []
    for first, rests in sorted(by_first.items()):
        rest = _choice(rests) if any(rests) else ""
        parts.append(_WILD.get(first, re.escape(first)) + rest)
    inner = "|".join(parts)
    is_whole = len(parts) == 1 and "" not in words
    return inner if is_whole else f"(?:{inner}){'?' if '' in words else ''}"


def is_plainly_denied(text: str, start: int, end: int) -> bool:
    """Whether a text says in so many words that the patient does not have, or take, what stands at a place.

    >>> is_plainly_denied("You do not have diabetes.", 16, 24), is_plainly_denied("If you do not have diabetes", 19, 27)
    (True, False)
    """
    lower = text.lower().replace("’", "'")
    return len(lower) == len(text) and _denial(lower, start, end) is not None


def _denial(lower: str, start: int, end: int) -> Span | None:
    """The words of a plain denial."""
    before, after = _denials()
    since = max(0, start - _LONGEST_DENIAL)
    if (found := before.search(lower[since:start])) is not None:
        is_plain = found["if"] is None and _OTHER_NOUN.match(lower, end) is None
        return (since + found.start(), start) if is_plain else None
    return None if (match := after.match(lower, end)) is None else match.span()


_LONGEST_DENIAL = 80
_OTHER_NOUN = re.compile(
    r"[\s-](?:complications?|related|symptoms?|medications?|under control|anymore|yet|cures?|tests?|treatments?"
    r"|medicines?|drugs?|pills?|risks?|clinics?|specialists?|problems?|flares?|attacks?|emergency)\b"
)
"""After a name: what is denied is something else."""


@cache
def _denials() -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = [each.bearing for each in all_cue_words()]
    before = "|".join(re.escape(word) for each in words for word in each.denied_before)
    after = "|".join(re.escape(word) for each in words for word in each.denied_after)
    return (
        re.compile(
            rf"(?P<if>\b(?:if|when|unless|whether|think|mean|say|that)\s)?\b(?:{before})\s(?:any\s|either\s)?\Z"
        ),
        re.compile(rf"(?:이|가|은|는|을|를|도)?\s?(?:(?:현재|지금|전혀|결코|아직|한 번도)\s)?(?:{after})"),
    )
