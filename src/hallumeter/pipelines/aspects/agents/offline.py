"""Agents without a language model: deterministic, by what a reader of the language finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from hallumeter.extractors.aspects.protocol import AspectReader
from hallumeter.records.aspects import StageOne

from .offline_debate import aspect_edits, consistent_edits, polarity_edits, summed_up
from .offline_reading import extracted, felt, validated
from .offline_reviews import reviewed_aspects, reviewed_risks, reviewed_sentiments
from .protocol import AgentAnswer, AgentFault, AgentReply, AgentTask, Role
from .sentence_facts import OfflineSettings, SentenceFacts
from .visibility import visible

VERSION = "2"
"""Another one whenever offline agents may answer differently."""
_REMEMBERED = 64
"""Sentences whose facts are kept: all roles ask about one before the next comes."""
_Answering = Callable[[SentenceFacts, AgentTask], AgentAnswer]
_ANSWERING: dict[Role, _Answering] = {
    "ate": lambda facts, _: extracted(facts),
    "atsa": lambda facts, _: felt(facts),
    "validator": lambda facts, _: validated(facts),
    "epm": lambda facts, task: polarity_edits(facts, _stage1(task)),
    "tan": lambda facts, task: aspect_edits(facts, _stage1(task)),
    "cj": lambda facts, task: consistent_edits(facts, _stage1(task), task.history),
    "debate_summary": lambda facts, task: summed_up(facts, _stage1(task), task.history),
    "ate_review": lambda facts, task: reviewed_aspects(facts, _stage1(task).ate, task.context),
    "atsa_review": lambda facts, task: reviewed_sentiments(facts, _stage1(task).atsa, task.context),
    "validator_review": lambda facts, task: reviewed_risks(facts, _stage1(task).validator, task.context),
}


class OfflineAgent:
    """Answers in every role, in the languages of its readers. It may be called from several threads at once."""

    def __init__(self, readers: Iterable[AspectReader], settings: OfflineSettings | None = None) -> None:
        self._readers = {reader.language: reader for reader in readers}
        self._settings = settings or OfflineSettings()
        self._facts = lru_cache(maxsize=_REMEMBERED)(self._facts_of)

    @property
    def spec(self) -> str:
        """The readers by language and version, and all thresholds."""
        readers = ",".join(f"{language}={reader.version}" for language, reader in sorted(self._readers.items()))
        return f"offline;version={VERSION};readers={readers};{self._settings.described()}"

    def answer(self, task: AgentTask) -> AgentReply:
        """What the reader of the task's language makes of it.

        Raises:
            AgentFault: There is no reader for the language.
        """
        seen = visible(task)
        facts = self._facts(seen.text, seen.language)
        return AgentReply(answer=_ANSWERING[seen.role](facts, seen))

    def _facts_of(self, text: str, language: str) -> SentenceFacts:
        reader = self._readers.get(language)
        if reader is None:
            known = ", ".join(sorted(self._readers)) or "none"
            raise AgentFault("unknown_language", f"offline agents read {known}; the sentence is in {language!r}")
        return SentenceFacts(text, reader, self._settings)


def _stage1(task: AgentTask) -> StageOne:
    return task.stage1 or StageOne()
