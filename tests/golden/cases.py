"""All golden cases, by name."""

from __future__ import annotations

from cases_of_decisions import DECISIONS
from cases_of_experiments import EXPERIMENTS
from cases_of_faults import FAULTS
from cases_of_measures import MEASURES
from golden_case import Case
from programs import PROGRAMS

CASES: dict[str, Case] = {each.name: each for each in (*PROGRAMS, *MEASURES, *DECISIONS, *EXPERIMENTS, *FAULTS)}
