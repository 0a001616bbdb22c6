r"""Regular expressions of users, made to mean in every script what they mean in English.

In RE2 `\b`, `\w`, `\d` and `\s` know ASCII only, so that `\b혈압\b` would match nothing and a rule would silently never
fire. They are rewritten where that is exact, and refused where it is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

WORD = r"\p{L}\p{M}\p{N}_"
r"""What `\w` means, to stand between brackets."""
_SPACE = r"\t\n\v\f\r\x{85}\p{Z}"
_OUTSIDE = {
    r"\d": r"\p{Nd}",
    r"\D": r"\P{Nd}",
    r"\w": f"[{WORD}]",
    r"\W": f"[^{WORD}]",
    r"\s": f"[{_SPACE}]",
    r"\S": f"[^{_SPACE}]",
}
_INSIDE = {r"\d": r"\p{Nd}", r"\D": r"\P{Nd}", r"\w": WORD, r"\s": _SPACE}
_WORD_SETS = {r"\d", r"\w"}

_TOKEN = re.compile(
    r"""
      \\Q.*?(?:\\E|$)                   # a quotation
    | \\[pP](?:\{[^}]*\}|.) | \\x\{[^}]*\} | \\x[0-9a-fA-F]{2} | \\[0-7]{2,3} | \\.
    | \[\^?\]?(?:\\.|\[:\^?\w+:\]|[^\]\\])*\]
    | \(\?(?:P?<\w+>|[a-zA-Z-]*[:)])    # a group that says more than its bracket
    | [?*+]\??  | \{\d+(?:,\d*)?\}\??
    | .
    """,
    re.VERBOSE | re.DOTALL,
)
_INSIDE_TOKEN = re.compile(r"\\[pP](?:\{[^}]*\}|.)|\\x\{[^}]*\}|\\.|\[:\^?\w+:\]|.", re.DOTALL)
_REPEATED = re.compile(r"[?*+]\??|\{\d+(?:,\d*)?\}\??")
_OPTIONAL = re.compile(r"[?*]\??|\{0(?:,\d*)?\}\??")
_FLAGS = re.compile(r"\(\?[a-zA-Z-]+\)")


class RegexError(Exception):
    """A regular expression that cannot be used; the message says what to write instead."""


class Alternative(Struct, frozen=True):
    """One of the alternatives that a regular expression offers."""

    body: str
    """Without the boundaries at its ends."""
    begins_word: bool = False
    ends_word: bool = False


def alternatives(source: str) -> list[Alternative]:
    r"""The alternatives of a regular expression, rewritten for RE2, with the word boundaries at their ends apart.

    >>> alternatives(r"\b혈압\b|\d+ ?%")[0]
    Alternative(body='혈압', begins_word=True, ends_word=True)
    >>> alternatives(r"\b혈압\b|\d+ ?%")[1].body
    '\\p{Nd}+ ?%'

    Raises:
        RegexError: It uses what cannot be rewritten exactly.
    """
    pieces = [match.group() for match in _TOKEN.finditer(source)]
    flags = ""
    while pieces and _FLAGS.fullmatch(pieces[0]):
        flags += pieces.pop(0)
    return [_alternative(part, flags) for part in _split(pieces)]


def _split(pieces: list[str]) -> Iterator[list[str]]:
    """The pieces between the bars that stand in no group."""
    depth = 0
    part: list[str] = []
    for piece in pieces:
        depth += (piece[0] == "(" and not _FLAGS.fullmatch(piece)) - (piece == ")")
        if piece == "|" and depth == 0:
            yield part
            part = []
        else:
            part.append(piece)
    yield part


def _alternative(pieces: list[str], flags: str) -> Alternative:
    begins_word = pieces[:1] == [r"\b"]
    ends_word = len(pieces) > 1 and pieces[-1] == r"\b"
    inner = pieces[begins_word : len(pieces) - ends_word]
    if begins_word and not _is_word(inner):
        raise RegexError(
            r"\b stands before something that is no letter or digit; leave it out, or spell out what may follow"
        )
    if ends_word and not _is_word(inner, at_end=True):
        raise RegexError(
            r"\b stands after something that is no letter or digit; leave it out, or spell out what may precede"
        )
    return Alternative(flags + "".join(map(_rewritten, inner)), begins_word, ends_word)


def _is_word(pieces: list[str], *, at_end: bool = False) -> bool:
    """Whether what the pieces match can only begin, or end, with a letter, a digit or an underscore."""
    atoms = list(_atoms(pieces))
    for atom, may_be_absent in reversed(atoms) if at_end else atoms:
        if atom[0][0] == "(":
            is_word = all(_is_word(part, at_end=at_end) for part in _split(atom[1:-1]))
        else:
            is_word = _is_word_piece(atom[0])
        if not is_word or not may_be_absent:
            return is_word
    return False


def _atoms(pieces: list[str]) -> Iterator[tuple[list[str], bool]]:
    """What a repetition would repeat, one by one, and whether it may be absent."""
    number = 0
    while number < len(pieces):
        end = number + 1
        depth = int(pieces[number][0] == "(")
        while depth and end < len(pieces):
            depth += (pieces[end][0] == "(") - (pieces[end] == ")")
            end += 1
        atom = pieces[number:end]
        may_be_absent = end < len(pieces) and _OPTIONAL.fullmatch(pieces[end]) is not None
        yield atom, may_be_absent
        number = end + (end < len(pieces) and _REPEATED.fullmatch(pieces[end]) is not None)


def _is_word_piece(piece: str) -> bool:
    if piece in _WORD_SETS or re.fullmatch(r"\\p\{?(?:L|N|Hangul)\w?\}?", piece):
        return True
    if piece[0] == "[" and len(piece) > 2:
        inside = piece[1:-1]
        is_range = not inside.startswith(("^", "-")) and not inside.endswith("-")
        return is_range and all(_is_word_piece(part) or part == "-" for part in _INSIDE_TOKEN.findall(inside))
    return len(piece) == 1 and (piece.isalnum() or piece == "_")


def _rewritten(piece: str) -> str:
    if piece == r"\b":
        raise RegexError(r"\b stands in the middle, where RE2 knows it for ASCII only; write [ ,.] or the like instead")
    if piece == r"\B":
        raise RegexError(
            r"\B is known for ASCII only; write [\p{L}\p{N}] for the letter or digit that must stand there"
        )
    if piece[0] == "[" and len(piece) > 1:
        opening = "[^" if piece[1] == "^" else "["
        inside = piece[len(opening) : -1]
        return f"{opening}{''.join(_rewritten_inside(part) for part in _INSIDE_TOKEN.findall(inside))}]"
    return _OUTSIDE.get(piece, piece)


def _rewritten_inside(part: str) -> str:
    if part in {r"\W", r"\S"}:
        raise RegexError(rf"{part} inside [] is known for ASCII only; write [^...] around the opposite")
    if part.startswith("[:"):
        raise RegexError(rf"{part} is known for ASCII only; write \p{{L}} for letters and \p{{N}} for digits")
    return _INSIDE.get(part, part)
