"""When two texts are the same claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz import fuzz, process

from hallumeter.errors import SettingsError
from hallumeter.text import claim_key

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence


def claim_codes(texts: Sequence[str], *, similarity: float | None = None) -> list[int]:
    """Number claims so that the same claim has the same number, in order of first appearance.

    A final period, case, white space and Unicode form make no difference. With a `similarity` between 0 and 1, a
    claim also takes the number of the most similar earlier claim that is at least that alike: one minus the insertions
    and deletions between the two, as a share of their characters.

    >>> claim_codes(["Paris is the capital.", "paris is  the capital", "Lyon is not"])
    [0, 0, 1]
    >>> claim_codes(["Curie was born in 1867.", "Curie was born in 1867 AD."], similarity=0.85)
    [0, 0]
    """
    known: dict[Hashable, int] = {}
    if similarity is None:
        return [known.setdefault(claim_key(text), len(known)) for text in texts]
    if not 0 < similarity <= 1:
        raise SettingsError(f"similarity is {similarity:g}; expected a number above 0 and up to 1")
    codes: dict[str, int] = {}
    originals: list[str] = []
    for key in _distinct(claim_key(text) for text in texts):
        match = process.extractOne(key, originals, scorer=fuzz.ratio, score_cutoff=similarity * 100)
        if match is None:
            codes[key] = len(originals)
            originals.append(key)
        else:
            codes[key] = match[2]
    return [codes[claim_key(text)] for text in texts]


def _distinct(keys: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(keys))
