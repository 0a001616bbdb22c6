"""Which differences in spelling count when texts are compared, also as other tools count them."""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable


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


STEPS: dict[str, str] = {
    "nfc": "compose letters and accents, Hangul syllables too: the two ways to encode é or 한 are one",
    "nfkc": "as nfc, and make compatibility characters plain: ﬁ as fi, ² as 2, full-width letters as narrow ones",
    "caseless": "capitals and small letters are one (Unicode case folding: ß as ss, ſ as s)",
    "punctuation": "leave out punctuation and symbols, never letters, digits or accents",
    "layout": "leave out rules, rows such as |---|, box drawing, bars between cells, dot leaders and repeated dashes",
    "ligatures": "æ as ae, œ as oe, ĳ as ij, ﬁ as fi and the other Latin ligatures; & stays",
    "long-s": "ſ as s",
    "u-v": "v as u and V as U, in the reference and in the response alike",
    "i-j": "j as i and J as I, in the reference and in the response alike",
    "diplomatic": "nfc, ligatures, long-s, u-v and i-j together: editorial habits with old prints do not count",
}
"""The names that `parse_spelling` knows, each with one line for people who choose; in canonical order."""

_NONE = "none"
_ALONE = {(name,) for name in PROFILES}
_USUAL = Profile("words cut at white space, characters without the white space around the text")
_DIPLOMATIC = ("nfc", "ligatures", "long-s", "u-v", "i-j")
_SINGLE = tuple(name for name in STEPS if name != "diplomatic")
_LIGATURES = (
    "æae ÆAE œoe ŒOE ĳij ĲIJ ﬀff ﬁfi ﬂfl ﬃffi ﬄffl ﬅſt ﬆst ꜳaa ꜲAA ꜵao ꜴAO "
    "ꜷau ꜶAU ꜹav ꜸAV ꜻav ꜺAV ꜽay ꜼAY ꝏoo ꝎOO ꝡvy ꝠVY"
)
"""Each ligature, followed by its letters."""
_LETTER_STEPS: dict[str, dict[str, str]] = {
    "ligatures": {pair[0]: pair[1:] for pair in _LIGATURES.split()},
    "long-s": {"ſ": "s", "ﬅ": "ﬆ"},
    "u-v": {"v": "u", "V": "U"},
    "i-j": {"j": "i", "J": "I"},
}


# Rules and layout marks. Whole words of signs, dots that stand alone, and signs at the edges of a word; never a single
# dash, an ellipsis, or anything between letters.

_BARS = "|¦│┃\u2500-\u259f"
_LONG = "|".join([f"[{_BARS}]", *(f"{sign}{{3,}}" for sign in "-–—_=~·•"), r"\.{4,}", "…{2,}"])
_SPACED = re.compile(r"(?<!\S)([-–—_=~*])(?:[ \t]+\1){2,}(?!\S)")
"""The same sign again and again with space between: `- - - -`."""
_MARK = re.compile(rf"{_LONG}|\*{{3}}|(?<!\S)[.·•](?!\S)|{_SPACED.pattern}")
_RULE = re.compile(rf"[.·•]|(?:{_LONG}|(?=\S*[-–—_=*~])[-–—_=*~+:{_BARS}]{{3,}})+")
_EDGES = re.compile(rf"^(?:{_LONG})+|(?:{_LONG})+$")


def without_layout(text: str) -> str:
    r"""A text without its rules and layout marks; a line that had only these goes with its end.

    >>> without_layout("| Name | Age |\n|---|:--:|\n| Anna | 7-8 |\nContents ........ 12")
    'Name Age\nAnna 7-8\nContents 12'
    """
    if not _MARK.search(text):
        return text
    lines = []
    for line in text.split("\n"):
        words = line.split()
        shown = _SPACED.sub("", line).split()
        kept = [kept for word in shown if (kept := "" if _RULE.fullmatch(word) else _EDGES.sub("", word))]
        if kept == words:
            lines.append(line)
        elif kept:
            lines.append(" ".join(kept))
    return "\n".join(lines)


def _canonical(names: Iterable[str]) -> tuple[str, ...]:
    chosen = set(names)
    if "nfkc" in chosen:
        chosen.discard("nfc")  # the wider form holds the narrower one
    return tuple(name for name in _SINGLE if name in chosen)


class Spelling(Struct, frozen=True):
    """How texts are normalised before they are compared; equal choices are equal values.

    Steps applied twice change nothing more, and the words of `text(value)` are those of `value`, each under `word()`,
    without the ones that became empty. In the place of steps there may be one of the `PROFILES`, which also says what
    counts as a word and as a character.

    >>> str(Spelling()), str(parse_spelling(["caseless,nfc"]))
    ('none', 'nfc+caseless')
    """

    steps: tuple[str, ...] = ()
    """Names from `STEPS` in its order, each once, or a single profile; `parse_spelling` makes them so."""

    def __post_init__(self) -> None:
        if self.steps != _canonical(self.steps) and self.steps not in _ALONE:
            raise SettingsError(
                f"steps of a spelling stand in the order {', '.join(_SINGLE)}, each once; found "
                f"{', '.join(map(repr, self.steps))}; make spellings with parse_spelling"
            )

    @property
    def profile(self) -> Profile:
        """What counts as a word and as a character when edits are counted."""
        return PROFILES[self.steps[0]] if self.steps in _ALONE else _USUAL

    def text(self, value: str) -> str:
        """A whole text in this spelling; without steps the same object.

        >>> parse_spelling(["diplomatic"]).text("Vne ſœur & j’ai")
        'Une soeur & i’ai'
        """
        if not self.steps:
            return value
        if self.steps in _ALONE:
            return self.profile.text(value)
        compose = _COMPOSE.get(self.steps[0])
        if compose is not None:
            value = compose(value)
        if "layout" in self.steps:
            value = without_layout(value)
        if "caseless" in self.steps:
            value = value.casefold()
        table = _table_of(self.steps)
        if table is not None:
            value = value.translate(table)
        # Folding case takes letters apart, and a mark that followed a full stop now follows a letter.
        return compose(value) if compose is not None else value

    def word(self, value: str) -> str:
        """One word without white space, in this spelling; empty when nothing of it counts.

        >>> parse_spelling(["punctuation"]).word("—")
        ''
        """
        return self.text(value)

    def __str__(self) -> str:
        return "+".join(self.steps) or _NONE


AS_WRITTEN = Spelling()
"""Every difference counts."""


def parse_spelling(names: Iterable[str]) -> Spelling:
    """The spelling with these steps, whatever their order; a name may hold several joined by commas or plus signs.

    The name "none" adds no step. A profile stands alone.

    >>> parse_spelling(["diplomatic", "caseless"]).steps
    ('nfc', 'caseless', 'ligatures', 'long-s', 'u-v', 'i-j')
    """
    given = [names] if isinstance(names, str) else names
    chosen: set[str] = set()
    for name in (part.strip().lower() for joined in given for part in re.split(r"[,+]", joined)):
        if name not in STEPS and name not in PROFILES and name != _NONE:
            known = ", ".join([_NONE, *STEPS])
            raise SettingsError(
                f"unknown normalisation {name!r}; expected one or more of {known}, or one profile of "
                f"{', '.join(PROFILES)}"
            )
        chosen.update(_DIPLOMATIC if name == "diplomatic" else {name} - {_NONE})
    return Spelling(_alone(chosen) or _canonical(chosen))


def _alone(names: set[str]) -> tuple[str, ...]:
    profile = tuple(name for name in PROFILES if name in names)
    if profile and len(names) > 1:
        raise SettingsError(
            f"normalisation {profile[0]!r} is a whole profile; give it without {_others(names, profile)}"
        )
    return profile


def _others(names: set[str], profile: tuple[str, ...]) -> str:
    return ", ".join(name for name in (*STEPS, *PROFILES) if name in names - {profile[0]})


def _nfc(value: str) -> str:
    return unicodedata.normalize("NFC", value)


def _nfkc(value: str) -> str:
    """The form NFKC, but for characters that it would break into two words, such as ´ (a space and an accent)."""
    if value.isascii():
        return value
    parts = _breaking().split(_nfc(value))
    return _nfc("".join(part if place % 2 else unicodedata.normalize("NFKC", part) for place, part in enumerate(parts)))


@functools.cache
def _breaking() -> re.Pattern[str]:
    """A character that is no white space itself but has some in its form NFKC."""
    decomposed = ((chr(code), unicodedata.decomposition(chr(code))) for code in range(0x80, sys.maxunicode + 1))
    compatible = (character for character, parts in decomposed if parts and not character.isspace())
    broken = [character for character in compatible if len(unicodedata.normalize("NFKC", character).split(" ")) > 1]
    return re.compile(f"([{re.escape(''.join(broken))}])")


_COMPOSE = {"nfc": _nfc, "nfkc": _nfkc}


class _Table(dict[int, str]):
    """What becomes of each character, found when it is first met: most of Unicode never is."""

    def __init__(self, steps: tuple[str, ...]) -> None:
        super().__init__()
        self._drops_punctuation = "punctuation" in steps
        self._letters = [_LETTER_STEPS[step] for step in steps if step in _LETTER_STEPS]

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if self._drops_punctuation and unicodedata.category(character)[0] in "PS":
            result = ""
        else:
            result = self._respelled(character)
        self[code] = result
        return result

    def _respelled(self, character: str) -> str:
        """A letter under the letter steps, also when it bears accents: ṽ becomes ũ and ẛ becomes ṡ."""
        letters = before = unicodedata.normalize("NFD", character)
        for mapping in self._letters:
            letters = "".join(mapping.get(letter, letter) for letter in letters)
        return character if letters == before else _nfc(letters)


@functools.cache
def _table_of(steps: tuple[str, ...]) -> _Table | None:
    needs_table = any(step in _LETTER_STEPS or step == "punctuation" for step in steps)
    return _Table(steps) if needs_table else None
