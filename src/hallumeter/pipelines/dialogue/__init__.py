"""Clinical dialogues: scripts from patients' records, answers of systems under test, and what is found in them."""

__all__: list[str] = []
