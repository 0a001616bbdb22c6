"""Whether a response refuses to answer, and with which words.

A response abstains when it says nothing about what was asked. It is read clause by clause (sentences, cut again
at a semicolon, at a colon, before "and it ..." and where "but" or "however" turns them):

* a clause with a cue ("I could not find any record") refuses, unless the cue is quoted, is part of a phrase that
  only looks like one ("I cannot say enough good things"), or follows a statement in the same clause;
* so does one in which the writers say in any words that they lack what an answer needs: a word for themselves, one
  that denies and one of what answers are made of, together ("That's a blind spot in my knowledge");
* a response of nothing but questions to the reader asks back, which is a refusal as well;
* a clause that greets, apologises, repeats the request or asks back says nothing; after a refusal neither does
  one that offers help, sends the reader elsewhere, or says why and what the sources hold instead;
* every other clause answers.

The response abstains when a clause refuses and none answers. It is a partial refusal when a clause refuses and
another answers: a refused detail beside a real answer, and a hedge. "I'm not sure, but I think he was born in 1950"
gives content that can be wrong, and is no abstention.
The cues, and all else that belongs to a language, are in `text/lexicons/<language>/refusals.toml`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cache
from itertools import accumulate
from typing import Literal

from msgspec import Struct

from hallumeter.errors import SettingsError

from .lexicon import Lexicon, RefusalWords, languages_with, load_lexicon
from .normalize import CleanText, clean_text
from .phrases import Phrase, PhraseFinder, parse_phrase
from .sentences import Quotations, iterate_sentence_spans

# The cues of refusal: the phrases of the lexicons, with the conditions under which they refuse.

_EXISTENCE = frozenset({"no_such_thing", "fictional", "false_premise"})
_KNOWN_TO_NOBODY = "known_to_nobody"


class Cue(Struct, frozen=True):
    """A phrase that refuses, with the conditions under which it does; `text.lexicon` has the notation."""

    phrase: str
    language: str | None
    begins_clause: bool = False
    ends_clause: bool = False
    before_name: bool = False
    denies_existence: bool = False
    calls_fictional: bool = False
    asks_back: bool = False
    known_to_nobody: bool = False
    """It says that the world does not know, which may be the answer."""


class Hit(Struct, frozen=True):
    """A cue, or one end of a cue with a gap, as found in a text."""

    start: int
    end: int
    cue: Cue
    is_first: bool
    is_last: bool


class _Part(Struct, frozen=True):
    """What a phrase is: a whole cue, one end of a cue with a gap, or, without a cue, a blocker."""

    cue: Cue | None
    is_first: bool = True
    is_last: bool = True


class CueFinder:
    """Finds cues in a text that `clean_text` has folded, and drops those within a blocker."""

    def __init__(
        self, lexicons: Sequence[Lexicon], *, extra: Sequence[str], removed: Sequence[str], fold_case: bool
    ) -> None:
        parts = [part for lexicon in lexicons for part in _lexicon_parts(lexicon)]
        parts += [(Phrase((phrase,), ()), _Part(Cue(phrase, None))) for phrase in extra]
        self._finder = PhraseFinder(parts, fold_case=fold_case)
        self._removed: frozenset[str] = frozenset()
        self._removed = frozenset(self._removable(phrase) for phrase in removed)

    def find(self, text: str) -> list[Hit]:
        """Cues and ends of cues, sorted by their starts."""
        hits: list[Hit] = []
        blocked: list[tuple[int, int]] = []
        for start, end, part in self._finder.find(text):
            if part.cue is None:
                blocked.append((start, end))
            elif not self._removed or text[start:end].lower() not in self._removed:
                hits.append(Hit(start, end, part.cue, part.is_first, part.is_last))
        if not any(hit.is_first for hit in hits):
            return []
        hits.sort(key=lambda hit: (hit.start, -hit.end))
        return _not_within(hits, sorted(blocked)) if blocked else hits

    def has_removed(self, words: str) -> bool:
        """Whether words have a cue that was removed."""
        return any(removed in words for removed in self._removed)

    def _removable(self, phrase: str) -> str:
        clean = clean_text(phrase)
        text = clean.lower
        if not any((hit.start, hit.end) == (0, len(text)) for hit in self.find(text)):
            raise SettingsError(
                f"removed cue {phrase!r}: there is no such cue; give the words as `cue` of a detection has them"
            )
        return text


def _not_within(hits: Iterable[Hit], blocked: Sequence[tuple[int, int]]) -> list[Hit]:
    starts = [start for start, _ in blocked]
    furthest_ends = [0, *accumulate((end for _, end in blocked), max)]
    return [
        hit
        for hit in hits
        # A cue with a gap says more than a blocker that stands at one of its ends.
        if not (hit.is_first and hit.is_last) or furthest_ends[bisect_right(starts, hit.start)] < hit.end
    ]


def _lexicon_parts(lexicon: Lexicon) -> Iterator[tuple[Phrase, _Part]]:
    for family, phrases in lexicon.refusals.cues.items():
        for phrase in phrases:
            yield from _cue_parts(phrase, family, lexicon)
    for phrase in lexicon.refusals.blockers:
        yield parse_phrase(phrase, lexicon.refusals.sets), _Part(None)


def _cue_parts(phrase: str, family: str, lexicon: Lexicon) -> Iterator[tuple[Phrase, _Part]]:
    words = phrase.removeprefix("^").removesuffix("$").removesuffix(" <Name>")
    first, _, last = words.partition(" ... ")
    cue = Cue(
        phrase,
        lexicon.language,
        begins_clause=phrase.startswith("^"),
        ends_clause=phrase.endswith("$"),
        before_name=phrase.endswith(" <Name>"),
        denies_existence=family in _EXISTENCE,
        calls_fictional=family == "fictional",
        asks_back=family == "asks_back",
        known_to_nobody=family == _KNOWN_TO_NOBODY,
    )
    yield parse_phrase(first, lexicon.refusals.sets), _Part(cue, is_last=not last)
    if last:
        yield parse_phrase(last, lexicon.refusals.sets), _Part(cue, is_first=False)


class _Mark(Enum):
    """Words that say together that the writer lacks an answer; fields of `RefusalWords` in `text.lexicon`."""

    SELF = "selves"
    LACK = "lacks"
    MATTER = "matters"
    SOURCE = "sources"
    SAYING = "sayings"
    PLACE = "places"
    BREAK = "subordinators"
    BLOCKER = "blockers"


_LONGEST_ADMISSION = 90
"""Characters between the first and the last of its words: further apart they speak of different things."""
_ADMISSIONS = (
    (_Mark.SELF, _Mark.LACK, _Mark.MATTER),
    (_Mark.SOURCE, _Mark.LACK, _Mark.SAYING),
    (_Mark.PLACE, _Mark.LACK, _Mark.SAYING),
)
"""What writers say of themselves, of what they were to answer from, and of what is not found in it."""


class _Marked(Struct, frozen=True):
    """Such words, as found in a text."""

    start: int
    end: int
    language: str
    mark: _Mark


def _place_of(marked: _Marked) -> int:
    """Where a word begins."""
    return marked.start


class AdmissionFinder:
    """Finds where writers say that they lack what an answer needs, in whatever words."""

    def __init__(self, lexicons: Sequence[Lexicon]) -> None:
        self._finder = PhraseFinder(
            (
                (parse_phrase(phrase, lexicon.refusals.sets), (lexicon.language, mark))
                for lexicon in lexicons
                for mark in _Mark
                for phrase in getattr(lexicon.refusals, mark.value)
            ),
            fold_case=True,
        )

    def marks(self, text: str) -> list[_Marked]:
        """The words that count in a text in lower case, by their places; none when nobody speaks of themselves."""
        found = [_Marked(start, end, language, mark) for start, end, (language, mark) in self._finder.find(text)]
        if not any(each.mark in {_Mark.SELF, _Mark.SOURCE, _Mark.PLACE} for each in found):
            return []
        return sorted(found, key=_place_of)


def _admission(marks: Sequence[_Marked]) -> Hit | None:
    """The words of one part of a clause that make an admission together, as if they were a cue."""
    if any(each.mark is _Mark.BLOCKER for each in marks):
        return None
    parts: dict[str, dict[_Mark, _Marked]] = {}
    reach = 0
    for each in marks:
        if each.mark is _Mark.BREAK:
            # "The report that you sent" is one of its words.
            if each.end > reach:
                parts.pop(each.language, None)
            continue
        reach = max(reach, each.end)
        words = parts.setdefault(each.language, {})
        words.setdefault(each.mark, each)
        if (found := _complete(words, each)) is not None:
            return found
    return None


def _complete(words: Mapping[_Mark, _Marked], last: _Marked) -> Hit | None:
    """The admission that a word completes, if the others stand before it, and near enough."""
    for speaker, lack, matter in _ADMISSIONS:
        if last.mark in {speaker, lack, matter} and {speaker, lack, matter} <= words.keys():
            places = (words[speaker], words[lack], words[matter])
            start, end = min(map(_place_of, places)), max(place.end for place in places)
            # "Without a word from them, the contract is renewed" says nothing of what the contract says.
            follows = speaker is not _Mark.SOURCE or words[speaker].start < words[matter].start
            if follows and end - start <= _LONGEST_ADMISSION:
                return Hit(start, end, Cue("", last.language), is_first=True, is_last=True)
    return None


# The clauses of a response, and what each of them does when it does not refuse.

_WORD = re.compile(r"[^\W_]")
_FIGURE = re.compile(r"(?<![\w.-])\d")
_TAG = re.compile(r"\W*<[^<>\s]*>\W*")
"""What a model writes around its answer and nobody reads: "</s>"."""


class _Sense(Enum):
    """What words of a clause are for; the fields of `RefusalWords` in `text.lexicon`."""

    PREAMBLE = "preambles"
    OFFER = "offers"
    DENIAL = "denials"
    EXPLANATION = "explanations"
    ASSERTION = "assertions"
    WORK = "works"
    PROMISE = "promises"
    REPORT = "reports"
    READER = "readers"


class Clause(Struct, frozen=True):
    """A part of a sentence that refuses, answers, or does neither."""

    start: int
    end: int
    sentence_start: int
    turns: bool = False
    """It turns against what stood before: "but ..."."""
    concedes: bool = False
    """It gives way to the clause after it: "although ..., "."""


class SoFar(Struct, frozen=True):
    """What a response has said before a clause."""

    refused: bool = False
    promised: bool = False
    """It turned from its refusal to an answer: "but I can give an example"."""
    told_fact: bool = False
    """Its refusal is a fact: "nobody knows"."""
    pointed: str | None = None
    """The language in which it sent the reader elsewhere after its refusal; "they are open to all" goes on about it."""

    @property
    def may_explain(self) -> bool:
        """Whether what follows may be the explanation of a refusal."""
        return self.refused and not (self.promised or self.told_fact)


_NOTHING_YET = SoFar()


class ClauseReader:
    """Cuts sentences into clauses, and tells those that answer; on texts that `clean_text` has put in lower case."""

    def __init__(self, lexicons: Sequence[Lexicon]) -> None:
        words = [lexicon.refusals for lexicon in lexicons]
        openers = _choice(word for each in words for word in each.openers)
        frames = _choice(word for each in words for word in (*each.frames, *each.openers))
        concessions = _choice(word for each in words for word in each.concessions)
        frame_endings = _choice(word for each in words for word in each.frame_endings)
        joiners = _choice(word for each in words for word in each.joiners)
        reasons = _choice(word for each in words for word in each.reasons)
        self._cut = _cuts(words)
        # By language: the German "falls" is no condition in "your question falls outside the scope".
        self._conditions = {
            lexicon.language: re.compile(
                rf"(?<!\w)(?:{_choice(lexicon.refusals.conditions)})(?!\w)(?P<between>[^,;:]*)$"
            )
            for lexicon in lexicons
        }
        cancels = _choice(word for each in words for word in each.cancels)
        self._cancel = re.compile(rf"\w{{0,3}}?(?:{cancels})")
        speakers = _choice(word for each in words for word in each.speakers)
        self._speaker = re.compile(rf"(?:{speakers})(?!\w)")
        # Korean particles may follow, and letters after the apostrophe of "j'".
        first_person = rf"(?<!\w)(?:{speakers})(?:(?<=')|(?![^\W가-힣]))"
        guesses = _choice(word for each in words for word in each.guesses)
        self._first_person = re.compile(first_person)
        self._own = re.compile(rf"{first_person}|(?<!\w)(?:{guesses})")
        conclusions = _choice(word for each in words for word in each.conclusions)
        self._conclusion = re.compile(rf"\W*(?:{conclusions})(?!\w)")
        self._reason = re.compile(rf"(?<!\w)(?:{reasons})[\s,]*$")
        self._follow_ups = {
            lexicon.language: re.compile(
                rf"\s*(?:[-*•]\s|(?:{_choice(lexicon.refusals.follow_ups)})(?![^\W가-힣]))"
                if lexicon.refusals.follow_ups
                else r"(?!)"
            )
            for lexicon in lexicons
        }
        self._openers = re.compile(rf"(?:\W*(?:{openers})(?!\w))*\W*")
        self._frame = re.compile(rf"\W*(?:{frames})(?!\w)[^,]*[,;:-]?$|[^,]*(?:{frame_endings})[,;:-]?$")
        self._concession = re.compile(rf"\W*(?:{concessions})(?!\w)[^,]*,")
        self._break = re.compile(rf"(?:[,;:—-]|(?<!\w)(?:{joiners}))$")
        self._senses = PhraseFinder(
            (
                (parse_phrase(phrase, lexicon.refusals.sets), (sense, lexicon.language))
                for lexicon in lexicons
                for sense in _Sense
                for phrase in getattr(lexicon.refusals, sense.value)
            ),
            fold_case=True,
        )

    def clauses(self, text: str, spans: Iterable[tuple[int, int]]) -> Iterator[Clause]:
        """Cut sentences at marks, before a joiner with a subject, where a contrast turns them, after a concession."""
        for sentence_start, sentence_end in spans:
            start, turns = sentence_start, False
            concession = self._concession.match(text, sentence_start, sentence_end)
            if concession is not None:
                yield Clause(start, concession.end(), sentence_start, concedes=True)
                start, turns = concession.end(), True
            for found in self._cut.finditer(text, start, sentence_end):
                is_contrast = found["ending"] is None and found["mark"] is None
                cut = found.start() if is_contrast else found.end()
                if cut > start:
                    yield Clause(start, cut, sentence_start, turns)
                start, turns = cut, found["mark"] is None
            yield Clause(start, sentence_end, sentence_start, turns)

    def first_word(self, text: str, clause: Clause) -> int:
        """Where a clause begins when courtesies and interjections are left out."""
        openers = self._openers.match(text, clause.start, clause.end)
        return clause.start if openers is None else openers.end()

    def answers(self, text: str, clause: Clause, so_far: SoFar) -> bool:
        """Whether a clause that does not refuse says something about what was asked."""
        start = clause.start if clause.turns else self.first_word(text, clause)
        words = text[start : clause.end].rstrip(" \"')")
        if _WORD.search(words) is None or _TAG.fullmatch(text, clause.start, clause.end):
            return False
        senses = self._senses_of(words)
        asserts = _Sense.ASSERTION in senses
        if words.endswith("?"):
            # A guess may be put as a question: "About 300 km, wouldn't you say?"
            return asserts and _FIGURE.search(words) is not None
        if words.endswith(":") and not self._ends_in_offer(words):
            # What is announced after a refusal is an answer; before, it may be the refusal.
            return so_far.refused and (clause.turns or asserts)
        if asserts:
            return not (so_far.refused and self._ends_in_offer(words))
        may_explain = so_far.may_explain and not (clause.turns or _Sense.REPORT in senses or self._gives_figures(words))
        if may_explain and so_far.pointed is not None and self._follow_ups[so_far.pointed].match(text, clause.start):
            return False
        return not senses & _idle(so_far.refused, clause.concedes, may_explain)

    def _senses_of(self, words: str) -> set[_Sense]:
        """What words are for; "it is" asserts nothing as a part of "it is a question of taste"."""
        found = list(self._senses.find(words))
        longer = [(start, end) for start, end, (sense, _) in found if sense not in {_Sense.ASSERTION, _Sense.READER}]
        return {
            sense
            for start, end, (sense, _) in found
            if sense is not _Sense.ASSERTION
            or not any(first <= start and end <= last and last - first > end - start for first, last in longer)
        }

    def _ends_in_offer(self, words: str) -> bool:
        """Whether the last words of a clause are an offer, as those of a Korean request are."""
        end = len(words.rstrip(".!~ "))
        return any(sense is _Sense.OFFER and last >= end for _, last, (sense, _) in self._senses.find(words))

    def explains_next(self, text: str, clause: Clause) -> bool:
        """Whether a clause may be the reason for a refusal after it in its sentence: "The page is torn; I can't"."""
        words = text[clause.start : clause.end]
        return (
            self.answers(text, clause, _NOTHING_YET)
            and self._first_person.search(words) is None
            and not self._gives_figures(words)
            and not self.answers(
                text, Clause(clause.start, clause.end, clause.sentence_start, concedes=True), _NOTHING_YET
            )
        )

    def _gives_figures(self, words: str) -> bool:
        """Whether words give a number, and speak neither of their writer nor of what may be."""
        return _FIGURE.search(words) is not None and self._own.search(words) is None

    def answers_after(self, text: str, clause: Clause, cue_end: int) -> bool:
        """Whether a comma adds an estimate to a refusal: "I don't know the number, roughly 200"."""
        _, comma, added = text[cue_end : clause.end].partition(",")
        return bool(comma) and _Sense.ASSERTION in self._senses_of(added)

    def promises(self, text: str, clause: Clause) -> bool:
        """Whether a clause turns from the refusal to what the writer can do instead."""
        words = text[clause.start : clause.end]
        return clause.turns and _Sense.PROMISE in self._senses_of(words)

    def points(self, text: str, clause: Clause) -> str | None:
        """The language in which a clause sends the reader elsewhere or tells what to do next, if it does."""
        found = self._senses.find(text[clause.start : clause.end])
        return next((language for _, _, (sense, language) in found if sense is _Sense.OFFER), None)

    def asserts(self, text: str, clause: Clause) -> bool:
        """Whether words of a clause make it an answer, whatever else it has."""
        words = text[clause.start : clause.end]
        return _Sense.ASSERTION in self._senses_of(words)

    def asks_reader(self, text: str, clause: Clause) -> bool:
        """Whether a clause is a question put to the reader."""
        words = text[clause.start : clause.end].rstrip(" )")
        return words.endswith("?") and _Sense.READER in self._senses_of(words)

    def concludes(self, text: str, clause: Clause) -> bool:
        """Whether a clause draws the sum of what stands before it: "Therefore, I cannot say"."""
        return self._conclusion.match(text, clause.start, clause.end) is not None

    def insists(self, text: str, clause: Clause) -> bool:
        """Whether a clause is an answer even where the response ends by refusing once more."""
        starts_sentence = clause.start == clause.sentence_start
        return (clause.turns and starts_sentence) or self.asserts(text, clause)

    def names_work(self, text: str, clause: Clause) -> bool:
        """Whether a clause speaks of the novel, the film or the legend that something comes from."""
        return _Sense.WORK in self._senses_of(text[clause.start : clause.end])

    def supposes(self, text: str, clause: Clause, cue: Hit) -> bool:
        """Whether a cue stands in a condition: "if the record does not exist", and not "if so, I cannot say"."""
        if self._cancel.match(text, cue.end, clause.end) is not None:
            return True
        conditions = self._conditions
        patterns = conditions.values() if cue.cue.language is None else (conditions[cue.cue.language],)
        found = next(filter(None, (pattern.search(text, clause.start, cue.start) for pattern in patterns)), None)
        if found is None:
            return False
        return not found["between"].strip() or self._speaker.match(text, cue.start) is None

    def answers_before(self, text: str, clause: Clause, cue_start: int) -> bool:
        """Whether a statement of its own stands in a clause before its cue."""
        before = text[self.first_word(text, clause) : cue_start].rstrip()
        if self._break.search(before) is None or self._frame.match(before) is not None:
            return False
        if self._reason.search(before) is not None:
            # "..., so I can't say": what stands before is why.
            return False
        # What a comma alone joins to a refusal may be why: "That is private, I'd rather not say".
        return self.answers(text, Clause(clause.start, cue_start, clause.sentence_start, concedes=True), _NOTHING_YET)


def _idle(refused: bool, concedes: bool, may_explain: bool) -> set[_Sense]:
    """What words may be for in a clause that says nothing."""
    senses = {_Sense.PREAMBLE}
    if refused:
        senses |= {_Sense.OFFER, _Sense.DENIAL}
    if concedes or may_explain:
        senses |= {_Sense.EXPLANATION}
    if may_explain:
        senses |= {_Sense.READER}
    return senses


def _cuts(words: Sequence[RefusalWords]) -> re.Pattern[str]:
    """Where sentences are cut into clauses."""
    contrasts = _choice(word for each in words for word in each.contrasts)
    endings = _choice(word for each in words for word in each.contrast_endings)
    joined = _choice(word for each in words for word in each.joining_endings)
    bound = _choice(word for each in words for word in each.bound_words)
    breaks = _choice(word for each in words for word in each.breaks)
    # Of one language each: the French "on" is no subject after the English "and".
    added = _pairs((each.additions, each.subjects) for each in words)
    shared = _pairs((each.additions, each.predicates) for each in words)
    owned = "|".join(
        rf"(?:{_pairs([(each.additions, each.owners)])}) \w+ (?:{_choice(each.predicates)})" for each in words
    )
    return re.compile(
        rf"(?<!\w)(?:{contrasts})(?!\w)|(?P<ending>{endings})(?=[\s,])(?! (?:{bound}))"
        rf"|(?P<mark>[;:](?=\s)|,(?= (?:{added}|{breaks})(?!\w))|(?= (?:{shared}|{owned})(?!\w))"
        rf"|(?:{joined})(?=[\s,]))"
    )


def _pairs(choices: Iterable[tuple[Iterable[str], Iterable[str]]]) -> str:
    """A pattern for a word of the first list and one of the second after it, of one of the pairs of lists."""
    return "|".join(f"(?:{_choice(first)}) (?:{_choice(second)})" for first, second in choices) or "(?!)"


def _choice(words: Iterable[str]) -> str:
    """A pattern for one of the words, the longest first; for nothing when there are none."""
    known = sorted({word.lower() for word in words}, key=lambda word: (-len(word), word))
    return "|".join(re.escape(word) for word in known) or "(?!)"


_REFUSAL_WORD = re.compile(r"[^\W_]")


class Abstention(Struct, frozen=True):
    """Whether a response refuses to answer, and the words that say so."""

    did_abstain: bool
    """Whether the response says nothing about what was asked."""
    cue: str | None
    """The first words that refuse, as they stand in the response; None when it answers or is empty."""
    start: int | None
    """Where the cue begins in the response, in code points."""
    end: int | None
    """Where the cue ends, exclusive."""
    language: str | None
    """The language whose lexicon has the cue; None for a cue of the user's own, or no cue."""
    reason: Literal["cue", "empty", "none"]
    """`cue`: words refuse; `empty`: nothing was written; `none`: the response answers."""
    is_partial: bool = False
    """Whether the response refuses a part of what was asked and answers all the same; it then does not abstain."""
    partial_cue: str | None = None
    """The first words that refuse the part; None when the refusal is not partial."""


_QUESTION = Cue("?", None, asks_back=True)
_ITEM = re.compile(r"^[ \t]*(?:\d+[.)]|[-*•])[ \t]", re.MULTILINE)
"""The items of a list: questions that were asked for, and are put to nobody here."""
_EMPTY = Abstention(True, None, None, None, None, "empty")
_ANSWERED = Abstention(False, None, None, None, None, "none")


class AbstentionDetector:
    """Detects refusals; made once, it can be used for any number of responses.

    Args:
        languages: Whose cues are looked for, all at once.
        extra_cues: Phrases that refuse as well, taken literally.
        removed_cues: Wordings of the lexicons that refuse no longer.
        case_sensitive: Whether a cue must be written as in the lexicon, or so with a capital at its start.

    >>> AbstentionDetector(extra_cues=["ask my lawyer"]).detect("Ask my lawyer.").cue
    'Ask my lawyer'
    """

    def __init__(
        self,
        languages: Sequence[str] = languages_with("refusals"),
        extra_cues: Sequence[str] = (),
        *,
        removed_cues: Sequence[str] = (),
        case_sensitive: bool = False,
    ) -> None:
        for phrase in extra_cues:
            if _REFUSAL_WORD.search(phrase) is None:
                raise SettingsError(f"extra cue {phrase!r} has no letter or digit; give words that refuse")
        lexicons = [load_lexicon(language) for language in languages]
        self._clauses = ClauseReader(lexicons)
        self._admissions = AdmissionFinder(lexicons)
        self._cues = CueFinder(lexicons, extra=extra_cues, removed=removed_cues, fold_case=not case_sensitive)
        self._case_sensitive = case_sensitive

    def detect(self, response: str) -> Abstention:
        """Tell whether a response as a whole refuses to answer; an empty one does."""
        clean = clean_text(response)
        if not clean.text or clean.text.isspace():
            return _EMPTY
        hits = self._cues.find(clean.text if self._case_sensitive else clean.lower)
        # A response that is a quotation as a whole is a line that somebody else is to say: its "I" is not the writer.
        is_quotation = clean.text.lstrip().startswith('"')
        marks = [] if is_quotation or self._case_sensitive else self._admissions.marks(clean.lower)
        refusal, does_answer = self._refusal(clean, hits, marks) if hits or marks else (None, False)
        if refusal is None:
            refusal, does_answer = self._question(clean), False
        if refusal is None:
            return _ANSWERED
        start, end = clean.original_span(refusal.start, refusal.end)
        if does_answer and refusal.cue.asks_back:
            return _ANSWERED  # "Let me know if you need more" beside an answer refuses nothing
        if does_answer:
            return Abstention(False, None, None, None, None, "none", is_partial=True, partial_cue=response[start:end])
        return Abstention(True, response[start:end], start, end, refusal.cue.language, "cue")

    def refusals(self, text: str) -> list[tuple[int, int, str | None]]:
        """Where a text refuses, clause by clause, whatever else it says: the places of its cues, and their languages.

        >>> AbstentionDetector().refusals("Dear Sir. I cannot read the rest.")
        [(10, 18, 'en')]
        """
        clean = clean_text(text)
        hits = self._cues.find(clean.text if self._case_sensitive else clean.lower)
        if not hits:
            return []
        # Not admissions: what a page says in the first person is its writer's, and not the engine's.
        found = (refusal for _, refusal in self._clauses_read(clean, hits, ()) if refusal is not None)
        return [(*clean.original_span(refusal.start, refusal.end), refusal.cue.language) for refusal in found]

    def _clauses_read(
        self, clean: CleanText, hits: Sequence[Hit], marks: Sequence[_Marked]
    ) -> Iterator[tuple[Clause, Hit | None]]:
        """Every clause of a text with its first cue whose conditions are met, or its admission."""
        quotes = Quotations(clean.text)
        done = 0
        for clause in self._clauses.clauses(clean.lower, iterate_sentence_spans(clean.text)):
            seen, done = done, bisect_left(hits, clause.end, done, key=_start)
            refusal = self._refusal_in(clean, clause, hits=hits[seen:done], quotes=quotes) if seen < done else None
            if refusal is None and marks:
                refusal = self._admission_in(clean, clause, marks=marks, quotes=quotes)
            yield clause, refusal

    def _admission_in(
        self, clean: CleanText, clause: Clause, *, marks: Sequence[_Marked], quotes: Quotations
    ) -> Hit | None:
        """Where a clause admits that its writer lacks an answer, if it says nothing else."""
        begins = bisect_left(marks, clause.start, key=_place_of)
        said = [
            each
            for each in marks[begins : bisect_left(marks, clause.end, begins, key=_place_of)]
            if each.end <= clause.end and not quotes.hold(each.start, sentence_start=clause.sentence_start)
        ]
        found = _admission(said)
        if (
            found is None
            or self._clauses.asserts(clean.lower, clause)
            or self._clauses.asks_reader(clean.lower, clause)
            or self._clauses.supposes(clean.lower, clause, found)
            or self._cues.has_removed(clean.lower[clause.start : clause.end])
        ):
            return None
        return found

    def _refusal(self, clean: CleanText, hits: Sequence[Hit], marks: Sequence[_Marked]) -> tuple[Hit | None, bool]:
        """The first refusal of a response, and whether a clause of it answers."""
        read = _Reading(self._clauses, clean.lower)
        for clause, refusal in self._clauses_read(clean, hits, marks):
            read.settle_reason(clause, refusal)
            if refusal is not None:
                read.refuse(clause, refusal)
            else:
                read.go_on(clause)
            read.is_promised |= read.first is not None and self._clauses.promises(clean.lower, clause)
        return read.first, read.does_answer or read.explains or read.reason_of is not None

    def _question(self, clean: CleanText) -> Hit | None:
        """The first question to the reader of a response that only asks back; none when a clause answers."""
        asked: Hit | None = None
        if "?" not in clean.text or _ITEM.search(clean.text) is not None:
            return None
        for clause in self._clauses.clauses(clean.lower, iterate_sentence_spans(clean.text)):
            if self._clauses.answers(clean.lower, clause, _NOTHING_YET):
                return None
            if asked is None and self._clauses.asks_reader(clean.lower, clause):
                asked = Hit(clause.start, clause.end, _QUESTION, is_first=True, is_last=True)
        return asked

    def _refusal_in(self, clean: CleanText, clause: Clause, *, hits: Sequence[Hit], quotes: Quotations) -> Hit | None:
        """The first cue of a clause whose conditions are met, in words that are the writer's own."""
        first_word = self._clauses.first_word(clean.lower, clause)
        text = clean.text
        for hit in _whole_cues(hits):
            if (
                hit.end <= clause.end
                and not (hit.cue.begins_clause and hit.start > first_word)
                and not (hit.cue.ends_clause and _REFUSAL_WORD.search(text, hit.end, clause.end) is not None)
                and not (hit.cue.before_name and not _is_name(text[hit.end : hit.end + 2].lstrip()))
                and not self._clauses.supposes(clean.lower, clause, hit)
                and not quotes.hold(hit.start, sentence_start=clause.sentence_start)
                and not (hit.cue.calls_fictional and self._clauses.names_work(clean.lower, clause))
            ):
                return hit
        return None


class _Reading:
    """What is known of a response while its clauses are read."""

    def __init__(self, clauses: ClauseReader, text: str) -> None:
        self._clauses = clauses
        self._text = text
        self.first: Hit | None = None
        self.does_answer = self.explains = self.is_promised = False
        self.pointed: str | None = None
        """The language in which the response pointed elsewhere after its refusal."""
        self.reason_of: int | None = None
        """The start of the sentence whose last clause may be the reason of a refusal to come."""

    def _so_far(self) -> SoFar:
        if self.first is None:
            return _NOTHING_YET
        return SoFar(
            refused=True,
            promised=self.is_promised,
            told_fact=self.first.cue.known_to_nobody,
            pointed=self.pointed,
        )

    def settle_reason(self, clause: Clause, refusal: Hit | None) -> None:
        """A clause that was no reason, because no refusal follows in its sentence, was an answer."""
        if self.reason_of is not None:
            self.does_answer |= refusal is None or clause.sentence_start != self.reason_of
            self.reason_of = None

    def refuse(self, clause: Clause, refusal: Hit) -> None:
        """Take a clause that refuses."""
        if self.first is None:
            self.first, self.explains = refusal, False
            self.does_answer |= self._clauses.answers_before(self._text, clause, refusal.start)
            self.does_answer |= self._clauses.answers_after(self._text, clause, refusal.end)
        elif self.first.cue.asks_back and self.does_answer:
            self.first = refusal
        elif self._clauses.concludes(self._text, clause):
            self.explains = False

    def go_on(self, clause: Clause) -> None:
        """Take a clause that does not refuse."""
        is_after = self.first is not None
        # What follows "there is no such person" is about something else, unless it takes the denial back.
        if self.first is not None and self.first.cue.denies_existence and not clause.turns:
            return
        if not is_after and self._clauses.explains_next(self._text, clause):
            self.reason_of = clause.sentence_start
        elif self._clauses.answers(self._text, clause, self._so_far()):
            is_open = is_after and not self._clauses.insists(self._text, clause)
            self.does_answer |= not is_open
            self.explains |= is_open
        elif is_after and not clause.turns:
            self.pointed = self.pointed or self._clauses.points(self._text, clause)


def _start(hit: Hit) -> int:
    return hit.start


def _whole_cues(hits: Sequence[Hit]) -> Iterator[Hit]:
    """Cues as they stand; then cues with a gap, from their first words to their last."""
    begun: dict[str, Hit] = {}
    with_gap: list[Hit] = []
    for hit in hits:
        if hit.is_first and hit.is_last:
            yield hit
        elif hit.is_first:
            begun.setdefault(hit.cue.phrase, hit)
        elif (begin := begun.get(hit.cue.phrase)) is not None and begin.end <= hit.start:
            with_gap.append(Hit(begin.start, hit.end, hit.cue, is_first=True, is_last=True))
    yield from with_gap


def _is_name(following: str) -> bool:
    return following[:1].isupper() or following[:1] == '"'


@cache
def default_detector() -> AbstentionDetector:
    """The detector with the cues of all known languages; its lexicons are read at the first call."""
    return AbstentionDetector()


def detect_abstention(response: str) -> Abstention:
    """Tell whether a response refuses to answer, with the cues of all known languages.

    >>> detect_abstention("I’m sorry, but I couldn’t find anyone of that name.").cue
    'I couldn’t find'
    >>> detect_abstention("X was a French painter. I am not sure where he died.").did_abstain
    False
    """
    return default_detector().detect(response)
