"""Character offsets: code points, end exclusive, checked before anything is sliced."""

from hallumeter.errors import RecordError


def is_span(start: int | None, end: int | None) -> bool:
    """Whether offsets are both absent, or both there and in order."""
    if start is None or end is None:
        return start is end
    return 0 <= start <= end


def check_span(start: int | None, end: int | None, owner: str, *, length: int | None = None) -> None:
    """Refuse offsets that are half given, negative, reversed, or beyond a text of the given length.

    Python slices such offsets silently, so they are checked wherever they enter.

    >>> check_span(0, 5, "claim 'c1'", length=5)
    >>> check_span(3, 9, "claim 'c1'", length=5)
    Traceback (most recent call last):
    hallumeter.errors.RecordError: claim 'c1' ends at 9, but its text has 5 characters; fix the span
    """
    if start is None and end is None:
        return
    if start is None or end is None:
        raise RecordError(f"{owner} has only one of start and end; give both or neither")
    if not 0 <= start <= end:
        raise RecordError(f"{owner} spans {start}..{end}; expected 0 <= start <= end")
    if length is not None and end > length:
        raise RecordError(f"{owner} ends at {end}, but its text has {length} characters; fix the span")
