"""Samples of the same model to the same question, and what they tell."""

from .equivalence import CannotTellError, Equivalence, JudgeEquivalence, VectorEquivalence
from .reading import SampleReader, SampleReading
from .rows import SampleGroups, sample_measurements, sample_rows
from .table import SampleTable

__all__ = [
    "CannotTellError",
    "Equivalence",
    "JudgeEquivalence",
    "SampleGroups",
    "SampleReader",
    "SampleReading",
    "SampleTable",
    "VectorEquivalence",
    "sample_measurements",
    "sample_rows",
]
