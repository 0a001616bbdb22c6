"""Readers of the data sets that the judge may learn from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from training.examples import Example

from .claims import read_begin, read_factcheck, read_wice
from .ragtruth import read_ragtruth
from .structured import read_basketball, read_quintd
from .summaries import read_gofigure, read_summedits
from .written import read_written

READERS: dict[str, Callable[[Path], Iterator[Example]]] = {
    "ragtruth": read_ragtruth,
    "quintd1": read_quintd,
    "accuracy_shared_task": read_basketball,
    "summedits": read_summedits,
    "gofigure": read_gofigure,
    "wice": read_wice,
    "factcheck_gpt": read_factcheck,
    "begin": read_begin,
    "written": read_written,
}


def read_all(data: Path, sets: tuple[str, ...] = tuple(READERS)) -> list[Example]:
    """All examples of some data sets, in a fixed order."""
    return [example for name in sets for example in READERS[name](data)]
