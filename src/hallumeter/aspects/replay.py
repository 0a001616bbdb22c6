"""A finished run in, the same run with other settings out, without one new call: what `hallumeter aspects replay` runs.

What an agent said then is used again. Who is told something else by a changed setting would have said something else:
an offline agent is asked anew, which costs nothing; a language model's old answer is used and named, or with
`is_exact` the sentence fails.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import IO, Any

import msgspec
from msgspec import Struct, structs

from hallumeter.errors import HallumeterError, InputError, RecordError, SettingsError
from hallumeter.formats.yaml import Plain, nearest, parse_yaml
from hallumeter.records.claim import Failure
from hallumeter.records.manifest import Manifest
from hallumeter.records.measurement import Summary
from hallumeter.run.digests import write_manifest
from hallumeter.run.engines.local import available_cores, map_in_order
from hallumeter.run.finished import load
from hallumeter.run.identity import timed
from hallumeter.run.progress import NoProgress, ProgressListener
from hallumeter.run.run_folder import FAILURES, MANIFEST, RunFolder, new_run_folder

from .agents.by_name import AgentSettings, agent_named
from .agents.protocol import Agent, AgentFault, AgentReply, AgentTask, Demonstration, Role
from .auxiliary import SIGNAL, Classified, signal_label, with_signal
from .records.outputs import AuxiliarySignal, PipelineOutput
from .run import finishing
from .run.experiment import OFFLINE, Experiment, document_of, experiment_of, read_experiment
from .run.identity import configuration_hash, settings_lines
from .run.inputs import TOO_LONG
from .run.pipeline import stage_settings
from .run.roles import RoleAgents
from .run.sentence import Passage, SentencePipeline
from .run.trace import ROLES, TraceLine
from .settings import Sentence

# A finished run as it lies in its folder: sentences, what was said of them, and who said it.

_DAMAGE = (OSError, msgspec.DecodeError, UnicodeDecodeError, RecordError)
_OUTPUT = msgspec.json.Decoder(PipelineOutput)
_TRACE = msgspec.json.Decoder(TraceLine)


class _Whose(Struct, frozen=True):
    """A line of which only this is wanted."""

    text_id: str
    seed: int


_WHOSE = msgspec.json.Decoder(_Whose)


class StoredSentence(Struct, frozen=True):
    """A sentence with its traces, as lines."""

    output: bytes
    traces: tuple[bytes, ...]


class StoredRun(Struct, frozen=True):
    """A run to replay."""

    folder: Path
    manifest: Manifest
    experiment: Experiment
    demos: dict[str, Demonstration]

    @property
    def specs(self) -> dict[Role, str]:
        """Who answered in which role."""
        agents = self.manifest.settings.get("agents")
        given = dict(each.split("=", 1) for each in agents) if isinstance(agents, list) else {}
        return {role: given.get(role, "") for role in ROLES}

    def languages(self) -> tuple[str, ...]:
        """Of the sentences, in alphabetical order.

        Raises:
            InputError: The outputs were changed.
        """
        with self._opened(finishing.OUTPUTS_FILE) as outputs:
            return tuple(sorted({_WHOSE_OUTPUT.decode(line).meta.language_code for line in outputs}))

    def sentences(self) -> Iterator[StoredSentence]:
        """All of them, in order; traces stand in the same order as outputs.

        Raises:
            InputError: The files do not belong together.
        """
        with self._opened(finishing.OUTPUTS_FILE) as outputs, self._opened(finishing.TRACES) as traces:
            yield from _paired(outputs, traces)

    @contextmanager
    def _opened(self, name: str) -> Iterator[IO[bytes]]:
        """A file of the run; what is wrong with it is said with its name."""
        try:
            with (self.folder / name).open("rb") as stream:
                yield stream
        except _DAMAGE as error:
            raise InputError(f"{self.folder}: cannot be replayed ({error}); was a file of it changed?") from error

    def failures_of_reading(self) -> Iterator[Failure]:
        """Rows of the input that could not be used."""
        for failure in RunFolder(self.folder).failures():
            if failure.step == "read":
                yield failure


def _paired(outputs: Iterable[bytes], traces: Iterator[bytes]) -> Iterator[StoredSentence]:
    """Every output with its calls."""
    waiting = next(traces, None)
    for output in outputs:
        own: list[bytes] = []
        found = _WHOSE_OUTPUT.decode(output)
        whose = _Whose(found.text_id, found.meta.seed)
        while waiting is not None and _WHOSE.decode(waiting) == whose:
            own.append(waiting)
            waiting = next(traces, None)
        yield StoredSentence(output, tuple(own))
    if waiting is not None:
        raise RecordError(f"{finishing.TRACES} has calls about sentences that {finishing.OUTPUTS_FILE} lacks")


def read_run(folder: Path, *, verify: bool = True) -> StoredRun:
    """Open a run.

    Raises:
        InputError: There is none, it is not one of aspects, or a file of it was changed.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give that of a run, such as runs/run-0123456789ab")
    missing = [
        name
        for name in (MANIFEST, finishing.SETTINGS, finishing.OUTPUTS_FILE, finishing.TRACES, FAILURES)
        if not (folder / name).is_file()
    ]
    if missing:
        raise InputError(f"{folder}: no finished run of `hallumeter aspects run`: it lacks {', '.join(missing)}")
    manifest = load(folder, verify=verify).manifest
    try:
        experiment = read_experiment(folder / finishing.SETTINGS)
        demos = _demos(folder / finishing.DEMOS)
    except (*_DAMAGE, HallumeterError) as error:
        raise InputError(f"{folder}: cannot be replayed ({error}); was a file of it changed?") from error
    return StoredRun(folder, manifest, experiment, demos)


def passage_of(output: PipelineOutput, demos: dict[str, Demonstration]) -> Passage:
    """A sentence as it was read, with the demonstrations that its agents were shown."""
    meta = output.meta
    sentence = Sentence(
        text_id=output.text_id,
        text=output.input_text,
        language=meta.language_code,
        domain=meta.domain_id,
        split=meta.split,
        case_type=meta.case_type,
        gold_tuples=output.gold_tuples,
        fields=meta.fields,
        unreadable=output.failed if output.failed is not None and output.failed.startswith(TOO_LONG) else None,
    )
    return Passage(sentence, meta.seed, tuple(demos[name] for name in meta.demo_ids if name in demos))


def decoded_output(line: bytes) -> PipelineOutput:
    """A line of outputs."""
    return _OUTPUT.decode(line)


def decoded_traces(lines: tuple[bytes, ...]) -> dict[Role, TraceLine]:
    """Lines of traces, by role."""
    found = [_TRACE.decode(line) for line in lines]
    return {line.role: line for line in found}


class _MetaOfOutput(Struct, frozen=True):
    seed: int = 0
    language_code: str = ""


class _WhoseOutput(Struct, frozen=True):
    text_id: str
    meta: _MetaOfOutput = _MetaOfOutput()


_WHOSE_OUTPUT = msgspec.json.Decoder(_WhoseOutput)


def _demos(path: Path) -> dict[str, Demonstration]:
    if not path.is_file():
        return {}
    lines = [msgspec.json.decode(line, type=Demonstration) for line in path.read_bytes().splitlines()]
    return {demo.demo_id: demo for demo in lines}


# What may be changed when a run is replayed: all that decides what code makes of agents' answers, and nothing else.

CHANGEABLE = (
    "pipeline.enable_stage2",
    "pipeline.enable_validator",
    "pipeline.enable_debate",
    "pipeline.enable_debate_override",
    "pipeline.enable_moderator",
    "pipeline.debate_override.profile",
    "pipeline.debate_override.min_total",
    "pipeline.debate_override.min_margin",
    "pipeline.debate_override.min_target_conf",
    "pipeline.debate_override.l3_conservative",
    "pipeline.debate_override_thresholds",
    "pipeline.debate_thresholds",
    "pipeline.patterns.ko",
    "pipeline.patterns.en",
    "profile",
)
"""Settings that can be given; ``pipeline.`` may be left out."""
_PREFIX = "pipeline."


def changed_experiment(experiment: Experiment, given: Sequence[str]) -> tuple[Experiment, dict[str, str]]:
    """The experiment with settings such as ``enable_validator=false`` in place of its own, and what was set.

    Raises:
        SettingsError: Something cannot be set, or not so.
    """
    document: dict[str, Any] = document_of(experiment)
    changes: dict[str, str] = {}
    for text in given:
        name, equals, value = text.partition("=")
        key = _changeable(name.strip())
        if not equals or not value.strip():
            raise SettingsError(f"--set {text!r}: expected NAME=VALUE, such as enable_validator=false")
        file = parse_yaml(value.encode(), key)
        file.raise_faults()
        _put(document, key.split("."), None if file.root is None else file.root.plain)
        changes[key] = value.strip()
    if not changes:
        return experiment, changes
    try:
        return experiment_of(document), changes
    except SettingsError as error:
        first = str(error).splitlines()[0].rstrip(";").partition(": ")[2]
        raise SettingsError(f"--set {first}") from None


def _changeable(name: str) -> str:
    key = name if name in CHANGEABLE else f"{_PREFIX}{name}"
    if key not in CHANGEABLE:
        short = [each.removeprefix(_PREFIX) for each in CHANGEABLE]
        hint = nearest(name.removeprefix(_PREFIX), short)
        raise SettingsError(
            f"--set {name}: a replay can change switches, thresholds, patterns and the profile alone; {hint}"
        )
    return key


def _put(document: dict[str, Any], keys: list[str], value: Plain) -> None:
    for key in keys[:-1]:
        inner = document.setdefault(key, {})
        assert isinstance(inner, Mapping)
        document = inner  # type: ignore[assignment]
    document[keys[-1]] = value


INSTRUMENT = "aspects replay"
CONTEXT_CHANGED, NOT_ASKED = "context_changed", "not_asked"
_SENTENCES_AT_A_TIME = 16
_FEW = 64
"""Fewer sentences are read before processes would have started."""
_ENCODER = msgspec.json.Encoder()


class ReplayOutcome(Struct, frozen=True):
    """What a replay came to."""

    folder: Path
    finished: finishing.FinishedSentences
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
    progress: ProgressListener | None = None,
    verify: bool = True,
) -> ReplayOutcome:
    """Recompute a run with other switches, thresholds or patterns, from the answers that it holds.

    Args:
        run: The folder of the run.
        changes: Such as ``enable_validator=false``; none repeats the run as it was.
        out: The folder of the replay; default: beside the run.
        is_exact: Let sentences fail whose language models would be told something else.
        progress: Is called as the replay goes on.
        verify: Refuse a run whose files were changed since it was written.
    """
    started = datetime.now(UTC)
    stored = read_run(run, verify=verify)
    experiment, made = changed_experiment(stored.experiment, changes)
    replay_agents = ReplayAgents(stored.specs, experiment.models, stored.languages())
    roles = replay_agents.roles()
    settings = stage_settings(experiment)
    place = out if out is not None else run.with_name(f"{run.name}-replay{_suffix(made)}")
    settings = structs.replace(settings, run_id=place.name, cfg_hash=configuration_hash(settings, roles))
    pipeline = SentencePipeline(roles, settings)
    work = ReplayProcess(pipeline, stored.demos, replay_agents, is_exact=is_exact)
    tally = _Tally()
    place.parent.mkdir(parents=True, exist_ok=True)
    with new_run_folder(place) as draft:
        finished = _written(draft, stored, work, tally=tally, progress=progress or NoProgress())
        finishing.write_settings(draft, document_of(experiment) | {"run_id": settings.run_id})
        finishing.write_demos(draft, stored.demos.values())
        summary = finishing.finish_run(draft, settings.mapping)
        changed = {name: list(own) for name, own in settings_lines(settings).items()}
        write_manifest(draft, timed(_manifest(stored, experiment, made, changed=changed), started))
        finishing.write_report(draft)
    return ReplayOutcome(
        folder=place,
        finished=finished,
        changes=made,
        changed=tally.changed,
        recomputed=tally.recomputed,
        replayed=dict(tally.replayed),
        summary=summary,
        notices=replay_agents.notices(),
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


class StoredAnswers:
    """Answers from the old answers of one sentence, and says where they do not fit."""

    def __init__(self, stored: dict[Role, TraceLine], roles: RoleAgents, *, is_exact: bool) -> None:
        self._stored = stored
        self._roles = roles
        self._is_exact = is_exact
        self.recomputed = 0
        self.replayed: list[Role] = []

    def __call__(self, asked: TraceLine) -> TraceLine | None:
        """What was answered then; None when it is to be asked anew, at no cost."""
        line = self._stored.get(asked.role)
        if line is not None and line.input_hash == asked.input_hash:
            return line
        if self._roles.is_free(asked.role):
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
        self, pipeline: SentencePipeline, demos: dict[str, Demonstration], roles: ReplayAgents, *, is_exact: bool
    ) -> None:
        self._pipeline = pipeline
        self._demos = demos
        self._roles = roles
        self._is_exact = is_exact

    def __getstate__(self) -> tuple[SentencePipeline, dict[str, Demonstration], ReplayAgents, bool]:
        """What another process is told; agents hold what cannot be sent, and are made there."""
        return structs.replace(self._pipeline, roles=None), self._demos, self._roles, self._is_exact

    def __setstate__(self, state: tuple[SentencePipeline, dict[str, Demonstration], ReplayAgents, bool]) -> None:
        """Make the agents."""
        pipeline, self._demos, self._roles, self._is_exact = state
        self._pipeline = structs.replace(pipeline, roles=self._roles.roles())

    def __call__(self, sentences: Sequence[StoredSentence]) -> list[Replayed]:
        """The sentences as they would have become."""
        return [self._replayed(sentence) for sentence in sentences]

    def _replayed(self, sentence: StoredSentence) -> Replayed:
        before = decoded_output(sentence.output)
        answers = StoredAnswers(decoded_traces(sentence.traces), self._pipeline.roles, is_exact=self._is_exact)
        done = self._pipeline.read(passage_of(before, self._demos), answers)
        output = done.output
        assert output is not None  # nothing waits where nothing is paid
        said = before.aux_signals.get(SIGNAL)
        if said is not None and output.failed is None:
            output = with_signal(output, _StoredClassifier(said.model_id, _classified(said)))
        if answers.replayed:
            output = structs.replace(output, meta=structs.replace(output.meta, replayed=tuple(answers.replayed)))
        return Replayed(
            output=_ENCODER.encode(output),
            traces=tuple(_ENCODER.encode(line) for line in done.lines),
            failure=done.failure,
            is_changed=_decision(output) != _decision(before),
            recomputed=answers.recomputed,
            replayed=tuple(answers.replayed),
        )


class _StoredClassifier:
    """What the auxiliary classifier said in the run. It is never loaded: a run folder may be a stranger's."""

    def __init__(self, model_id: str, said: Classified) -> None:
        self.model_id = model_id
        self._said = said

    def classify(self, text: str) -> Classified:  # noqa: ARG002 (the answer is known)
        return self._said


def _classified(said: AuxiliarySignal) -> Classified:
    label = signal_label(said.label)
    if label is None:
        raise RecordError(f"aux_signals.{SIGNAL}.label: expected pos, neg or neu, found {said.label!r}")
    return Classified(label, said.confidence)


class _Silent:
    """Someone who was asked in the run, and cannot be asked now."""

    def __init__(self, spec: str) -> None:
        self.spec = spec

    def answer(self, task: AgentTask) -> AgentReply:
        raise AgentFault(NOT_ASKED, f"{task.role} cannot be asked in a replay")


class ReplayAgents(Struct, frozen=True):
    """Who answered in which role of a run, so that offline agents can be asked again."""

    specs: dict[Role, str]
    models: dict[Role, str]
    languages: tuple[str, ...]

    def roles(self) -> RoleAgents:
        """Offline agents to be asked, others to be remembered."""
        offline = agent_named(OFFLINE, AgentSettings(languages=self.languages))
        agents: dict[Role, Agent] = {
            role: offline if name == OFFLINE else _Silent(self.specs[role]) for role, name in self.models.items()
        }
        return RoleAgents(agents, self.specs, self.models, has_prompts=False)

    def notices(self) -> tuple[str, ...]:
        """Whether the offline agents are others than they were in the run."""
        now = agent_named(OFFLINE, AgentSettings(languages=self.languages)).spec
        then = dict.fromkeys(self.specs[role] for role, name in self.models.items() if name == OFFLINE)
        return tuple(f"the offline agents were {spec}, and are {now} now" for spec in then if spec != now)


def _written(
    folder: Path, stored: StoredRun, work: ReplayProcess, *, tally: _Tally, progress: ProgressListener
) -> finishing.FinishedSentences:
    total = sum(file.records for file in stored.manifest.inputs[:1]) * len(stored.experiment.seeds)
    progress.begin(f"replaying {stored.folder.name}", total=total)
    workers = available_cores() if total >= _FEW else 1
    with (
        finishing.SentenceFiles(folder) as files,
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
            progress.done(len(part), failures=sum(each.failure is not None for each in part))
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
    stored: StoredRun, experiment: Experiment, changes: dict[str, str], *, changed: dict[str, list[str]]
) -> Manifest:
    """That of the run, with what was changed; it is no longer the run of its experiment."""
    settings = {
        **stored.manifest.settings,
        **changed,
        "profile": experiment.profile,
        "replay_of": stored.folder.name,
        "set": [f"{name}={value}" for name, value in changes.items()],
    }
    digest = hashlib.sha256(msgspec.json.encode(settings)).hexdigest()[:12]
    return structs.replace(stored.manifest, instrument=INSTRUMENT, settings={**settings, "identity": digest})
