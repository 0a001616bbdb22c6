"""Negation in English: "not" after an auxiliary, "do" with other verbs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from hallumeter.mutations.protocol import Edit
from hallumeter.mutations.reading import Reading, like, phrase_pattern
from hallumeter.text import load_lexicon
from hallumeter.text.terms import fold

_SUBJECTS = frozenset({"he", "she", "it", "they", "we", "i", "you", "who", "which", "this", "that"})
_HAVE = {"has": "does not have", "had": "did not have"}
_AFTER_HAVE = frozenset({"a", "an", "the", "several", "two", "three", "four", "five", "about", "over", "his", "her"})


def english_edits(reading: Reading) -> Iterator[Edit]:
    """The only negation taken out, or the first verb denied."""
    yield from _affirmed(reading)
    yield from _denied(reading)


def _affirmed(reading: Reading) -> Iterator[Edit]:
    """A single negation taken out, unless another word of the sentence needs it."""
    table = _lower(reading.words.affirm)
    found = list(phrase_pattern(tuple(table)).finditer(_plain(reading.text)))
    spoilers = _guards() - {"not", "no", "never", "cannot", "because", "just", "some", "many", "most", "several", "too"}
    if len(found) != 1 or spoilers & set(reading.terms.folded) or _is_fixed(reading, found[0].start()):
        return
    start, end = found[0].span()
    written = table[found[0].group().lower()]
    if written in {"do", "does", "did"} and (verb := _infinitive_after(reading, end)) is not None:
        base, verb_end = verb
        forms = reading.words.verbs[base]
        written = base if written == "do" else forms[0] if written == "does" else forms[1]
        end = verb_end
    yield Edit(start, end, like(reading.text[start:end], written), "a negation taken out")


def _is_fixed(reading: Reading, place: int) -> bool:
    """Whether a negation is part of a phrase that denies nothing, such as "not only"."""
    phrases = load_lexicon("en").matching.not_negating
    near = _plain(reading.text)[place : place + 40].lower()
    return any(phrase in near for phrase in phrases)


def _infinitive_after(reading: Reading, place: int) -> tuple[str, int] | None:
    match = re.match(r" ([a-z]+)", reading.text[place:])
    return (
        (match.group(1), place + match.end()) if match is not None and match.group(1) in reading.words.verbs else None
    )


def _denied(reading: Reading) -> Iterator[Edit]:
    """The first verb of the main clause denied."""
    if (_guards() - {"because", "too", "but"}) & set(reading.terms.folded):
        return
    text = _plain(reading.text)
    first = _main_clause(reading)
    table = _lower(reading.words.negate)
    auxiliary = phrase_pattern(tuple(table)).search(text, first)
    verb = _finite_verb(reading, first)
    if auxiliary is not None and (verb is None or auxiliary.start() < verb.start):
        start, end = auxiliary.span()
        written = table[auxiliary.group().lower()]
        if start > 0 and not _is_in_name(reading, start):
            yield Edit(start, end, like(reading.text[start:end], written), "a negation put in")
    elif verb is not None:
        yield verb


def _is_in_name(reading: Reading, place: int) -> bool:
    return reading.text[place].isupper() or any(name.start <= place < name.end for name in reading.names)


def _main_clause(reading: Reading) -> int:
    """Where the main clause begins: after the comma when the sentence opens with "if", "when" and the like."""
    opening = load_lexicon("en").statements.clauses.subordinators
    if reading.terms.folded[:1] and reading.terms.folded[0] in opening:
        comma = reading.text.find(",")
        return comma if comma > 0 else len(reading.text)
    return 0


def _finite_verb(reading: Reading, first: int) -> Edit | None:
    """The first full verb after a subject, denied with "do"; a participle such as "made by" is none."""
    terms = reading.terms
    for place in range(1, len(terms)):
        if terms.starts[place] < first or not reading.text[terms.starts[place]].islower():
            continue
        word, before = terms.folded[place], terms.folded[place - 1]
        after = terms.folded[place + 1] if place + 1 < len(terms) else ""
        if word in _HAVE and after in _AFTER_HAVE:
            return Edit(terms.starts[place], terms.ends[place], _HAVE[word], "a negation put in")
        base = _forms().get(word)
        if base is None or after in {"by", "as"} or not _follows_subject(reading, place, before):
            continue
        is_past = load_lexicon("en").mutations.verbs[base][1] == word
        written = f"{'did' if is_past else 'does'} not {base}"
        return Edit(terms.starts[place], terms.ends[place], written, "a negation put in")
    return None


def _follows_subject(reading: Reading, place: int, before: str) -> bool:
    terms = reading.terms
    is_near = reading.text[terms.ends[place - 1] : terms.starts[place]] == " "
    is_name = reading.text[terms.starts[place - 1]].isupper() and place > 0
    return is_near and (before in _SUBJECTS or is_name)


def _plain(text: str) -> str:
    """The text with straight apostrophes, of the same length."""
    return text.replace("’", "'")


def _lower(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    return {first.lower(): second for first, second in pairs}


@cache
def _forms() -> dict[str, str]:
    """Infinitives by finite form."""
    verbs = load_lexicon("en").mutations.verbs
    return {form: base for base, forms in verbs.items() for form in forms}


@cache
def _guards() -> frozenset[str]:
    return frozenset(map(fold, load_lexicon("en").mutations.not_negated))
