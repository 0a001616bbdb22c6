"""What an engine writes about a page instead of from it: refusals, apologies, wrappers, notes and descriptions.

Sentences are looked at one by one, and the words of a language count together only within one. Refusals are those that
`text.abstention` finds in any answer; as letters and books have such sentences as well ("I cannot come before the
tenth"), one counts here only when it speaks of the page or begins the response with an apology. Whether a remark is on
the page after all is not asked here: whoever reads the page keeps the remarks that have words without a place on it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cache

from msgspec import Struct, structs

from hallumeter.text.abstention import default_detector
from hallumeter.text.lexicon import RemarkWords, lexicons_with
from hallumeter.text.phrases import Phrase, PhraseFinder, parse_phrase

from .records import RemarkKind

FENCES = ("```", "~~~")
"""What stands before and after a text in Markdown that is to be shown as it is."""

_APOSTROPHES = str.maketrans("\u2018\u2019\u02bc\u2010\u2011", "'''--")
_LINE = re.compile(r"[^\n]+")
_SENTENCE_END = re.compile(r"[.!?。](?=[\s)\]\"'*_]|$)")
# A longer row of tildes is a rule.
_FENCE = re.compile(r"^[ \t]*(?:```|~~~(?!~))[^\n`]*$", re.MULTILINE)
_PICTURE = re.compile(r"!\[[^\[\]\n]*\](?:\([^()\n]*\))?")
# What stands inside must not hold another one, so that each is found in one pass.
_BRACKET = re.compile(
    r"\[{1,3}[^\[\]]{1,600}\]{1,3}|\{[^{}\n]{1,200}\}|\([^()\n]{1,400}\)|(?<![*\w])\*{1,2}[^*\n]{2,200}\*{1,2}(?!\w)"
)
_MARKS = " \u00a0\u202f\t\r*_#>-–—•`~|+=[](){}\"'“”«»…."
_ITEM = re.compile(r"\s*(?:[-*•–]|\d+[.)])\s")
_WORD = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
_GOES_ON = re.compile(r"[^\w\n]*\w")
_LONGEST_LABEL = 8
_LONGEST_NOTE = 14
_LONGEST_PICTURE = 45
"""Words: a longer text in brackets is more than the name of a part, a note, the account of a picture."""
_HEAD = 7
"""Words before the verb of a sentence that says what the page shows."""
_NEAR = 40
"""Characters at the start of a response within which an apology stands."""
_TELLING = ("page", "apologies", "openers", "closers", "titles", "notices", "assents")
"""A text without any of these has no sentence that is a remark."""


class Remark(Struct, frozen=True):
    """Some text about the page."""

    start: int
    end: int
    kind: RemarkKind


def find_remarks(text: str) -> list[Remark]:
    r"""Every remark, in the order of the text; none overlaps another.

    >>> text = "Here is the transcription:\nDear Sir [illegible]"
    >>> [(each.kind, text[each.start : each.end]) for each in find_remarks(text)]
    [('wrapper', 'Here is the transcription:'), ('note', '[illegible]')]
    """
    plain = _plain(text)
    found = _Found()
    for fence in _FENCE.finditer(plain):
        found.add(fence.start(), fence.end(), "wrapper")
    refusals = default_detector().refusals(text)
    heads: set[tuple[int, int]] = set()
    for cues in _finder().find(plain):
        cues.places["refusals"] = [(start, end) for start, end, language in refusals if language == cues.language.name]
        notes = list(_notes(plain, cues))
        own_heads = {note for note in notes if _opens_notice(plain, *note, cues=cues)}
        # A note is no part of the sentence that it stands in, unless that is a remark as a whole, or the note its head.
        outside = cues.outside(note for note in notes if note not in own_heads)
        if any(outside.places[name] for name in _TELLING):
            _find_sentences(plain, outside, found)
        for start, end in notes:
            if (start, end) not in own_heads:
                found.add(start, end, "note")
        heads |= own_heads
    for start, end in sorted(heads):  # where no language took them for the head of a remark
        found.add(start, end, "note")
    return found.in_order()


def _plain(text: str) -> str:
    """The text in lower case with plain apostrophes, every character in its place."""
    text = text.translate(_APOSTROPHES)
    plain = text.lower()
    if len(plain) == len(text):
        return plain
    return "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)


class _Found:
    """Remarks without overlap: what was found first stays."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._remarks: list[Remark] = []

    def add(self, start: int, end: int, kind: RemarkKind) -> None:
        place = bisect_right(self._starts, start)
        is_after = place == 0 or self._remarks[place - 1].end <= start
        is_before = place == len(self._remarks) or self._remarks[place].start >= end
        if is_after and is_before and start < end:
            self._starts.insert(place, start)
            self._remarks.insert(place, Remark(start, end, kind))

    def in_order(self) -> list[Remark]:
        return self._remarks


# The words of the lexicons, and where they stand in a text.


class _Names:
    """Words that may stand in a label; in Korean, with what follows them."""

    def __init__(self, words: Iterable[str], *, is_open: bool) -> None:
        self._words = {part for word in words for part in word.split()}
        self._beginnings = tuple(self._words) if is_open else ()

    def hold(self, words: Iterable[str]) -> bool:
        return all(word in self._words or word.isdigit() or word.startswith(self._beginnings) for word in words)


class _Language:
    """A language, and the words that may stand among those of a label, a title, before a verb."""

    def __init__(self, name: str, words: RemarkWords) -> None:
        self.name = name
        is_open = name == "ko"
        self.names = _Names((*words.parts, *words.notes, *words.pictures, *words.fillers), is_open=is_open)
        self.titles = _Names((*words.titles, *words.page, *words.parts, *words.fillers), is_open=is_open)
        self.fillers = _Names(words.fillers, is_open=is_open)


class _Finder:
    """Finds the words of all languages at once."""

    def __init__(self) -> None:
        self._languages: list[_Language] = []
        phrases: list[tuple[Phrase, tuple[int, str]]] = []
        for number, lexicon in enumerate(lexicons_with("remarks")):
            self._languages.append(_Language(lexicon.language, lexicon.remarks))
            for name, words in structs.asdict(lexicon.remarks).items():
                phrases += [(parse_phrase(word, {}), (number, name)) for word in words if name != "fillers"]
        self._phrases = PhraseFinder(phrases, fold_case=True)

    def find(self, text: str) -> Iterator[_Cues]:
        """The cues of each language that has any."""
        found: list[dict[str, list[tuple[int, int]]]] = [
            {name: [] for name in RemarkWords.__struct_fields__} for _ in self._languages
        ]
        for start, end, (number, name) in self._phrases.find(text):
            found[number][name].append((start, end))
        for language, places in zip(self._languages, found, strict=True):
            if any(places.values()):
                yield _Cues(language, {name: sorted(own) for name, own in places.items()})


@cache
def _finder() -> _Finder:
    return _Finder()


class _Cues:
    """Where the words of one language stand in a text."""

    def __init__(self, language: _Language, places: dict[str, list[tuple[int, int]]]) -> None:
        self.language = language
        self.places = places

    def first(self, name: str, start: int, end: int) -> tuple[int, int] | None:
        """The first word of a list inside a part of the text."""
        own = self.places[name]
        inside = range(bisect_left(own, (start, start)), bisect_left(own, (end, 0)))
        return next((own[place] for place in inside if own[place][1] <= end), None)

    def has(self, name: str, start: int, end: int) -> bool:
        return self.first(name, start, end) is not None

    def begins(self, name: str, start: int, end: int) -> int | None:
        """Where the longest word of a list ends that a part of the text begins with."""
        own = self.places[name]
        ends = [last for _, last in own[bisect_left(own, (start, 0)) : bisect_left(own, (start + 1, 0))] if last <= end]
        return max(ends, default=None)

    def outside(self, spans: Iterable[tuple[int, int]]) -> _Cues:
        """The cues that stand in none of these parts."""
        covered = sorted(spans)
        if not covered:
            return self
        kept = {
            name: [each for each in own if not _is_covered(each[0], covered)] if own else own
            for name, own in self.places.items()
        }
        return _Cues(self.language, kept)


def _is_covered(place: int, spans: list[tuple[int, int]]) -> bool:
    at = bisect_right(spans, (place, place)) - 1
    nearest = [spans[near] for near in (at, at + 1) if 0 <= near < len(spans)]
    return any(start <= place < end for start, end in nearest)


class _Part(Struct, frozen=True):
    """A part of a text without the marks around it."""

    text: str
    start: int
    end: int
    cues: _Cues

    def has(self, name: str) -> bool:
        return self.cues.has(name, self.start, self.end)

    def after(self, place: int) -> _Part:
        return _Part(self.text, place, self.end, self.cues)

    @property
    def words(self) -> list[str]:
        return _WORD.findall(self.text, self.start, self.end)

    @property
    def is_label(self) -> bool:
        """Whether it does nothing but name a part of a page."""
        return self.has("parts") and len(self.words) <= _LONGEST_LABEL and self.cues.language.names.hold(self.words)

    @property
    def is_title(self) -> bool:
        """Whether it does nothing but call what follows a transcription."""
        return self.has("titles") and len(self.words) <= _LONGEST_LABEL and self.cues.language.titles.hold(self.words)

    @property
    def is_note(self) -> bool:
        """Whether words in brackets are an editor's."""
        is_remark = self.has("notes") and len(self.words) <= _LONGEST_NOTE
        return is_remark or (self.has("pictures") and len(self.words) <= _LONGEST_PICTURE) or self.is_label

    @property
    def is_bare_note(self) -> bool:
        """Whether it has nothing but the words of a note."""
        return self.has("notes") and self.cues.language.names.hold(self.words)


def _part(text: str, start: int, end: int, *, cues: _Cues) -> _Part:
    while start < end and text[start] in _MARKS:
        start += 1
    while end > start and text[end - 1] in _MARKS:
        end -= 1
    return _Part(text, start, end, cues)


# Sentences.


def _find_sentences(text: str, cues: _Cues, found: _Found) -> None:
    """Refusals, apologies, wrappers, descriptions and remarks on the transcription, line by line."""
    listed: RemarkKind | None = None
    about: RemarkKind | None = None
    is_first = True
    for line in _LINE.finditer(text):
        if not line[0].strip(_MARKS):
            continue
        if listed is not None and _ITEM.match(line[0]):
            found.add(line.start(), line.end(), listed)
            continue
        listed = None
        for sentence in _kinds(text, line.span(), cues, is_first=is_first):
            kind = sentence.kind
            if kind in {"refusal", "description"}:
                about = kind
                listed = kind if text[sentence.end - 1] == ":" else None
            elif kind == "wrapper" and about is not None and cues.has("closers", sentence.start, sentence.end):
                kind = about  # an offer of more after a refusal belongs to that
            _add(Remark(sentence.start, sentence.end, kind), cues, found)
        is_first = False


def _add(sentence: Remark, cues: _Cues, found: _Found) -> None:
    """Keep a sentence; the words of an apology that begin a refusal are a remark of their own."""
    start = sentence.start
    sorry = cues.first("apologies", start, sentence.end) if sentence.kind == "refusal" else None
    if sorry is not None:
        found.add(start, sorry[1], "apology")
        start = sorry[1]
    found.add(start, sentence.end, sentence.kind)


def _kinds(text: str, line: tuple[int, int], cues: _Cues, *, is_first: bool) -> Iterator[Remark]:
    """The sentences of a line that are remarks; what follows one on its line belongs to it, but for wrappers."""
    before: RemarkKind | None = None
    for start, end in _sentences(text, *line):
        kind = _kind(_part(text, start, end, cues=cues), is_first=is_first, is_marked=text[start] in "#*_")
        if kind is None and before != "wrapper":
            kind = before
        if kind is not None:
            yield Remark(start, end, kind)
        before = kind


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the sentences of a line stand, without the space around them."""
    for stop in (*(match.end() for match in _SENTENCE_END.finditer(text, start, end)), end):
        whole = text[start:stop]
        if whole.strip(_MARKS):
            yield start + len(whole) - len(whole.lstrip()), stop - len(whole) + len(whole.rstrip())
        start = stop


def _kind(sentence: _Part, *, is_first: bool, is_marked: bool) -> RemarkKind | None:
    if _refuses(sentence, is_first=is_first):
        return "refusal"
    is_heading = is_marked or sentence.text[sentence.end - 1] == ":"
    if _wraps(sentence, is_first=is_first) or (is_heading and sentence.is_title):
        return "wrapper"
    if _is_notice(sentence):
        return "note"
    return "description" if _describes(sentence) else None


def _refuses(sentence: _Part, *, is_first: bool) -> bool:
    if sentence.has("page"):
        return any(sentence.has(name) for name in ("refusals", "poor", "better"))
    # "I'm sorry, I can't help with that."
    near = min(sentence.end, sentence.start + _NEAR)
    return is_first and sentence.has("refusals") and sentence.cues.has("apologies", sentence.start, near)


def _wraps(sentence: _Part, *, is_first: bool) -> bool:
    opener = sentence.cues.first("openers", sentence.start, sentence.end)
    if opener is not None and sentence.after(opener[0]).has("transcripts"):
        return True
    if sentence.has("closers"):
        return True
    assent = sentence.cues.begins("assents", sentence.start, sentence.end) if is_first else None
    return assent is not None and not sentence.after(assent).words


def _end_of_notice(part: _Part) -> int | None:
    """Where the words end that announce a remark; None when a text does not begin with any."""
    return part.cues.begins("notices", part.start, part.end)


def _is_notice(sentence: _Part) -> bool:
    """Whether a sentence announces a remark and speaks of the page or of how it was read."""
    end = _end_of_notice(sentence)
    if end is None:
        return False
    rest = sentence.after(end)
    if sentence.text[end : sentence.end].lstrip(_MARKS)[:1] not in {":", ""}:
        return False
    return not rest.words or any(rest.has(name) for name in ("page", "poor", "reading", "transcripts"))


def _describes(sentence: _Part) -> bool:
    """Whether a sentence begins with the page, or with "this", and says what it shows."""
    verb = sentence.cues.first("describes", sentence.start, sentence.end)
    if verb is None or not sentence.has("page"):
        return False
    before = _Part(sentence.text, sentence.start, verb[0], sentence.cues)
    words = before.words
    if len(words) > _HEAD:
        return False
    return before.has("page") or (0 < len(words) <= 2 and sentence.cues.language.fillers.hold(words))


# Brackets, emphasised lines, and labels before a colon.


def _notes(text: str, cues: _Cues) -> Iterator[tuple[int, int]]:
    """Where notes stand."""
    for picture in _PICTURE.finditer(text):
        yield picture.span()
    for bracket in _BRACKET.finditer(text):
        end = _end_of_note(text, *bracket.span(), cues=cues)
        if end is not None:
            yield bracket.start(), end
    if not cues.places["parts"]:
        return
    for line in _LINE.finditer(text):
        label, colon, _ = line[0].partition(":")
        is_emphasised = line[0].lstrip().startswith(("#", "*", "_"))
        end = line.start() + len(label)
        if (colon or is_emphasised) and _part(text, line.start(), end, cues=cues).is_label:
            yield line.start(), end


def _opens_notice(text: str, start: int, end: int, *, cues: _Cues) -> bool:
    """Whether a note is only the emphasised head of what follows on its line: "**Note:** The page is torn."."""
    head = _part(text, start, end, cues=cues)
    is_head = text[start] == "*" and (last := _end_of_notice(head)) is not None and not head.after(last).words
    return is_head and _GOES_ON.match(text, end) is not None


def _end_of_note(text: str, start: int, end: int, *, cues: _Cues) -> int | None:
    """Where a note ends that begins with a bracket; None when what is in it may have been read from the page."""
    inside = _part(text, start, end, cues=cues)
    if text[start] in "*(":
        return end if inside.is_bare_note or _is_notice(inside) else None
    colon = text.find(":", start, end)
    label = _part(text, start, colon, cues=cues) if colon >= 0 else None
    is_named = label is not None and label.is_label
    if label is not None and _end_of_notice(label) == label.end:
        return end
    if not inside.is_note:
        return colon if is_named else None
    # The words after the name of a part are a reading of it: "[Left page: Dear Sir]".
    if label is not None and is_named and not label.has("pictures") and not cues.has("notes", colon, end):
        return colon
    return end
