"""Aspects in a report: what was dropped and why, what the stages changed, and how runs differ."""

__all__: list[str] = []
