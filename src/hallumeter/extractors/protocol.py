"""What every extractor does: find the things in a response that can be true or false."""

from __future__ import annotations

from typing import Protocol

from hallumeter.records import Claim, Response


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
