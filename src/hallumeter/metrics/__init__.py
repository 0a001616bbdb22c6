"""The metrics: columns in, rates or agreement statistics out."""

__all__: list[str] = []
