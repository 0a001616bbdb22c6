"""The 120 answers with expectations made by hand, 60 in Korean and 60 in English."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from hallumeter.dialogue.reading.reader import ClinicalReader, ClinicalText
from hallumeter.dialogue.records import PatientSlots

FOLDER = Path(__file__).parents[1] / "reading"


class Expected(Struct, frozen=True):
    sfs: dict[str, float]
    applicable: tuple[str, ...]
    violated: tuple[str, ...]
    cus: dict[str, float]


class HandMade(Struct, frozen=True):
    id: str
    turn: int
    question: str
    slots: PatientSlots
    answer: str
    expected: Expected


def hand_made() -> list[HandMade]:
    lines = [line for name in ("ko", "en") for line in (FOLDER / f"answers_{name}.jsonl").read_bytes().splitlines()]
    return [msgspec.json.decode(line, type=HandMade) for line in lines]


@cache
def read(text: str) -> ClinicalText:
    return ClinicalReader().read(text)
