"""Which claims of two runs over the same record are the same claim."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz import fuzz

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

MOST_PAIRS = 250_000
"""Claims left over in one record are all compared with each other up to this many pairs; beyond it, with those near."""
NEAR = 100
"""How many places away a claim of a long record may have moved and still be compared."""
SAME_PLACE = 0.5
"""Share of an unchanged response that two claims must have in common, of what they cover together."""


class ClaimKey(NamedTuple):
    """What tells one claim of a record from another."""

    kind: str
    text: str
    start: int | None
    end: int | None
    label: int
    """Its code; not part of its identity."""


class Matched(NamedTuple):
    """Places of the same claim in both lists, and how it was found."""

    first: int
    second: int
    how: int
    """EXACT, MOVED or REWORDED."""


EXACT, MOVED, REWORDED = 0, 1, 2


def match_claims(
    first: Sequence[ClaimKey], second: Sequence[ClaimKey], *, similarity: float, is_same_response: bool
) -> list[Matched]:
    """Pairs of claims that are the same, one to one, in the order of the first list.

    Claims of the same kind are paired by place and wording, then by wording alone, in order; what is left over is
    paired by how alike it is, the most alike first, and of equals those that come first.

    >>> ours = [ClaimKey("claim", "Oslo has 700,000 people.", 0, 24, 0), ClaimKey("claim", "It rains.", 25, 34, 0)]
    >>> theirs = [ClaimKey("claim", "It rains.", 0, 9, 0), ClaimKey("claim", "Oslo has 900,000 people.", 10, 34, 1)]
    >>> [tuple(pair) for pair in match_claims(ours, theirs, similarity=0.7, is_same_response=False)]
    [(0, 1, 2), (1, 0, 1)]
    """
    if len(first) == len(second) and all(one[:4] == other[:4] for one, other in zip(first, second, strict=True)):
        return [Matched(place, place, EXACT) for place in range(len(first))]
    found: list[Matched] = []
    left, right = list(range(len(first))), list(range(len(second)))
    for how, key in ((EXACT, _place_and_wording), (MOVED, _wording)):
        pairs = _in_order((left, right), (first, second), key)
        found += [Matched(one, other, how) for one, other in pairs]
        left, right = _without(left, (one for one, _ in pairs)), _without(right, (other for _, other in pairs))
    if left and right:
        scores = _scores((left, right), (first, second), cutoff=similarity, has_places=is_same_response)
        found += [Matched(one, other, REWORDED) for one, other in _best_first(scores)]
    return sorted(found)


def _place_and_wording(claim: ClaimKey) -> Hashable:
    return claim[:4]


def _wording(claim: ClaimKey) -> Hashable:
    return claim[:2]


def _in_order(
    places: tuple[list[int], list[int]],
    claims: tuple[Sequence[ClaimKey], Sequence[ClaimKey]],
    key: Callable[[ClaimKey], Hashable],
) -> list[tuple[int, int]]:
    """Claims with the same key, the first with the first and so on."""
    waiting: defaultdict[Hashable, list[int]] = defaultdict(list)
    for place in reversed(places[1]):
        waiting[key(claims[1][place])].append(place)
    pairs = []
    for place in places[0]:
        others = waiting.get(key(claims[0][place]))
        if others:
            pairs.append((place, others.pop()))
    return pairs


def _without(places: list[int], taken: Iterable[int]) -> list[int]:
    gone = set(taken)
    return [place for place in places if place not in gone]


def _scores(
    places: tuple[list[int], list[int]],
    claims: tuple[Sequence[ClaimKey], Sequence[ClaimKey]],
    *,
    cutoff: float,
    has_places: bool,
) -> list[tuple[float, int, int]]:
    """How alike claims of the same kind are, those at or above the cutoff; most alike first."""
    left, right = places
    is_long = len(left) * len(right) > MOST_PAIRS
    found = []
    for rank, one in enumerate(left):
        near = rank * len(right) // len(left)
        candidates = right[max(0, near - NEAR) : near + NEAR] if is_long else right
        for other in candidates:
            ours, theirs = claims[0][one], claims[1][other]
            if ours.kind != theirs.kind:
                continue
            score = fuzz.ratio(ours.text, theirs.text, score_cutoff=100 * cutoff) / 100 if ours.text else 0.0
            overlap = _overlap(ours, theirs) if has_places else 0.0
            if score or overlap >= SAME_PLACE:
                found.append((-max(score, overlap), one, other))
    return sorted(found)


def _overlap(one: ClaimKey, other: ClaimKey) -> float:
    """What two spans have in common, as a share of what they cover together; 0 without spans."""
    if one.start is None or one.end is None or other.start is None or other.end is None:
        return 0.0
    together = max(one.end, other.end) - min(one.start, other.start)
    return max(0, min(one.end, other.end) - max(one.start, other.start)) / together if together else 0.0


def _best_first(scores: list[tuple[float, int, int]]) -> list[tuple[int, int]]:
    left: set[int] = set()
    right: set[int] = set()
    pairs = []
    for _, one, other in scores:
        if one not in left and other not in right:
            left.add(one)
            right.add(other)
            pairs.append((one, other))
    return pairs
