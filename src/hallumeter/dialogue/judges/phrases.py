"""What users look for in questions and answers: phrases in Korean and English, and regular expressions.

A phrase is plain words. Capitals make no difference, neither do a hyphen and a space, and in Korean a space may be
missing. It stands at the edges of words: *banana* is found in "Bananas," and in "banana를", not in "bananarama". A
Korean phrase of two syllables or more may go on, as stems and nouns do: *바나나* is found in "바나나를", *숨이 차* in
"숨이 찹니다"; one of a single syllable takes particles only. A `*` at either end lets the word go on there. What begins
with `re:` is a regular expression: one of the bundled rules is read by the standard library, any other by RE2, which
takes time linear in the text whatever is asked, and comes with an extra.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from importlib import resources
from itertools import accumulate, pairwise
from typing import Any, Literal

from msgspec import Struct

from hallumeter.text.lexicon import load_lexicon
from hallumeter.text.normalize import CleanText, clean_text

from .wording import Span

# Regular expressions of users, made to mean in every script what they mean in English.
#
# In RE2 `\b`, `\w`, `\d` and `\s` know ASCII only, so that `\b혈압\b` would match nothing and a rule would silently
# never fire. They are rewritten where that is exact, and refused where it is not.

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


REGEX = "re:"
Edge = Literal["open", "latin", "hangul", "particle"]
"""What may stand beside a phrase: anything; no letter, digit or underscore but Hangul; no letter; particles."""
_LEFT_OF_WORD, _RIGHT_OF_WORD = f"(?:^|[^{WORD}])", f"(?:[^{WORD}]|$)"
_BETWEEN_LATIN, _BETWEEN_HANGUL = r"[ \n\r-]{1,3}", r"[ \n\r]{0,3}"
_REST_OF_WORD = re.compile(r"\w*")
_FIRST_SYLLABLE, _LAST_SYLLABLE, _FINALS = 0xAC00, 0xD7A3, 28
_TEXTS_KEPT = 1_024
_ROOM = 64 << 20
"""Bytes that a regular expression may take to compile."""


class Phrase(Struct, frozen=True):
    """Something to look for."""

    group: str
    """What it is a sign of."""
    source: str
    """As the user wrote it."""


class Found(Struct, frozen=True):
    """A place of a phrase in a text."""

    phrase: Phrase
    start: int
    end: int


class CompiledPhrase(Struct, frozen=True):
    """A phrase as it is looked for."""

    core: str
    """Matches the phrase, wherever its edges let it stand."""
    needed: str = ""
    """What stands in every text that has the phrase, in lower case."""
    kind: Literal["words", "bundled", "foreign"] = "words"
    """Plain words, a regular expression of the bundled rules, or one of RE2: that matches as one of its groups."""
    left: Edge = "open"
    right: Edge = "open"

    def fits(self, text: str, start: int, end: int) -> bool:
        """Whether what stands beside a match lets it be one."""
        before, after = text[start - 1 : start] if start else "", text[end : end + 1]
        is_fit = self.left == "open" or not (before.isalpha() if self.left == "hangul" else _goes_on(before))
        if is_fit and self.right == "particle":
            rest = _REST_OF_WORD.match(text, end)
            return rest is None or not rest.group() or rest.group() in _particles()
        return is_fit and (self.right == "open" or not _goes_on(after))


def compiled(source: str) -> CompiledPhrase:
    r"""A phrase or a regular expression, ready to be looked for.

    >>> compiled("sweet-potato").core
    'sweet[ \\n\\r-]{1,3}potato(?:s|es)?'

    Raises:
        RegexError: It cannot be used.
    """
    if source.startswith(REGEX):
        return _compiled_regex(source.removeprefix(REGEX).strip())
    words = clean_text(source).lower.strip()
    goes_on_before, goes_on = words.startswith("*"), words.endswith("*")
    words = words.strip("*").strip()
    if not words:
        raise RegexError("an empty phrase; write words, or remove it")
    pieces = [piece for piece in re.split(r"[\s-]+", words) if piece] or [words]
    joined = re.escape(pieces[0])
    for before, piece in pairwise(pieces):
        is_korean = _is_hangul(before[-1]) or _is_hangul(piece[0])
        joined += (_BETWEEN_HANGUL if is_korean else _BETWEEN_LATIN) + re.escape(piece)
    core = joined
    if goes_on or _is_long_hangul(words):
        core = core.removesuffix(re.escape(words[-1])) + _last_syllable(words[-1])
    elif _takes_plural(words):
        core = _plural(core)
    left = "open" if goes_on_before else _edge(words[0])
    right = "open" if goes_on else _edge(words[-1])
    if right == "hangul":
        right = "open" if _is_long_hangul(words) else "particle"
    # The last character may become another: 차 is also the start of 찹니다, and y becomes ies.
    return CompiledPhrase(core, max((*pieces[:-1], pieces[-1][:-1]), key=len), "words", left, right)


def searcher(pattern: str) -> Any:
    """A compiled expression of RE2 that knows no capitals.

    Raises:
        RegexError: RE2 does not take it, or is not installed.
    """
    try:
        import re2
    except ImportError as error:
        raise RegexError("regular expressions need RE2; type: pip install 'hallumeter[clinical]'") from error
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _ROOM
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
        raise RegexError(f"not a regular expression of RE2 ({reason.partition(': ')[0]}); {_advice(reason)}") from error


def is_bundled(source: str) -> bool:
    """Whether a regular expression stands in the bundled rules, word for word: a test shows that it is quick."""
    escaped = source.replace("\\", "\\\\")
    return f'- "{escaped}"\n' in _bundled_rules()


@cache
def _bundled_rules() -> str:
    folder = resources.files("hallumeter.dialogue.judges").joinpath("config")
    return folder.joinpath("safety_rules.yaml").read_text(encoding="utf-8")


def _compiled_regex(source: str) -> CompiledPhrase:
    if not source:
        raise RegexError("an empty regular expression; write one after re:")
    folded = next((sign for sign in source if clean_text(sign).text not in {sign, ""}), None)
    if folded is not None:
        raise RegexError(f"{folded!r} never stands in a text, which has {clean_text(folded).text!r} for it; write that")
    if is_bundled(REGEX + source):
        return CompiledPhrase(source, kind="bundled")
    searcher(source)
    parts = alternatives(source)
    core = "|".join(f"(?:{part.body})" for part in parts)
    exact = "|".join(
        (_LEFT_OF_WORD if part.begins_word else "") + f"({part.body})" + (_RIGHT_OF_WORD if part.ends_word else "")
        for part in parts
    )
    if searcher(core).search("") is not None:
        raise RegexError("it matches nothing at all as well, and so every text; make a part of it needed")
    searcher(exact)
    return CompiledPhrase(exact, kind="foreign")


def _advice(reason: str) -> str:
    if "perl operator" in reason or "(?" in reason:
        return "look-ahead and look-behind are not known; write the words out"
    if "invalid escape" in reason:
        return "references to groups are not known; write the words out"
    return "see github.com/google/re2/wiki/Syntax"


def _is_hangul(character: str) -> bool:
    return _FIRST_SYLLABLE <= ord(character) <= _LAST_SYLLABLE


def _is_long_hangul(words: str) -> bool:
    return _is_hangul(words[-1]) and sum(map(_is_hangul, words)) > 1


def _goes_on(character: str) -> bool:
    """Whether a word of Latin letters would go on with a character; Korean particles are glued to it."""
    return bool(character) and (character.isalnum() or character == "_") and not _is_hangul(character)


@cache
def _particles() -> frozenset[str]:
    return frozenset(load_lexicon("ko").matching.endings)


def _edge(character: str) -> Edge:
    if _is_hangul(character):
        return "hangul"
    return "latin" if character.isalnum() else "open"


def _last_syllable(character: str) -> str:
    """A syllable that ends in a vowel takes the consonants that begin an ending: 차 is also the start of 찹니다."""
    code = ord(character)
    if not _is_hangul(character) or (code - _FIRST_SYLLABLE) % _FINALS:
        return re.escape(character)
    return f"[{character}-{chr(code + _FINALS - 1)}]"


def _takes_plural(words: str) -> bool:
    last = re.split(r"[\s-]+", words)[-1]
    return last.isascii() and last.isalpha() and len(last) > 2


def _plural(core: str) -> str:
    if re.search(r"[^aeiou]y$", core, re.IGNORECASE):
        return f"{core[:-1]}(?:y|ies)"
    return f"{core}(?:s|es)?"


class PhraseMatcher:
    """Finds many phrases at once, each with its places in the text as it was given.

    >>> matcher = PhraseMatcher([Phrase("fruit", "banana"), Phrase("fruit", "바나나")])
    >>> [(found.phrase.source, found.start, found.end) for found in matcher.found("Bananas. 바나나를!")]
    [('banana', 0, 7), ('바나나', 9, 12)]
    """

    def __init__(self, phrases: Iterable[Phrase], exceptions: Iterable[Phrase] = ()) -> None:
        self.phrases = tuple(phrases)
        self.exceptions = tuple(exceptions)
        """Phrases within which none of their group counts."""
        self._all = (*self.phrases, *self.exceptions)
        self._compiled = [compiled(phrase.source) for phrase in self._all]
        self._searchers: dict[int, _Searcher | _RegexSearcher] = {}
        self.first = lru_cache(maxsize=_TEXTS_KEPT)(self._first)
        """The first place in a short text such as a name, which is remembered."""

    def __reduce__(self) -> tuple[type, tuple[tuple[Phrase, ...], tuple[Phrase, ...]]]:
        return type(self), (self.phrases, self.exceptions)  # what is compiled cannot be sent to another process

    def found(self, text: str) -> list[Found]:
        """All places of all phrases, in the order of the text."""
        clean = clean_text(text)
        places = self._places(clean)
        if any(number >= len(self.phrases) for _, _, number in places):
            places = self._allowed(places)
        return [Found(self._all[number], *_original(clean, start, end)) for start, end, number in places]

    def _first(self, text: str) -> Found | None:
        return next(iter(self.found(text)), None)

    def _allowed(self, places: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
        """The phrases that touch no exception of their group."""
        barred = _Barred((self._all[place[2]].group, *place[:2]) for place in places if place[2] >= len(self.phrases))
        return [
            (start, end, number)
            for start, end, number in places
            if number < len(self.phrases) and not barred.touches(self._all[number].group, start, end)
        ]

    def _places(self, clean: CleanText) -> list[tuple[int, int, int]]:
        """Places in the clean text with the numbers of phrases, in the order of the text."""
        places = []
        for number, phrase in enumerate(self._compiled):
            if phrase.needed in clean.lower:
                places += [
                    (start, end, number)
                    for start, end in self._searcher(number).spans(clean)
                    if phrase.fits(clean.text, start, end)
                ]
        places.sort()
        return places

    def _searcher(self, number: int) -> _Searcher | _RegexSearcher:
        searching = self._searchers.get(number)
        if searching is None:
            phrase = self._compiled[number]
            searching = _RegexSearcher(phrase.core) if phrase.kind == "foreign" else _Searcher(phrase.core)
            self._searchers[number] = searching
        return searching


class _Searcher:
    """Finds plain words and what the bundled rules describe: none of it makes the quicker engine go back far."""

    def __init__(self, core: str) -> None:
        self._pattern = re.compile(core)

    def spans(self, clean: CleanText) -> list[Span]:
        return [match.span() for match in self._pattern.finditer(clean.lower)]


class _RegexSearcher:
    """Finds what a user's regular expression matches; what stands around a match may be shared by the next one."""

    def __init__(self, exact: str) -> None:
        self._pattern = searcher(exact)
        self._groups = range(1, self._pattern.groups + 1)

    def spans(self, clean: CleanText) -> Iterator[Span]:
        encoded = clean.text.encode()
        return in_characters(self._places(encoded), encoded, is_ascii=len(encoded) == len(clean.text))

    def _places(self, encoded: bytes) -> Iterator[Span]:
        position = 0
        while (match := self._pattern.search(encoded, position)) is not None:
            start, end = next(span for span in map(match.span, self._groups) if span[0] >= 0)
            yield start, end
            position = max(end, position + 1)
            if position > len(encoded):
                return


def in_characters(places: Iterable[Span], content: bytes, *, is_ascii: bool) -> Iterator[Span]:
    """Ascending places in bytes as places in code points, in one pass over the text.

    >>> list(in_characters([(0, 3), (4, 7)], "걷 자".encode(), is_ascii=False))
    [(0, 1), (2, 3)]
    """
    if is_ascii:
        yield from places
        return
    done = characters = 0
    for start, end in places:
        characters += len(content[done:start].decode())
        done = start
        yield characters, characters + len(content[start:end].decode())


def _original(clean: CleanText, start: int, end: int) -> tuple[int, int]:
    return (start, end) if len(clean.part_starts) == 1 else clean.original_span(start, end)


class _Barred:
    """Places of exceptions by group, asked in any order."""

    def __init__(self, places: Iterable[tuple[str, int, int]]) -> None:
        by_group: dict[str, list[tuple[int, int]]] = {}
        for group, start, end in places:
            by_group.setdefault(group, []).append((start, end))
        self._starts = {group: [start for start, _ in spans] for group, spans in by_group.items()}
        self._ends = {group: list(accumulate((end for _, end in spans), max)) for group, spans in by_group.items()}

    def touches(self, group: str, start: int, end: int) -> bool:
        before = bisect_left(self._starts.get(group, []), end)
        return before > 0 and self._ends[group][before - 1] > start
