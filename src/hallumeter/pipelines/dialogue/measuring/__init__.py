"""Answers of clinical dialogues measured: what they invent, risk, use, contradict and leave out."""

from .commands import dialogue, dialogue_to_folder, measured_dialogues
from .equipment import Equipment
from .inputs import opened_events, opened_files
from .pipeline import MeasuredDialogues
from .settings import DialogueSettings
from .stand_ins import EntityReader, VectorUse
from .turn import event_metrics, measure_event

__all__ = [
    "DialogueSettings",
    "EntityReader",
    "Equipment",
    "MeasuredDialogues",
    "VectorUse",
    "dialogue",
    "dialogue_to_folder",
    "event_metrics",
    "measure_event",
    "measured_dialogues",
    "opened_events",
    "opened_files",
]
