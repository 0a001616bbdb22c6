"""Names of a claim against those of the evidence."""

from __future__ import annotations

import re
from functools import cache

from rapidfuzz import fuzz

from hallumeter.text.dates import touches
from hallumeter.text.lexicon import lexicons_with
from hallumeter.text.names import Name
from hallumeter.text.terms import Terms, fold, terms_of

from .alignment import Place, aligned, may_align
from .check_polarity import places_after_negation
from .evidence import PlacedName
from .statement import Finding, Statement

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
_SAME_COUNTRY = (
    frozenset({"uk", "britain", "greatbritain", "unitedkingdom", "british", "england"}),
    frozenset({"us", "usa", "america", "american", "americans", "unitedstates"}),
    frozenset({"eu", "europe", "european", "europeanunion"}),
)
_SAME_LETTERS = 4
"""Letters that a name of a country and of its people begin with."""
_SPELLED_ALIKE = 75.0
"""Similarity, of 100, above which two words with a capital are one, spelled in two ways."""
_LETTERS_AFTER = re.compile(r"\s?\(([A-Z][A-Za-z]{1,6})\)")
_LETTERS_BEFORE = re.compile(r"([A-Z]{2,6})\s\((?:[A-Z]\w+\s)?$")


def check_names(statement: Statement) -> list[Finding]:
    """Names of which no part stands in the evidence: another name stands in their place, or none does."""
    findings = []
    denied = places_after_negation(statement.terms)
    dated = [(date.start, date.end) for date in statement.dates]
    findings += [*_other_opening(statement), *_other_korean(statement)]
    for name in statement.names:
        if name.is_opening or _is_heading(statement, name) or _is_known(statement, name):
            continue
        if touches(dated, name.start, name.end):
            continue
        said = statement.terms.text[name.start : name.end]
        counterpart = _counterpart(statement, name)
        if counterpart is None and (name.first_term in denied or _is_place_of(statement, name)):
            continue
        if counterpart is None:
            note = f"response names {said}, evidence has no such name"
            findings.append(Finding("name_not_found", name.start, name.end, note))
            continue
        findings.append(_other_name(statement, name, counterpart))
    return findings


# Where capitals tell nothing: the first word of a sentence, and Korean.

_OPENING_ALIKE = 0.75
"""Weighted share of the claim's words that a sentence must have before another first word tells."""
_PARTICLES = re.compile(r"^(.{2,}?)(에서|에|이|가|은|는|을|를)$")
_SAME_PARTICLES = {"가": "이", "는": "은", "를": "을"}


def _other_opening(statement: Statement) -> list[Finding]:
    """A name that opens the claim where another opens a sentence with all its other words: "Kazan hosted the match"."""
    name = next(iter(statement.names), None)
    if name is None or name.first_term or not name.is_opening or not _may_name(statement, name):
        return []
    terms = statement.terms
    for number, share in statement.best[:1]:
        sentence = statement.evidence.sentences[number]
        others = [
            each for each in statement.evidence.names_by_sentence.get(number, []) if each.first_term == sentence.first
        ]
        if share < _OPENING_ALIKE or not others or sentence.block.leaf is not None:
            continue
        other, there = others[0], sentence.block.terms
        own = statement.terms.keys[name.first_term]
        if any(key != own and not statement.evidence.has(key, number) for key in statement.keys):
            continue
        following = _key(terms, name.last_term + 1)
        word = there.folded[other.first_term]
        is_same = bool(following) and following == _key(there, other.last_term + 1)
        if is_same and not word.endswith("s") and fuzz.ratio(terms.folded[0], word) <= SPELLED_ALIKE:
            return [_other_name(statement, name, PlacedName(other, number))]
    return []


def _may_name(statement: Statement, name: Name) -> bool:
    """Whether the first word of a claim may be a name: in no form in the evidence, and no plural."""
    terms = statement.terms
    word, key = terms.folded[name.first_term], terms.keys[name.first_term]
    is_known = _is_known(statement, name) or word in statement.evidence.words or key in statement.given
    is_compound = terms.text[name.end : name.end + 1] == "-"
    return not (is_known or is_compound or word.endswith(("s", "ly", "ing")) or statement.language == "ko")


def _other_name(statement: Statement, name: Name, known: PlacedName) -> Finding:
    block = statement.evidence.sentences[known.sentence].block
    said, other = statement.terms.text[name.start : name.end], known.name
    note = f"response says {said}, evidence says {block.terms.text[other.start : other.end]}"
    return Finding("name_mismatch", name.start, name.end, note, (block.quote(other.start, other.end),))


def _other_korean(statement: Statement) -> list[Finding]:
    """A noun that alone differs from a Korean sentence of as many words, with the same particle."""
    if statement.language != "ko" or not statement.best:
        return []
    sentence = statement.evidence.sentences[statement.best[0][0]]
    mine = list(_SPACED.finditer(statement.text))
    theirs = list(_SPACED.finditer(sentence.block.terms.text, sentence.start, sentence.end))
    if len(mine) != len(theirs) or len(mine) < 3:
        return []
    pairs = [pair for pair in zip(mine, theirs, strict=True) if _bare(pair[0]) != _bare(pair[1])]
    if len(pairs) != 1:
        return []
    own, other = (_PARTICLES.match(match.group()) for match in pairs[0])
    if own is None or other is None or _particle(own) != _particle(other) or set(own[1]) & set(other[1]):
        return []
    if any(letter.isdecimal() for letter in own[1] + other[1]):
        return []
    start, first = pairs[0][0].start(), pairs[0][1].start()
    note = f"response says {own[1]}, evidence says {other[1]}"
    quote = sentence.block.quote(first, first + len(other[1]))
    return [Finding("name_mismatch", start, start + len(own[1]), note, (quote,))]


_SPACED = re.compile(r"\S+")


def _bare(match: re.Match[str]) -> str:
    """A word without its period, its subject and object particles taken as one."""
    word = match.group().rstrip(".!?")
    found = _PARTICLES.match(word)
    return word if found is None else found[1] + _particle(found)


def _particle(match: re.Match[str]) -> str:
    return _SAME_PARTICLES.get(match[2], match[2])


def _is_heading(statement: Statement, name: Name) -> bool:
    """Whether words with capitals are the heading of an item, or a blank to be filled in."""
    text = statement.terms.text
    before = text[: name.start].strip(" *#-•.()0123456789")
    return (not before and text[name.end : name.end + 1] in {":", ""}) or text[name.end : name.end + 1] == "]"


def _is_known(statement: Statement, name: Name) -> bool:
    """Whether a part of the name stands in the evidence or the question, in some form or as initials."""
    evidence, terms = statement.evidence, statement.terms
    places = range(name.first_term, name.last_term + 1)
    keys = [terms.keys[place] for place in places if terms.keys[place]]
    if any(key in evidence.postings or key in statement.given for key in keys):
        return True
    joined = "".join(terms.folded[place] for place in places)
    if terms.text.endswith("(", 0, name.start) and _stand_for(terms, name.first_term, joined):
        return True
    if joined in evidence.words or joined in evidence.initials or joined in evidence.glued:
        return True
    return joined in evidence.word_initials or _is_spelled_out(statement, name) or _is_form(statement, name)


def _is_spelled_out(statement: Statement, name: Name) -> bool:
    """Whether a name is explained by known letters in brackets beside it, "Temporomandibular Joint (TMJ)"."""
    terms = statement.terms
    match = _LETTERS_AFTER.match(terms.text, name.end) or _LETTERS_BEFORE.search(
        terms.text, max(0, name.start - 30), name.start
    )
    return match is not None and fold(match[1]) in statement.evidence.words


def _is_form(statement: Statement, name: Name) -> bool:
    """Whether the evidence has a form or a spelling of each word of a name: Brazilian of Brazil, Munich for München."""
    terms = statement.terms
    known = statement.evidence.capitals
    for place in range(name.first_term, name.last_term + 1):
        word = terms.folded[place]
        others = known.get(word[:_SAME_LETTERS], frozenset()) if len(word) > _SAME_LETTERS else frozenset()
        alike = any(fuzz.ratio(word, other) > _SPELLED_ALIKE for other in known.get(word[:1], frozenset()))
        if not others and not alike:
            return False
    return True


def _is_place_of(statement: Statement, name: Name) -> bool:
    """Whether a name only says in which country or state a known place lies: "Tampa, Florida"."""
    terms, first = statement.terms, name.first_term
    if not first or terms.text[terms.ends[first - 1] : terms.starts[first]] != ", ":
        return False
    key = terms.keys[first - 1]
    return terms.text[terms.starts[first - 1]].isupper() and bool(key) and key in statement.evidence.postings


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
        if _is_one_name(_written(statement.terms, place), _written(terms, there)):
            continue
        if not _has_same_neighbour(statement.terms, place, terms=terms, other=there):
            continue
        score = alignment.share + alignment.whole
        if best is None or score > best[0]:
            best = (score, each)
    return None if best is None else best[1]


def _is_one_name(name: str, other: str) -> bool:
    """Whether two names are one, spelled in two ways, or of one country."""
    return fuzz.ratio(name, other) > SPELLED_ALIKE or any({name, other} <= same for same in _SAME_COUNTRY)


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
