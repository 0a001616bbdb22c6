"""Quotations in a claim against the wording of the evidence."""

from __future__ import annotations

import re
from functools import cache

from rapidfuzz import fuzz

from hallumeter.text.lexicon import LANGUAGES, load_lexicon
from hallumeter.text.terms import fold, terms_of

from .findings import Finding
from .statement import Statement

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
        finding = _finding(statement, " ".join(words), span=match.span(group))
        if finding is not None:
            findings.append(finding)
    return findings


@cache
def _attributions() -> frozenset[str]:
    return frozenset(fold(word) for each in LANGUAGES for word in load_lexicon(each).matching.attributions)


def _finding(statement: Statement, quoted: str, *, span: tuple[int, int]) -> Finding | None:
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
