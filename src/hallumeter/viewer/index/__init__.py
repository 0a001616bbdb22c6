"""What must be looked up quickly in a run, in one SQLite file that can be made again at any time."""

__all__: list[str] = []
