"""What a run comes to, told before anything else: facts whose every number is one of the summary."""

__all__: list[str] = []
