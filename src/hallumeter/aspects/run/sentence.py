"""One sentence through the whole pipeline, with every answer written down; what is known already is not asked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from msgspec import Struct, structs

from hallumeter.aspects.agents.protocol import AgentAnswer, AgentFault, AgentTask, Demonstration, Role
from hallumeter.aspects.auxiliary import Classifier, with_signal
from hallumeter.aspects.readers.by_language import reader_for
from hallumeter.aspects.records.outputs import OutputMeta, PipelineOutput
from hallumeter.aspects.settings import Sentence, StageSettings
from hallumeter.aspects.stages.sequence import processed
from hallumeter.errors import MissingExtraError, SettingsError
from hallumeter.models.pace import Interrupted
from hallumeter.models.prices import BudgetReached
from hallumeter.models.protocol import ProviderFault
from hallumeter.records.claim import Failure

from .roles import RoleAgents
from .trace import TraceLine, input_hash_of, stage_of, usage_of

Recall = Callable[[TraceLine], TraceLine | None]
"""From a question to what came of it before; None when it is to be asked."""
_ENDINGS = (BudgetReached, Interrupted, ProviderFault, MissingExtraError, SettingsError)
"""What ends the run, and not the sentence alone."""


class Passage(Struct, frozen=True):
    """A sentence on its way: who reads it, with what."""

    sentence: Sentence
    seed: int
    demos: tuple[Demonstration, ...] = ()


class SentenceState(Struct, frozen=True):
    """How far a sentence has come."""

    lines: tuple[TraceLine, ...]
    """Every call that was looked at, in order: new ones, and those known before."""
    output: PipelineOutput | None
    """None when it waits for its last answer to be kept."""
    failure: Failure | None = None


class _Paused(Exception):  # noqa: N818 (nothing went wrong)
    """An answer that was paid for is to be kept before the next question is asked."""


class SentencePipeline(Struct, frozen=True):
    """Brings sentences through the pipeline."""

    roles: RoleAgents
    settings: StageSettings
    classifier: Classifier | None = None
    """Who is asked after everything else, for metrics only."""
    is_strict: bool = False
    """Let errors of the code itself pass."""

    def read(self, passage: Passage, recall: Recall, *, is_pausing: bool = False) -> SentenceState:
        """Ask what is not known, up to the end; with `is_pausing` up to the second question that costs something.

        Raises:
            BudgetReached: The budget was spent before.
            Interrupted: The run was stopped while a question waited.
            ProviderFault: Every further call to that model would meet the same.
            MissingExtraError: A package that every sentence needs is missing.
        """
        why = passage.sentence.unreadable
        if why is not None:
            return SentenceState((), unread(passage, self.settings, why), failure_of(passage, (), why))
        asking = _Asking(self.roles, passage, recall, is_pausing=is_pausing)
        try:
            output = self._processed(passage, asking)
        except _Paused:
            return SentenceState(tuple(asking.lines.values()), None)
        except _ENDINGS:
            raise
        except Exception as error:
            if self.is_strict:
                raise
            output = unread(passage, self.settings, f"pipeline: pipeline_error: {type(error).__name__}: {error}")
        lines = tuple(asking.lines.values())
        failure = None if output.failed is None else failure_of(passage, lines, output.failed)
        notes = (*(f"{line.role}: {note}" for line in lines for note in line.notes), *output.notes)
        return SentenceState(lines, structs.replace(output, usage=usage_of(lines), notes=notes), failure)

    def _processed(self, passage: Passage, asking: _Asking) -> PipelineOutput:
        sentence = passage.sentence
        output = processed(
            sentence,
            structs.replace(self.settings, seed=passage.seed, mode=_same(self.settings.mode)),
            asking,
            reader=reader_for(sentence.language),
            demos=passage.demos,
        )
        return output if self.classifier is None or output.failed is not None else with_signal(output, self.classifier)


class _Asking:
    """What the pipeline asks of a sentence's agents."""

    def __init__(self, roles: RoleAgents, passage: Passage, recall: Recall, *, is_pausing: bool) -> None:
        self._roles = roles
        self._passage = passage
        self._recall = recall
        self._is_pausing = is_pausing
        self._has_paid = False
        self.lines: dict[Role, TraceLine] = {}

    def __call__(self, task: AgentTask) -> AgentAnswer:
        """The answer that is known, or the agent's own."""
        role = task.role
        asked = TraceLine(
            text_id=self._passage.sentence.text_id,
            seed=self._passage.seed,
            stage=stage_of(role),
            role=role,
            agent=self._roles.specs[role],
            input_hash=input_hash_of(task),
            prompt_hash=self._roles.prompt_hash(role, task.language),
        )
        line = self._recall(asked)
        if line is None:
            line = self._answered(asked, task)
        self.lines[role] = line
        return line.reply().answer

    def _answered(self, asked: TraceLine, task: AgentTask) -> TraceLine:
        is_free = self._roles.is_free(task.role)
        if self._is_pausing and self._has_paid and not is_free:
            raise _Paused
        self._has_paid |= not is_free
        try:
            return TraceLine.of_reply(asked, self._roles.agents[task.role].answer(task))
        except AgentFault as fault:
            return TraceLine.of_fault(asked, fault)


def _same(word: str) -> str:
    """The one object that stands for a word: fields that are a default are left out of JSON only if they are it."""
    return sys.intern(word)


def recalled(known: Mapping[Role, TraceLine]) -> Recall:
    """What is known of the roles, whatever they were told."""
    return lambda asked: known.get(asked.role)


def unread(passage: Passage, settings: StageSettings, why: str) -> PipelineOutput:
    """The output of a sentence that the pipeline has nothing to say of: it is not neutral."""
    sentence = passage.sentence
    return PipelineOutput(
        text_id=sentence.text_id,
        input_text=sentence.text,
        gold_tuples=sentence.gold_tuples,
        failed=why,
        meta=OutputMeta(
            run_id=settings.run_id,
            seed=passage.seed,
            mode=_same(settings.mode),
            language_code=sentence.language,
            domain_id=sentence.domain,
            case_type=sentence.case_type,
            split=sentence.split,
            profile=settings.profile,
            cfg_hash=settings.cfg_hash,
            demo_ids=tuple(demo.demo_id for demo in passage.demos),
            fields=sentence.fields,
        ),
    )


def failure_of(passage: Passage, lines: tuple[TraceLine, ...], why: str) -> Failure:
    """A sentence that broke off: at an agent who said nothing of it, or in the pipeline itself."""
    name = passage.sentence.text_id
    where = f"sentence {name} (seed {passage.seed}), "
    faulty = next((line for line in lines if line.fault is not None), None)
    if faulty is None or faulty.fault is None:
        step, code, message = (*why.split(": ", 2), "", "")[:3]
        return Failure(name, None, step, None, code, f"{where}{step}: {message}")
    fault = faulty.fault
    return Failure(name, None, faulty.role, None, fault.code, f"{where}{faulty.role}: {fault.message}", fault.attempts)
