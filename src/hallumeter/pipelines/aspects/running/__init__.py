"""Lets agents read sentences, and keeps what each of them said and what became of it."""

from .experiment import OFFLINE, Experiment, Source
from .experiment_file import experiment_of, read_experiment
from .pipeline import RunOutcome, run_experiment
from .plan import RunPlan, plan_experiment

__all__ = [
    "OFFLINE",
    "Experiment",
    "RunOutcome",
    "RunPlan",
    "Source",
    "experiment_of",
    "plan_experiment",
    "read_experiment",
    "run_experiment",
]
