"""Lists of terms that are targets, as users write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml

from hallumeter.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

_STRUCTURED = (".json", ".yaml", ".yml")
_BETWEEN = re.compile(r"[,;\t\r\n]+")
_KEYS = ("allowlist", "aspect_allowlist", "terms")


def read_allowlist(path: Path) -> tuple[str, ...]:
    """The terms of a file: a JSON or YAML list, or text with a term on each line or between commas.

    Raises:
        InputError: The file cannot be read, or holds no list of terms.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise InputError(f"{path}: cannot be read ({reason}); expected a list of terms") from error
    if path.suffix.lower() in _STRUCTURED:
        terms = _listed(path, text)
    else:
        lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
        terms = [term.strip() for line in lines for term in _BETWEEN.split(line)]
    found = tuple(dict.fromkeys(term for term in terms if term))
    if not found:
        raise InputError(f"{path}: holds no term; expected a JSON or YAML list, or a term on each line")
    return found


def _listed(path: Path, text: str) -> list[str]:
    try:
        # JSON is YAML, too.
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read as a list ({str(error).splitlines()[0]})") from error
    if isinstance(found, dict):
        found = next((found[key] for key in _KEYS if key in found), found)
    if not isinstance(found, list) or not all(isinstance(term, str) for term in found):
        raise InputError(f'{path}: expected a list of terms in quotes, such as ["맛", "앱"]')
    return found
