"""Asks the agents about every sentence: questions of one sentence in order, sentences side by side.

What language models answer is kept answer by answer, before the next question of the same sentence is asked. Offline
agents are code: their sentences are worked off in processes, some at a time, and kept together.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import closing

import msgspec
from msgspec import Struct, structs

from hallumeter.aspects.agents.protocol import Role
from hallumeter.aspects.agents.replies import UNKNOWN_KEY
from hallumeter.aspects.readers.by_language import reader_for
from hallumeter.aspects.records.outputs import PipelineOutput
from hallumeter.records.claim import Failure
from hallumeter.run.context import RunContext
from hallumeter.run.engines.local import available_cores, map_in_order
from hallumeter.run.journal import Entry, Journal, decoded, entry_of
from hallumeter.run.lanes import LATER, Lane, run_lanes

from .experiment import Experiment
from .identity import languages_of
from .inputs import Inputs
from .roles import calls_at_once, role_agents_of
from .sentence import Passage, SentencePipeline, SentenceState, recalled
from .trace import ROLES, TraceLine

CALLS, OUTPUTS = "calls", "outputs"
"""Steps of the journal: every call, with the role as its part; and every sentence that came to its end."""
_SENTENCES_AT_A_TIME = 16
"""That a process reads before it tells of them; few enough that little is lost when all is killed."""
_FEW = 64
"""Fewer sentences are read before processes would have started."""
_NOTHING = msgspec.Raw(b"null")


class Kept(Struct, frozen=True):
    """A sentence that came to its end."""

    output: msgspec.Raw = _NOTHING
    """A line of `outputs.jsonl`; null when the sentence is to be read once more."""
    failure: Failure | None = None


class ReadingSetup(Struct, frozen=True):
    """Everything that is needed to read a sentence; records of the journal are sentences, seed after seed."""

    experiment: Experiment
    inputs: Inputs
    pipeline: SentencePipeline

    @property
    def records(self) -> range:
        """All that is to be read."""
        return range(len(self.inputs.sentences) * len(self.experiment.seeds))

    def passage(self, record: int) -> Passage:
        """A sentence with its seed and its demonstrations."""
        return passage_of(self.experiment, self.inputs, record)


def passage_of(experiment: Experiment, inputs: Inputs, record: int) -> Passage:
    """A sentence with its seed and its demonstrations, by its number, seed after seed."""
    place, number = divmod(record, len(inputs.sentences))
    sentence, seed, demo = inputs.sentences[number], experiment.seeds[place], experiment.demo
    demos = inputs.pool.drawn(
        demo.k,
        seed=seed if demo.seed is None else demo.seed,
        text_id=sentence.text_id,
        language=sentence.language,
    )
    return Passage(sentence, seed, demos)


class Asked(Struct, frozen=True):
    """A sentence on its way to an agent, with the answers that it has."""

    record: int
    known: dict[Role, TraceLine]


class Asking:
    """All agents at work on one journal."""

    def __init__(self, setup: ReadingSetup, context: RunContext) -> None:
        self._setup = setup
        self._context = context
        self._waiting: deque[Asked] = deque()
        self._following: deque[Asked] = deque()
        self._begun = 0
        """Sentences on their way."""
        self._ended = 0
        """Sentences that came to their end since the run was begun or gone on with."""
        self._charged_before = 0.0
        self.unknown_keys: Counter[str] = Counter()
        """Keys of replies that no answer has, after the role of the agent, and how many replies have them."""

    def run(self, *, is_retrying: bool = False) -> bool:
        """Read everything that the journal has no output of; False when it was stopped.

        With `is_retrying` sentences that failed are read again, from the question that had no answer.

        Raises:
            BudgetReached: As much as the budget has been spent.
            ProviderFault: A model cannot be asked at all.
            Interrupted: It was stopped while a question waited.
        """
        done = self._finished(is_retrying=is_retrying)
        names = dict.fromkeys(self._setup.experiment.models.values())
        self._context.progress.begin(
            f"reading by {', '.join(names)}",
            total=len(self._setup.records),
            done=len(done),
            spent=lambda: self._context.spending.charged_usd,
        )
        self._charged_before = self._context.spending.charged_usd
        left = [record for record in self._setup.records if record not in done]
        for language in languages_of(self._setup.inputs) if left else ():
            reader_for(language).read("a")  # what the first sentence loads is loaded once for all threads and processes
        if self._setup.experiment.is_offline:
            return self._run_here(left)
        known = calls_by_record(self._context.journal)
        self._waiting.extend(Asked(record, known.get(record, {})) for record in left)
        at_once = calls_at_once(self._setup.experiment)
        lane = Lane(name="sentences", tasks=self._taken(2 * at_once), work=self._worked, concurrency=at_once)
        return run_lanes([lane], self._keep, stop=self._context.stop)

    def _finished(self, *, is_retrying: bool) -> set[int]:
        """Records that need nothing more; those to be read again are marked in the journal first."""
        journal = self._context.journal
        done: set[int] = set()
        failed: list[int] = []
        for entry in journal.entries(OUTPUTS):
            [kept] = decoded([entry.body], Kept)
            if bytes(kept.output) == b"null":
                continue
            if is_retrying and kept.failure is not None:
                failed.append(entry.record)
            else:
                done.add(entry.record)
        for record in failed:
            # What lets the journal say that a sentence is to be read: it may be all that the next run knows.
            lines = [next(decoded([entry.body], TraceLine)) for entry in self._context.journal.of_record(CALLS, record)]
            again = [structs.replace(line, stage_status="forgotten") for line in lines if line.fault is not None]
            journal.add([*(_call_entry(record, line) for line in again), entry_of(OUTPUTS, record, Kept())])
        return done

    def _taken(self, most: int) -> Iterator[Asked]:
        """Sentences that are begun come to their end first: a budget that is spent leaves few of them half read."""
        while self._waiting or self._begun:
            if self._following:
                yield self._following.popleft()
            elif self._waiting and self._begun < most and self._can_be_paid():
                self._begun += 1
                yield self._waiting.popleft()
            else:
                yield LATER

    def _can_be_paid(self) -> bool:
        """Whether one sentence more fits into the budget beside those that are begun.

        The first is read alone, to learn what one costs: a budget that is spent on the beginnings of many would end
        without a single result.
        """
        spending = self._context.spending
        if spending.budget_usd is None or not self._begun:
            return True
        if not self._ended:
            return False
        cost = (spending.charged_usd - self._charged_before) / self._ended
        return spending.charged_usd + (self._begun + 1) * cost <= spending.budget_usd

    def _worked(self, asked: Asked) -> SentenceState:
        passage = self._setup.passage(asked.record)
        return self._setup.pipeline.read(passage, recalled(asked.known), is_pausing=True)

    def _keep(self, results: Sequence[tuple[str, Asked, SentenceState]]) -> None:
        """Put answers into the journal, and only then let the next questions of their sentences be asked."""
        entries: list[Entry] = []
        following: list[Asked] = []
        for _, asked, state in results:
            fresh = [line for line in state.lines if asked.known.get(line.role) is not line]
            entries += [_call_entry(asked.record, line) for line in fresh]
            self.unknown_keys.update(
                f"{line.role}: {note.removeprefix(UNKNOWN_KEY)}"
                for line in fresh
                for note in line.notes
                if note.startswith(UNKNOWN_KEY)
            )
            if state.output is not None:
                entries.append(entry_of(OUTPUTS, asked.record, _kept(state.output, state.failure)))
            else:
                following.append(Asked(asked.record, {line.role: line for line in state.lines}))
        self._context.journal.add(entries)
        self._context.note_spending()
        self._following.extend(following)
        for _, _, state in results:
            if state.output is not None:
                self._begun -= 1
                self._ended += 1
                self._context.progress.done(1, failures=int(state.failure is not None))

    def _run_here(self, left: Sequence[int]) -> bool:
        """On this machine: in processes, when there is enough for them."""
        workers = self._setup.experiment.concurrency or available_cores()
        parts = [left[first : first + _SENTENCES_AT_A_TIME] for first in range(0, len(left), _SENTENCES_AT_A_TIME)]
        work = ReadingProcess(self._setup)
        with closing(map_in_order(work, parts, workers=workers if len(left) >= _FEW else 1)) as results:
            for entries, failures in results:
                self._context.journal.add(entries)
                self._context.progress.done(sum(entry.step == OUTPUTS for entry in entries), failures=failures)
                if self._context.stop.is_set():
                    return False
        return not self._context.stop.is_set()


class ReadingProcess:
    """Reads sentences by offline agents, in this process or in a copy of it."""

    def __init__(self, setup: ReadingSetup) -> None:
        self._setup = setup

    def __getstate__(self) -> tuple[Experiment, Inputs, SentencePipeline]:
        """What another process is told; agents hold what cannot be sent, and are made there."""
        pipeline = structs.replace(self._setup.pipeline, roles=None)
        return self._setup.experiment, self._setup.inputs, pipeline

    def __setstate__(self, state: tuple[Experiment, Inputs, SentencePipeline]) -> None:
        """Make the agents."""
        experiment, inputs, pipeline = state
        roles = role_agents_of(experiment, languages_of(inputs))
        self._setup = ReadingSetup(experiment, inputs, structs.replace(pipeline, roles=roles))

    def __call__(self, records: Sequence[int]) -> tuple[list[Entry], int]:
        """Entries for the journal, and how many sentences failed."""
        entries: list[Entry] = []
        failures = 0
        for record in records:
            done = self._setup.pipeline.read(self._setup.passage(record), recalled({}))
            assert done.output is not None  # nothing waits where nothing is paid
            entries += [_call_entry(record, line) for line in done.lines]
            entries.append(entry_of(OUTPUTS, record, _kept(done.output, done.failure)))
            failures += done.failure is not None
        return entries, failures


def calls_by_record(journal: Journal) -> dict[int, dict[Role, TraceLine]]:
    """What agents have answered so far; questions that are to be asked again are not in it."""
    found: dict[int, dict[Role, TraceLine]] = {}
    for entry in journal.entries(CALLS):
        [line] = decoded([entry.body], TraceLine)
        if line.stage_status != "forgotten":
            found.setdefault(entry.record, {})[line.role] = line
    return found


def _call_entry(record: int, line: TraceLine) -> Entry:
    return entry_of(CALLS, record, line, part=ROLES.index(line.role))


def _kept(output: PipelineOutput, failure: Failure | None) -> Kept:
    return Kept(msgspec.Raw(msgspec.json.encode(output)), failure)
