"""Errors put into texts that people found right: values of the same evidence swapped, negations, opposites."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from hallumeter.mutations import Mutation, donors_of, errors_of

from .examples import Example, Span
from .readings import claims_of, passages_of

KINDS = ("number", "date", "name", "negation", "comparison")
"""An addition or another unit is easy to see; these are not."""
_IN_A_TEXT = 2
"""Claims of a text that are made wrong, at most."""
SETS = ("ragtruth", "quintd1", "summedits", "written")
"""Sets of which the clean texts are used."""


def injected(examples: Iterable[Example], *, share: float = 0.5) -> Iterator[Example]:
    """Some of the clean texts again, each with one or two errors."""
    for example in examples:
        name = example.data_set.partition("/")[0]
        if name not in SETS or example.is_unsupported or _chance(example.text) >= share:
            continue
        wrong = _made_wrong(example)
        if wrong is not None:
            yield wrong


def _made_wrong(example: Example) -> Example | None:
    donors = donors_of(passage.text for passage in passages_of(example))
    claims = sorted(claims_of(example), key=lambda claim: _chance(claim.text))
    edits: list[tuple[int, int, Mutation]] = []
    for claim in claims:
        made = errors_of(claim.text, donors=donors, kinds=KINDS)
        if made and len(edits) < _IN_A_TEXT:
            edits.append((claim.start, claim.end, min(made, key=lambda each: _chance(each.kind + claim.text))))
    return _edited(example, edits) if edits else None


def _edited(example: Example, edits: list[tuple[int, int, Mutation]]) -> Example:
    text, place = "", 0
    spans = []
    for start, end, mutation in sorted(edits, key=lambda edit: edit[0]):
        text += example.text[place:start]
        assert mutation.start is not None
        assert mutation.end is not None
        spans.append(Span(len(text) + mutation.start, len(text) + mutation.end, is_conflict=True))
        text += mutation.text
        place = end
    return Example(
        data_set=f"injected/{example.data_set}",
        source=example.source,
        task=example.task,
        evidence=example.evidence,
        text=text + example.text[place:],
        is_unsupported=True,
        spans=tuple(spans),
        question=example.question,
        writer=example.writer,
    )


def _chance(text: str) -> float:
    """A number from 0 to 1 that depends on the text alone."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest()) / 2**32
