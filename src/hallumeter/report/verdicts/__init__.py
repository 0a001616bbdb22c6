"""What a report tells about verdicts as such: why they were given, what broke, and which judge stands apart."""

__all__: list[str] = []
