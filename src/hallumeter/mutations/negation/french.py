"""Negation in French: "ne" before the verb and its pronouns, "pas" after it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from hallumeter.mutations.protocol import Edit
from hallumeter.mutations.reading import Reading, phrase_pattern
from hallumeter.text import load_lexicon
from hallumeter.text.terms import fold

_VOWEL = re.compile("[aeiouyhàâéèêëîïôœ]", re.IGNORECASE)
_PRONOUNS = "se|me|te|lui|leur|nous|vous|en|y"  # codespell:ignore te
_PRONOUN_BEFORE = re.compile(rf"(?<![^\W_])((?:{_PRONOUNS}) |(?:s|m|t|l)['’])$", re.IGNORECASE)
_THIS_IS = re.compile(r"(?<![^\W_])[Cc]['’]$")
_DENIED = re.compile(
    r"(?<![^\W_])(?:ne |n['’])(?P<said>(?:[^\W\d_]+['’ ])?[^\W\d_]+(?: été)?)"
    r" (?:pas|jamais)(?![^\W_])(?! (?:de |d['’]))",
    re.IGNORECASE,
)


def french_edits(reading: Reading) -> Iterator[Edit]:
    """The only negation taken out, or the first verb denied."""
    text = reading.text
    denied = list(_DENIED.finditer(text))
    if len(denied) == 1:
        yield Edit(*denied[0].span(), denied[0].group("said"), "a negation taken out")
    if denied or _guards() & set(reading.terms.folded):
        return
    table = dict(reading.words.negate)
    for match in phrase_pattern(tuple(table)).finditer(text):
        if (edit := _denied(text, match, table[match.group().lower()])) is not None:
            yield edit
            return


def _denied(text: str, match: re.Match[str], written: str) -> Edit | None:
    start, end = match.span()
    if start == 0 or text[start].isupper():
        return None
    if _THIS_IS.search(text, 0, start) is not None:
        head = text[start - 2 : start - 1]
        return Edit(start - 2, end, f"{head}e {_with_ne(written)}", "a negation put in")
    pronoun = _PRONOUN_BEFORE.search(text[:start])
    if pronoun is not None:
        return Edit(pronoun.start(), end, _with_ne(pronoun.group() + written), "a negation put in")
    if text[start - 1] in "'’" or _is_east(text, start, end):
        return None
    return Edit(start, end, _with_ne(written), "a negation put in")


def _is_east(text: str, start: int, end: int) -> bool:
    """Whether "est" is a point of the compass."""
    return text[start:end] == "est" and re.search(r"(?:nord|sud)-$", text[:start]) is not None


def _with_ne(written: str) -> str:
    return f"n'{written}" if _VOWEL.match(written) is not None else f"ne {written}"


@cache
def _guards() -> frozenset[str]:
    return frozenset(map(fold, load_lexicon("fr").mutations.not_negated))
