"""Which procedures are worth mentioning."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from hallumeter.formats.fhir import moment_of

from .naming import Named, untagged
from .tables import ProcedureWeight, korean_procedures, procedure_weights

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hallumeter.formats.fhir import Procedure

MOST_PROCEDURES = 2
EXCLUDED_STATUSES = frozenset({"entered-in-error", "not-done", "preparation", "on-hold", "stopped"})


def weighty_procedures(found: Iterable[Procedure]) -> tuple[Named, ...] | None:
    """The weightiest procedures, of equals the latest; none of routine. None when the record has no procedure."""
    done = [each for each in found if each.status not in EXCLUDED_STATUSES and each.code is not None]
    weighed: dict[str, tuple[int, float, Named]] = {}
    for procedure in done:
        words = untagged(procedure.code.words or "")[0] if procedure.code else ""
        weight = _weight(words)
        if weight is None or not weight.weight:
            continue
        moment = moment_of(procedure.date)
        time = moment.timestamp() if moment else float("-inf")
        key = words.casefold()
        if key not in weighed or time > weighed[key][1]:
            weighed[key] = weight.weight, time, Named(words, korean=_korean(words))
    ordered = sorted(weighed.values(), key=lambda each: (-each[0], -each[1], each[2].words))
    return tuple(named for _, _, named in ordered[:MOST_PROCEDURES]) if done else None


@lru_cache(maxsize=4096)
def _weight(words: str) -> ProcedureWeight | None:
    """The longest phrase of the table that a procedure's name has."""
    lowered = words.casefold()
    for row in procedure_weights():
        phrase = row.phrase.removeprefix("*")
        pattern = rf"{re.escape(phrase)}\b" if row.phrase.startswith("*") else rf"\b{re.escape(phrase)}"
        if re.search(pattern, lowered):
            return row
    return None


@lru_cache(maxsize=4096)
def _korean(words: str) -> str | None:
    """The Korean name of the longest procedure of the lexicon that the words name."""
    lowered = words.casefold()
    names = korean_procedures().items()
    return next((korean for english, korean in names if re.search(rf"\b{re.escape(english)}\b", lowered)), None)
