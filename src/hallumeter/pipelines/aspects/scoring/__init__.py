"""Scorecards of outputs."""

from .allowlists import read_allowlist
from .making import ScorecardMaker, make_scorecard
from .outputs import output_reader
from .pipeline import Scored, ScoreSettings, score_outputs
from .quality import DEFAULT_PROFILE, PROFILES
from .scorecards import completed, scorecard_of, scorecard_reader

__all__ = [
    "DEFAULT_PROFILE",
    "PROFILES",
    "ScoreSettings",
    "ScorecardMaker",
    "Scored",
    "completed",
    "make_scorecard",
    "output_reader",
    "read_allowlist",
    "score_outputs",
    "scorecard_of",
    "scorecard_reader",
]
