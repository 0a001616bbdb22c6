"""How other tools make texts alike and cut them before they count edits, so that their numbers can be had again."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Sequence

from msgspec import Struct

# Which characters dinglehopper 0.11 takes for which letters (https://github.com/qurator-spk/dinglehopper). Code points
# in the private use area are those of MUFI (https://mufi.info) and, from F532 to F535, of eMOP.
_DINGLEHOPPER_LIGATURES = (
    "\ueba6ſſ \ueba7ſſi \ueba2ſi \ueadaſt \ueba5ſp \uf502ch \ueec4ck \uf4f9ll \ueec5ct \ueedctz "
    "\uf532as \uf533is \uf534us \uf535Qu \ue8bfq& ﬀff ﬁfi ﬂfl ﬃffi ﬆst ĳij"
)
"""Each ligature, followed by its letters."""
_DINGLEHOPPER_LETTERS = "\ue42c=ä \ue644=ö \ue72b=ü a\u0364=ä o\u0364=ö u\u0364=ü \uf50e=q\u0301 ===– —=– ⸗=- ’='"
# Picarones' profile for its diplomatic CER unless another is chosen: medieval French
# (https://github.com/maribakulj/Picarones).
_PICARONES = {"ſ": "s", "u": "v", "i": "j", "y": "i", "æ": "ae", "œ": "oe", "ꝑ": "per", "ꝓ": "pro", "&": "et"}


class Profile(Struct, frozen=True):
    """What a tool does with a text."""

    about: str
    """One line for people who choose."""
    tables: tuple[dict[str, str], ...] = ()
    """What is put in the place of what, one table after the other; the text is composed (NFC) before."""
    is_trimmed: bool = True
    """Whether white space around the text is left out when characters are counted."""
    has_clusters: bool = False
    """Whether a letter with the marks on it is one character."""
    cut: Callable[[str], list[str]] = str.split
    """The words whose edits are counted."""
    is_for_edits_alone: bool = False
    """Whether the tool looks at texts as they are written for everything but error rates."""

    def text(self, value: str) -> str:
        """The text as the tool compares it."""
        if not self.tables:
            return value
        value = unicodedata.normalize("NFC", value)
        for table in self.tables:
            value = _replaced(value, table)
        return unicodedata.normalize("NFC", value)

    def characters(self, value: str) -> Sequence[str]:
        """What counts as a character each, of a text that the profile has made."""
        value = value.strip() if self.is_trimmed else value
        return clusters_of(value) if self.has_clusters else value


def _replaced(value: str, table: dict[str, str]) -> str:
    return _pattern_of(tuple(table)).sub(lambda found: table[found[0]], value)


@functools.cache
def _pattern_of(keys: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, sorted(keys, key=len, reverse=True))))


def jiwer_words(text: str) -> list[str]:
    r"""Words as jiwer cuts them unless told otherwise: at spaces, and wherever two white space characters or more meet.

    A single line break, tab or no-break space stays inside a word.

    >>> jiwer_words("le roi\nde france\n\nest mort")
    ['le', 'roi\nde', 'france', 'est', 'mort']
    """
    return [word for word in re.sub(r"\s\s+", " ", text).strip().split(" ") if word]


def clusters_of(text: str) -> Sequence[str]:
    r"""The letters of a text, each with the marks on it, as Unicode's grapheme clusters (UAX #29).

    Emoji of several parts and conjuncts of Indic scripts are not joined.

    >>> clusters_of("o\u0364de")
    ['oͤ', 'd', 'e']
    """
    return text if text.isascii() and "\r" not in text else _cluster().findall(text)


@functools.cache
def _cluster() -> re.Pattern[str]:
    """A letter with its marks: characters of the categories M, joiners, and the jamo of one syllable."""
    marks = "".join(chr(code) for code in range(0x300, 0x20000) if unicodedata.category(chr(code))[0] == "M")
    joined = f"[{re.escape(marks)}\u200c\u200d\uff9e\uff9f\u0e33\u0eb3\U0001f3fb-\U0001f3ff\U000e0020-\U000e01ef]*"
    first, middle, last = "[\u1100-\u115f\ua960-\ua97c]", "[\u1160-\u11a7\ud7b0-\ud7c6]", "[\u11a8-\u11ff\ud7cb-\ud7fb]"
    without_last = "".join(map(chr, range(0xAC00, 0xD7A4, 28)))
    syllable = f"{first}*(?:{middle}+|[{without_last}]{middle}*|[\uac00-\ud7a3]){last}*|{first}+|{last}+"
    control = "\r\n|[\\x00-\\x1f\\x7f-\\x9f\u00ad\u200b\u2028\u2029]"
    return re.compile(f"{control}|(?:{syllable}|.){joined}", re.DOTALL)


PROFILES: dict[str, Profile] = {
    "dinglehopper": Profile(
        "as dinglehopper: nfc, ligatures and letters of MUFI resolved, aͤ as ä, ⸗ as -, dashes and apostrophes alike; ſ "
        "stays; a letter with its marks is one character; a region's own text of PAGE XML first",
        tables=(
            {pair[0]: pair[1:] for pair in _DINGLEHOPPER_LIGATURES.split()},
            dict(pair.rsplit("=", 1) for pair in _DINGLEHOPPER_LETTERS.split()),
        ),
        is_trimmed=False,
        has_clusters=True,
    ),
    "jiwer": Profile("as written; words cut as jiwer does, which joins lines: see the page of WER", cut=jiwer_words),
    "picarones": Profile(
        "as Picarones' diplomatic CER: nfc, ſ as s, u as v, i as j, y as i, æ as ae, œ as oe, ꝑ as per, ꝓ as pro, "
        "& as et; its hallucination scores stay those of the texts as written",
        tables=(_PICARONES,),
        cut=jiwer_words,
        is_for_edits_alone=True,
    ),
    "strict": Profile("as written, white space before and after the text counted too", is_trimmed=False),
}
"""Whole ways to compare, by name; each stands alone."""
