"""A finished run in, the same run with other settings out, without one new call: what `hallumeter aspects replay` runs.

What an agent said then is used again. Who is told something else by a changed setting would have said something else:
an offline agent is asked anew, which costs nothing; a language model's old answer is used and named, or with
`is_exact` the sentence fails.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from hallumeter.engines import available_cores, map_in_order
from hallumeter.pipelines.aspects.agents.by_name import AgentSettings, agent_named
from hallumeter.pipelines.aspects.agents.protocol import Agent, AgentFault, AgentReply, AgentTask, Demonstration, Role
from hallumeter.pipelines.aspects.running.conducting import Conductor
from hallumeter.pipelines.aspects.running.experiment import OFFLINE, Experiment
from hallumeter.pipelines.aspects.running.experiment_file import document_of
from hallumeter.pipelines.aspects.running.finishing import (
    Finished,
    RunFiles,
    finish_run,
    write_demos,
    write_report,
    write_settings,
)
from hallumeter.pipelines.aspects.running.identity import configuration_hash, settings_told
from hallumeter.pipelines.aspects.running.pipeline import classifier_of
from hallumeter.pipelines.aspects.running.seats import Seats
from hallumeter.pipelines.aspects.running.stage_settings import stage_settings
from hallumeter.pipelines.aspects.running.trace import TraceLine
from hallumeter.records import Failure, Manifest, Summary
from hallumeter.records.aspects import PipelineOutput
from hallumeter.runner import NoWatch, Watch
from hallumeter.store import new_run_folder

from .changes import changed_experiment
from .stored_run import StoredRun, StoredSentence, decoded_output, decoded_traces, passage_of, read_run

INSTRUMENT = "aspects replay"
CONTEXT_CHANGED, NOT_ASKED = "context_changed", "not_asked"
_SENTENCES_AT_A_TIME = 16
_FEW = 64
"""Fewer sentences are read before processes would have started."""
_ENCODER = msgspec.json.Encoder()


class ReplayOutcome(Struct, frozen=True):
    """What a replay came to."""

    folder: Path
    finished: Finished
    changes: dict[str, str]
    """What was set."""
    changed: int
    """Sentences with another label, or other aspects or polarities, than in the run."""
    recomputed: int
    """Answers of offline agents that were told something else."""
    replayed: dict[Role, int]
    """Answers of others that were told something else, and whose old answer was used."""
    summary: Summary
    """What was measured in the outputs."""
    notices: tuple[str, ...] = ()


def replay_run(
    run: Path,
    changes: Sequence[str] = (),
    *,
    out: Path | None = None,
    is_exact: bool = False,
    watch: Watch | None = None,
) -> ReplayOutcome:
    """Recompute a run with other switches, thresholds or patterns, from the answers that it holds.

    Args:
        run: The folder of the run.
        changes: Such as ``enable_validator=false``; none repeats the run as it was.
        out: The folder of the replay; default: beside the run.
        is_exact: Let sentences fail whose language models would be told something else.
        watch: Who waits for it.
    """
    started = datetime.now(UTC)
    stored = read_run(run)
    experiment, made = changed_experiment(stored.experiment, changes)
    replay_seats = ReplaySeats(stored.specs, experiment.models, stored.languages())
    seats = replay_seats.seats()
    settings = stage_settings(experiment)
    place = out if out is not None else run.with_name(f"{run.name}-replay{_suffix(made)}")
    settings = structs.replace(settings, run_id=place.name, cfg_hash=configuration_hash(settings, seats))
    conductor = Conductor(seats, settings, classifier_of(experiment))
    work = ReplayProcess(conductor, stored.demos, replay_seats, is_exact=is_exact)
    tally = _Tally()
    place.parent.mkdir(parents=True, exist_ok=True)
    with new_run_folder(place) as draft:
        finished = _written(draft, stored, work, tally=tally, watch=NoWatch() if watch is None else watch)
        write_settings(draft, document_of(experiment) | {"run_id": settings.run_id})
        write_demos(draft, stored.demos.values())
        summary = finish_run(draft, settings.mapping)
        told = {name: list(own) for name, own in settings_told(settings).items()}
        write_report(draft, _manifest(stored, experiment, made, told=told, started=started))
    return ReplayOutcome(
        folder=place,
        finished=finished,
        changes=made,
        changed=tally.changed,
        recomputed=tally.recomputed,
        replayed=dict(tally.replayed),
        summary=summary,
        notices=replay_seats.notices(),
    )


class _Tally:
    """What is counted while sentences are recomputed."""

    def __init__(self) -> None:
        self.changed = self.recomputed = 0
        self.replayed: Counter[Role] = Counter()


class Replayed(Struct, frozen=True):
    """A sentence that was recomputed."""

    output: bytes
    traces: tuple[bytes, ...]
    failure: Failure | None
    is_changed: bool
    recomputed: int
    replayed: tuple[Role, ...]


class Memory:
    """Answers from the old answers of one sentence, and says where they do not fit."""

    def __init__(self, stored: dict[Role, TraceLine], seats: Seats, *, is_exact: bool) -> None:
        self._stored = stored
        self._seats = seats
        self._is_exact = is_exact
        self.recomputed = 0
        self.replayed: list[Role] = []

    def __call__(self, asked: TraceLine) -> TraceLine | None:
        """What was answered then; None when it is to be asked anew, at no cost."""
        line = self._stored.get(asked.role)
        if line is not None and line.input_hash == asked.input_hash:
            return line
        if self._seats.is_free(asked.role):
            self.recomputed += 1
            return None
        if line is None:
            return TraceLine.of_fault(asked, AgentFault(NOT_ASKED, "the run has no answer of this agent", attempts=0))
        if self._is_exact:
            message = "it would be told something else than in the run"
            return TraceLine.of_fault(asked, AgentFault(CONTEXT_CHANGED, message, attempts=0))
        self.replayed.append(asked.role)
        return line


class ReplayProcess:
    """Recomputes sentences, in this process or in a copy of it."""

    def __init__(
        self, conductor: Conductor, demos: dict[str, Demonstration], seats: ReplaySeats, *, is_exact: bool
    ) -> None:
        self._conductor = conductor
        self._demos = demos
        self._seats = seats
        self._is_exact = is_exact

    def __getstate__(self) -> tuple[Conductor, dict[str, Demonstration], ReplaySeats, bool]:
        """What another process is told; agents hold what cannot be sent, and are made there."""
        return structs.replace(self._conductor, seats=None), self._demos, self._seats, self._is_exact

    def __setstate__(self, state: tuple[Conductor, dict[str, Demonstration], ReplaySeats, bool]) -> None:
        """Make the agents."""
        conductor, self._demos, self._seats, self._is_exact = state
        self._conductor = structs.replace(conductor, seats=self._seats.seats())

    def __call__(self, sentences: Sequence[StoredSentence]) -> list[Replayed]:
        """The sentences as they would have become."""
        return [self._replayed(sentence) for sentence in sentences]

    def _replayed(self, sentence: StoredSentence) -> Replayed:
        before = decoded_output(sentence.output)
        memory = Memory(decoded_traces(sentence.traces), self._conductor.seats, is_exact=self._is_exact)
        done = self._conductor.conducted(passage_of(before, self._demos), memory)
        output = done.output
        assert output is not None  # nothing waits where nothing is paid
        if memory.replayed:
            output = structs.replace(output, meta=structs.replace(output.meta, replayed=tuple(memory.replayed)))
        return Replayed(
            output=_ENCODER.encode(output),
            traces=tuple(_ENCODER.encode(line) for line in done.lines),
            failure=done.failure,
            is_changed=_decision(output) != _decision(before),
            recomputed=memory.recomputed,
            replayed=tuple(memory.replayed),
        )


class _Silent:
    """Someone who was asked in the run, and cannot be asked now."""

    def __init__(self, spec: str) -> None:
        self.spec = spec

    def answer(self, task: AgentTask) -> AgentReply:
        raise AgentFault(NOT_ASKED, f"{task.role} cannot be asked in a replay")


class ReplaySeats(Struct, frozen=True):
    """Who sat in which role of a run, so that offline agents can be asked again."""

    specs: dict[Role, str]
    models: dict[Role, str]
    languages: tuple[str, ...]

    def seats(self) -> Seats:
        """Offline agents to be asked, others to be remembered."""
        offline = agent_named(OFFLINE, AgentSettings(languages=self.languages))
        agents: dict[Role, Agent] = {
            role: offline if name == OFFLINE else _Silent(self.specs[role]) for role, name in self.models.items()
        }
        return Seats(agents, self.specs, self.models, has_prompts=False)

    def notices(self) -> tuple[str, ...]:
        """Whether the offline agents are others than they were in the run."""
        now = agent_named(OFFLINE, AgentSettings(languages=self.languages)).spec
        then = dict.fromkeys(self.specs[role] for role, name in self.models.items() if name == OFFLINE)
        return tuple(f"the offline agents were {spec}, and are {now} now" for spec in then if spec != now)


def _written(folder: Path, stored: StoredRun, work: ReplayProcess, *, tally: _Tally, watch: Watch) -> Finished:
    total = sum(file.records for file in stored.manifest.inputs[:1]) * len(stored.experiment.seeds)
    watch.begin(f"replaying {stored.folder.name}", total=total)
    workers = available_cores() if total >= _FEW else 1
    with (
        RunFiles(folder) as files,
        closing(map_in_order(work, _parts(stored.sentences()), workers=workers)) as results,
    ):
        for failure in stored.failures_of_reading():
            files.refuse(failure)
        for part in results:
            for each in part:
                files.add(each.output, each.traces, each.failure)
                tally.changed += each.is_changed
                tally.recomputed += each.recomputed
                tally.replayed.update(each.replayed)
            watch.done(len(part), failures=sum(each.failure is not None for each in part))
        return files.finished()


def _decision(output: PipelineOutput) -> object:
    """What a sentence came to: its label, and its aspects with their polarities; how sure anyone is does not count."""
    result = output.final_result
    if result is None:
        return None
    return result.label, sorted((each.aspect_term, each.polarity or "") for each in result.final_tuples)


def _parts(sentences: Iterator[StoredSentence]) -> Iterator[list[StoredSentence]]:
    while part := list(islice(sentences, _SENTENCES_AT_A_TIME)):
        yield part


def _suffix(changes: dict[str, str]) -> str:
    digest = hashlib.sha256(msgspec.json.encode(changes, order="sorted")).hexdigest()
    return f"-{digest[:8]}" if changes else ""


def _manifest(
    stored: StoredRun,
    experiment: Experiment,
    changes: dict[str, str],
    *,
    told: dict[str, list[str]],
    started: datetime,
) -> Manifest:
    """That of the run, with what was changed; it is no longer the run of its experiment."""
    settings = {
        **stored.manifest.settings,
        **told,
        "profile": experiment.profile,
        "replay_of": stored.folder.name,
        "set": [f"{name}={value}" for name, value in changes.items()],
    }
    return structs.replace(
        stored.manifest,
        instrument=INSTRUMENT,
        settings={**settings, "identity": hashlib.sha256(msgspec.json.encode(settings)).hexdigest()[:12]},
        started=started.isoformat(timespec="seconds"),
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )
