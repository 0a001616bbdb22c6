"""Claims made wrong on purpose, each in one known place, and the same claims in other words: tests for judges."""

from .donors import Donors, Facts, donors_of, facts_of
from .making import controls_of, errors_of
from .protocol import CONTROL_KINDS, ERROR_KINDS, Mutation

__all__ = [
    "CONTROL_KINDS",
    "ERROR_KINDS",
    "Donors",
    "Facts",
    "Mutation",
    "controls_of",
    "donors_of",
    "errors_of",
    "facts_of",
]
