"""What one pass over all responses counts: labels, judges, reasons, where in answers, who agrees with whom."""

__all__: list[str] = []
