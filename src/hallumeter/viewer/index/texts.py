"""Texts as the search compares them, and names as a list sorts them."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hallumeter.records import Finding, Response

_DIGITS = re.compile(r"(\d+)")


def plain(text: str) -> str:
    """A text without the differences that a search ignores; what SQLite cannot keep is replaced.

    >>> plain("ＡＢＣ Straße")
    'abc straße'
    """
    if not text.isascii():
        text = storable(unicodedata.normalize("NFKC", text))
    folded = text.lower()
    return folded.replace("\x00", "\ufffd") if "\x00" in folded else folded


def storable(text: str) -> str:
    """A text that SQLite can keep; lone surrogates become question marks."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def name_key(name: str) -> str:
    """What names are sorted by: numbers in them by their size, letters whatever their case.

    >>> sorted(["r10", "R9", "r1"], key=name_key)
    ['r1', 'R9', 'r10']
    """
    return _DIGITS.sub(lambda found: found[1].lstrip("0").rjust(20, "0"), plain(name))


def own_words(response: Response, findings: Iterable[Finding], fields: Iterable[str]) -> str:
    """Everything that is searched of a record, but for its passages of evidence, which records may share."""
    told: list[str | None] = [response.record_id, response.model, response.question, response.response]
    told += [response.reference, *fields]
    for finding in findings:
        # Words that stand in the response are there already.
        told.append(finding.claim.text)
        for verdict in finding.verdicts:
            told += (verdict.reason, verdict.note)
    return plain("\n".join(filter(None, told)))
