"""One form for texts that differ only in how they were typed."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right

from msgspec import Struct

# Text from a file, made safe to print: what a terminal would obey is shown as a dot.

OBEYED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control and format characters (escapes, overrides of direction), lone surrogates, separators of lines."""


def printable(text: str) -> str:
    r"""The text with a dot for every character that is obeyed instead of shown, line breaks included.

    >>> printable("a\x1b[31mb\n\u202ec")
    'a·[31mb··c'
    """
    if text.isprintable():
        return text
    return "".join("·" if unicodedata.category(character) in OBEYED else character for character in text)


def printable_lines(text: str) -> str:
    r"""The same with line breaks kept; as many characters as before, so that places in the text stay.

    >>> printable_lines("a\tb\r\nc\x1b")
    'a b \nc·'
    """
    return "\n".join(printable(line) for line in text.replace("\r\n", " \n").replace("\t", " ").split("\n"))


def one_line(text: str) -> str:
    r"""The text as one line that can be printed.

    >>> one_line("a\n  b\x1b]0;t\x07")
    'a b·]0;t·'
    """
    return printable(" ".join(text.split()))


_SINGLE_QUOTES = "\u2018\u2019\u201a\u201b\u2032\u02bc\u02b9\uff07\u00b4"
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\u300c\u300d\u300e\u300f\uff02"
_DASHES = "\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d"
_QUOTE_FOLD = str.maketrans(_SINGLE_QUOTES + _DOUBLE_QUOTES, "'" * len(_SINGLE_QUOTES) + '"' * len(_DOUBLE_QUOTES))
_SPACES = " \t\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_TYPED_FOLD: dict[int, int | str | None] = {
    **_QUOTE_FOLD,
    **str.maketrans("`" + _DASHES + _SPACES, "'" + "-" * len(_DASHES) + " " * len(_SPACES)),
    # Halves of characters, as broken files have them, cannot be passed to the matchers.
    **dict.fromkeys(range(0xD800, 0xE000), "\ufffd"),
}

_INVISIBLE = "\u00ad\u200b\u2060\ufeff"
_CLAIM_FOLD = _QUOTE_FOLD | dict.fromkeys(map(ord, _INVISIBLE))
_CLAIM_FOLDABLE = re.compile(f"[{_SINGLE_QUOTES}{_DOUBLE_QUOTES}{_INVISIBLE}]")
# Joiners spell words in some scripts: they count in a claim, but not when a phrase is looked for.
_UNSEEN = _INVISIBLE + "\u200c\u200d\u200e\u200f"
# Accents, and the vowels and finals of decomposed Korean syllables: what NFC composes in the languages known here.
_COMBINING = "\u0300-\u036f\u1160-\u11ff"
_SPACED = re.compile(f"[{_SPACES}{_UNSEEN}]{{2,}}|[{_UNSEEN}]")
_SPACED_OR_DECOMPOSED = re.compile(f"{_SPACED.pattern}|[^{_COMBINING}{_UNSEEN}\\n][{_COMBINING}]+")
_FOLDABLE = re.compile(f"[{_SINGLE_QUOTES}{_DOUBLE_QUOTES}{_DASHES}{_SPACES[1:]}`\ud800-\udfff]")

_CLAIM_EDGE = " .!?\u2026\u3002\uff0e\uff01\uff1f\uff61\"'"


def claim_key(text: str) -> str:
    r"""What stays of a claim when the ways to type it are taken away: two texts with one key are one claim.

    Closing periods and marks, quotes around the text, case, white space, the Unicode form, and the shape of
    quotes and apostrophes make no difference. The form is NFC: NFKC would also make "10²" the same as "102".
    A text of nothing but marks is its own key.

    >>> claim_key("  It’s the capital of\nFrance. ") == claim_key("it's the capital of France")
    True
    """
    # Printable ASCII has no white space but the space, and nothing to fold but case.
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.lower().strip(_CLAIM_EDGE) or text.strip()
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    if _CLAIM_FOLDABLE.search(folded) is not None:
        folded = unicodedata.normalize("NFC", folded.translate(_CLAIM_FOLD))
    folded = " ".join(folded.split())
    return folded.strip(_CLAIM_EDGE) or folded


class CleanText(Struct, frozen=True):
    """A text in the form in which phrases are looked for, and the way back to the text as it was."""

    text: str
    """NFC, straight quotes and hyphens, single plain spaces, nothing invisible; case and line ends are kept."""
    lower: str
    """The same in lower case, of the same length."""
    part_starts: tuple[int, ...] = (0,)
    """Where the parts begin in `text`. A part is either unchanged in length, or was changed as a whole."""
    original_starts: tuple[int, ...] = (0,)
    """Where the same parts begin in the original."""
    changed: tuple[int, ...] = (0,)
    """The length in the original of each part that was changed as a whole, and 0 for the others."""

    def original_span(self, start: int, end: int) -> tuple[int, int]:
        """Positions in the original text of a part of `text` that is not empty."""
        first = bisect_right(self.part_starts, start) - 1
        last = bisect_right(self.part_starts, end - 1) - 1
        original_start = self.original_starts[first]
        original_end = self.original_starts[last] + self.changed[last]
        if not self.changed[first]:
            original_start += start - self.part_starts[first]
        if not self.changed[last]:
            original_end += end - self.part_starts[last]
        return original_start, original_end


def clean_text(text: str) -> CleanText:
    r"""Fold the ways to type a text, and keep the positions.

    >>> clean = clean_text("Je ne sais\u00a0pas, de\u0301sole\u0301.")
    >>> start = clean.lower.index("désolé")
    >>> clean.original_span(start, start + 6)
    (16, 24)
    """
    if text.isascii() and "  " not in text and "\t" not in text:
        clean = text.replace("`", "'")
        return CleanText(clean, clean.lower())
    pieces: list[str] = []
    part_starts, original_starts, changed = [0], [0], [0]
    done = length = 0
    changes_length = _SPACED if unicodedata.is_normalized("NFC", text) else _SPACED_OR_DECOMPOSED
    for match in changes_length.finditer(text):
        whole = match.group()
        pieces += [text[done : match.start()], _replacement(whole)]
        length += match.start() - done
        part_starts += [length, length + len(pieces[-1])]
        original_starts += [match.start(), match.end()]
        changed += [len(whole), 0]
        length, done = part_starts[-1], match.end()
    clean = "".join([*pieces, text[done:]])
    if _FOLDABLE.search(clean) is not None:
        clean = clean.translate(_TYPED_FOLD)
    return CleanText(clean, _lower(clean), tuple(part_starts), tuple(original_starts), tuple(changed))


def _replacement(part: str) -> str:
    """What a part becomes: runs of white space one space, invisible characters nothing, the rest composed."""
    if part[-1] in _SPACES or part[-1] in _UNSEEN:
        return " " if any(character in _SPACES for character in part) else ""
    return unicodedata.normalize("NFC", part)


def _lower(text: str) -> str:
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    # A few capitals, such as the dotted I of Turkish, have a longer lower case: they stay, to keep positions.
    return "".join(small if len(small := character.lower()) == 1 else character for character in text)
