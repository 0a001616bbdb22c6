"""Recomputes a finished run with other switches or thresholds, from what its agents said then."""

from .pipeline import ReplayOutcome, replay_run

__all__ = ["ReplayOutcome", "replay_run"]
