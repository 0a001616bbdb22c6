"""Errors of negation: what is said is denied, what is denied is said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from hallumeter.text.lexicon import load_lexicon
from hallumeter.text.terms import fold

from .donors import Donors, ends_in_consonant
from .protocol import Choice, Edit, Reading, like, phrase_pattern

# Negation in Korean: in the ending of the last verb.

_END = re.compile(r"[.!。\"'”’)\s]*$")
_SUBJECT = "{이}"


def korean_edits(reading: Reading) -> Iterator[Edit]:
    """The last verb of a claim denied, or no longer denied."""
    words = reading.words
    if any(word in reading.text for word in words.not_negated):
        return
    ending = _END.search(reading.text)
    end = ending.start() if ending is not None else len(reading.text)
    body = reading.text[:end]
    for table, note in (
        (_longest_first("affirm"), "a negation taken out"),
        (_longest_first("negate"), "a negation put in"),
    ):
        for said, other in table:
            start = end - len(said)
            if body.endswith(said) and _may_follow(body[:start], said, other):
                yield Edit(start, end, _written(body[:start], other), note)
                return


def _may_follow(before: str, said: str, other: str) -> bool:
    """Whether the ending is one: "이다" and "였다" follow a noun, "있다" and whole verbs a space."""
    if not before:
        return False
    if other.startswith(_SUBJECT):
        is_noun = "가" <= before[-1] <= "힣" or before[-1].isalnum()
        return is_noun and (said[0] != "였" or not ends_in_consonant(before))
    if said[0] in "하했한합되됐된됩":
        return True
    return before[-1].isspace() or said[0] in "이가"


def _written(before: str, other: str) -> str:
    """The other ending, with 이 or 가 as the noun before it wants."""
    if other.startswith(_SUBJECT):
        return ("이" if ends_in_consonant(before) else "가") + other.removeprefix(_SUBJECT)
    return other


@cache
def _longest_first(table: str) -> tuple[tuple[str, str], ...]:
    pairs: tuple[tuple[str, str], ...] = getattr(load_lexicon("ko").mutations, table)
    return tuple(sorted(pairs, key=lambda pair: (-len(pair[0]), pair[0])))


# Negation in French: "ne" before the verb and its pronouns, "pas" after it.

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
    # Whether "est" is a point of the compass.
    if text[start - 1] in "'’" or (text[start:end] == "est" and re.search(r"(?:nord|sud)-$", text[:start]) is not None):
        return None
    return Edit(start, end, _with_ne(written), "a negation put in")


def _with_ne(written: str) -> str:
    return f"n'{written}" if _VOWEL.match(written) is not None else f"ne {written}"


@cache
def _guards() -> frozenset[str]:
    return frozenset(map(fold, load_lexicon("fr").mutations.not_negated))


# Negation in English: "not" after an auxiliary, "do" with other verbs.

_SUBJECTS = frozenset({"he", "she", "it", "they", "we", "i", "you", "who", "which", "this", "that"})
_HAVE = {"has": "does not have", "had": "did not have"}
_AFTER_HAVE = frozenset({"a", "an", "the", "several", "two", "three", "four", "five", "about", "over", "his", "her"})


def english_edits(reading: Reading) -> Iterator[Edit]:
    """The only negation taken out, or the first verb denied."""
    yield from _affirmed(reading)
    yield from _english_denied(reading)


def _affirmed(reading: Reading) -> Iterator[Edit]:
    """A single negation taken out, unless another word of the sentence needs it."""
    table = _lower(reading.words.affirm)
    found = list(phrase_pattern(tuple(table)).finditer(_plain(reading.text)))
    spoilers = _english_guards() - {
        "not",
        "no",
        "never",
        "cannot",
        "because",
        "just",
        "some",
        "many",
        "most",
        "several",
        "too",
    }
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


def _english_denied(reading: Reading) -> Iterator[Edit]:
    """The first verb of the main clause denied."""
    if (_english_guards() - {"because", "too", "but"}) & set(reading.terms.folded):
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
def _english_guards() -> frozenset[str]:
    return frozenset(map(fold, load_lexicon("en").mutations.not_negated))


_QUESTION = re.compile(r"\?[\"'”’)]*\s*$")
_BY_LANGUAGE = {"en": english_edits, "fr": french_edits, "ko": korean_edits}


def negation_edits(reading: Reading, donors: Donors, choice: Choice) -> Iterator[Edit]:
    """A negation put in or taken out, by the rules of the claim's language; none for a question."""
    del donors, choice  # what can be denied first is denied, whatever the seed
    if _QUESTION.search(reading.text) is None:
        yield from _BY_LANGUAGE[reading.language](reading)
