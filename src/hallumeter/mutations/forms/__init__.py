"""How numbers, dates, names and Korean words are written, and what can stand for them in the same form."""

__all__: list[str] = []
