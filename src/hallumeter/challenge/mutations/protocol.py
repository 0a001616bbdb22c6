"""What an edit of a claim is: what stood there, what stands there now, and whether that is an error."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import blake2b
from typing import TypeVar

from msgspec import Struct

from hallumeter.text.dates import Date, find_dates, touches
from hallumeter.text.lexicon import MutationWords, load_lexicon
from hallumeter.text.names import Name, find_names
from hallumeter.text.quantities import Quantity, find_quantities
from hallumeter.text.terms import Terms, language_of, terms_of

Option = TypeVar("Option")


class Choice(Struct, frozen=True):
    """What choices depend on."""

    seed: int
    text: str
    kind: str

    def ordered(self, options: Sequence[Option], about: str = "") -> Iterator[Option]:
        """All options, beginning with the chosen one; `about` tells choices of one text and kind apart.

        >>> len(list(Choice(0, "A claim.", "number").ordered([1, 2, 3])))
        3
        """
        if not options:
            return
        named = "\0".join((str(self.seed), self.kind, about, self.text)).encode("utf-8", "surrogatepass")
        first = int.from_bytes(blake2b(named, digest_size=8).digest(), "big") % len(options)
        for place in range(len(options)):
            yield options[(first + place) % len(options)]


# A text as edits see it: its words, language, numbers, dates and names.

_NEIGHBOURS = 6
"""Words on either side that say what a number, date or name is about."""
_NO_NUMBER = re.compile(r"\d[\d ()-]*-\d{3,4}(?!\d)|\(\d{3}\) ?\d{3}|\[[\d,;\s–-]+\]")
"""Telephone numbers, and references such as [3]."""
_WORD_END = r"(?![^\W_]|['’][^\W_])"
_HANGUL = re.compile("[가-힣]")


class Reading(Struct, frozen=True):
    """A text with everything that can be edited in it."""

    text: str
    terms: Terms
    language: str
    numbers: tuple[Quantity, ...]
    """Numbers that are no dates, no labels such as "step 3", no references and no telephone numbers."""
    dates: tuple[Date, ...]
    names: tuple[Name, ...]

    @property
    def words(self) -> MutationWords:
        """The words of its language."""
        return load_lexicon(self.language).mutations

    def neighbours(self, start: int, end: int) -> frozenset[str]:
        """What stands around a part of the text, in the form in which texts are compared."""
        terms = self.terms
        inside = [place for place in range(len(terms)) if terms.starts[place] < end and terms.ends[place] > start]
        first, last = (inside[0], inside[-1]) if inside else (0, -1)
        around = terms.keys[max(0, first - _NEIGHBOURS) : first] + terms.keys[last + 1 : last + 1 + _NEIGHBOURS]
        return frozenset(key for key in around if key)


def read(text: str, *, language: str | None = None) -> Reading:
    """Read a text in the language that its words are of.

    `language` tells French from English where the text comes from a longer one: a sentence may have no small words.

    >>> reading = read("In 2019 the bridge cost 3.5 million euros.")
    >>> reading.language, len(reading.numbers), len(reading.dates)
    ('en', 1, 1)
    """
    terms = terms_of(text)
    spoken = language_of(terms)
    if spoken != "ko" and language not in {None, "ko"}:
        spoken = str(language)
    dates = find_dates(terms)
    spans = [(date.start, date.end) for date in dates]
    others = sorted(match.span() for pattern in (_NO_NUMBER, _labelled(spoken)) for match in pattern.finditer(text))
    numbers = [
        quantity
        for quantity in find_quantities(terms, language=spoken)
        if not touches(spans, quantity.start, quantity.end) and not touches(others, quantity.start, quantity.end)
    ]
    names = [name for name in find_names(terms) if not touches(spans, name.start, name.end)]
    return Reading(text, terms, spoken, tuple(numbers), tuple(dates), tuple(names))


@cache
def _labelled(language: str) -> re.Pattern[str]:
    """Numbers that only tell which one is meant: "step 3", "passages 1, 2 and 4"."""
    words = load_lexicon(language).quantities
    joiners = "|".join(map(re.escape, (*words.joiners, *words.range_words, ",", "&", "-", "–")))
    labels = "|".join(map(re.escape, words.labels))
    return re.compile(rf"(?<![^\W_])(?:{labels})\s?\d+(?:\s?(?:{joiners})\s?\d+)*", re.IGNORECASE)


@cache
def phrase_pattern(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Finds any of these phrases as whole words, the longest first, in any case.

    After a Korean phrase of two syllables or more, endings and particles may follow.
    """
    written = sorted(set(phrases), key=lambda phrase: (-len(phrase), phrase))
    choices = [
        re.escape(phrase) + ("" if _goes_on(phrase) else _WORD_END if phrase[-1:].isalnum() else "")
        for phrase in written
    ]
    return re.compile(rf"(?<![^\W_])(?:{'|'.join(choices) or '(?!)'})", re.IGNORECASE)


def _goes_on(phrase: str) -> bool:
    return len(phrase) > 1 and _HANGUL.match(phrase[-1]) is not None


def like(pattern: str, written: str) -> str:
    """A phrase with a capital at its start, or in capitals, where the phrase it stands for has them.

    >>> like("Before", "after"), like("BEFORE", "after"), like("before", "after")
    ('After', 'AFTER', 'after')
    """
    if len(pattern) > 1 and pattern.isupper():
        return written.upper()
    return written[:1].upper() + written[1:] if pattern[:1].isupper() else written


ERROR_KINDS = ("number", "date", "unit", "name", "negation", "addition", "comparison")
"""Edits after which a claim says something else than before."""
CONTROL_KINDS = ("number_form", "date_form", "contraction", "synonym", "punctuation", "framing", "unicode_form", "case")
"""Edits after which a claim says the same in another form."""


class Edit(Struct, frozen=True):
    """One stretch of a text written anew."""

    start: int
    end: int
    written: str
    """What is put in the place of what stands from `start` to `end`."""
    note: str = ""


class Mutation(Struct, frozen=True):
    """A claim with one stretch of it written anew.

    What the claim said before is `text[:start] + original + text[end:]`.
    """

    kind: str
    """One of `ERROR_KINDS` or `CONTROL_KINDS`."""
    text: str
    """The edited claim."""
    start: int | None
    """Where the wrong part begins in the edited text, in code points; None for a control, in which nothing is wrong.

    Where a word was dropped it is the words around it.
    """
    end: int | None
    original: str
    """What stood there before."""
    is_error: bool
    note: str = ""
    """What was done, in a few words."""


def error(kind: str, text: str, edit: Edit) -> Mutation:
    """A claim that an edit made wrong.

    >>> error("number", "It has 5 floors.", Edit(7, 8, "12")).text
    'It has 12 floors.'
    """
    return Mutation(
        kind=kind,
        text=_edited(text, edit),
        start=edit.start,
        end=edit.start + len(edit.written),
        original=text[edit.start : edit.end],
        is_error=True,
        note=edit.note,
    )


def control(kind: str, text: str, edit: Edit) -> Mutation:
    """A claim that an edit left as right or wrong as it was."""
    original = text[edit.start : edit.end]
    return Mutation(kind, _edited(text, edit), None, None, original, is_error=False, note=edit.note)


def _edited(text: str, edit: Edit) -> str:
    return text[: edit.start] + edit.written + text[edit.end :]
