"""Real sentences beside the same with one word or number swapped, as the package's own mutations do it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from msgspec import structs

from hallumeter.challenge.mutations.donors import donors_of
from hallumeter.challenge.mutations.edits import errors_of

from .examples import Example, Span
from .readings import claims_of, passages_of

KINDS = ("number", "date", "name", "negation", "comparison")
"""An addition or another unit is easy to see; these are not."""
SETS = ("ragtruth", "quintd1", "d2t_eval", "written")
"""Sets of which the clean texts are used; SummEdits and DeFacto have pairs of their own."""
SHARE = 0.3
"""Of the clean texts: many errors of this kind made the network worse on real ones."""


def swapped(examples: Iterable[Example], *, sets: tuple[str, ...] = SETS, share: float = SHARE) -> Iterator[Example]:
    """One sentence of some of the clean texts as it is, and once more with an error in it."""
    for example in examples:
        name = example.data_set.partition("/")[0]
        if name in sets and not example.is_unsupported and _chance(example.text) < share:
            yield from _pair(example)


def _pair(example: Example) -> Iterator[Example]:
    donors = donors_of(passage.text for passage in passages_of(example))
    for claim in sorted(claims_of(example), key=lambda claim: _chance(claim.text)):
        made = errors_of(claim.text, donors=donors, kinds=KINDS)
        if made:
            chosen = min(made, key=lambda each: _chance(each.kind + claim.text))
            assert chosen.start is not None
            assert chosen.end is not None
            right = structs.replace(
                example, data_set=f"swapped/{example.data_set}", text=claim.text, is_one_claim=True, family=claim.text
            )
            marked = (Span(chosen.start, chosen.end, is_conflict=True),)
            yield right
            yield structs.replace(right, text=chosen.text, is_unsupported=True, spans=marked)
            return


def _chance(text: str) -> float:
    """A number from 0 to 1 that depends on the text alone."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()) / 2**32
