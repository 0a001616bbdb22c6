"""Names of a claim against those of the evidence."""

from __future__ import annotations

import re
from functools import cache

from rapidfuzz import fuzz

from hallumeter.text.dates import touches
from hallumeter.text.lexicon import lexicons_with
from hallumeter.text.names import Name
from hallumeter.text.terms import Terms, fold, stem, terms_of

from .alignment import Place, aligned, is_named_value, may_align
from .check_polarity import is_denied, places_after_negation
from .evidence import PlacedName, Sentence
from .statement import Finding, Statement

# Yes and no of JSON evidence against what a claim says or denies.

_NO = frozenset({"no", "none", "false", "non"})
_DENYING_FIELDS = frozenset({"no", "not", "non", "without", "sans", "never"})
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
        if is_denied(statement.terms, places[0], is_item=True) is truth:
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
    """Places of the field's words in the claim, when all are there, one after the other or as one word.

    A field of one common word, as "lot", counts only beside a word of what it is a part of, as "parking". Part of
    another compound, as in "Mini-SIM card slot", it does not count.
    """
    leaf, terms = sentence.block.leaf, statement.terms
    path = leaf.path if leaf is not None else ()
    field = terms_of(path[-1]) if path else terms_of("")
    if not len(field) or field.folded[0] in _DENYING_FIELDS:
        return []
    stems = [key or word for key, word in zip(field.keys, field.folded, strict=True)]
    own = [key or word for key, word in zip(terms.keys, terms.folded, strict=True)]
    joined = stem(fold(path[-1].replace(" ", "")))
    for start in range(len(own)):
        size = len(stems) if own[start : start + len(stems)] == stems else 1 if own[start] == joined else 0
        if size and not _is_compound(terms, start):
            is_common = size == 1 and len(stems) == 1 and path[-1].islower()
            return [] if is_common and not _is_beside(statement, path) else list(range(start, start + size))
    return []


def _is_compound(terms: Terms, start: int) -> bool:
    if not start:
        return False
    gap = terms.text[terms.ends[start - 1] : terms.starts[start]]
    is_name = terms.text[terms.starts[start - 1]].isupper() and start > 1 and terms.text[terms.starts[start]].islower()
    return gap == "-" or (gap == " " and is_name)


def _is_beside(statement: Statement, path: tuple[str, ...]) -> bool:
    """Whether the claim has a word of the object that a field belongs to."""
    keys = [key for part in path[-2:-1] for key in terms_of(part).keys if key]
    return any(key in statement.keys for key in keys)


def _finding(statement: Statement, sentence: Sentence, *, places: list[int]) -> Finding:
    terms, leaf = statement.terms, sentence.block.leaf
    assert leaf is not None
    start, end = terms.starts[places[0]], terms.ends[places[-1]]
    note = f"response says “{terms.text[start:end]}”, evidence says {leaf.path[-1]}: {leaf.text}"
    return Finding("field_mismatch", start, end, note, (sentence.quote(),))


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
