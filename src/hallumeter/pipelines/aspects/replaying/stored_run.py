"""A finished run as it lies in its folder: sentences, what was said of them, and who said it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec
from msgspec import Struct

from hallumeter.errors import HallumeterError, InputError, RecordError
from hallumeter.pipelines.aspects.agents.protocol import Demonstration, Role
from hallumeter.pipelines.aspects.running.conducting import Passage
from hallumeter.pipelines.aspects.running.experiment import Experiment
from hallumeter.pipelines.aspects.running.experiment_file import read_experiment
from hallumeter.pipelines.aspects.running.finishing import DEMOS, OUTPUTS_FILE, SETTINGS, TRACES
from hallumeter.pipelines.aspects.running.inputs import TOO_LONG
from hallumeter.pipelines.aspects.running.trace import ROLES, TraceLine
from hallumeter.pipelines.aspects.settings import Sentence
from hallumeter.records import Failure, Manifest
from hallumeter.records.aspects import PipelineOutput
from hallumeter.store import FAILURES, MANIFEST, RunFolder

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
        """Who sat in which role."""
        told = self.manifest.settings.get("agents")
        given = dict(each.split("=", 1) for each in told) if isinstance(told, list) else {}
        return {role: given.get(role, "") for role in ROLES}

    def languages(self) -> tuple[str, ...]:
        """Of the sentences, in alphabetical order.

        Raises:
            InputError: The outputs were changed.
        """
        with self._opened(OUTPUTS_FILE) as outputs:
            return tuple(sorted({_WHOSE_OUTPUT.decode(line).meta.language_code for line in outputs}))

    def sentences(self) -> Iterator[StoredSentence]:
        """All of them, in order; traces stand in the same order as outputs.

        Raises:
            InputError: The files do not belong together.
        """
        with self._opened(OUTPUTS_FILE) as outputs, self._opened(TRACES) as traces:
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
        whose = _whose_output(output)
        while waiting is not None and _WHOSE.decode(waiting) == whose:
            own.append(waiting)
            waiting = next(traces, None)
        yield StoredSentence(output, tuple(own))
    if waiting is not None:
        raise RecordError(f"{TRACES} has calls about sentences that {OUTPUTS_FILE} lacks")


def read_run(folder: Path) -> StoredRun:
    """Open a run.

    Raises:
        InputError: There is none, or it is not one of aspects.
    """
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give that of a run, such as runs/run-0123456789ab")
    missing = [name for name in (MANIFEST, SETTINGS, OUTPUTS_FILE, TRACES, FAILURES) if not (folder / name).is_file()]
    if missing:
        raise InputError(f"{folder}: no finished run of `hallumeter aspects run`: it lacks {', '.join(missing)}")
    try:
        experiment = read_experiment(folder / SETTINGS)
        demos = _demos(folder / DEMOS)
    except (*_DAMAGE, HallumeterError) as error:
        raise InputError(f"{folder}: cannot be replayed ({error}); was a file of it changed?") from error
    return StoredRun(folder, RunFolder(folder).manifest, experiment, demos)


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


def _whose_output(line: bytes) -> _Whose:
    found = _WHOSE_OUTPUT.decode(line)
    return _Whose(found.text_id, found.meta.seed)


def _demos(path: Path) -> dict[str, Demonstration]:
    if not path.is_file():
        return {}
    lines = [msgspec.json.decode(line, type=Demonstration) for line in path.read_bytes().splitlines()]
    return {demo.demo_id: demo for demo in lines}
