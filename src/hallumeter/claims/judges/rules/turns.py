"""The turns of a dialogue: who speaks, where, and which question a short answer answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from hallumeter.text.sentences import sentence_spans

_TURN = re.compile(
    r"^[ \t]*(?:\[(?P<mark>[^\W\d_][^\]\n:]{0,30})\][ \t]*:?"
    # Bold names, names in signs as #Person1#, titles as in "MS. LEE, HOST".
    r"|[*_#]{0,2}(?P<name>[^\W\d_][\w.'’&-]*(?:,? [\w.'’&#-]+){0,3})[*_#]{0,2}[ \t]?[:：][*_]{0,2})"
    r"(?:(?=[ \t]|$)|(?<=：))",
    re.MULTILINE,
)
_LEAST_TURNS = 3
_LEAST_SHARE = 0.5
"""Share of the lines that must open a turn; the others go on with the turn above them."""
_REPEATED = 1.5
"""Turns for each speaker: the keys of a record occur once, speakers come again."""


class Turn(Struct, frozen=True):
    """What one speaker says at a time."""

    speaker: str
    start: int
    """Where the speaker's name begins."""
    said: int
    """Where the speech begins."""
    end: int


@lru_cache(maxsize=8)
def turns_of(text: str) -> tuple[Turn, ...]:
    r"""The turns of a dialogue in order; none when the text is no dialogue.

    >>> [(turn.speaker, turn.start) for turn in turns_of("A: Hello.\nB: Hi.\nA: How are you?")]
    [('A', 0), ('B', 10), ('A', 17)]
    >>> turns_of("Name: Corner\nRooms: 36\nPool: no")
    ()
    """
    matches = list(_TURN.finditer(text))
    lines = sum(1 for line in text.splitlines() if line.strip())
    speakers = {(match.group("mark") or match.group("name")).lower() for match in matches}
    if len(matches) < _LEAST_TURNS or len(matches) < _LEAST_SHARE * lines or len(speakers) < 2:
        return ()
    if len(matches) < _REPEATED * len(speakers):
        return ()
    ends = [*(match.start() for match in matches[1:]), len(text)]
    return tuple(
        Turn(match.group("mark") or match.group("name"), match.start(), match.end(), end)
        for match, end in zip(matches, ends, strict=True)
    )


def is_dialogue(text: str) -> bool:
    """Whether a text is a dialogue, and not a record whose keys stand before colons."""
    return bool(turns_of(text))


class Utterance(Struct, frozen=True):
    """A sentence of a turn, or a question together with the first sentence of its answer."""

    start: int
    end: int
    speaker: str
    """Who says it; of a question with its answer, who answers."""
    answer: int | None = None
    """Where the answer begins, with the name of its speaker."""


def utterances_of(text: str) -> list[Utterance]:
    r"""The sentences of a dialogue in order, each question joined with what is answered; none when it is no dialogue.

    >>> text = "Doctor: Hello. Do you smoke?\nPatient: Not now. I quit.\nDoctor: Good."
    >>> [text[each.start : each.end].strip() for each in utterances_of(text)]
    ['Doctor: Hello.', 'Do you smoke?\nPatient: Not now.', 'I quit.', 'Doctor: Good.']
    """
    found: list[Utterance] = []
    for turn in turns_of(text):
        for place, (start, end) in enumerate(_sentences(text, turn)):
            asked = found[-1] if found and place == 0 else None
            if asked is not None and asked.answer is None and asked.speaker != turn.speaker and _asks(text, asked):
                found[-1] = Utterance(asked.start, end, turn.speaker, start)
            else:
                found.append(Utterance(start, end, turn.speaker))
    return found


def _sentences(text: str, turn: Turn) -> Iterator[tuple[int, int]]:
    spans = sentence_spans(text[turn.said : turn.end])
    for place, (start, end) in enumerate(spans):
        yield (turn.start if place == 0 else turn.said + start), turn.said + end


def _asks(text: str, said: Utterance) -> bool:
    return text[said.start : said.end].rstrip().endswith(("?", "？"))
