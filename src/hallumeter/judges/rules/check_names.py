"""Names of a claim against those of the evidence."""

from __future__ import annotations

from rapidfuzz import fuzz

from hallumeter.text.names import Name
from hallumeter.text.terms import Terms

from .alignment import Place, aligned, may_align
from .check_polarity import places_after_negation
from .evidence import PlacedName
from .findings import Finding
from .statement import Statement

SPELLED_ALIKE = 60.0
"""Similarity, of 100, above which two names are taken to be one, spelled or shortened in two ways."""

_LEAST_WHOLE = 0.5


def check_names(statement: Statement) -> list[Finding]:
    """Names of which no part stands in the evidence: another name stands in their place, or none does."""
    findings = []
    denied = places_after_negation(statement.terms)
    for name in statement.names:
        if name.is_opening or _is_heading(statement, name) or _is_known(statement, name):
            continue
        said = statement.terms.text[name.start : name.end]
        counterpart = _counterpart(statement, name)
        if counterpart is None and name.first_term in denied:
            continue
        if counterpart is None:
            note = f"response names {said}, evidence has no such name"
            findings.append(Finding("name_not_found", name.start, name.end, note))
            continue
        block = statement.evidence.sentences[counterpart.sentence].block
        other = counterpart.name
        note = f"response says {said}, evidence says {block.terms.text[other.start : other.end]}"
        findings.append(Finding("name_mismatch", name.start, name.end, note, (block.quote(other.start, other.end),)))
    return findings


def _is_heading(statement: Statement, name: Name) -> bool:
    """Whether words with capitals are the heading of an item, or a blank to be filled in."""
    text = statement.terms.text
    before = text[: name.start].strip(" *#-•.()0123456789")
    return (not before and text[name.end : name.end + 1] in {":", ""}) or text[name.end : name.end + 1] == "]"


def _is_known(statement: Statement, name: Name) -> bool:
    """Whether a part of the name stands in the evidence or the question, or all of it run together or as initials."""
    evidence, terms = statement.evidence, statement.terms
    places = range(name.first_term, name.last_term + 1)
    keys = [terms.keys[place] for place in places if terms.keys[place]]
    if any(key in evidence.postings or key in statement.given for key in keys):
        return True
    joined = "".join(terms.folded[place] for place in places)
    if terms.text.endswith("(", 0, name.start) and _stand_for(terms, name.first_term, joined):
        return True
    return joined in evidence.words or joined in evidence.initials or joined in evidence.glued


def _stand_for(terms: Terms, place: int, initials: str) -> bool:
    """Whether letters in brackets are those with which the words before them begin, small words left out or not."""
    before = [word[0] for word in terms.folded[max(0, place - 2 * len(initials)) : place]]
    letters = iter(reversed(before))
    return all(any(letter == each for each in letters) for letter in reversed(initials))


def _counterpart(statement: Statement, name: Name) -> PlacedName | None:
    """The name of the evidence that stands in the place of this one, when there is one."""
    place = Place(name.first_term, name.last_term)
    best: tuple[float, PlacedName] | None = None
    for each in statement.evidence.names:
        other, sentence = each.name, statement.evidence.sentences[each.sentence]
        terms = sentence.block.terms
        if other.is_opening or not may_align(statement, each.sentence, whole=_LEAST_WHOLE):
            continue
        if not statement.words.isdisjoint(terms.folded[other.first_term : other.last_term + 1]):
            continue
        there = Place(other.first_term, other.last_term)
        alignment = aligned(statement, place, number=each.sentence, other=there)
        if alignment.whole < _LEAST_WHOLE or alignment.share < 0.6 or alignment.shared < 2:
            continue
        if fuzz.ratio(_written(statement.terms, place), _written(terms, there)) > SPELLED_ALIKE:
            continue
        if not _has_same_neighbour(statement.terms, place, terms=terms, other=there):
            continue
        score = alignment.share + alignment.whole
        if best is None or score > best[0]:
            best = (score, each)
    return None if best is None else best[1]


def _written(terms: Terms, place: Place) -> str:
    return "".join(terms.folded[place.first : place.last + 1])


def _has_same_neighbour(claim: Terms, place: Place, *, terms: Terms, other: Place) -> bool:
    """Whether the word before both names, or the word after both, is the same and says something.

    A small word may stand between, as in "directed by", when it is the same too.
    """
    before, after = _key(claim, place.first - 1), _key(claim, place.last + 1)
    if before or after:
        is_same_after = bool(after) and after == _key(terms, other.last + 1)
        return is_same_after or (bool(before) and before == _key(terms, other.first - 1))
    words = claim.folded[max(0, place.first - 2) : place.first]
    return bool(_key(claim, place.first - 2)) and words == terms.folded[max(0, other.first - 2) : other.first]


def _key(terms: Terms, index: int) -> str:
    return terms.keys[index] if 0 <= index < len(terms) else ""
