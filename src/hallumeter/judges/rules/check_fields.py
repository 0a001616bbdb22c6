"""Yes and no of JSON evidence against what a claim says or denies."""

from __future__ import annotations

from hallumeter.text.terms import terms_of

from .alignment import field_keys, is_named_value
from .check_polarity import is_denied
from .evidence import Sentence
from .findings import Finding
from .statement import Statement

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
