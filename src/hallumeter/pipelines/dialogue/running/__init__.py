"""Asks systems under test the questions of patients, and keeps what they answer as events."""

from .experiment import OFFLINE, Experiment, System
from .experiment_file import experiment_of, read_experiment
from .pipeline import RunOutcome, run_experiment
from .plan import RunPlan, plan_experiment

__all__ = [
    "OFFLINE",
    "Experiment",
    "RunOutcome",
    "RunPlan",
    "System",
    "experiment_of",
    "plan_experiment",
    "read_experiment",
    "run_experiment",
]
