"""The words of a report in the reader's language."""

__all__: list[str] = []
