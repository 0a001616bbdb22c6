"""A local web app over the runs in a folder; it needs the extra `viewer`, so nothing is imported here."""

__all__: list[str] = []
