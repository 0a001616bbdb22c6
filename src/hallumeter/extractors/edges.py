"""What stands at the edges of a sentence and is no part of it: marks of emphasis, footnotes, emoji."""

from __future__ import annotations

import re

_EMOJI = (
    "[\u2190-\u21ff\u2300-\u27bf\u2900-\u297f\u2b00-\u2bff\ufe0f\u200d\u20e3\U0001f000-\U0001faff\U000e0020-\U000e007f]"
)
_FOOTNOTE = r"\[\^?\d{1,3}(?:\s*[,–-]\s*\d{1,3})*\]"
_BEFORE = re.compile(rf"(?:\s|{_EMOJI}|{_FOOTNOTE}(?!\())+")
_AFTER = re.compile(rf"(?:\s|{_EMOJI}|{_FOOTNOTE}|[;,；，](?=\s*$))+$")
_EMPHASIS = ("**", "__", "~~", "*", "_", "`")
_TAIL = 40


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Where a sentence begins and ends when marks that are no part of it are left out; empty when nothing is left.

    A mark of emphasis is left out when its partner stands at the other edge or in another sentence: what is bold
    inside of a sentence stays as it is.

    >>> text = "**Paris is large.**[1] **It** has a river."
    >>> [text[slice(*trimmed(text, *span))] for span in [(0, 22), (23, 42)]]
    ['Paris is large.', '**It** has a river.']
    """
    while start < end and not (text[start].isalnum() and (text[end - 1].isalnum() or text[end - 1] in ".!?")):
        before = start, end
        if (match := _BEFORE.match(text, start, end)) is not None:
            start = match.end()
        if (match := _AFTER.search(text, max(start, end - _TAIL), end)) is not None:
            end = match.start()
        start, end = _without_emphasis(text, start, end)
        if (start, end) == before:
            break
    return start, max(start, end)


def _without_emphasis(text: str, start: int, end: int) -> tuple[int, int]:
    for mark in _EMPHASIS:
        opens, closes = text.startswith(mark, start, end), text.endswith(mark, start, end)
        if not (opens or closes):
            continue
        size = len(mark)
        count = text.count(mark, start, end)
        if opens and closes and count == 2 and end - start >= 2 * size:
            return start + size, end - size
        if opens and count % 2:
            return start + size, end
        if closes and count % 2:
            return start, end - size
        return start, end
    return start, end
