"""JSON in what a language model writes: alone, in a code fence, in prose, or broken off in the middle."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice

import msgspec

LONGEST_TEXT = 100_000
"""Characters of a text that is not JSON as a whole that are looked at."""
_DECODER = json.JSONDecoder(strict=False)
_OPENING = re.compile(r"[{\[]")
_MARK = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|$)|[][{},]', re.DOTALL)
"""What structures JSON; a comma or bracket inside a string is none."""
_CLOSERS = {"{": "}", "[": "]"}
_SIGNS = frozenset("{}[],")
_MOST_OPENINGS = 100
"""Places in a text where JSON may begin; more is no reply but noise."""


def json_values(text: str, *, is_whole: bool = False) -> Iterator[object]:
    """The JSON values in a text; of one that is cut off, what is complete of it, unless only whole ones are wanted.

    >>> list(json_values('Sure! Here it is: {"a": 1} and [2].'))
    [{'a': 1}, [2]]
    >>> list(json_values('{"a": 1, "b": 2')), list(json_values('{"a": 1, "b": 2', is_whole=True))
    ([{'a': 1}], [])
    """
    try:
        yield msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        pass
    else:
        return
    looked_at = text[:LONGEST_TEXT]
    end = 0
    for opening in islice(_OPENING.finditer(looked_at), _MOST_OPENINGS):
        if opening.start() < end:
            continue
        value, end, is_cut_off = _decoded(looked_at, opening.start())
        if end and not (is_whole and is_cut_off):
            yield value


def _decoded(text: str, start: int) -> tuple[object, int, bool]:
    """The value that begins at a place, where it ends, and whether it breaks off there; 0 when none begins."""
    try:
        return *_DECODER.raw_decode(text, start), False
    except json.JSONDecodeError as error:
        broken = error.pos
    except (ValueError, RecursionError):
        return None, 0, False
    try:
        return _DECODER.decode(_closed_again(text, start, broken=broken)), len(text), True
    except (ValueError, RecursionError):
        return None, 0, False


def _closed_again(text: str, start: int, *, broken: int) -> str:
    """JSON that breaks off, up to its last complete value, with what closes it; nothing for any other text.

    Where it cannot be read any more, at `broken`, there is nothing left but a piece of one value.

    >>> _closed_again('{"1": {"label": "REFUTED"}, "2": {"lab', 0, broken=34)
    '{"1": {"label": "REFUTED"}}'
    """
    open_ones: list[str] = []
    end = depth = 0
    for mark in _MARK.finditer(text, start):
        sign = mark.group()
        if sign not in _SIGNS:
            continue
        if mark.start() > broken:
            return ""
        if sign in _CLOSERS:
            open_ones.append(_CLOSERS[sign])
            continue
        if sign != "," and (not open_ones or open_ones.pop() != sign or not open_ones):
            return ""
        end, depth = (mark.start() if sign == "," else mark.end()), len(open_ones)
    return text[start:end] + "".join(reversed(open_ones[:depth]))
