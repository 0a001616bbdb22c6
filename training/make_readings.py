"""The readings that a network is trained on, each with how much it counts."""

from __future__ import annotations

from collections.abc import Sequence

from .batches import WeightedReading
from .examples import Example
from .readings import readings_of

LENGTH = 240
"""Tokens of a reading; a little less than what the judge reads, for speed."""
SHARES = {
    "ragtruth": 1.0,
    "quintd1": 1.0,
    "accuracy_shared_task": 1.0,
    "summedits": 1.0,
    "gofigure": 0.5,
    "wice": 0.7,
    "factcheck_gpt": 0.5,
    "begin": 0.3,
    "written": 1.0,
    "injected": 0.5,
}
"""How much a reading of a set counts."""
_FEW_SUMMARIES = 3.0
"""RAGTruth has thirty times as many answers as summaries."""


def weighted_readings(examples: Sequence[Example]) -> list[tuple[int, WeightedReading]]:
    """All readings, each with the number of its example."""
    made = []
    for number, example in enumerate(examples):
        share = _share(example)
        for reading in readings_of(example, number=number, length=LENGTH):
            if example.data_set.startswith("injected") and True not in reading.claims:
                continue  # the same text without an error is there already
            made.append((number, WeightedReading(reading, share)))
    return made


def _share(example: Example) -> float:
    name = example.data_set.partition("/")[0]
    return SHARES[name] * (_FEW_SUMMARIES if name == "ragtruth" and example.task == "summary" else 1.0)
