"""What could not be done, and why."""

from msgspec import Struct


class Failure(Struct, frozen=True):
    """A measurement that broke; it is counted, listed, and never turned into a number."""

    record_id: str | None
    claim_id: str | None
    step: str
    """Where it broke: ``read``, ``extract``, ``judge``, ``samples``, ``measure``."""
    judge: str | None
    code: str
    """What broke, in one word: ``unknown_label``, ``timeout``, ``bad_line``."""
    message: str
    attempts: int = 1
