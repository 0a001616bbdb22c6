"""A page in JSON: a text, or a list of lines, under one of the usual names."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from hallumeter.errors import InputError

TEXT_NAMES = ("text", "transcription", "content", "markdown", "full_text", "fullText", "ocr", "output", "response")
LINE_NAMES = ("lines", "text_lines", "regions", "blocks", "paragraphs", "words")
"""What the text, or the parts that have one each, may be called; the first that there is counts."""
_DEEPEST = 20


class NoTextError(InputError):
    """JSON, but none of a page."""


def read_json_page(data: bytes) -> str:
    r"""The text of a page in JSON; lines are joined by line breaks, words by spaces.

    Raises InputError, without the file's name, when it is damaged, and NoTextError when it holds none.

    >>> read_json_page(b'{"lines": [{"text": "le roi"}, {"words": [{"text": "de"}, {"text": "france"}]}]}')
    'le roi\nde france'
    """
    try:
        value = msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InputError(f"is not valid JSON ({error})") from error
    text = _text_of(value, 0)
    if text is None:
        raise NoTextError(f"holds no text; expected one under {', '.join(TEXT_NAMES[:3])}, or lines under lines")
    return text


def _text_of(value: object, depth: int) -> str | None:
    """The text of a value; None when it has none."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return None
    if isinstance(value, list):
        return _joined(value, "\n", depth)
    if not isinstance(value, Mapping):
        return None
    found = next((value[name] for name in TEXT_NAMES if isinstance(value.get(name), str)), None)
    if isinstance(found, str):
        return found
    parts = next((name for name in LINE_NAMES if isinstance(value.get(name), list)), None)
    return None if parts is None else _joined(value[parts], " " if parts == "words" else "\n", depth)


def _joined(parts: list[object], joint: str, depth: int) -> str | None:
    texts = [_text_of(part, depth + 1) for part in parts]
    return None if None in texts else joint.join(text for text in texts if text)
