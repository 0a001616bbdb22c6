"""Lines of a file of text, plain or compressed."""

from __future__ import annotations

from pathlib import Path

import msgspec

from hallumeter.errors import InputError
from hallumeter.formats.jsonl import BROKEN, open_binary

DAMAGE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding a line may raise."""
_MARK = b"\xef\xbb\xbf"


def lines_of(path: Path, *, with_empty: bool = False) -> list[tuple[int, bytes]]:
    """The lines with their numbers, from 1, without spaces around them and without a byte order mark.

    Raises:
        InputError: The file cannot be read to its end.
    """
    try:
        with open_binary(path) as stream:
            lines = [(number, line.strip()) for number, line in enumerate(stream, 1)]
    except BROKEN as error:
        raise InputError(f"{path}: cannot be read ({error}); is it whole?") from error
    if lines:
        lines[0] = (1, lines[0][1].removeprefix(_MARK))
    return [(number, line) for number, line in lines if line or with_empty]
