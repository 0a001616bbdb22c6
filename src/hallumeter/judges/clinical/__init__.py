"""Judges of answers to patients: facts, safety, use of context, consistency, and what makes an answer actionable."""

__all__: list[str] = []
