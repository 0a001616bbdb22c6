"""The messages that scripts say, found in the scripts themselves."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from hallumeter.report.languages.catalogue import catalogue
from hallumeter.report.languages.speaking import spoken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hallumeter.report.drawing import Json

_STATIC = Path(__file__).parents[1] / "static"
_TEXT = r'"(?:[^"\\\n]|\\.)*"'
_SAID = re.compile(rf"\bsay\(({_TEXT})")
_COUNTED = re.compile(rf"\bsayCount\([^\n]*?,\s*{_TEXT},\s*({_TEXT})")


def script_words(scripts: Iterable[str]) -> dict[str, Json]:
    """What the scripts say, in the language that is being spoken; nothing in English, which stands in them."""
    own = catalogue(spoken())
    found: dict[str, Json] = {"language": spoken(), "numbers": dict(own.numbers)}
    names = [name for name in scripts if not name.endswith(".min.js")]
    said = {text for name in names for text in said_in(name)}
    counted = {text for name in names for text in counted_in(name)}
    found["messages"] = {text: own.messages[text] for text in sorted(said) if text in own.messages}
    found["counts"] = {text: list(own.counts[text]) for text in sorted(counted) if text in own.counts}
    return found


@cache
def said_in(name: str) -> frozenset[str]:
    """The messages of a script."""
    return frozenset(json.loads(text) for text in _SAID.findall(_read(name)))


@cache
def counted_in(name: str) -> frozenset[str]:
    """The plural forms of what a script counts."""
    return frozenset(json.loads(text) for text in _COUNTED.findall(_read(name)))


def _read(name: str) -> str:
    return (_STATIC / name).read_text(encoding="utf-8")
