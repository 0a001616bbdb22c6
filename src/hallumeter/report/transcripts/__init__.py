"""What a report shows of transcriptions: engines in order, pages as numbers, and each page beside its ground truth."""

__all__: list[str] = []
