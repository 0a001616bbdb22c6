"""The claims that extractors find in a text, by their words."""

from __future__ import annotations

from hallumeter.claims.extractors.statements import ClauseExtractor, SentenceExtractor
from hallumeter.records.response import Response


def sentences(text: str) -> list[str | None]:
    return [claim.text for claim in SentenceExtractor().extract(Response("r", response=text))]


def clauses(text: str) -> list[str | None]:
    return [claim.text for claim in ClauseExtractor().extract(Response("r", response=text))]
