"""What a decoder's error means for the person who wrote the file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_WRONG_TYPE = re.compile(
    r"Expected `(?P<expected>.+?)`, got `(?P<found>.+?)`(?: - at `\$(?:\[\d+\])?\.?(?P<path>.*)`)?$"
)
_OTHER = re.compile(r"(?P<what>.+) - at `\$(?:\[\d+\])?\.?(?P<path>.*)`$")
TOO_DEEP = "nested too deeply; a row may hold lists within lists, but not hundreds of them"


def plain_message(error: Exception) -> str:
    """An error as one sentence: the field, what was expected there and what was found.

    >>> import msgspec
    >>> plain_message(msgspec.ValidationError("Expected `str | null`, got `int` - at `$.label`"))
    'label: expected text, found a whole number'
    """
    if isinstance(error, RecursionError):
        return TOO_DEEP
    text = str(error)
    found = _WRONG_TYPE.match(text)
    if found:
        expected, actual = _in_words(found["expected"]), _in_words(found["found"])
        return f"{found['path'] or 'row'}: expected {expected}, found {actual}"
    if "malformed" in text or "truncated" in text or "trailing" in text:
        reason = text.removeprefix("JSON is malformed: ").removesuffix(".")
        return f"not valid JSON ({reason}); write one object per line, and null for a value that is not known"
    other = _OTHER.match(text)
    return f"{other['path'].replace('[...]', '') or 'row'}: {other['what'].lower()}" if other else text


def _in_words(types: str) -> str:
    words: Mapping[str, str] = {
        "str": "text",
        "int": "a whole number",
        "float": "a number",
        "bool": "true or false",
        "array": "a list",
        "object": "an object",
        "null": "null",
    }
    names = [name for name in types.split(" | ") if name != "null" or types == "null"]
    return " or ".join(words.get(name, name) for name in names)
