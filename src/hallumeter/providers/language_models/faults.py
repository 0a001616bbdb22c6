"""Why a language model gave no usable reply."""

from __future__ import annotations

from .protocol import Usage

PASSING_CODES = frozenset({"timeout", "connection", "rate_limited", "server_error", "conflict", "truncated_reply"})
"""Codes of faults that may pass when asked again."""


class ProviderFault(Exception):  # noqa: N818 (an outcome that is expected, caught and counted)
    """A call to a language model failed.

    Codes that may pass when asked again: ``timeout``, ``connection``, ``rate_limited``, ``server_error``,
    ``conflict``, ``truncated_reply``. Codes of this request alone: ``refused_request``, ``content_filter``,
    ``empty_reply``, ``malformed_reply``, ``error_reply``. Codes that every further call would meet: ``bad_key``,
    ``unknown_model``, ``no_quota``.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        is_retryable: bool = False,
        is_fatal: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.is_retryable = is_retryable
        self.is_fatal = is_fatal
        """Every further call to this provider would meet the same."""
        self.retry_after = retry_after
        """Seconds, as the provider asked."""
        self.attempts = 1
        """How often it was asked in all."""
        self.usage: Usage | None = None
        """What was paid all the same; None when nothing is known of it."""

    def __reduce__(self) -> tuple[type, tuple[str, str], dict[str, object]]:
        return type(self), (self.code, self.message), self.__dict__  # copies keep whether it may be asked again
