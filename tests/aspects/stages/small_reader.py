"""A reader that knows a few words, and agents that say what a test lets them say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from hallumeter.aspects.agents.protocol import ANSWERS, AgentAnswer, AgentFault, AgentTask, Role
from hallumeter.aspects.readers.protocol import CueKind, FoundCue, FoundPolarity, FoundTerm, SentenceReading
from hallumeter.aspects.records.aspect import Aspect, AspectSentiment, AspectTerm, Polarity, TextSpan
from hallumeter.aspects.stages.draft import Draft, ReadSentence

PARTICLES = ("은", "는", "이", "가", "을", "를", "도")
NOUNS = {"고양이", "종이", "나이"}
"""Nouns that end as particles do."""
CUES: dict[str, CueKind] = {
    **dict.fromkeys(("but", "however", "좋지만", "하지만"), "contrast"),
    **dict.fromkeys(("not", "never", "안", "않다"), "negation"),
}
FUNCTION_WORDS = {"the", "is", "a", "of", "very"}


class SmallReader:
    """Knows particles, a few nouns and a few cues; a word is what stands between spaces and marks."""

    language = "ko"
    version = "small 1"

    def read(self, text: str) -> SentenceReading:
        words = list(re.finditer(r"\w+", text))
        cues = [
            FoundCue(CUES[word[0].lower()], word.start(), word.end(), 0, len(text))
            for word in words
            if word[0].lower() in CUES
        ]
        return SentenceReading(text, cues=tuple(cues))

    def polarity_of(self, text: str, start: int, end: int) -> FoundPolarity:
        """By the first word behind a place that praises or blames; only the gate of flips asks for it."""
        word = re.search(r"great|awful", text[end:])
        return FoundPolarity("neutral" if word is None else "positive" if word[0] == "great" else "negative", 0.9)

    def sentence_polarity(self, text: str) -> FoundPolarity:
        raise AssertionError("code between agents judges no polarity")

    def without_particle(self, text: str, start: int, end: int) -> int:
        word = text[start:end]
        if word not in NOUNS and len(word) > 1 and word.endswith(PARTICLES):
            return end - 1
        return end

    def term_after(self, text: str, place: int) -> FoundTerm | None:
        for word in re.finditer(r"\w+", text):
            if word.start() >= place and word[0].lower() not in FUNCTION_WORDS and word[0].lower() not in CUES:
                return FoundTerm(word.start(), self.without_particle(text, word.start(), word.end()), 0.5)
        return None


def read(text: str) -> ReadSentence:
    return ReadSentence(text, SmallReader())


def at(text: str, term: str, occurrence: int = 0) -> TextSpan:
    """The span of a term in a text."""
    start = [match.start() for match in re.finditer(re.escape(term), text)][occurrence]
    return TextSpan(start, start + len(term))


def felt(
    term: str | None, polarity: Polarity | None, confidence: float | None = 0.8, span: TextSpan | None = None
) -> AspectSentiment:
    return AspectSentiment(None if term is None else AspectTerm(term, span), polarity, confidence)


def draft_of(text: str, polarities: Mapping[str, Polarity | None]) -> Draft:
    """A draft of terms that stand in a text, with what is felt about them."""
    return Draft(
        tuple(Aspect(term, at(text, term), 0.9) for term in polarities),
        tuple(felt(term, polarity, span=at(text, term)) for term, polarity in polarities.items()),
    )


class Script:
    """Agents whose answers are given beforehand; roles without one answer nothing."""

    def __init__(self, answers: Mapping[Role, AgentAnswer | AgentFault] | None = None) -> None:
        self.answers = dict(answers or {})
        self.tasks: list[AgentTask] = []

    def __call__(self, task: AgentTask) -> AgentAnswer:
        self.tasks.append(task)
        answer = self.answers.get(task.role)
        if isinstance(answer, AgentFault):
            raise answer
        return ANSWERS[task.role]() if answer is None else answer

    @property
    def roles(self) -> list[Role]:
        return [task.role for task in self.tasks]


def terms(aspects: Iterable[Aspect]) -> list[str]:
    return [aspect.term for aspect in aspects]
