"""The English words that the reader knows, in the form in which it looks for them."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache
from typing import Generic, Literal, TypeVar, cast

from msgspec import Struct

from hallumeter.aspects.readers.protocol import CueKind, FoundCue, FoundPolarity
from hallumeter.aspects.records.aspect import Polarity
from hallumeter.aspects.sentiment_words import SentimentWords, sentiment_words

# The words and marks of an English text, and where they stand in it.

# A word keeps its combining marks and inner apostrophes ("don't"), but a final 's is a word of its own.
_TOKEN = re.compile("[^\\W_](?:[^\\W_]|[\u0300-\u036f])*(?:['’](?!s\\b)[^\\W_]+)*|['’]s\\b|[^\\w\\s]|_", re.IGNORECASE)


class Tokens(Struct, frozen=True):
    """The words and marks of a text, in its order; every tuple has one entry for each."""

    starts: tuple[int, ...]
    """Where each begins, in code points of the text as it was given."""
    ends: tuple[int, ...]
    words: tuple[str, ...]
    """In lower case, without accents, with a straight apostrophe."""
    capitals: tuple[int, ...]
    """0 without a capital at the start, 1 with one at the beginning of the text, 2 with one elsewhere."""

    def __len__(self) -> int:
        return len(self.words)

    def covering(self, start: int, end: int) -> tuple[int, int]:
        """First and one past the last of the words that a stretch of text touches; equal when it touches none.

        >>> tokens_of("the wine list").covering(5, 10)
        (1, 3)
        """
        # The first word that ends behind a place.
        low, high = 0, len(self.ends)
        while low < high:
            middle = (low + high) // 2
            if self.ends[middle] <= start:
                low = middle + 1
            else:
                high = middle
        first = low
        last = first
        while last < len(self.words) and self.starts[last] < end:
            last += 1
        return first, last


def tokens_of(text: str) -> Tokens:
    """Cut a text into words and marks.

    >>> tokens_of("The waiter's rude, don't go").words
    ('the', 'waiter', "'s", 'rude', ',', "don't", 'go')
    """
    spans = [match.span() for match in _TOKEN.finditer(text)]
    if text.isascii():
        lower = text.lower()
        words = tuple([lower[start:end] for start, end in spans])
    else:
        words = tuple([folded(text[start:end]) for start, end in spans])
    return Tokens(
        tuple([start for start, _ in spans]),
        tuple([end for _, end in spans]),
        words,
        tuple([(2 if start else 1) if text[start].isupper() else 0 for start, _ in spans]),
    )


def folded(word: str) -> str:
    """A word in the form in which it is looked for.

    >>> folded("CAFÉ"), folded("Don’t")
    ('cafe', "don't")
    """
    lower = word.lower()
    if lower.isascii():
        return lower
    plain = unicodedata.normalize("NFD", lower.replace("’", "'"))
    return "".join([letter for letter in plain if not unicodedata.combining(letter)]) or lower


# Sequences of words looked for at a place of a text, the longest first.

Value = TypeVar("Value")


class PhraseTable(Generic[Value]):
    """Phrases with a value each, cut into words as texts are.

    >>> PhraseTable([("not only", 1), ("not", 2)]).find(("it", "'s", "not", "only", "good"))
    [(2, 4, 1)]
    """

    def __init__(self, phrases: Iterable[tuple[str, Value]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], Value]]] = {}
        for phrase, value in phrases:
            words = tokens_of(phrase).words
            self._by_first.setdefault(words[0], []).append((words, value))
        for entries in self._by_first.values():
            entries.sort(key=lambda entry: -len(entry[0]))

    def find(self, words: Sequence[str]) -> list[tuple[int, int, Value]]:
        """First word, one past the last and value of the phrases of a text, none inside another."""
        found = []
        by_first = self._by_first
        place = 0
        for index, word in enumerate(words):
            if index < place or word not in by_first:
                continue
            for phrase, value in by_first[word]:
                length = len(phrase)
                if length == 1 or tuple(words[index : index + length]) == phrase:
                    found.append((index, index + length, value))
                    place = index + length
                    break
        return found


LANGUAGE = "en"

DenialKind = Literal["whole", "denied", "next", "clause"]
"""Says it all by itself, or behind a negation; turns the word behind it, or what its clause goes on with."""


class Wording(Struct, frozen=True):
    """Tables for the passes over a text."""

    weights: dict[str, float]
    """Of single words."""
    feelings: PhraseTable[float]
    """Weights of words and phrases."""
    cues: PhraseTable[str]
    """Words of negation, contrast and irony with their kind; an idiom that only looks like one has no kind."""
    factors: dict[str, float]
    """Of intensifiers and diminishers."""
    negations: frozenset[str]
    contrasts: frozenset[str]
    """Single words."""
    stop_words: frozenset[str]
    aspect_nouns: frozenset[str]
    clause_starts: frozenset[str]
    subjects: frozenset[str]
    linking: frozenset[str]
    determiners: frozenset[str]
    prepositions: frozenset[str]
    auxiliaries: frozenset[str]
    undeniable: frozenset[str]
    suppositions: frozenset[str]
    could_not: frozenset[str]
    wished: frozenset[str]
    expected: frozenset[str]
    denials: PhraseTable[tuple[DenialKind, int]]
    """Phrases that say something by a denial: their kind, and 1 where they praise, -1 where they blame."""


@cache
def wording() -> Wording:
    """The words, read once."""
    source = sentiment_words(LANGUAGE)
    single = {folded(word): weight for word, weight in source.words.items() if len(tokens_of(word)) == 1}
    aspects = [word for name in sorted(source.extra) if name.startswith("aspects_") for word in source.extra[name]]
    return Wording(
        weights=single,
        feelings=PhraseTable([*source.words.items(), *source.phrases.items()]),
        cues=PhraseTable(_cues(source)),
        factors={**source.intensifiers, **source.diminishers},
        negations=frozenset(source.negations),
        contrasts=frozenset(word for word in source.contrasts if " " not in word),
        stop_words=frozenset(source.stop_terms),
        aspect_nouns=frozenset(aspects),
        clause_starts=frozenset(source.extra["clause_starts"]),
        subjects=frozenset(source.extra["subjects"]),
        linking=frozenset(source.extra["linking"]),
        determiners=frozenset(source.extra["determiners"]),
        prepositions=frozenset(source.extra["prepositions"]),
        auxiliaries=frozenset(source.extra["auxiliaries"]),
        undeniable=frozenset(source.extra["undeniable"]),
        suppositions=frozenset(source.extra["suppositions"]),
        could_not=frozenset(source.extra["could_not"]),
        wished=frozenset(source.extra["wished"]),
        expected=frozenset(source.extra["expected"]),
        denials=PhraseTable(_denial_phrases(source)),
    )


def _cues(source: SentimentWords) -> list[tuple[str, str]]:
    kinds = {"negation": source.negations, "contrast": source.contrasts, "irony": source.irony}
    cues = [(phrase, kind) for kind, phrases in kinds.items() for phrase in phrases]
    idioms = [*source.extra["no_contrast"], *source.extra["no_negation"]]
    return [*cues, *((phrase, "") for phrase in idioms)]


def _denial_phrases(source: SentimentWords) -> list[tuple[str, tuple[DenialKind, int]]]:
    """The phrases of denials; favourable ones of the lexicon that have a negation in them are among them."""
    negations = frozenset(source.negations)
    favourable = [
        each for each, weight in source.phrases.items() if weight > 0 and each not in source.extra["no_praise"]
    ]
    denied = [phrase for phrase in favourable if not negations.isdisjoint(tokens_of(phrase).words)]
    lists: list[tuple[Iterable[str], DenialKind, int]] = [
        (denied, "whole", 1),
        (source.extra["praises"], "whole", 1),
        (source.extra["blames"], "whole", -1),
        (source.extra["faults"], "denied", 1),
        (source.extra["reversals"], "next", 0),
        (source.extra["doubts"], "clause", 0),
    ]
    return [(phrase, (kind, sign)) for phrases, kind, sign in lists for phrase in phrases]


# Where the clauses of a sentence begin, and the words in it that turn, oppose or mock.

_PAUSES = frozenset(',;:.!?()[]—–…"“”')
_STOPS = frozenset(";.!?…")
_DASHES = frozenset("-—–")


class Clauses(Struct, frozen=True):
    """Which clause each word belongs to; both counts grow with the text."""

    parts: tuple[int, ...]
    """Counted at every pause, word of contrast and joined clause."""
    turns: tuple[int, ...]
    """Counted where a sentence ends or turns against itself."""
    cues: tuple[tuple[int, int, str], ...]
    """First word, one past the last, and kind of each cue."""

    def stretch(self, word: int) -> tuple[int, int]:
        """First and one past the last word of the clause of a word."""
        part = self.parts[word]
        return bisect_left(self.parts, part), bisect_right(self.parts, part)


def clauses_of(tokens: Tokens, known: Wording) -> Clauses:
    """Cut a text into clauses and find its cues."""
    words = tokens.words
    cues = tuple([cue for cue in known.cues.find(words) if cue[2]])
    contrasts = {first for first, _, kind in cues if kind == "contrast"}
    parts, turns = [], []
    part = turn = 0
    for index, word in enumerate(words):
        if index in contrasts:
            part += 1
            turn += 1
        elif not word[0].isalnum():
            part += word in _PAUSES or (word in _DASHES and _stands_apart(tokens, index))
            turn += word in _STOPS
        elif word in known.clause_starts and words[index + 1 : index + 2] and words[index + 1] in known.subjects:
            part += 1
        parts.append(part)
        turns.append(turn)
    return Clauses(tuple(parts), tuple(turns), cues)


def found_cues(tokens: Tokens, clauses: Clauses) -> tuple[FoundCue, ...]:
    """The cues with what they act on: a negation the rest of its clause, the others their whole clause."""
    found = []
    for first, last, kind in clauses.cues:
        from_word, to_word = clauses.stretch(first)
        from_word, to_word = (first if kind == "negation" else from_word), max(to_word, last)
        found.append(
            FoundCue(
                cast("CueKind", kind),
                tokens.starts[first],
                tokens.ends[last - 1],
                tokens.starts[from_word],
                tokens.ends[to_word - 1],
            )
        )
    return tuple(found)


def _stands_apart(tokens: Tokens, index: int) -> bool:
    """Whether a dash is no part of a word: a space or another mark stands beside it."""
    is_free_left = index == 0 or tokens.ends[index - 1] < tokens.starts[index]
    is_free_right = index + 1 == len(tokens) or tokens.ends[index] < tokens.starts[index + 1]
    return is_free_left or is_free_right or not tokens.words[index + 1][0].isalnum()


# What the words of a sentence show by themselves: weights of the lexicon, turned by negation and scaled by degree.

_REACH = 4
"""How many words a negation reaches forward."""
_TURNED = -0.75
"""What is left of a weight that is negated: "not great" says less than "bad"."""
_LATER = 1.5
"""How much more weighs what follows the last turn of a sentence than what was said before it."""
_UNDECIDED = 1.0
"""The weight of nothing being said, so that little evidence gives little confidence."""


class Feeling(Struct, frozen=True):
    """Words that weigh something."""

    first: int
    """The first word, with what negates and scales it."""
    core: int
    """The first word that itself weighs something."""
    last: int
    """One past the last word."""
    weight: float
    is_turned: bool = False
    """Whether a negation turned the weight round: "not bad"."""


def feelings_of(tokens: Tokens, clauses: Clauses, known: Wording) -> tuple[Feeling, ...]:
    """The words of a text that weigh something, in its order."""
    words, parts = tokens.words, clauses.parts
    weighed = known.feelings.find(words)
    negated = _negated(clauses, {core for core, last, _ in weighed if last > core + 1})
    found: list[Feeling] = []
    for core, last, weight in weighed:
        # Whether a word such as "pretty" only scales the word behind it.
        if not weight or (words[core] in known.factors and (last < len(words) and words[last] in known.weights)):
            continue
        start, factor = core, 1.0
        while start > 0 and core - start < 2 and words[start - 1] in known.factors and parts[start - 1] == parts[core]:
            start -= 1
            factor *= known.factors[words[start]]
        by = negated.get(core)
        if by is not None:
            start, factor = min(start, by), factor * _TURNED
        found.append(Feeling(start, core, last, weight * factor, by is not None))
    return tuple(found)


def lexicon_polarity(text: str, start: int, end: int) -> Polarity:
    """The polarity of a term by the lexicon alone: the sign of what its clause weighs; the baseline of the reader.

    >>> text = "The food was great but the service was not good."
    >>> lexicon_polarity(text, 4, 8), lexicon_polarity(text, 27, 34), lexicon_polarity("We ate soup.", 7, 11)
    ('positive', 'negative', 'neutral')
    """
    tokens = tokens_of(text)
    known = wording()
    clauses = clauses_of(tokens, known)
    first, last = tokens.covering(start, end)
    if first == last:
        return "neutral"
    part = clauses.parts[first]
    weight = sum(
        feeling.weight for feeling in feelings_of(tokens, clauses, known) if clauses.parts[feeling.core] == part
    )
    return "positive" if weight > 0 else "negative" if weight < 0 else "neutral"


def whole_polarity(tokens: Tokens, clauses: Clauses, feelings: Sequence[Feeling]) -> FoundPolarity:
    """What is felt in a whole text by its words, clause by clause; what follows its last turn weighs more."""
    weights = {"positive": 0.0, "negative": 0.0}
    last_turn = clauses.turns[feelings[-1].core] if feelings else 0
    for feeling in feelings:
        is_later = clauses.turns[feeling.core] == last_turn
        weights["positive" if feeling.weight > 0 else "negative"] += abs(feeling.weight) * (_LATER if is_later else 1.0)
    total = weights["positive"] + weights["negative"] + _UNDECIDED
    distribution = {
        "positive": weights["positive"] / total,
        "negative": weights["negative"] / total,
        "neutral": _UNDECIDED / total,
    }
    difference = weights["positive"] - weights["negative"]
    polarity: Polarity = "positive" if difference > 0 else "negative" if difference < 0 else "neutral"
    shown = [feeling for feeling in feelings if (feeling.weight > 0) == (difference > 0)] if difference else []
    strongest = max(shown, key=lambda feeling: abs(feeling.weight), default=None)
    return FoundPolarity(
        polarity,
        distribution[polarity],
        distribution,
        start=None if strongest is None else tokens.starts[strongest.first],
        end=None if strongest is None else tokens.ends[strongest.last - 1],
    )


def _negated(clauses: Clauses, phrases: Set[int]) -> dict[int, int]:
    """The words that a negation reaches, and where it stands; one that begins a phrase is weighed with it."""
    reached: dict[int, int] = {}
    for first, last, kind in clauses.cues:
        if kind == "negation" and first not in phrases:
            end = min(last + _REACH, len(clauses.parts))
            reached |= {word: first for word in range(last, end) if clauses.parts[word] == clauses.parts[first]}
    return reached


# What is meant by denying something: "wasn't bad" and "nothing to complain about" praise, "couldn't be worse" blames.

_CLOSE = 2
"""Words between a negation and the bad thing that it denies, itself included: "not so bad"."""
_NEAR = 3
"""The same before a fault: "without a single problem"."""
_DENIERS = frozenset({"nothing", "neither", "nor", "none"})
"""Negations that deny what is bad behind them without a verb."""
_NAMING = frozenset({"call", "describe", "find", "found"})
"""After them something is said of a noun without a verb: "wouldn't call the rooms clean"."""
_MISSED = re.compile(
    r"\bcould (?:have been|be) (?:(?:a bit|a little|a lot|a touch|much|slightly|somewhat|way|far|even) )?"
    r"((?:more|less) \S+|[a-z]{2,}er)(?![^ ])"
)
_NO_DEGREES = frozenset({"after", "ever", "either", "never", "other", "over", "rather", "under", "together", "later"})
"""Words in -er that compare nothing."""
_UNEQUAL = re.compile(r"(?:\bnot|n't) (?:(?:quite|nearly|half|anywhere near) )?(?:as|so) (\S+ as)((?: \S+){0,3})")
_WORST = frozenset({"worst"})
"""Who denies this does not praise: "not the worst"."""


class Denial(Struct, frozen=True):
    """Words that say the opposite of what they name."""

    first: int
    last: int
    """One past the last word."""
    sign: int
    """1 where they praise, -1 where they blame, 0 where they do neither."""
    is_phrase: bool = True
    """Whether they are known words, and not just a negation of something bad."""


def denials_of(tokens: Tokens, clauses: Clauses, feelings: Sequence[Feeling], *, known: Wording) -> tuple[Denial, ...]:
    """The words of a text that say the opposite of what they name.

    >>> tokens = tokens_of("The cook wasn't rude")
    >>> clauses = clauses_of(tokens, wording())
    >>> denials_of(tokens, clauses, feelings_of(tokens, clauses, wording()), known=wording())
    (Denial(first=2, last=4, sign=1, is_phrase=False),)
    """
    words, parts = tokens.words, clauses.parts
    found = [*_comparisons(words, parts, known), *_wishes(words, parts, known)]
    for first, last, (kind, sign) in known.denials.find(words):
        if kind == "whole":
            found.append(Denial(first, last, sign))
        elif kind == "denied":
            by = [cue[0] for cue in clauses.cues if cue[2] == "negation" and 0 < first - cue[0] <= _NEAR]
            found += [Denial(place, last, sign) for place in by[-1:] if parts[place] == parts[first]]
        else:
            behind = [each for each in feelings if each.core >= last and parts[each.core] == parts[first]][:1]
            is_named = words[last - 1] in _NAMING
            found += [
                Denial(first, each.last, -_own_sign(each))
                for each in behind
                if each.core - last <= _CLOSE
                or (kind == "clause" and (is_named or not known.linking.isdisjoint(words[last : each.core])))
            ]
    taken = {place for each in found for place in range(each.first, each.last)}
    for feeling in feelings:
        if feeling.core not in taken and _is_denied(words, parts, feeling, known=known):
            sign = int(_WORST.isdisjoint(words[feeling.core : feeling.last]))
            found.append(Denial(feeling.first, feeling.last, sign, is_phrase=False))
    supposed = {part for part, word in zip(parts, words, strict=True) if word in known.suppositions}
    return tuple(each for each in found if parts[each.first] not in supposed)


def _own_sign(feeling: Feeling) -> int:
    """Whether what is felt is good or bad by itself, without what negates it."""
    return 1 if (feeling.weight > 0) != feeling.is_turned else -1


def _is_denied(words: Sequence[str], parts: Sequence[int], feeling: Feeling, *, known: Wording) -> bool:
    """Whether a negated verb, a negation behind a verb, or "nothing" and "nor" stand close before something bad."""
    first = feeling.first
    core = words[feeling.core : feeling.last]
    if (
        not feeling.is_turned
        or feeling.weight < 0
        or not known.undeniable.isdisjoint(core)
        or words[first] in known.could_not
    ):
        return False
    if words[first] in _DENIERS:
        return True
    verb = first if words[first].endswith("n't") else first - 1
    if feeling.core - first > _CLOSE or verb < 0 or parts[verb] != parts[first]:
        return False
    is_request = words[verb] in {"do", "don't"} and (
        not verb or parts[verb - 1] != parts[verb] or not words[verb - 1][0].isalnum()
    )
    is_verb = verb == first or words[verb] in known.linking or words[verb] in known.auxiliaries
    return is_verb and not is_request


def _comparisons(words: Sequence[str], parts: Sequence[int], known: Wording) -> list[Denial]:
    """What could not be more of something: "couldn't have been nicer" praises, "couldn't be less clear" blames."""
    found = []
    for first, word in enumerate(words):
        last = (
            first + 1
            if word in known.could_not
            else first + 2
            if " ".join(words[first : first + 2]) in known.could_not
            else first
        )
        if last == first:
            continue
        last += words[last : last + 1] == ("have",)
        if last >= len(words) or words[last] not in {"be", "been", "get", "gotten"}:
            continue
        last += 1 + (words[last + 1 : last + 2] == ("any",))
        sign = _comparative(words[last : last + 2], known) if parts[min(last, len(words) - 1)] == parts[first] else 0
        if sign:
            found.append(Denial(first, last + 1 + (words[last] in {"more", "less"}), sign))
    return found


def _wishes(words: Sequence[str], parts: Sequence[int], known: Wording) -> Iterator[Denial]:
    """What is missed: "could have been warmer", "not as loud as I hoped"; "not as bad as I feared" praises."""
    text = " ".join(words)
    for match in _MISSED.finditer(text):
        compared = match[1].split()
        yield from _within(match, parts, sign=-(_comparative(compared, known) or compared[-1] not in _NO_DEGREES))
    for match in _UNEQUAL.finditer(text):
        weight = known.weights.get(match[1].split()[0], 0.0)
        behind = match[2].split()
        own = (weight < 0) - (weight > 0) or -(not known.expected.isdisjoint(behind))
        yield from _within(match, parts, sign=own if known.wished.isdisjoint(behind) else -1)


def _within(match: re.Match[str], parts: Sequence[int], *, sign: int) -> Iterator[Denial]:
    """A denial in words joined by spaces, if it says something and its clause does not end within."""
    first, core, last = (match.string.count(" ", 0, place) for place in (match.start(), match.start(1), match.end(1)))
    if sign and parts[first] == parts[core]:
        yield Denial(first, last + 1, sign, is_phrase=False)


def _comparative(words: Sequence[str], known: Wording) -> int:
    """Whether the comparative at the start of some words says that something is good, bad, or neither.

    >>> [_comparative(words, wording()) for words in (("nicer",), ("less", "tasty"), ("the",))]
    [1, -1, 0]
    """
    word = words[0] if words else ""
    forms = [words[1]] if word in {"more", "less"} and len(words) > 1 else []
    if word.endswith("er"):
        forms = [word, word[:-2], word[:-1], word[:-3], f"{word[:-3]}y"]
    elif word == "worse":
        forms = [word]
    weight = next((known.weights[form] for form in forms if known.weights.get(form)), 0.0)
    return (weight > 0) - (weight < 0) if word != "less" else (weight < 0) - (weight > 0)
