"""Dialogues in a report: how modes differ, how scores are spread, and how they change from turn to turn."""

__all__: list[str] = []
