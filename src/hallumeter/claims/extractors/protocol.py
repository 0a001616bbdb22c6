"""What every extractor does: find the things in a response that can be true or false."""

from __future__ import annotations

import re
from typing import Protocol

from rapidfuzz import fuzz

from hallumeter.records.claim import Claim
from hallumeter.records.response import Response
from hallumeter.text.normalize import CleanText, clean_text

# Where words stand in a response that may have been typed, or put, a little differently there.

DEFAULT_THRESHOLD = 80.0
"""Least similarity, from 0 to 100, of words and the part of the response that they are taken for.

It is rapidfuzz's partial ratio. At 80 a quotation with a fifth of its letters changed is still found.
"""
_LEAST_LETTERS = 8
"""Shorter words resemble something in any response: they are found as they are, or not at all."""
_WORD = re.compile(r"\w")


class Aligner:
    """Finds words in one response: exactly, else but for case, quotes and spaces, else by similarity."""

    def __init__(self, text: str, threshold: float = DEFAULT_THRESHOLD) -> None:
        self._text = text
        self._threshold = threshold
        self._cleaned: CleanText | None = None

    def place_of(self, words: str, after: int = 0) -> tuple[int, int] | None:
        """Start and end of the words, or None; of several exact places the first from `after` on, else the first.

        >>> Aligner("Paris, the capital, lies on the “Seine”.").place_of('lies on the "seine"')
        (20, 39)
        """
        words = words.strip()
        if _WORD.search(words) is None:
            return None
        return self._exact(words, after) or self._but_for_typing(words, after) or self._similar(words)

    def _exact(self, words: str, after: int) -> tuple[int, int] | None:
        start = self._text.find(words, after)
        if start < 0 and after:
            start = self._text.find(words)
        return None if start < 0 else (start, start + len(words))

    def _but_for_typing(self, words: str, after: int) -> tuple[int, int] | None:
        if self._cleaned is None:
            self._cleaned = clean_text(self._text)
        clean, wanted = self._cleaned, " ".join(clean_text(words).lower.split())
        # Line ends and spaces are alike, and single characters, so that positions stay.
        text = re.sub(r"\s", " ", clean.lower)
        first = None
        start = text.find(wanted)
        while start >= 0:
            span = clean.original_span(start, start + len(wanted))
            if span[0] >= after:
                return span
            first = first or span
            start = text.find(wanted, start + 1)
        return first

    def _similar(self, words: str) -> tuple[int, int] | None:
        if len(words) < _LEAST_LETTERS or len(words) > 2 * len(self._text):
            return None
        found = fuzz.partial_ratio_alignment(words, self._text, score_cutoff=self._threshold)
        if found is None or found.dest_start == found.dest_end:
            return None
        return self._whole_words(found.dest_start, found.dest_end)

    def _whole_words(self, start: int, end: int) -> tuple[int, int] | None:
        text = self._text
        while start > 0 and text[start].isalnum() and text[start - 1].isalnum():
            start -= 1
        while end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
            end += 1
        part = text[start:end]
        start += len(part) - len(part.lstrip())
        end = start + len(part.strip())
        return (start, end) if start < end else None


class Extractor(Protocol):
    """Finds claims. It may be called from several threads at once when it is remote."""

    @property
    def name(self) -> str:
        """As it stands in signatures: ``sentences``, ``llm-openai:gpt-4o-mini-3f2a``; changes whenever claims could."""
        ...

    @property
    def is_remote(self) -> bool:
        """Whether it waits for something outside."""
        ...

    def extract(self, response: Response) -> list[Claim]:
        """The claims of a response in the order of their places; ids are ``{record_id}#{number}``.

        A claim with a place satisfies ``response.response[claim.start:claim.end] == claim.text`` unless it is a fact
        in other words than the response's; a fact that could not be found in the response has no place.
        """
        ...


class ExtractionFailure(Exception):  # noqa: N818 (an outcome that is expected, caught and counted)
    """The claims of a response could not be extracted; no claim of it is known.

    The codes are those of `ProviderFault`, with `malformed_reply` for replies that stayed unreadable when the model
    was told what was wrong.
    """

    def __init__(self, code: str, message: str, *, attempts: int = 1) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.attempts = attempts
        """How often the model was asked about the part that failed."""

    def __reduce__(self) -> tuple[object, ...]:
        return _failure, (self.code, self.message, self.attempts)  # an error must come back whole from another process


def _failure(code: str, message: str, attempts: int) -> ExtractionFailure:
    return ExtractionFailure(code, message, attempts=attempts)
