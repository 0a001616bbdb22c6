"""Which differences in spelling count when a transcription is compared, as a value that can be named and repeated."""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.errors import SettingsError

from .spelling_profiles import PROFILES, Profile

if TYPE_CHECKING:
    from collections.abc import Iterable


STEPS: dict[str, str] = {
    "nfc": "compose letters and accents, Hangul syllables too: the two ways to encode é or 한 are one",
    "nfkc": "as nfc, and make compatibility characters plain: ﬁ as fi, ² as 2, full-width letters as narrow ones",
    "caseless": "capitals and small letters are one (Unicode case folding: ß as ss, ſ as s)",
    "punctuation": "leave out punctuation and symbols, never letters, digits or accents",
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
