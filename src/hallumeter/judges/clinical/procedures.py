"""Procedures by their names in English and Korean."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_TABLE = resources.files("hallumeter.text").joinpath("lexicons", "clinical", "procedures.tsv")
_TAG = re.compile(r"\s*\(procedure\)\s*$", re.IGNORECASE)
_HANGUL = re.compile("[가-힣]")


def procedure_places(text: str, procedure: str) -> Iterator[tuple[int, int]]:
    """Where a text names a procedure, by any of its names.

    >>> list(procedure_places("관상동맥우회술(CABG) 이후", "Coronary artery bypass grafting"))
    [(0, 7), (8, 12)]
    """
    for found in _pattern(_TAG.sub("", procedure).strip().casefold()).finditer(text):
        yield found.span()


@lru_cache(maxsize=1024)
def _pattern(procedure: str) -> re.Pattern[str]:
    names = dict.fromkeys((procedure, *_names_of(procedure)))
    # The longest first: of "total thyroidectomy" the whole is found.
    alternatives = "|".join(_written(name) for name in sorted(names, key=len, reverse=True))
    return re.compile(alternatives, re.IGNORECASE)


def _names_of(procedure: str) -> tuple[str, ...]:
    """All names of the procedure that a text names: the one with the longest name in it."""
    held = [(len(name), names) for names in _procedures() for name in names if re.search(_written(name), procedure)]
    return max(held, key=lambda pair: pair[0])[1] if held else ()


def _written(name: str) -> str:
    """A name at the borders of words; a Korean one with or without its spaces, and with particles after it."""
    is_korean = _HANGUL.search(name) is not None
    words = (r"\s*" if is_korean else r"\s+").join(map(re.escape, name.split()))
    return rf"(?<![^\W_]){words}" if is_korean else rf"(?<![A-Za-z0-9]){words}s?(?![A-Za-z0-9])"


@cache
def _procedures() -> tuple[tuple[str, ...], ...]:
    lines = _TABLE.read_text(encoding="utf-8").splitlines()[1:]
    return tuple(tuple(filter(None, "|".join(line.split("\t")).split("|"))) for line in lines)
