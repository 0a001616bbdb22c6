"""Readers of the data sets: those to learn from, and those that are kept to choose by."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from training.examples import Example

from .claims import read_factcheck, read_foolmetwice, read_wice
from .dialogue import read_begin, read_notes, read_q2
from .ragtruth import read_ragtruth
from .structured import read_basketball, read_d2t_eval, read_quintd
from .summaries import read_defacto, read_gofigure, read_originals, read_summedits
from .tables import read_infotabs, read_tabfact
from .written import read_written

Reader = Callable[[Path], Iterator[Example]]
READERS: dict[str, Reader] = {
    "ragtruth": read_ragtruth,
    "quintd1": read_quintd,
    "d2t_eval": read_d2t_eval,
    "accuracy_shared_task": read_basketball,
    "summedits": read_summedits,
    "defacto": read_defacto,
    "gofigure": read_gofigure,
    "wice": read_wice,
    "factcheck_gpt": read_factcheck,
    "written": read_written,
}
"""What trees, network and decisions are made from."""
FOR_THE_NETWORK: dict[str, Reader] = {
    "originals": read_originals,
    "foolmetwice": read_foolmetwice,
    "infotabs": read_infotabs,
    "tabfact": read_tabfact,
}
"""What the network alone learns from."""
TO_CHOOSE_BY: dict[str, Reader] = {"begin": read_begin, "q2_wow": read_q2, "mts_dialog": read_notes}
"""What nothing learns from."""


def read_all(data: Path, readers: Mapping[str, Reader] = READERS) -> list[Example]:
    """All examples of some data sets, in a fixed order."""
    return [example for read in readers.values() for example in read(data)]
