"""What a language model is shown of the evidence, in what form it answers, and how to read what it sends instead."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from rapidfuzz import fuzz

from hallumeter.formats.records import label_of
from hallumeter.models.json_replies import LONGEST_TEXT, json_values
from hallumeter.models.protocol import ReplySchema
from hallumeter.records.claim import Label, cut_evidence_note
from hallumeter.records.response import Quote
from hallumeter.text.normalize import clean_text
from hallumeter.text.sentences import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from hallumeter.models.protocol import TokenLogprob
    from hallumeter.records.response import Passage

    Search: TypeAlias = Callable[[str, str], "tuple[int, int] | None"]


_LETTERS = re.compile(r"[^\W_]+")
_HANGUL = re.compile("[가-힣]")


class Piece(Struct, frozen=True):
    """A passage, or a part of one."""

    passage: Passage
    start: int
    """First character of the part in the passage."""
    end: int

    @property
    def text(self) -> str:
        """The words of the part."""
        return self.passage.text[self.start : self.end]


class Windows(Struct, frozen=True):
    """The parts of the evidence that are shown, and how much there was."""

    shown: tuple[tuple[Piece, ...], ...]
    """In the order of the evidence."""
    windows: int
    """How many there were."""
    shown_characters: int
    characters: int
    """How many there were; white space between sentences that are cut apart is left out of both."""

    @property
    def is_whole(self) -> bool:
        """Whether everything is shown."""
        return len(self.shown) == self.windows

    @property
    def in_words(self) -> str:
        """What was seen, for a note.

        >>> Windows(shown=((),), windows=3, shown_characters=8_000, characters=21_000).in_words
        'judged on 1 of 3 windows (8,000 of 21,000 characters)'
        """
        return cut_evidence_note(
            shown=len(self.shown),
            windows=self.windows,
            shown_characters=self.shown_characters,
            characters=self.characters,
        )


def cut_into_windows(
    passages: Sequence[Passage], claims: Iterable[str], *, window_characters: int, most_windows: int
) -> Windows:
    """Pack evidence into windows, and keep those that share most words with the claims.

    A passage that does not fit is cut between sentences, and a sentence that is longer than a window at white space.
    """
    windows = list(_packed(passages, window_characters))
    kept = list(range(len(windows)))
    if len(windows) > most_windows:
        wanted = set().union(*map(_keys, claims))
        shared = [len(wanted & set().union(*(_keys(piece.text) for piece in window))) for window in windows]
        kept = sorted(sorted(kept, key=lambda index: (-shared[index], index))[:most_windows])
    return Windows(
        shown=tuple(windows[index] for index in kept),
        windows=len(windows),
        shown_characters=sum(_length(windows[index]) for index in kept),
        characters=sum(map(_length, windows)),
    )


def _packed(passages: Iterable[Passage], size: int) -> Iterator[tuple[Piece, ...]]:
    window: list[Piece] = []
    room = size
    for passage in passages:
        if not passage.text.strip():
            continue
        pieces = [Piece(passage, 0, len(passage.text))]
        if len(passage.text) > size:
            pieces = list(_pieces(passage, size))
        for piece in pieces:
            length = piece.end - piece.start
            if window and length > room:
                yield tuple(window)
                window, room = [], size
            window.append(piece)
            room -= length + 1  # what was cut apart at a space does not come together again
    if window:
        yield tuple(window)


def _pieces(passage: Passage, size: int) -> Iterator[Piece]:
    """A long passage in parts of whole sentences."""
    start = end = None
    for sentence_start, sentence_end in sentence_spans(passage.text):
        if start is not None and end is not None and sentence_end - start > size:
            yield Piece(passage, start, end)
            start = None
        if start is None:
            start = sentence_start
        while sentence_end - start > size:
            cut = _cut_before(passage.text, start, start + size)
            yield Piece(passage, start, cut)
            start = cut
        end = sentence_end
    if start is not None and end is not None:
        yield Piece(passage, start, end)


def _cut_before(text: str, start: int, limit: int) -> int:
    """The last white space before a limit, else the limit."""
    spaces = [match.end() for match in re.compile(r"\s+").finditer(text, max(start + 1, limit - 200), limit)]
    return spaces[-1] if spaces else limit


def _keys(text: str) -> set[str]:
    """What is compared of a text: words in small letters, and of Korean words their first two syllables.

    Particles and endings are glued to Korean words, so that whole words seldom meet.
    """
    return {word[:2] if _HANGUL.match(word) else word for word in _LETTERS.findall(text.lower())}


def _length(window: Iterable[Piece]) -> int:
    return sum(piece.end - piece.start for piece in window)


# How sure a language model was of its labels, from the tokens that it could have written instead.

OUTCOMES = (Label.SUPPORTED, Label.REFUTED, Label.NOT_ENOUGH_INFO)
"""The order of the numbers in a distribution over labels."""
_LABEL = re.compile(r'"(?:label|verdict|\d+)"\s*:\s*"([^"\\]+)"')


def label_probabilities(tokens: Sequence[TokenLogprob]) -> list[tuple[float, ...] | None]:
    """A distribution over the three outcomes for each label of a reply, in the order of the reply.

    The first token that tells one label from another is looked at, and those that could have stood there: each is
    counted for the one label that it begins. What is left, tokens that begin no label or several, UNDECIDED, and
    tokens that the provider does not list, is not known to belong to any outcome: the distribution is that among the
    three outcomes, and None where none of them is listed.

    >>> from hallumeter.models.protocol import TokenLogprob
    >>> options = (("SUP", -0.5), ("REF", -1.5), ("NOT", -2.5), ("The", -3.0))
    >>> tokens = [TokenLogprob('{"1":"', 0.0), TokenLogprob("SUP", -0.5, options), TokenLogprob('PORTED"}', 0.0)]
    >>> [f"{probability:.3f}" for probability in label_probabilities(tokens)[0]]
    ['0.665', '0.245', '0.090']
    """
    starts = [0, *accumulate(len(token.token) for token in tokens)]
    text = "".join(token.token for token in tokens)
    places = [match.start(1) for match in _LABEL.finditer(text) if label_of(match[1]) is not None]
    found = []
    for place in places:
        index = bisect_right(starts, place) - 1
        found.append(_distribution(tokens[index], place - starts[index]))
    return found


def _distribution(token: TokenLogprob, before: int) -> tuple[float, ...] | None:
    """The distribution where a token stands whose first characters are not yet part of the label."""
    head = token.token[:before]
    masses = dict.fromkeys(Label, 0.0)
    options = dict(token.alternatives)
    options.setdefault(token.token, token.logprob)
    for option, logprob in options.items():
        label = _label_begun_by(option.removeprefix(head)) if option.startswith(head) else None
        if label is not None and logprob <= 0:
            masses[label] += math.exp(logprob)
    total = math.fsum(masses[label] for label in OUTCOMES)
    return tuple(masses[label] / total for label in OUTCOMES) if total > 0 else None


def _label_begun_by(option: str) -> Label | None:
    """The only label that a token can begin; letters of either case, since models write both."""
    letters = option.strip(' "\n,}').upper()
    begun = [label for label in Label if letters and (label.value.startswith(letters) or letters == label.value)]
    return begun[0] if len(begun) == 1 else None


# Whether words that a judge quotes really stand in the evidence.

_LEAST_LIKENESS = 90.0
_LEAST_LIKENESS_OF_WORDS = 80.0
_SHORT_WORD = 4
"""Words of fewer letters must be the same: a slip in one ("not", "now") is another word."""
_ELLIPSIS = re.compile(r"\[?(?:\.\.\.|…)\]?")
_WORD = re.compile(r"\S+")
_LETTER = re.compile(r"[^\W_]")
_EDGE = " \t\r\n\"'“”‘’«»「」『』"
_WORD_EDGE = _EDGE + ".,;:!?()[]"


def find_quote(quote: str, pieces: Sequence[Piece], *, first: int | None = None) -> Quote | None:
    """The place of a quotation in the evidence; None when it does not stand there.

    It is looked for as it is; then without regard to case, white space and the shapes of quotes and dashes; then with
    tiny slips: a likeness of 90 in 100, word for word, never another number or a word more or less. Of a quotation
    with an ellipsis all parts must be there, in one piece and in order; its place reaches from the first to the last.

    Args:
        quote: The words.
        pieces: The evidence that was shown.
        first: Index of the piece that the judge named; it is looked through before the others.
    """
    parts = [part for part in map(_trimmed, _ELLIPSIS.split(quote)) if _LETTER.search(part) is not None]
    if not parts:
        return None
    order = sorted(range(len(pieces)), key=lambda index: (index != first, index))
    for search in (_as_written, _as_typed, _with_slips):
        for index in order:
            if (span := _place_of(parts, pieces[index].text, search)) is not None:
                return _quote_of(pieces[index], *span)
    return None


def _trimmed(text: str) -> str:
    return text.strip(_EDGE)


def _quote_of(piece: Piece, start: int, end: int) -> Quote:
    first, last = piece.start + start, piece.start + end
    return Quote(piece.passage.evidence_id, start=first, end=last, quote=piece.passage.text[first:last])


def _place_of(parts: Sequence[str], text: str, search: Search) -> tuple[int, int] | None:
    start, end = None, 0
    for part in parts:
        span = search(part, text[end:])
        if span is None:
            return None
        start = end + span[0] if start is None else start
        end += span[1]
    return None if start is None else (start, end)


def _as_written(words: str, text: str) -> tuple[int, int] | None:
    start = text.find(words)
    return None if start < 0 else (start, start + len(words))


def _as_typed(words: str, text: str) -> tuple[int, int] | None:
    clean = clean_text(text)
    pattern = r"\s+".join(map(re.escape, _folded(words).split()))
    match = re.search(pattern, clean.lower)
    return None if match is None or not pattern else clean.original_span(*match.span())


def _with_slips(words: str, text: str) -> tuple[int, int] | None:
    """Where the words stand but for a few letters."""
    wanted = _folded(words)
    clean = clean_text(text)
    if len(wanted) > len(clean.lower):  # the shorter text is looked for in the longer, whichever it is
        return None
    found = fuzz.partial_ratio_alignment(wanted, clean.lower, score_cutoff=_LEAST_LIKENESS)
    if found is None or found.dest_end <= found.dest_start:
        return None
    span = _whole_words(clean.lower, found.dest_start, found.dest_end, count=len(wanted.split()))
    if span is None or not _are_slips(wanted, clean.lower[slice(*span)]):
        return None
    return clean.original_span(*span)


def _whole_words(text: str, start: int, end: int, *, count: int) -> tuple[int, int] | None:
    """The run of words of a certain number that covers most of a stretch."""
    words = [match.span() for match in _WORD.finditer(text) if match.end() > start and match.start() < end]
    runs = [words[first : first + count] for first in range(len(words) - count + 1)]
    if not runs:
        return None
    best = max(runs, key=lambda run: min(end, run[-1][1]) - max(start, run[0][0]))
    return best[0][0], best[-1][1]


def _are_slips(wanted: str, found: str) -> bool:
    """Whether two runs of as many words differ by nothing but slips of the pen."""
    pairs = zip(wanted.split(), found.split(), strict=True)
    return all(_is_slip(one.strip(_WORD_EDGE), other.strip(_WORD_EDGE)) for one, other in pairs)


def _is_slip(one: str, other: str) -> bool:
    if one == other:
        return True
    if min(len(one), len(other)) < _SHORT_WORD or any(character.isdigit() for character in one + other):
        return False
    return one[0] == other[0] and fuzz.ratio(one, other) >= _LEAST_LIKENESS_OF_WORDS


def _folded(words: str) -> str:
    return clean_text(words).lower


_LABEL_KEYS = ("label", "verdict", "answer", "judgement", "judgment")
_NUMBER_KEYS = ("number", "claim_number", "claim", "id", "claim_id")
_LINE = re.compile(r"^[^\w\n]*(?:claim\s*)?#?(\d{1,4})\W+([A-Za-z][A-Za-z_ -]*)", re.MULTILINE | re.IGNORECASE)


class ClaimReply(Struct, frozen=True):
    """What a model says of one claim."""

    label: Label
    evidence_id: int | None = None
    """The number under which the evidence was shown."""
    quote: str | None = None
    note: str | None = None


class ReadReply(Struct, frozen=True):
    """What could be read of a reply, and what was wrong with the rest."""

    claims: dict[int, ClaimReply]
    """By the number of the claim."""
    problems: dict[int, str]
    """What was wrong with the entries of the others, by the number of the claim."""
    order: tuple[int, ...] = ()
    """The numbers of all entries as they stand in the reply; empty when an entry has none of those asked for."""


def reply_schema(numbers: Collection[int], *, wants_quotes: bool) -> ReplySchema:
    """The form of a reply: an object with one field for each claim, named by its number.

    So that no claim can be left out or judged twice. The quotation stands before the label, so that a model looks
    before it decides. Every field is required and no other allowed: the strictest providers take nothing else.
    """
    text: dict[str, object] = {"type": "string"}
    label: dict[str, object] = {"type": "string", "enum": [label.value for label in Label]}
    entry = label
    if wants_quotes:
        entry = _closed({"evidence_id": {"type": "integer"}, "quote": text, "label": label, "note": text})
    return ReplySchema("verdicts", _closed({str(number): entry for number in sorted(numbers)}))


def _closed(fields: Mapping[str, object]) -> dict[str, object]:
    return {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}


def read_reply(text: str, numbers: Collection[int]) -> ReadReply:
    """Read the verdicts on the claims of these numbers out of a reply.

    Taken are: JSON alone, in a code fence, in prose or cut off in the middle; labels or objects by number; a list of
    objects with or without a wrapping; lines such as ``2. REFUTED``. A number that two entries give different labels
    has no verdict, nor has one whose label is none.

    >>> read = read_reply('Sure! [{"number": 1, "label": "supports"}, {"number": 2, "label": "maybe"}]', [1, 2])
    >>> read.claims[1].label.value, read.problems
    ('SUPPORTED', {2: "'maybe' is not a label"})
    """
    entries = list(_entries(text))
    given: Sequence[int | None] = [_number_in(entry) for entry in entries]
    if len(entries) == len(numbers) and not any(given):
        given = sorted(numbers)
    claims: dict[int, ClaimReply] = {}
    problems: dict[int, str] = {}
    for number, entry in zip(given, entries, strict=True):
        if number not in numbers or number is None:
            continue
        label = label_of(_text_in(entry, _LABEL_KEYS) or "")
        if label is None:
            problems[number] = f"{_text_in(entry, _LABEL_KEYS)!r} is not a label"
        elif claims.setdefault(number, _claim_reply(entry, label)).label is not label:
            problems[number] = "it has two different labels"
    missing = "there is no entry for it" if entries else "the reply is not the JSON that was asked for"
    problems |= {number: missing for number in numbers if number not in problems.keys() | claims}
    return ReadReply(
        claims={number: reply for number, reply in claims.items() if number not in problems},
        problems=problems,
        order=tuple(number for number in given if number in claims) if claims.keys() >= set(given) else (),
    )


def repair_message(problems: Mapping[int, str], *, is_cut_off: bool) -> str:
    """What a model is told when its reply could not be used.

    >>> repair_message({2: "'maybe' is not a label"}, is_cut_off=False)[:67]
    "Your reply cannot be used: claim 2: 'maybe' is not a label. Reply w"
    """
    numbers = sorted(problems)
    said = "; ".join(f"claim {number}: {problems[number]}" for number in numbers)
    if is_cut_off:
        said = "it ended before it was complete"
    return (
        f"Your reply cannot be used: {said}. Reply with the JSON object only, in the form described, "
        f"with one entry for each of these claims and no others: {', '.join(map(str, numbers))}."
    )


def _claim_reply(entry: dict[str, object], label: Label) -> ClaimReply:
    place = entry.get("evidence_id")
    if isinstance(place, str):
        place = next(map(int, re.findall(r"\d{1,6}", place)), None)
    is_number = isinstance(place, int) and not isinstance(place, bool)
    return ClaimReply(
        label=label,
        evidence_id=place if is_number else None,  # type: ignore[arg-type]
        quote=_text_in(entry, ("quote", "evidence")),
        note=_text_in(entry, ("note", "reason")),
    )


def _entries(text: str) -> Iterator[dict[str, object]]:
    """Everything in a text that looks like what a model says of a claim."""
    found = [entry for value in json_values(text) for entry in _flattened(value)]
    if found:
        yield from found
        return
    for number, words in _LINE.findall(text[:LONGEST_TEXT]):
        if (label := label_of(words) or label_of(words.split()[0])) is not None:
            yield {"number": int(number), "label": label.value}


def _flattened(value: object, number: object = None) -> Iterator[dict[str, object]]:
    """The entries inside a value: objects with a label, or labels by number."""
    if isinstance(value, list):
        for item in value:
            yield from _flattened(item)
    elif isinstance(value, dict):
        if any(key in value for key in _LABEL_KEYS):
            yield {"number": number, **value}
            return
        for key, item in value.items():
            yield from _flattened(item, key)
    elif isinstance(value, str) and number is not None and _as_number(number) is not None:
        yield {"number": number, "label": value}


def _number_in(entry: dict[str, object]) -> int | None:
    return next((number for key in _NUMBER_KEYS if (number := _as_number(entry.get(key))) is not None), None)


def _as_number(value: object) -> int | None:
    """A number that was meant as one: 2, 2.0, "2", "claim 2"."""
    if isinstance(value, int):
        return None if isinstance(value, bool) else value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    match = re.fullmatch(r"(?:claim)?[\s_#]*(\d{1,6})\W*", value, re.IGNORECASE) if isinstance(value, str) else None
    return int(match[1]) if match else None


def _text_in(entry: dict[str, object], keys: tuple[str, ...]) -> str | None:
    value = next((entry[key] for key in keys if entry.get(key) not in (None, "")), None)
    return value if isinstance(value, str) else None if value is None else str(value)
