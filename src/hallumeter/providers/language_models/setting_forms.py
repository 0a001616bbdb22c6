"""Settings that a model does not take: told from its refusal, given in another form or left out from then on."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence

from .http_faults import ErrorBody

Form = Mapping[str, object]
"""A setting as it stands in the body of a request: fields and values."""
Forms = Mapping[str, Sequence[Form]]
"""The ways to send each setting, the best first; after the last it is left out."""

_REFUSING_CODES = {"unsupported_parameter", "unsupported_value", "unknown_parameter"}
_REFUSING_WORDS = re.compile(
    r"unsupported|not support|n't support|only the default|unknown (?:parameter|field|argument)|unrecogni[sz]ed|"
    r"unexpected (?:parameter|field|keyword)|extra (?:inputs|fields)|not (?:permitted|allowed|available|compatible)|"
    r"incompatible|deprecated|may not be (?:set|used|enabled)|may only be|cannot be (?:set|used)",
    re.IGNORECASE,
)


_IN_PROSE = {"output_config": r"output[ _]format|structured outputs?"}
"""What errors call a field, other than by its name."""


class TakenForms:
    """Which form of each setting a model takes, as far as is known; shared by all threads."""

    def __init__(self) -> None:
        self._steps: dict[str, int] = {}
        self._lock = threading.Lock()

    def steps(self) -> dict[str, int]:
        """How many forms of each setting were refused so far."""
        with self._lock:
            return dict(self._steps)

    def refuse(self, setting: str, steps: Mapping[str, int]) -> None:
        """Go on to the next form, unless another thread has learnt it since these steps were read."""
        with self._lock:
            self._steps[setting] = max(self._steps.get(setting, 0), steps.get(setting, 0) + 1)


def fields_of(forms: Forms, steps: Mapping[str, int]) -> dict[str, object]:
    """The fields of a request's body, each setting in the first form that was not refused.

    >>> fields_of({"max_tokens": [{"max_tokens": 9}, {"max_completion_tokens": 9}]}, {"max_tokens": 1})
    {'max_completion_tokens': 9}
    """
    fields: dict[str, object] = {}
    for setting, ways in forms.items():
        fields.update(_form(ways, steps.get(setting, 0)))
    return fields


def left_out(forms: Forms, steps: Mapping[str, int], weaker: Mapping[str, int]) -> tuple[str, ...]:
    """Settings of which no form is left, or only one that `weaker` says does not do what was asked.

    >>> left_out({"temperature": [{"temperature": 0}], "seed": []}, {"temperature": 0}, {})
    ('seed',)
    """
    return tuple(setting for setting, ways in forms.items() if steps.get(setting, 0) >= weaker.get(setting, len(ways)))


def refused_setting(error: ErrorBody, forms: Forms, steps: Mapping[str, int]) -> str | None:
    """The setting that an error refuses; None when it is about something else.

    >>> error = ErrorBody(message="Unsupported value: 'temperature' does not support 0 with this model.")
    >>> refused_setting(error, {"temperature": [{"temperature": 0}]}, {})
    'temperature'
    >>> error = ErrorBody(message="max_tokens is too large: 99999", param="max_tokens")
    >>> refused_setting(error, {"max_tokens": [{"max_tokens": 99999}]}, {}) is None
    True
    """
    message = error.message or ""
    if error.code not in _REFUSING_CODES and not _REFUSING_WORDS.search(message):
        return None
    sent = {field: setting for setting, ways in forms.items() for field in _form(ways, steps.get(setting, 0))}
    named = (error.param or "").partition(".")[0]
    if named in sent:
        return sent[named]
    places = {field: _place(field, message) for field in sent}
    found = [field for field, place in places.items() if place is not None]
    return sent[min(found, key=lambda field: places[field] or 0)] if found else None


def _form(ways: Sequence[Form], step: int) -> Form:
    return ways[step] if step < len(ways) else {}


def _place(field: str, message: str) -> int | None:
    """Where a message names a field; one letter must be quoted, for it may be a word."""
    names = "|".join(filter(None, (re.escape(field), _IN_PROSE.get(field))))
    pattern = rf"(?<!\w)(?:{names})(?!\w)" if len(field) > 1 else rf"['\"`]{names}['\"`]"
    found = re.search(pattern, message, re.IGNORECASE)
    return None if found is None else found.start()
