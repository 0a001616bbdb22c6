"""What every run of an experiment shares: checks of its settings, its journal, its models and its lines of input."""

from .asking import Stopped, asked_to_the_end
from .models import PacedModels, Rates, price_for
from .planned import PlannedCalls, planned_cost
from .run_journal import digest_of, opened_journal
from .setting_checks import (
    Checks,
    among,
    amount,
    checked,
    file_path,
    folder_name,
    is_folder_name,
    model_name,
    price_list,
    whole_number,
    yes_or_no,
)
from .text_lines import DAMAGE, lines_of

__all__ = [
    "DAMAGE",
    "Checks",
    "PacedModels",
    "PlannedCalls",
    "Rates",
    "Stopped",
    "among",
    "amount",
    "asked_to_the_end",
    "checked",
    "digest_of",
    "file_path",
    "folder_name",
    "is_folder_name",
    "lines_of",
    "model_name",
    "opened_journal",
    "planned_cost",
    "price_for",
    "price_list",
    "whole_number",
    "yes_or_no",
]
