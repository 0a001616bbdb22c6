"""The files of a dialogue run, patient by patient as they are measured."""

from __future__ import annotations

from contextlib import ExitStack
from typing import IO, TYPE_CHECKING

import msgspec

from hallumeter.store import CLAIMS, EVENTS, FAILURES, MEASUREMENTS, RECORDS, SUMMARY, VERDICTS, write_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from hallumeter.records import Failure

    from .patients import MeasuredPatient
    from .pipeline import MeasuredDialogues

_ENCODER = msgspec.json.Encoder()


class RunWriter:
    """Writes records, claims, verdicts, measurements and events in the order of the patients; the rest at the end."""

    def __init__(self, folder: Path, failures: Iterable[Failure]) -> None:
        """Begin with what could not be read at all."""
        self._folder = folder
        self._files = ExitStack()
        self._failures = self._files.enter_context((folder / FAILURES).open("wb"))
        self._failures.write(_ENCODER.encode_lines(list(failures)))
        files = {
            "record": RECORDS,
            "claims": CLAIMS,
            "verdicts": VERDICTS,
            "measurements": MEASUREMENTS,
            "event": EVENTS,
        }
        self._streams: dict[str, IO[bytes]] = {
            kind: self._files.enter_context((folder / name).open("wb")) for kind, name in files.items()
        }

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()

    def add(self, patient: MeasuredPatient) -> None:
        """Write what was found in the answers about a patient, and what failed."""
        if patient.failures:
            self._failures.write(_ENCODER.encode_lines(patient.failures))
        if patient.lines is not None:
            for kind, stream in self._streams.items():
                stream.write(getattr(patient.lines, kind))

    def finish(self, measured: MeasuredDialogues) -> None:
        """Write what is known only at the end."""
        write_json(self._folder / SUMMARY, measured.summary)
