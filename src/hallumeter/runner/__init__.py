"""Drives work that waits for the world, and never decides anything."""

from .lanes import LATER, Lane, run_lanes
from .pace import PaceSettings
from .progress import NoWatch, Watch, kept_progress
from .retrying import PacedProvider
from .spending import BudgetReached, Spending
from .stopping import stopping_on_signals
from .waiting import Interrupted, Waiting

__all__ = [
    "LATER",
    "BudgetReached",
    "Interrupted",
    "Lane",
    "NoWatch",
    "PaceSettings",
    "PacedProvider",
    "Spending",
    "Waiting",
    "Watch",
    "kept_progress",
    "run_lanes",
    "stopping_on_signals",
]
