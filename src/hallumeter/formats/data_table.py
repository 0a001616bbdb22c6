"""Rows with named and typed columns, for whatever reads tables: pandas, polars, Arrow, CSV, a notebook."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from hallumeter.errors import MissingExtraError
from hallumeter.records.measurement import html_table
from hallumeter.text.normalize import one_line

from .delimited import write_csv

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Kind = Literal["text", "number", "whole", "truth"]
"""What a column holds; any cell may be None, which is missing and never a number."""
MOST_SHOWN = 10
MOST_IN_A_PAGE = 20
WIDTH = 80
_LONGEST_CELL = 28
_LEAST_CELL = 8
_MISSING = "–"


class DataTable:
    """A table of a run. It can be iterated (a dict for each row), sliced (``table[:5]``) and asked for a row
    (``table[0]``) or a column (``table["label"]``); `to_pandas`, `to_polars`, `to_arrow` and `to_csv` hand it on.

    A cell that was not measured is None here and missing in other packages; it is never NaN or 0 of ours.

    >>> table = DataTable({"label": "text", "probability": "number"}, [("REFUTED", 0.93), ("SUPPORTED", None)])
    >>> len(table), table["probability"], table[0]
    (2, [0.93, None], {'label': 'REFUTED', 'probability': 0.93})
    >>> table
    label      probability
    REFUTED           0.93
    SUPPORTED            –
    """  # noqa: D205 (the first sentence is short; what follows belongs to it)

    def __init__(self, kinds: Mapping[str, Kind], rows: Sequence[Sequence[Any]]) -> None:
        self._kinds = dict(kinds)
        self._rows = rows

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._kinds)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for row in self._rows:
            yield dict(zip(self._kinds, row, strict=True))

    @overload
    def __getitem__(self, wanted: str) -> list[Any]: ...
    @overload
    def __getitem__(self, wanted: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, wanted: slice) -> DataTable: ...
    def __getitem__(self, wanted: str | int | slice) -> list[Any] | dict[str, Any] | DataTable:
        if isinstance(wanted, slice):
            return DataTable(self._kinds, self._rows[wanted])
        if isinstance(wanted, str):
            if wanted not in self._kinds:
                raise KeyError(f"no column is called {wanted!r}; columns: {', '.join(self._kinds)}")
            place = self.columns.index(wanted)
            return [row[place] for row in self._rows]
        return dict(zip(self._kinds, self._rows[wanted], strict=True))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Every row as a dict."""
        return list(self)

    def to_pandas(self) -> pd.DataFrame:
        """The table as a pandas DataFrame; whole numbers and truth values with gaps keep their type."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError("pandas", "a pandas DataFrame") from error
        kinds = {"text": "object", "number": "float64", "whole": "Int64", "truth": "boolean"}
        return pd.DataFrame({name: pd.Series(self[name], dtype=kinds[kind]) for name, kind in self._kinds.items()})

    def to_polars(self) -> pl.DataFrame:
        """The table as a polars DataFrame."""
        try:
            import polars as pl
        except ImportError as error:
            raise MissingExtraError("polars", "a polars DataFrame") from error
        kinds = {"text": pl.String, "number": pl.Float64, "whole": pl.Int64, "truth": pl.Boolean}
        schema = {name: kinds[kind] for name, kind in self._kinds.items()}
        return pl.DataFrame({name: self[name] for name in schema}, schema=schema)

    def to_arrow(self) -> pa.Table:
        """The table as an Arrow table of pyarrow."""
        try:
            import pyarrow as pa
        except ImportError as error:
            raise MissingExtraError("parquet", "an Arrow table") from error
        kinds = {"text": pa.string(), "number": pa.float64(), "whole": pa.int64(), "truth": pa.bool_()}
        return pa.table({name: pa.array(self[name], type=kinds[kind]) for name, kind in self._kinds.items()})

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Hand the table to any package that knows Arrow's PyCapsule interface: polars, DuckDB, pandas, ..."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    @overload
    def to_csv(self, path: None = None, *, raw: bool = False) -> str: ...
    @overload
    def to_csv(self, path: str | Path, *, raw: bool = False) -> None: ...
    def to_csv(self, path: str | Path | None = None, *, raw: bool = False) -> str | None:
        """Write the table as CSV, or return it as a text without a path.

        A text that a spreadsheet would take for a formula gets an apostrophe in front; `raw` leaves it as it is.
        """
        if path is None:
            text = io.StringIO()
            write_csv(text, [self.columns, *self._rows], is_raw=raw)
            return text.getvalue()
        with Path(path).open("w", encoding="utf-8", errors="replace", newline="") as stream:
            write_csv(stream, [self.columns, *self._rows], is_raw=raw)
        return None

    def __repr__(self) -> str:
        shown = [[_shown(value) for value in row] for row in self._rows[:MOST_SHOWN]]
        widths = [
            min(_LONGEST_CELL, max([len(name), *(len(row[place]) for row in shown)]))
            for place, name in enumerate(self._kinds)
        ]
        fitting = _fitting(widths)
        lines = [self._line(list(self._kinds), widths[:fitting]), *(self._line(row, widths[:fitting]) for row in shown)]
        notes = []
        if len(self) > MOST_SHOWN:
            notes.append(f"{len(self):,} rows, the first {MOST_SHOWN} shown")
        if fitting < len(widths):
            notes.append(f"further columns: {', '.join(self.columns[fitting:])}")
        return "\n".join([*lines, *(line for note in notes for line in _wrapped(f"[{note}]"))])

    def _line(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        is_number = [kind in ("number", "whole") for kind in self._kinds.values()]
        placed = (
            _cut(cell, width).rjust(width) if right else _cut(cell, width).ljust(width)
            for cell, width, right in zip(cells, widths, is_number, strict=False)
        )
        return "  ".join(placed).rstrip()

    def _repr_html_(self) -> str:
        """The first rows for a notebook; everything in them is escaped."""
        rest = f"{len(self):,} rows, the first {MOST_IN_A_PAGE} shown" if len(self) > MOST_IN_A_PAGE else ""
        return html_table(self.columns, self._rows[:MOST_IN_A_PAGE], caption=rest)


def _shown(value: object) -> str:
    if value is None:
        return _MISSING
    return f"{value:.4g}" if isinstance(value, float) else one_line(str(value))


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _fitting(widths: list[int]) -> int:
    """How many columns fit side by side, at least one; the last is narrowed if that makes room for it."""
    used = 0
    for place, width in enumerate(widths):
        room = WIDTH - used
        if width > room and room < _LEAST_CELL and place:
            return place
        if width > room:
            widths[place] = room
            return place + 1
        used += width + 2
    return len(widths)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, break_long_words=True)
