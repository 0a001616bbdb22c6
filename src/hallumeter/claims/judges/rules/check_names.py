"""Names of a claim against those of the evidence."""

from __future__ import annotations

import re
from functools import cache

from rapidfuzz import fuzz

from hallumeter.text.lexicon import lexicons_with
from hallumeter.text.names import Name
from hallumeter.text.terms import Terms, fold, terms_of

from .alignment import Place, aligned, field_keys, is_named_value, may_align
from .check_polarity import is_denied, places_after_negation
from .evidence import PlacedName, Sentence
from .statement import Finding, Statement

# Yes and no of JSON evidence against what a claim says or denies.

_NO = frozenset({"no", "none", "false", "non"})
_YES = frozenset({"yes", "true", "oui"})


def check_fields(statement: Statement) -> list[Finding]:
    """Fields that the claim names and that hold the contrary: "WiFi": false against "offers WiFi"."""
    if not statement.evidence.leaf_counts:
        return []
    findings = []
    for number in sorted(_named(statement)):
        sentence = statement.evidence.sentences[number]
        truth = _truth(sentence)
        places = _places(statement, sentence)
        if truth is None or not places or not is_named_value(statement, sentence):
            continue
        if truth == is_denied(statement.terms, places[0]):
            findings.append(_finding(statement, sentence, places=places))
    return findings


def _named(statement: Statement) -> set[int]:
    postings = statement.evidence.postings
    return {number for key in statement.keys for number in postings.get(key, ())}


def _truth(sentence: Sentence) -> bool | None:
    """What a JSON value says, when it is a yes or a no; null says nothing."""
    leaf = sentence.block.leaf
    if leaf is None or leaf.value is None:
        return None
    if isinstance(leaf.value, bool):
        return leaf.value
    word = leaf.text.strip("u'\" ").lower()
    return True if word in _YES else False if word in _NO else None


def _places(statement: Statement, sentence: Sentence) -> list[int]:
    """Places of the field's words in the claim, when all are there, one after the other or as one word."""
    keys, field = statement.terms.keys, field_keys(sentence)
    for start in range(len(keys) - len(field) + 1) if field else ():
        if keys[start : start + len(field)] == field:
            return list(range(start, start + len(field)))
    leaf = sentence.block.leaf
    joined = terms_of(leaf.path[-1].replace(" ", "")).keys if leaf is not None and leaf.path else []
    return [keys.index(joined[0])] if len(joined) == 1 and joined[0] in keys and joined[0] else []


def _finding(statement: Statement, sentence: Sentence, *, places: list[int]) -> Finding:
    terms, leaf = statement.terms, sentence.block.leaf
    assert leaf is not None
    start, end = terms.starts[places[0]], terms.ends[places[-1]]
    note = f"response says “{statement.text.strip()}”, evidence says {leaf.path[-1]}: {leaf.text}"
    return Finding("negation_mismatch", start, end, note, (sentence.quote(),))


# Quotations in a claim against the wording of the evidence.

SAME = 88.0
"""Similarity, of 100, from which a quotation is taken to be there: letters, endings and marks may differ."""
LIKE = 70.0
"""Similarity from which the evidence is taken to have the same quotation in other words."""
_SHORTEST = 4
_QUOTED = re.compile(r"“([^“”\n]+)”|\"([^\"\n]+)\"|«\s?([^«»\n]+?)\s?»|「([^「」\n]+)」|『([^『』\n]+)』")


def check_quotations(statement: Statement) -> list[Finding]:
    """Quotations of at least four words that the evidence words otherwise, or does not have."""
    text = statement.terms.text
    if not any(mark in text for mark in '“"«「『') or _attributions().isdisjoint(
        terms_of(_QUOTED.sub(" ", text)).folded
    ):
        return []
    findings = []
    for match in _QUOTED.finditer(text):
        group = match.lastindex or 1
        quoted = terms_of(match.group(group))
        words = quoted.folded
        if len(words) < _SHORTEST or all(key in statement.given for key in quoted.keys if key):
            continue  # too short to be told from a term, or a repetition of the question
        finding = _quotation_finding(statement, " ".join(words), span=match.span(group))
        if finding is not None:
            findings.append(finding)
    return findings


@cache
def _attributions() -> frozenset[str]:
    return frozenset(fold(word) for each in lexicons_with("matching") for word in each.matching.attributions)


def _quotation_finding(statement: Statement, quoted: str, *, span: tuple[int, int]) -> Finding | None:
    best = None
    for block in statement.evidence.blocks:
        found = fuzz.partial_ratio_alignment(quoted, " ".join(block.terms.folded))
        if found is not None and (best is None or found.score > best[0]):
            best = (found.score, block, found.dest_start, found.dest_end)
    said = statement.terms.text[span[0] : span[1]]
    if best is None or best[0] < LIKE:
        return Finding("quotation_not_found", *span, f"response quotes “{said}”, evidence has no such words")
    score, block, first, last = best
    if score >= SAME:
        return None
    ends, length = [], 0
    for word in block.terms.folded:
        length += len(word) + 1
        ends.append(length)
    places = [
        place for place, end in enumerate(ends) if end > first and end - len(block.terms.folded[place]) - 1 < last
    ]
    start, end = block.terms.starts[places[0]], block.terms.ends[places[-1]]
    note = f"response quotes “{said}”, evidence says “{block.terms.text[start:end]}”"
    return Finding("quotation_mismatch", *span, note, (block.quote(start, end),))


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
