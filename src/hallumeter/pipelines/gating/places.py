"""Where records stand in the files that a run was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.errors import HallumeterError
from hallumeter.formats import read_rows, rows_of
from hallumeter.pipelines.input_files import sha256_of
from hallumeter.pipelines.measurement.response_names import run_record_id
from hallumeter.records.decisions.gate import Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from hallumeter.records import InputFile, Manifest, Response


class Places:
    """Finds the line of a record in the inputs of a run, as long as they are what they were."""

    def __init__(self, manifest: Manifest, folder: Path) -> None:
        self._folder = folder
        self._lines: dict[str, Place] = {}
        self._names = {each.name for each in manifest.inputs}
        self.notices: list[str] = []
        """Inputs without lines, and why."""
        for each in manifest.inputs:
            if not (folder / each.name).is_dir():
                self._read(each)

    def of_record(self, record_id: str) -> Place | None:
        """The line on which a record stands."""
        return self._lines.get(record_id)

    def of_claim(self, response: Response, start: int | None) -> Place | None:
        """The line of a claim: in the file of its page, else the line of its record."""
        page = response.fields.get("page")
        if not isinstance(page, str) or response.model not in self._names:
            return self._lines.get(response.record_id)
        file = self._folder / str(response.model) / f"{page}.txt"
        if not file.is_file():
            return None
        text, read = file.read_text(encoding="utf-8", errors="replace"), response.response or ""
        begin = text.find(read)
        line = text.count("\n", 0, begin + start) + 1 if begin >= 0 and start is not None else None
        return Place(file.as_posix(), line)

    def _read(self, each: InputFile) -> None:
        path = self._folder / each.name
        if not path.is_file():
            self.notices.append(f"{path}: no such file, so its records have no line; --source DIR says where it is")
        elif each.sha256 is None or sha256_of(path) != each.sha256:
            self.notices.append(f"{path}: changed since the run was made, so its records have no line")
        else:
            try:
                for name, line in _named_lines(path, each.name):
                    self._lines.setdefault(name, Place(path.as_posix(), line))
            except HallumeterError as error:
                self.notices.append(f"{path}: its records have no line ({error})")


def _named_lines(path: Path, source: str) -> Iterator[tuple[str, int]]:
    """What a row may be called in a run, and its line."""
    for batch in read_rows(path, fields=None):
        for line, row in rows_of(batch):
            given, model = row.get("record_id"), row.get("model")
            name = f"{source}:{line}" if given in (None, "") else str(given)
            yield run_record_id(name, None if model is None else str(model), is_shared=True), line
            yield name, line
