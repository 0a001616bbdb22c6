"""What a network is trained on: readings, alone or beside others of which they differ in a few words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from .batches import Contrast, Item
from .examples import Example
from .folds import fold_of
from .mixture import name_of
from .readings import Reading, readings_of

LENGTH = 240
"""Tokens of a reading; a little less than what the judge reads, for speed."""
_BESIDE_ONE = 3
"""Wrong texts that are read beside one right text."""


def items_of(examples: Sequence[Example], *, workers: int = 2) -> list[Item]:
    """All items, in a fixed order."""
    with ProcessPoolExecutor(workers) as pool:
        made = list(pool.map(partial(_readings, length=LENGTH), enumerate(examples), chunksize=16))
    items: list[Item] = []
    families: dict[tuple[str, str, str], list[int]] = {}
    for number, example in enumerate(examples):
        if example.family and len(made[number]) == 1:
            families.setdefault((example.data_set, example.source, example.family), []).append(number)
        else:
            items += [_item(example, (reading,)) for reading in made[number]]
    for numbers in families.values():
        items += _of_family([(examples[number], made[number][0]) for number in numbers])
    return items


def _readings(numbered: tuple[int, Example], *, length: int) -> list[Reading]:
    return list(readings_of(numbered[1], number=numbered[0], length=length))


def _item(example: Example, readings: tuple[Reading, ...], contrasts: tuple[Contrast, ...] = ()) -> Item:
    return Item(readings, contrasts, name_of(example), fold_of(example))


def _of_family(members: list[tuple[Example, Reading]]) -> Iterator[Item]:
    """Wrong texts, some at a time, beside the right one; the other right ones alone."""
    rights = [(example, reading) for example, reading in members if not example.is_unsupported]
    rights.sort(key=lambda each: each[0].text != each[0].family)
    wrong = [(example, reading) for example, reading in members if example.is_unsupported]
    paired = [each for each in wrong if rights and contrasts_of(each[1], rights[0][1])]
    for first in range(0, len(paired), _BESIDE_ONE):
        beside = [reading for _, reading in paired[first : first + _BESIDE_ONE]]
        contrasts = tuple(
            (place, claim, 0, claim)
            for place, reading in enumerate(beside, start=1)
            for claim in contrasts_of(reading, rights[0][1])
        )
        yield _item(rights[0][0], (rights[0][1], *beside), contrasts)
    alone = [*rights[1 if paired else 0 :], *(each for each in wrong if each not in paired)]
    yield from (_item(example, (reading,)) for example, reading in alone)


def contrasts_of(wrong: Reading, right: Reading) -> list[int]:
    """Numbers of the claims that are unsupported in one text and supported in the other."""
    if len(wrong.claims) != len(right.claims):
        return []
    both = zip(wrong.claims, right.claims, strict=True)
    return [number for number, (one, other) in enumerate(both) if one is True and other is False]
