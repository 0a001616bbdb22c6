"""What agents made of every sentence, read from the files of a run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from hallumeter.aspects.records.blame import TracedSentence, UnitBlame
from hallumeter.run.run_folder import RunFolder

OUTPUTS, BLAME = "outputs.jsonl", "blame.jsonl"


def traced_sentences(run: Path) -> Iterator[TracedSentence]:
    """Every sentence in the order of the outputs; none where no outputs were kept."""
    folder = RunFolder(run)
    if not (run / OUTPUTS).exists():
        return
    errors = _Blamed(folder.lines(BLAME, UnitBlame)) if (run / BLAME).exists() else None
    first = None
    decoder = msgspec.json.Decoder(_Named)
    for line in folder.lines(OUTPUTS, msgspec.Raw):
        named = decoder.decode(line)
        first = named.meta.seed if first is None else first
        # Records of later seeds have the seed in their names.
        known = named.text_id if named.meta.seed == first else f"{named.text_id}@{named.meta.seed}"
        yield TracedSentence(known, bytes(line), None if errors is None else errors.take(named))


class _Seeded(msgspec.Struct, frozen=True):
    """Of an output of which only the seed is wanted."""

    seed: int = 0


class _Named(msgspec.Struct, frozen=True):
    """An output of which only its name is wanted."""

    text_id: str
    meta: _Seeded = _Seeded()


class _Blamed:
    """Errors that stand in the order of their sentences, handed out sentence by sentence."""

    def __init__(self, rows: Iterator[UnitBlame]) -> None:
        self._rows = rows
        self._waiting = next(rows, None)

    def take(self, output: _Named) -> tuple[UnitBlame, ...]:
        taken: list[UnitBlame] = []
        while (row := self._waiting) is not None and (row.text_id, row.seed) == (output.text_id, output.meta.seed):
            taken.append(row)
            self._waiting = next(self._rows, None)
        return tuple(taken)
