"""The evidence in small units, and which of them speak of a claim.

Every unit of the evidence is ranked, whatever its length; a model then reads the ones that say most about a claim.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise, takewhile

from msgspec import Struct

from hallumeter.claims.judges.rules.evidence import LABELS, Evidence, Leaf, Sentence, prepared_evidence
from hallumeter.records.response import Passage
from hallumeter.text.terms import terms_of

_LONGEST = 40
"""Words of a unit; a longer sentence is several units."""
_LONGEST_GROUP = 30
"""Words of JSON values that stand in one unit; numbers are many tokens."""
_SHORT_VALUE = 12
"""Words below which a JSON value stands in one unit with its neighbours."""
_REMEMBERED = 8


class Unit(Struct, frozen=True):
    """A sentence of the evidence, a part of a long one, or a few JSON values that stand together."""

    text: str
    """As a model reads it: JSON values with their keys."""
    keys: frozenset[str]
    """Keys of its words."""


class Units:
    """All units of a record's evidence."""

    def __init__(self, evidence: Evidence) -> None:
        self.units: list[Unit] = list(_units(evidence.sentences))
        self.postings: dict[str, list[int]] = {}
        for number, unit in enumerate(self.units):
            for key in unit.keys:
                self.postings.setdefault(key, []).append(number)
        self._unknown = math.log1p(max(1, len(self.units)))

    def weight(self, key: str) -> float:
        """How much a word tells: the more, the fewer units have it."""
        numbers = self.postings.get(key)
        return math.log1p(len(self.units) / len(numbers)) if numbers else self._unknown

    def ranked(self, keys: Iterable[str]) -> list[int]:
        """Numbers of the units that have any of these words, best first."""
        scores: dict[int, float] = {}
        for key in sorted(set(keys)):  # sums of floats depend on their order
            weight = self.weight(key)
            for number in self.postings.get(key, ()):
                scores[number] = scores.get(number, 0.0) + weight
        return sorted(scores, key=lambda number: (-scores[number], number))


@lru_cache(maxsize=_REMEMBERED)
def units_of(passages: tuple[Passage, ...]) -> Units:
    """The units of some passages; the same passages are prepared once."""
    return Units(prepared_evidence(passages))


def _units(sentences: list[Sentence]) -> Iterator[Unit]:
    group: list[Sentence] = []
    for sentence in sentences:
        if group and not _stand_together(group, sentence):
            yield _grouped(group)
            group = []
        if _is_short_value(sentence):
            group.append(sentence)
        else:
            yield from _pieces(sentence)
    if group:
        yield _grouped(group)


def _is_short_value(sentence: Sentence) -> bool:
    return sentence.block.leaf is not None and len(sentence.block.terms) < _SHORT_VALUE


def _stand_together(group: list[Sentence], sentence: Sentence) -> bool:
    """Whether a JSON value goes on with the values before it: same passage, same part of the record, not too long."""
    leaf, last = sentence.block.leaf, group[-1].block.leaf
    if leaf is None or last is None or not _is_short_value(sentence):
        return False
    words = sum(len(each.block.terms) + 1 for each in [*group, sentence])
    is_near = sentence.block.passage is group[-1].block.passage and leaf.path[:-1][:1] == last.path[:-1][:1]
    return is_near and words <= _LONGEST_GROUP


def _grouped(group: list[Sentence]) -> Unit:
    """JSON values that stand together as a line: "hours: Monday 9:0-17:0; Tuesday 9:0-17:0"."""
    leaves = [sentence.block.leaf for sentence in group if sentence.block.leaf is not None]
    above_all = zip(*(leaf.path[:-1] for leaf in leaves), strict=False)
    shared = sum(1 for _ in takewhile(lambda parts: len(set(parts)) == 1, above_all))
    above = " ".join(leaves[0].path[max(0, shared - 2) : shared])
    values = "; ".join(
        " ".join([*leaf.path[shared:][-2:], leaf.text]).strip() for leaf in leaves if not _is_repeated(leaf, leaves)
    )
    keys = {key for sentence in group for key in (*sentence.block.keys, *sentence.keys) if key}
    return Unit(f"{above}: {values}" if above else values, frozenset(keys))


def _is_repeated(leaf: Leaf, leaves: list[Leaf]) -> bool:
    """Whether a value only names others, which have it as a key."""
    is_name = bool(leaf.path) and leaf.path[-1].lower() in LABELS
    return is_name and any(leaf.text in other.path for other in leaves)


def _pieces(sentence: Sentence) -> Iterator[Unit]:
    """A sentence, in parts of about the same length when it is long."""
    block, terms = sentence.block, sentence.block.terms
    count = math.ceil((sentence.last - sentence.first) / _LONGEST)
    cuts = [sentence.first + (sentence.last - sentence.first) * part // count for part in range(count + 1)]
    name = f"{block.leaf.path[-1]}: " if block.leaf is not None and block.leaf.path else _speaker(sentence)
    said_by = terms_of(sentence.speaker).keys if sentence.speaker else []
    for part, (first, last) in enumerate(pairwise(cuts)):
        start = sentence.start if part == 0 else terms.starts[first]
        end = sentence.end if part == count - 1 else terms.starts[last]
        keys = frozenset(key for key in (*terms.keys[first:last], *block.keys, *said_by) if key)
        said = terms.text[start:end].strip()
        yield Unit(name + (in_third_person(said, sentence.speaker) if sentence.speaker else said), keys)


def _speaker(sentence: Sentence) -> str:
    """The name before what somebody says in a dialogue, where it does not stand there anyway."""
    said = sentence.block.terms.text[sentence.start : sentence.end]
    return f"{sentence.speaker}: " if sentence.speaker and sentence.speaker not in said else ""


_FIRST_PERSON = {
    "i am": "{} is",
    "i'm": "{} is",
    "i have": "{} has",
    "i've": "{} has",
    "i'd": "{} would",
    "i'll": "{} will",
    "i was": "{} was",
    "i": "{}",
    "me": "{}",
    "my": "{}'s",
    "mine": "{}'s",
    "myself": "{}",
}
_SECOND_PERSON = {"you": "{}", "your": "{}'s", "are you": "is {}", "do you": "does {}", "have you": "has {}"}
_PERSONS = re.compile(
    r"(?<![\w'])(?:" + "|".join(sorted({**_FIRST_PERSON, **_SECOND_PERSON}, key=len, reverse=True)) + r")(?![\w'])",
    re.IGNORECASE,
)


def in_third_person(said: str, speaker: str) -> str:
    """What somebody says with their name for "I" and "my", and for the "you" of a question that they answer.

    >>> in_third_person("Doctor: Do you smoke? Patient: No, I'm off it, thanks to my wife.", "Patient")
    "Doctor: does Patient smoke? Patient: No, Patient is off it, thanks to Patient's wife."
    """
    words = {**_FIRST_PERSON, **_SECOND_PERSON} if "?" in said else _FIRST_PERSON

    def named(match: re.Match[str]) -> str:
        return words.get(match.group().lower(), match.group()).replace("{}", speaker)

    return _PERSONS.sub(named, said.replace("’", "'"))
