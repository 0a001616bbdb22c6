"""A local web app over the runs in a folder."""

__all__: list[str] = []
