"""Answers in dialogues, and notes on dialogues: kept out of all training, to choose by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from training.examples import Example

from .lines import table_rows

_SHORTEST = 20
"""Words of a note; shorter ones are headings or a single "none"."""


def read_begin(data: Path) -> Iterator[Example]:
    """BEGIN, development parts; answers that say nothing in particular are left out."""
    for name in ("wow", "tc", "cmu"):
        for row in table_rows(data / "begin" / f"begin_dev_{name}.tsv", separator="\t"):
            if row["begin_label"] != "Generic":
                yield _answer("begin", row, is_unsupported=row["begin_label"] != "Fully attributable")


def read_q2(data: Path) -> Iterator[Example]:
    """Q2: answers of two systems on Wizard of Wikipedia."""
    for system in ("dodeca", "memnet"):
        for name in ("consistent", "inconsistent"):
            for row in table_rows(data / "q2_wow" / f"{system}_{name}.csv"):
                yield _answer("q2_wow", row, is_unsupported=name == "inconsistent")


def read_notes(data: Path) -> Iterator[Example]:
    """MTS-Dialog: doctors' notes and dialogues written from them; nobody judged them, they count as right."""
    for row in table_rows(data / "mts_dialog" / "MTS-Dialog-TrainingSet.csv"):
        if len(row["section_text"].split()) >= _SHORTEST:
            yield Example(
                data_set="mts_dialog",
                source=row["dialogue"][:120],
                task="dialogue",
                evidence=(row["dialogue"],),
                text=row["section_text"],
                is_unsupported=False,
            )


def _answer(data_set: str, row: dict[str, str], *, is_unsupported: bool) -> Example:
    return Example(
        data_set=data_set,
        source=row["knowledge"],
        task="dialogue",
        evidence=(row["knowledge"],),
        text=row["response"],
        is_unsupported=is_unsupported,
        has_spans=not is_unsupported,
        question=row["message"],
        is_one_claim=True,
    )
