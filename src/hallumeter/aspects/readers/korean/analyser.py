"""The morphological analyser, which is optional, loaded once and only when the first sentence is read."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from hallumeter.errors import MissingExtraError

from .vocabulary import vocabulary

if TYPE_CHECKING:
    from kiwipiepy import Kiwi


# Text with composed letters, and where each of them stands in the text that was given.

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class Composed(NamedTuple):
    """A text for analysis."""

    text: str
    starts: tuple[int, ...] | None
    """Where each letter begins in the given text, and its length at last; None when both texts are alike."""

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the given text of a place in this one."""
        return (start, end) if self.starts is None else (self.starts[start], self.starts[end])


def composed(text: str) -> Composed:
    r"""Compose letters that were given in parts; what no analyser can read becomes a replacement character.

    >>> composed("가 나").text
    '가 나'
    >>> composed("\u1100\u1161\u11a8\ub098").span(1, 2)
    (3, 4)
    """
    readable = _LONE_SURROGATE.sub("\ufffd", text)
    if unicodedata.is_normalized("NFC", readable):
        return Composed(readable, None)
    parts: list[str] = []
    starts: list[int] = []
    first = 0
    for place in range(1, len(readable) + 1):
        if place < len(readable) and _continues(readable[place]):
            continue
        part = unicodedata.normalize("NFC", readable[first:place])
        parts.append(part)
        starts += [first] * len(part)
        first = place
    return Composed("".join(parts), (*starts, len(readable)))


def _continues(character: str) -> bool:
    """Whether it can only go on with the letter before: a mark, or a vowel or final consonant of Hangul."""
    return "\u1160" <= character <= "\u11ff" or unicodedata.combining(character) != 0


_CONTRAST = "지만"
_PURPOSE = "reading Korean sentences"
_LOADING = Lock()
_NAME_MARKS = frozenset("/-&+'")
_FINAL_CONSONANTS = dict(
    zip(range(0x11A8, 0x11C3), "ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ", strict=True)
)


class Morpheme(NamedTuple):
    """The smallest part of a word that means something, at its place in the given text.

    Two of them may share a syllable: 큰 is 크 and ㄴ.
    """

    form: str
    """As dictionaries have it; of endings and particles, with a first consonant as a letter of its own."""
    tag: str
    """Of the Sejong tag set, without what the analyser adds about irregular verbs."""
    start: int
    end: int


def morphemes_of(text: str) -> list[Morpheme]:
    """All morphemes of a text in their order."""
    given = composed(text)
    found: list[Morpheme] = []
    for token in _analyser().tokenize(given.text):
        tag: str = token.tag.partition("-")[0]
        form: str = token.form
        if tag[0] in "EJ":
            form = form.translate(_FINAL_CONSONANTS)
        elif tag == "SL":
            form = form.lower()
        start, end = given.span(token.start, token.end)
        found.append(Morpheme(form, tag, start, end))
    return _mended(found)


def is_glued(previous: Morpheme, morpheme: Morpheme) -> bool:
    """Whether nothing stands between two morphemes."""
    return morpheme.start <= previous.end


def _mended(morphemes: list[Morpheme]) -> list[Morpheme]:
    """Put together what the analyser takes apart: names such as A/S, 못하다, and the endings of 좋은데 and 끈적이지만.

    A noun that only opposes is none: in 좋은 반면 it ends a clause as 지만 does, by itself it begins one as 하지만.
    """
    found: list[Morpheme] = []
    for place, morpheme in enumerate(morphemes):
        if len(found) > 1 and morpheme.tag == "SL" and _continues_name(found[-2], found[-1], morpheme):
            mark, first = found.pop(), found.pop()
            form = first.form + mark.form + morpheme.form
            found.append(Morpheme(form, "SL", first.start, morpheme.end))
        elif found and _is_inability(found[-1], morpheme):
            adverb = found.pop()
            tag = "VX" if found and found[-1].tag in {"EC", "JX"} else "VV"
            found.append(Morpheme(adverb.form + morpheme.form, tag, adverb.start, morpheme.end))
        elif found and _is_background(found[-1], morpheme, morphemes[place + 1 : place + 2]):
            ending = found.pop()
            found.append(Morpheme(ending.form + morpheme.form, "EC", ending.start, morpheme.end))
        elif len(found) > 1 and _is_contrast(found[-2], found[-1], morpheme):
            found.pop()
            ending = found.pop()
            found.append(Morpheme(_CONTRAST, "EC", ending.start, morpheme.end))
        elif morpheme.tag == "NNG" and morpheme.form in vocabulary().grammar.contrast_nouns:
            joins = bool(found) and found[-1].tag == "ETM"
            if joins:
                found.pop()
            found.append(morpheme._replace(tag="EC" if joins else "MAJ"))
        else:
            found.append(morpheme)
    return found


def _continues_name(first: Morpheme, mark: Morpheme, last: Morpheme) -> bool:
    is_name = first.tag == "SL" and mark.form in _NAME_MARKS
    return is_name and is_glued(first, mark) and is_glued(mark, last)


def _is_inability(adverb: Morpheme, verb: Morpheme) -> bool:
    grammar = vocabulary().grammar
    is_adverb = adverb.tag == "MAG" and adverb.form in grammar.unable_adverbs
    return is_adverb and verb.form in grammar.doing_verbs and is_glued(adverb, verb)


def _is_contrast(ending: Morpheme, verb: Morpheme, last: Morpheme) -> bool:
    """Whether 지, 말다 and its ending are one word: after verbs that it does not know the analyser reads 지만 so."""
    is_read_so = (ending.form, ending.tag, verb.form, last.form, last.tag) == ("지", "EC", "말", "ㄴ", "ETM")
    return is_read_so and is_glued(ending, verb) and last.end == verb.start + 1


def _is_background(ending: Morpheme, noun: Morpheme, following: list[Morpheme]) -> bool:
    if ending.tag != "ETM" or noun.tag != "NNB" or not is_glued(ending, noun):
        return False
    return noun.form in vocabulary().grammar.background_nouns and not any(
        morpheme.tag[0] in "JV" for morpheme in following
    )


def analyser_version() -> str:
    """Of the package and of the model that it comes with.

    Raises:
        MissingExtraError: The package is not installed.
    """
    try:
        return f"kiwipiepy-{version('kiwipiepy')}-{version('kiwipiepy_model')}"
    except PackageNotFoundError as error:
        raise MissingExtraError("korean", _PURPOSE) from error


def _analyser() -> Kiwi:
    with _LOADING:
        return _loaded_analyser()


@cache
def _loaded_analyser() -> Kiwi:
    try:
        from kiwipiepy import Kiwi
    except ImportError as error:
        raise MissingExtraError("korean", _PURPOSE) from error
    analyser = Kiwi(num_workers=1)
    for word in vocabulary().user_words:
        form, _, tag = word.partition("/")
        analyser.add_user_word(form, tag)
    return analyser
