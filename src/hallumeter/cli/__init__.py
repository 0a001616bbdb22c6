"""One file per command: parse, call, print."""

__all__: list[str] = []
