"""Negation by the rules of each language."""

__all__: list[str] = []
