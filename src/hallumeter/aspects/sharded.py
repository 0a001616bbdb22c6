"""Aspects cut into shards: whole sentences in each, with all their readings, outputs or scorecards."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs

from hallumeter.errors import InputError, RecordError
from hallumeter.formats.files import check_readable
from hallumeter.records.claim import Failure
from hallumeter.records.manifest import InputFile
from hallumeter.records.measurement import Summary
from hallumeter.run.digests import write_manifest
from hallumeter.run.engines.local import map_in_order
from hallumeter.run.inputs import rereadable_files, sha256_of
from hallumeter.run.run_folder import SUMMARY
from hallumeter.run.sharded import Plan, ShardDone, ShardedKind, UsualKind, done_of, share_of, whole_outcome
from hallumeter.run.shards import Part, PartUnits, is_of_unit, unit_sources
from hallumeter.run.store import RunStore
from hallumeter.run.store_tables import cells_name

from .agents.protocol import Demonstration
from .aggregate.counted import RunKey, record_name, safe_cell
from .aggregate.overview import AggregateSettings, AspectsPartial
from .aggregate.pipeline import aggregate_part
from .aggregate.run_writer import SCORECARDS, RunWriter, manifest_of, write_tables
from .aggregate.tables import TRIPTYCH
from .blame.tables import BLAME_LINES, write_blame_tables
from .grounding import TargetWords
from .records.aspect import AspectTuple
from .records.scorecard import Scorecard
from .run.asking import passage_of
from .run.experiment import document_of, experiment_of
from .run.finishing import DEMOS, OUTPUTS_FILE, SETTINGS, TRACES, write_demos, write_settings
from .run.identity import AspectsIdentity, languages_of
from .run.inputs import DemoPool, Inputs
from .run.pipeline import AspectsWork, Prepared, run_sentences
from .run.plan import plan_of
from .run.roles import calls_at_once, is_model, role_agents_of
from .score.outputs import output_reader
from .score.pipeline import INSTRUMENT as SCORED
from .score.pipeline import ScoreSettings, scored_chunk
from .score.reading import Chunk, opened_lines
from .score.scorecards import scorecard_reader
from .settings import Sentence

_CARDS_AT_ONCE = 256
_LINE, _SENTENCE, _RUN, _COUNTS = "line", "sentence", "run", "is_counted"


class ScorecardInput:
    """The scorecards of a file, line by line."""

    def __init__(self, name: str, path: Path, settings: AggregateSettings) -> None:
        self._path, self.settings = path, settings
        self.bytes, self.kept = path.stat().st_size, {SCORECARDS: path}
        self.files = (InputFile(name, sha256_of(path), 0),)
        self._failures: list[Failure] = []

    def sources(self) -> Iterator[tuple[str, Any]]:
        """The scorecards, then the lines that are none."""
        self._failures = []
        return unit_sources("scorecards", self._cards(), failures=self._refused(), notices=())

    def _cards(self) -> Iterator[dict[str, Any]]:
        read = partial(_read_chunk, profile=self.settings.profile, name=self.files[0].name)
        workers = self.settings.workers
        with opened_lines(self._path) as chunks, closing(map_in_order(read, chunks, workers=workers)) as found:
            for cards, failures in found:
                if failures and self.settings.is_strict:
                    raise RecordError(failures[0].message)
                self._failures += failures
                yield from cards

    def _refused(self) -> Iterator[Failure]:
        yield from self._failures


def _read_chunk(chunk: Chunk, *, profile: str | None, name: str) -> tuple[list[dict[str, Any]], list[Failure]]:
    """The scorecards of some lines, and what the others are; a blank line is nothing."""
    reader, failures, cards = scorecard_reader(), list[Failure](), list[dict[str, Any]]()
    for number, line in zip(count(chunk.first), chunk.content.split(b"\n")):
        for card in reader.records(Chunk(name, number, line), failures):
            cards.append(_row(card, line, is_counted=profile in (None, card.chosen_profile or "")))
    return cards, failures


def _row(card: Scorecard, line: bytes, *, is_counted: bool) -> dict[str, Any]:
    return {_LINE: line, _SENTENCE: card.case_id, _RUN: list(card.run_key), _COUNTS: is_counted}


@contextmanager
def scorecard_input(scorecards: Path, settings: AggregateSettings) -> Iterator[ScorecardInput]:
    """A file of scorecards as the input of shards."""
    with rereadable_files([scorecards]) as [(name, path)]:
        yield ScorecardInput(name, path, settings)


class _Runs(Struct, frozen=True):
    """The runs of all scorecards, which no shard could know alone."""

    counted: tuple[RunKey, ...]
    first: RunKey | None

    @classmethod
    def of(cls, names: Sequence[str]) -> _Runs:
        found = [msgspec.json.decode(name, type=tuple[RunKey, bool]) for name in names]
        counted = dict.fromkeys(run for run, is_counted in found if is_counted)
        return cls(tuple(counted), found[0][0] if found else None)


class _Scorecards(UsualKind, ABC):
    """What scorecards that were given and those that are made have in common."""

    cells = {TRIPTYCH: ("text_id", "run", "seed")}  # noqa: RUF012 (as its protocol has it)
    unusable = "no scorecard could be read"
    """What is said of a file of which no line can be used."""

    def key(self, settings: dict[str, Any]) -> Callable[[Mapping[str, object], str], str]:
        """By the sentence."""
        del settings
        return _key

    def name(self, fields: Mapping[str, object]) -> str | None:
        """The run, and whether its scorecards are of the profile that is wanted."""
        return msgspec.json.encode((fields[_RUN], fields[_COUNTS])).decode() if _RUN in fields else None

    @abstractmethod
    def cards(self, plan: Plan, units: PartUnits, folder: Path) -> tuple[Iterable[Chunk], AggregateSettings]:
        """The scorecards of a part, and by what they are aggregated."""

    def stated(self, plan: Plan) -> dict[str, Any]:
        """What the manifest says beside how scorecards are aggregated."""
        del plan
        return {}

    def check(self, plan: Plan) -> None:
        """Refuse a file of which no line can be used."""
        if not plan.found.names:
            raise InputError(f"{plan.inputs[0].name}: {self.unusable}{plan.found.first_fault}")

    def work(self, plan: Plan, part: Part, folder: Path) -> ShardDone:
        """Aggregate the scorecards of a part."""
        started = datetime.now(UTC)
        units, runs = PartUnits(part), _Runs.of(part.names)
        folder.mkdir()
        chunks, settings = self.cards(plan, units, folder)
        with RunWriter(folder) as writer:
            found = aggregate_part(
                chunks, settings, runs=runs.counted, first_run=runs.first, unread=units.failures, keep=writer.add
            )
            writer.finish(found)
        counts = found.summary.counts
        # Files beside the first are counted once, by the first shard.
        beside = (structs.replace(file, records=file.records * (part.shard.number == 0)) for file in plan.inputs[1:])
        manifest = manifest_of(structs.replace(plan.inputs[0], records=counts.records), settings, started)
        inputs = (*manifest.inputs, *beside)
        stated = manifest.settings | self.stated(plan)
        write_manifest(folder, structs.replace(manifest, instrument=plan.run, inputs=inputs, settings=stated))
        return ShardDone(records=counts.records, failures=counts.failures)

    def estimated(self, plan: Plan, part: Part, folder: Path) -> tuple[float, int, float | None]:
        """What a part takes: nobody is asked."""
        begun = time.monotonic()
        self.work(plan, part, folder)
        return time.monotonic() - begun, 0, 0.0

    def record_rows(self, part: Part, folder: Path) -> dict[str, int]:
        """A row of every sentence of a run, by its record and by its line of the table for people."""
        del folder
        runs = _Runs.of(part.names)

        def names(fields: dict[str, Any]) -> Iterable[str]:
            run, sentence = tuple(fields[_RUN]), fields.get(_SENTENCE)
            return record_name(sentence, run, runs.first), _shown_name(sentence, run)

        return PartUnits(part).rows(names)

    def section(self, table: str, line: Mapping[str, Any], row: int) -> int:
        """Lines that are no scorecards come after sentences that failed."""
        del line
        return int(table == "failures" and not is_of_unit(row))

    def write_files(self, folder: Path, store: RunStore, plan: Plan, *, whole: AspectsPartial) -> tuple[str, ...]:
        """Tables of the whole run."""
        del store, plan, whole
        return write_tables(folder, msgspec.json.decode((folder / SUMMARY).read_bytes(), type=Summary))


def _key(fields: Mapping[str, object], place: str) -> str:
    return str(fields.get(_SENTENCE) or place)


class ShardedScorecards(_Scorecards):
    """Aggregations of scorecards in shards."""

    def stored(self, settings: AggregateSettings) -> dict[str, Any]:
        """The settings as JSON."""
        return super().stored(structs.replace(settings, workers=1))

    def cards(self, plan: Plan, units: PartUnits, folder: Path) -> tuple[Iterable[Chunk], AggregateSettings]:
        """As they were given."""
        del folder
        return _chunks(units), msgspec.convert(plan.settings, AggregateSettings)


def _chunks(units: PartUnits) -> Iterator[Chunk]:
    lines = (fields[_LINE] for fields in units)
    while some := list(islice(lines, _CARDS_AT_ONCE)):
        yield Chunk(SCORECARDS, 1, b"\n".join(some))


# Outputs of the pipeline, scored and aggregated at once.

_GOLD = "gold"


class OutputsToShard(Struct, frozen=True, kw_only=True):
    """By what the outputs of every shard are scored."""

    allowlist: list[str]
    stop_terms: list[str]
    profile: str | None


class OutputInput:
    """The outputs of a file, line by line, each with the gold of its sentence."""

    def __init__(self, name: str, path: Path, settings: ScoreSettings, *, gold: Path | None) -> None:
        self._name, self._path, self._settings = name, path, settings
        self.bytes, self.kept = path.stat().st_size, dict[str, Path]()
        self.notices: list[str] = []
        self.files: tuple[InputFile, ...] = (InputFile(name, sha256_of(path), 0),)
        if gold is not None:
            self.files += (InputFile(gold.name, sha256_of(gold), len(settings.gold or ())),)
        self._failures: list[Failure] = []

    @property
    def settings(self) -> OutputsToShard:
        """By what they are scored."""
        words, profile = self._settings.words, self._settings.profile
        return OutputsToShard(allowlist=sorted(words.allowlist), stop_terms=sorted(words.stop_terms), profile=profile)

    def sources(self) -> Iterator[tuple[str, Any]]:
        """The outputs, then the lines that are none."""
        self._failures = []
        return unit_sources("outputs", self._outputs(), failures=self._refused(), notices=())

    def _outputs(self) -> Iterator[dict[str, Any]]:
        read = partial(_read_outputs, name=self._name)
        workers, gold = self._settings.workers, self._settings.gold
        unused = set(gold or ())
        with opened_lines(self._path) as chunks, closing(map_in_order(read, chunks, workers=workers)) as found:
            for rows, failures in found:
                if failures and self._settings.is_strict:
                    raise RecordError(failures[0].message)
                self._failures += failures
                for row in rows:
                    known = None if gold is None else gold.get(row[_SENTENCE])
                    unused.discard(row[_SENTENCE])
                    yield row if known is None else row | {_GOLD: msgspec.to_builtins(known)}
        self.notices = [f"gold of sentences that no output is about: {len(unused):,}"] if unused else []

    def _refused(self) -> Iterator[Failure]:
        yield from self._failures


def _read_outputs(chunk: Chunk, *, name: str) -> tuple[list[dict[str, Any]], list[Failure]]:
    """The outputs of some lines, and what the others are; a blank line is nothing."""
    reader, failures, rows = output_reader(), list[Failure](), list[dict[str, Any]]()
    for number, line in zip(count(chunk.first), chunk.content.split(b"\n")):
        for output in reader.records(Chunk(name, number, line), failures):
            run = [output.meta.run_id, output.meta.seed]
            rows.append({_LINE: line, _SENTENCE: output.text_id, _RUN: run, _COUNTS: True})
    return rows, failures


@contextmanager
def output_input(outputs: Path, settings: ScoreSettings, gold: Path | None) -> Iterator[OutputInput]:
    """A file of outputs as the input of shards."""
    with rereadable_files([outputs]) as [(name, path)]:
        check_readable(path)
        yield OutputInput(name, path, settings, gold=gold)


class ShardedOutputs(_Scorecards):
    """Outputs scored in shards, and their scorecards aggregated."""

    unusable = "no output could be scored"

    def stated(self, plan: Plan) -> dict[str, Any]:
        """The profile that the scorecards have."""
        return {"written_profile": plan.settings["profile"]}

    def cards(self, plan: Plan, units: PartUnits, folder: Path) -> tuple[Iterable[Chunk], AggregateSettings]:
        """Made of the outputs, and kept."""
        given = msgspec.convert(plan.settings, OutputsToShard)
        gold = {fields[_SENTENCE]: _gold(fields) for fields in units if _GOLD in fields}
        words = TargetWords(frozenset(given.allowlist), frozenset(given.stop_terms))
        score = ScoreSettings(words=words, profile=given.profile, gold=gold)
        return _scored(_chunks(units), score, folder / SCORECARDS), AggregateSettings()

    def names(self, table: str, line: Mapping[str, Any]) -> Iterable[str]:
        """Scorecards by sentence, run and seed."""
        return [_card_name(line)] if f"{table}.jsonl" == SCORECARDS else super().names(table, line)


def _scored(outputs: Iterable[Chunk], score: ScoreSettings, path: Path) -> Iterator[Chunk]:
    with path.open("wb") as stream:
        for chunk in outputs:
            cards = scored_chunk(chunk, score).cards
            stream.write(cards)
            yield Chunk(SCORECARDS, 1, cards)


def _gold(fields: Mapping[str, Any]) -> tuple[AspectTuple, ...]:
    return msgspec.convert(fields[_GOLD], tuple[AspectTuple, ...])


def _card_name(card: Mapping[str, Any]) -> str:
    """What a scorecard of ours is known by: its line in the table for people."""
    meta, runtime = card.get("meta") or {}, card.get("runtime") or {}
    return _shown_name(meta.get("text_id"), (card.get("run_id") or meta.get("run_id") or "", runtime.get("seed")))


def _shown_name(sentence: str | None, run: RunKey) -> str:
    return cells_name(safe_cell(sentence or ""), safe_cell(run[0]), "" if run[1] is None else str(run[1]))


# Sentences that agents read: each with its demonstrations, and with all seeds in one shard.

_DEMOS = "demos"
_SEED_BITS = 50
"""Outputs stand seed by seed, and for each in the order of the sentences; rows below have 40 bits and a source."""


class SentencesToShard(Struct, frozen=True, kw_only=True):
    """What every shard must know of an experiment."""

    experiment: dict[str, Any]
    """As `experiment.yaml` would have it, but for its budget."""
    identity: AspectsIdentity
    languages: tuple[str, ...]
    is_strict: bool
    trusted: tuple[str, ...]
    budget_usd: float | None
    pace: dict[str, float | None] | UnsetType = UNSET
    """Unset where no language model is asked."""


class SentenceInput:
    """The sentences of an experiment, with what their agents are shown."""

    def __init__(self, ready: Prepared, folder: Path, *, is_strict: bool, trusted: Collection[Path]) -> None:
        self._ready, self._is_strict, self._trusted = ready, is_strict, trusted
        self.files = ready.inputs.files
        seeds = len(ready.experiment.seeds)
        self.bytes = sum(len(each.text) + _BYTES_PER_OUTPUT for each in ready.inputs.sentences) * seeds
        write_settings(folder, document_of(ready.experiment) | {"run_id": ready.run_id})
        records = range(len(ready.inputs.sentences) * seeds)
        write_demos(folder, ready.inputs.pool.shown(map(self._demos, records)))
        self.kept = {name: folder / name for name in (SETTINGS, DEMOS) if (folder / name).exists()}

    def _demos(self, record: int) -> tuple[Demonstration, ...]:
        return passage_of(self._ready.experiment, self._ready.inputs, record).demos

    @property
    def settings(self) -> SentencesToShard:
        """What every shard must know."""
        ready, experiment = self._ready, self._ready.experiment
        pipeline = experiment.pipeline
        # Workers may stand in another folder.
        files = {name: path.absolute() for name in _FILES if (path := getattr(pipeline, name)) is not None}
        patterns = {language: path.absolute() for language, path in pipeline.patterns.items()}
        given = structs.replace(
            experiment, run_id=ready.run_id, pipeline=structs.replace(pipeline, **files, patterns=patterns), budget=None
        )
        asks_models = any(map(is_model, experiment.models.values()))
        return SentencesToShard(
            experiment=document_of(given),
            identity=ready.identity,
            languages=languages_of(ready.inputs),
            is_strict=self._is_strict,
            trusted=tuple(str(path.absolute()) for path in self._trusted),
            budget_usd=experiment.budget,
            pace={name: getattr(experiment, name) for name in _PACE} if asks_models else UNSET,
        )

    def sources(self) -> Iterator[tuple[str, Any]]:
        """The sentences, then the rows that could not be used."""
        inputs = self._ready.inputs
        return unit_sources("sentences", self._sentences(), failures=inputs.failures, notices=())

    def _sentences(self) -> Iterator[dict[str, Any]]:
        sentences, seeds = self._ready.inputs.sentences, len(self._ready.experiment.seeds)
        for number, sentence in enumerate(sentences):
            row = {_SENTENCE: sentence.text_id, _TEXT: msgspec.to_builtins(sentence)}
            shown = [self._demos(place * len(sentences) + number) for place in range(seeds)]
            yield row | ({_DEMOS: msgspec.to_builtins(shown)} if any(shown) else {})


_TEXT = "text"
_BYTES_PER_OUTPUT = 4096
"""Roughly, of what agents say of a sentence."""
_FILES = ("debate_override_thresholds", "debate_thresholds", "prompts")
_PACE = ("requests_per_minute", "tokens_per_minute")


@contextmanager
def sentence_input(ready: Prepared, *, is_strict: bool, trusted: Collection[Path]) -> Iterator[SentenceInput]:
    """The sentences of an experiment as the input of shards."""
    with TemporaryDirectory(prefix="hallumeter-") as folder:
        yield SentenceInput(ready, Path(folder), is_strict=is_strict, trusted=trusted)


class _GivenDemos(DemoPool, frozen=True):
    """Demonstrations that were drawn before, by seed and sentence."""

    given: dict[tuple[int, str], tuple[Demonstration, ...]] = msgspec.field(default_factory=dict)

    def drawn(self, count: int, *, seed: int, text_id: str, language: str) -> tuple[Demonstration, ...]:
        """Those that were drawn."""
        del count, language
        return self.given.get((seed, text_id), ())


class ShardedSentences(UsualKind):
    """Runs of agents in shards."""

    cells = {TRIPTYCH: ("text_id", "run", "seed")}  # noqa: RUF012 (as its protocol has it)

    def key(self, settings: dict[str, Any]) -> Callable[[Mapping[str, object], str], str]:
        """By the sentence."""
        del settings
        return _key

    def check(self, plan: Plan) -> None:
        """Nothing: the whole input was read before it was cut."""

    def work(self, plan: Plan, part: Part, folder: Path) -> ShardDone:
        """Let agents read the sentences of a part."""
        ready, settings = _experiment_part(plan, part)
        work = AspectsWork(
            ready, folder, is_strict=settings.is_strict, is_retrying=False, trusted=[*map(Path, settings.trusted)]
        )
        outcome = run_sentences(work, ready.experiment)
        finished = whole_outcome(outcome)
        (folder / DEMOS).unlink(missing_ok=True)  # the whole run has them all
        return done_of(outcome, records=finished.sentences + finished.failed, failures=finished.failed)

    def estimated(self, plan: Plan, part: Part, folder: Path) -> tuple[float | None, int, float | None]:
        """What a part takes; only agents that read by rules are timed, since others may cost money."""
        ready, _ = _experiment_part(plan, part)
        calls = plan_of(ready, Counter())
        seconds = None
        if ready.experiment.is_offline:
            begun = time.monotonic()
            self.work(plan, part, folder)
            seconds = time.monotonic() - begun
        asked = sum(planned.calls for planned in calls.parts if planned.free is None)
        return seconds, asked, calls.cost_usd

    def record_rows(self, part: Part, folder: Path) -> dict[str, int]:
        """A row of every reading of a sentence, seed by seed."""
        found = PartUnits(part).rows(lambda fields: (fields[_SENTENCE],))
        rows = dict(found)
        run, seeds = _run_of(folder)
        for sentence, row in found.items():
            if is_of_unit(row):
                for place, seed in enumerate(seeds):
                    own = place << _SEED_BITS | row
                    rows[record_name(sentence, (run, seed), (run, seeds[0]))] = own
                    rows[_shown_name(sentence, (run, seed))] = own
                    rows[cells_name(sentence, str(seed))] = own
        return rows

    def names(self, table: str, line: Mapping[str, Any]) -> Iterable[str]:
        """Outputs, calls and errors by sentence and seed, scorecards by their run too, the others by their records."""
        if f"{table}.jsonl" == SCORECARDS:
            return [_card_name(line)]
        if f"{table}.jsonl" in (OUTPUTS_FILE, TRACES, BLAME_LINES):
            meta = line.get("meta") or line
            return [cells_name(str(line["text_id"]), str(meta.get("seed", 0)))]
        return super().names(table, line)

    def write_files(self, folder: Path, store: RunStore, plan: Plan, *, whole: AspectsPartial) -> tuple[str, ...]:
        """Tables of the whole run."""
        assert whole.blame is not None, "readings of agents have it"
        own = super().write_files(folder, store, plan, whole=whole)
        summary = msgspec.json.decode((folder / SUMMARY).read_bytes(), type=Summary)
        return *own, *write_tables(folder, summary), *write_blame_tables(whole.blame.table(), folder)


def _run_of(folder: Path) -> tuple[str, list[int]]:
    """What the outputs of a shard call their run, and its seeds in their order."""
    document = msgspec.json.decode((folder / SETTINGS).read_bytes())
    return document["run_id"], document["seeds"]


def _experiment_part(plan: Plan, part: Part) -> tuple[Prepared, SentencesToShard]:
    """The experiment of a shard, as if it were read, and what it is made with."""
    settings, units = msgspec.convert(plan.settings, SentencesToShard), PartUnits(part)
    given = experiment_of(settings.experiment)
    experiment = structs.replace(
        given,
        # A worker is one process; a share of the calls of all is its own.
        concurrency=1 if given.is_offline else max(1, calls_at_once(given) // plan.slots),
        budget=settings.budget_usd,
        **{name: share_of(getattr(given, name), plan.slots) for name in _PACE},
    )
    seeds = [seed if given.demo.seed is None else given.demo.seed for seed in given.seeds]
    sentences, demos = list[Sentence](), dict[tuple[int, str], tuple[Demonstration, ...]]()
    for fields in units:
        sentence = msgspec.convert(fields[_TEXT], Sentence)
        sentences.append(sentence)
        shown = msgspec.convert(fields.get(_DEMOS, ()), list[tuple[Demonstration, ...]])
        demos |= {(seed, sentence.text_id): own for seed, own in zip(seeds, shown, strict=False)}
    inputs = Inputs(
        tuple(sentences),
        # What the files hold is counted once, by the first shard.
        tuple(structs.replace(file, records=file.records * (part.shard.number == 0)) for file in plan.inputs),
        _GivenDemos(given=demos),
        tuple(units.failures),
        languages=settings.languages,
    )
    roles = role_agents_of(experiment, settings.languages)
    assert experiment.run_id is not None, "the plan names the run"
    return Prepared(experiment, inputs, roles, settings.identity, experiment.run_id), settings


KINDS: dict[str, ShardedKind] = {
    "aspects": ShardedScorecards(),
    SCORED: ShardedOutputs(),
    "aspects run": ShardedSentences(),
}
