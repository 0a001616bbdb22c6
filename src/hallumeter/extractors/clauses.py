"""The clauses of a response, and what each of them does when it does not refuse."""

from __future__ import annotations

import re
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct

from hallumeter.text.phrases import PhraseFinder, parse_phrase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from hallumeter.text.lexicon import Lexicon

_WORD = re.compile(r"[^\W_]")


class _Sense(Enum):
    """What words of a clause are for; the fields of `AbstentionWords` in `text.lexicon`."""

    PREAMBLE = "preambles"
    OFFER = "offers"
    DENIAL = "denials"
    EXPLANATION = "explanations"
    ASSERTION = "assertions"


class Clause(Struct, frozen=True):
    """A part of a sentence that refuses, answers, or does neither."""

    start: int
    end: int
    sentence_start: int
    turns: bool = False
    """It turns against what stood before: "but ..."."""
    concedes: bool = False
    """It gives way to the clause after it: "although ..., "."""


class ClauseReader:
    """Cuts sentences into clauses, and tells those that answer; on texts that `clean_text` has put in lower case."""

    def __init__(self, lexicons: Sequence[Lexicon]) -> None:
        words = [lexicon.abstention for lexicon in lexicons]
        contrasts = _choice(word for each in words for word in each.contrasts)
        endings = _choice(word for each in words for word in each.contrast_endings)
        openers = _choice(word for each in words for word in each.openers)
        frames = _choice(word for each in words for word in (*each.frames, *each.openers))
        concessions = _choice(word for each in words for word in each.concessions)
        frame_endings = _choice(word for each in words for word in each.frame_endings)
        joiners = _choice(word for each in words for word in each.joiners)
        self._turn = re.compile(rf"(?<!\w)(?:{contrasts})(?!\w)|(?P<ending>{endings})(?=[\s,])")
        self._openers = re.compile(rf"(?:\W*(?:{openers})(?!\w))*\W*")
        self._frame = re.compile(rf"\W*(?:{frames})(?!\w)[^,]*[,;:-]?$|[^,]*(?:{frame_endings})[,;:-]?$")
        self._concession = re.compile(rf"\W*(?:{concessions})(?!\w)[^,]*,")
        self._break = re.compile(rf"(?:[,;:—-]|(?<!\w)(?:{joiners}))$")
        self._senses = PhraseFinder(
            (
                (parse_phrase(phrase, lexicon.sets), sense)
                for lexicon in lexicons
                for sense in _Sense
                for phrase in getattr(lexicon.abstention, sense.value)
            ),
            fold_case=True,
        )

    def clauses(self, text: str, spans: Iterable[tuple[int, int]]) -> Iterator[Clause]:
        """Cut sentences where a contrast turns them, and after a concession."""
        for sentence_start, sentence_end in spans:
            start, turns = sentence_start, False
            concession = self._concession.match(text, sentence_start, sentence_end)
            if concession is not None:
                yield Clause(start, concession.end(), sentence_start, concedes=True)
                start, turns = concession.end(), True
            for turn in self._turn.finditer(text, start, sentence_end):
                cut = turn.start() if turn["ending"] is None else turn.end()
                if cut > start:
                    yield Clause(start, cut, sentence_start, turns)
                start, turns = cut, True
            yield Clause(start, sentence_end, sentence_start, turns)

    def first_word(self, text: str, clause: Clause) -> int:
        """Where a clause begins when courtesies and interjections are left out."""
        openers = self._openers.match(text, clause.start, clause.end)
        return clause.start if openers is None else openers.end()

    def answers(self, text: str, clause: Clause, *, after_refusal: bool) -> bool:
        """Whether a clause that does not refuse says something about what was asked."""
        start = clause.start if clause.turns else self.first_word(text, clause)
        words = text[start : clause.end].rstrip(" \"')")
        if words.endswith("?") or _WORD.search(words) is None:
            return False
        senses = {sense for _, _, sense in self._senses.find(words)}
        if words.endswith(":"):
            # What is announced after a refusal is an answer; before, it may be the refusal.
            return after_refusal and (clause.turns or _Sense.ASSERTION in senses)
        if _Sense.ASSERTION in senses:
            return True
        says_nothing = {_Sense.PREAMBLE}
        if after_refusal:
            says_nothing |= {_Sense.OFFER, _Sense.DENIAL}
        if (after_refusal and not clause.turns) or clause.concedes:
            says_nothing |= {_Sense.EXPLANATION}
        return not senses & says_nothing

    def answers_before(self, text: str, clause: Clause, cue_start: int) -> bool:
        """Whether a statement of its own stands in a clause before its cue."""
        before = text[self.first_word(text, clause) : cue_start].rstrip()
        if self._break.search(before) is None or self._frame.match(before) is not None:
            return False
        return self.answers(text, Clause(clause.start, cue_start, clause.sentence_start), after_refusal=False)


def _choice(words: Iterable[str]) -> str:
    """A pattern for one of the words, the longest first; for nothing when there are none."""
    known = sorted({word.lower() for word in words}, key=lambda word: (-len(word), word))
    return "|".join(re.escape(word) for word in known) or "(?!)"
