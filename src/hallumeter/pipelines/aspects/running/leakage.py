"""Refuses sentences that carry their own labels, so that no agent can be told what it is to find.

Agents are told the text, its language and its domain, and nothing else of a row. The guard looks at the whole row all
the same: fields that hold labels show that a file was made for training, and often the text has them too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_FORBIDDEN = frozenset(
    {
        *("target", "targets", "span", "spans", "polarity", "polarities", "sentiment", "sentiments"),
        *("라벨", "정답", "극성", "감성", "감정", "속성"),
        *("aspect", "aspects", "aspect_term", "aspect_terms", "opinion_term", "opinion_terms", "triplets", "tuples"),
    }
)
"""Names of fields that hold what agents are to find."""
_INSIDE = ("annotation", "gold", "label")
"""Parts of names that say the same."""
_MARKS = re.compile(
    r"""
      [<\[] /? (?:gold|label|target|aspect|polarity|sentiment|annotation) s? (?:[_\s=:-][^<>\[\]]{0,60})? [>\]]
    | \b(?:gold|label|annotation)s?_[a-z_]{1,40}\s{0,3}[:=]
    | \b[a-z_]{1,40}_(?:gold|label|polarity|annotation)s?\s{0,3}[:=]
    | \b(?:label|polarity|sentiment)\s{0,3}[:=]\s{0,3}["']?(?:positive|negative|neutral|mixed|conflict|pos|neg|neu)\b
    | \#{4}\s{0,3}\[
    | \$T\$
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Labels written into a text: ``[LABEL]``, ``<aspect>``, ``gold_label:``, ``polarity: negative``, ``####[[...]]``."""


def leak_in(text: str, fields: Mapping[str, object]) -> str | None:
    """What of a sentence tells its labels, in words; None when nothing does.

    `fields` are those of its row that are neither the text nor gold that was set apart.

    >>> leak_in("The soup was cold.", {"city": "Busan"})
    >>> leak_in("The soup was cold.", {"meta": {"gold_polarity": "negative"}})
    "the field 'meta.gold_polarity' holds annotations"
    >>> leak_in("The soup was cold. [LABEL] negative", {})
    "the text holds the mark '[LABEL]'"
    """
    for name in _names(fields):
        last = name.rpartition(".")[2].lower()
        if last in _FORBIDDEN or any(part in last for part in _INSIDE):
            return f"the field {name!r} holds annotations"
    found = _MARKS.search(text)
    return None if found is None else f"the text holds the mark {found.group()!r}"


def _names(fields: Mapping[str, object]) -> Iterator[str]:
    """All names, also of objects within objects."""
    left: list[tuple[str, object]] = list(fields.items())
    while left:
        name, value = left.pop(0)
        yield name
        if isinstance(value, Mapping):
            left += [(f"{name}.{inner}", each) for inner, each in value.items()]
        elif isinstance(value, list):
            left += [
                (f"{name}.{inner}", one) for each in value if isinstance(each, Mapping) for inner, one in each.items()
            ]
