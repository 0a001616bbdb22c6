"""What became of every claim from one run to the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from hallumeter.records.columns import DECIDED_LABELS
from hallumeter.records.decisions.comparison import ClaimChange, State, Transition, Transitions
from hallumeter.stats import mcnemar_mid_p

from .matching import REWORDED, match_claims

if TYPE_CHECKING:
    from .matching import ClaimKey
    from .reading import SeenRecord

STATES: tuple[State, ...] = get_args(State)
"""In the order of the codes of labels; the last is a claim that the other run alone has."""
ABSENT = len(STATES) - 1
LONGEST_TEXT = 300
"""Characters of a claim that an example shows."""


class TransitionCount:
    """Counts claims by their labels in both runs, and keeps the first that changed."""

    def __init__(self, *, similarity: float, examples: int) -> None:
        self._similarity = similarity
        self._most_examples = examples
        self._claims: dict[tuple[int, int], int] = {}
        self._records: dict[tuple[int, int], int] = {}
        self._examples: dict[tuple[int, int], list[ClaimChange]] = {}
        self._how = [0] * (REWORDED + 1)
        self.is_unchanged = True
        """Whether every response, and the label of every claim, is the same so far."""

    def add(self, record_id: str, first: SeenRecord, second: SeenRecord) -> None:
        """Count the claims of one record."""
        matched = match_claims(
            first.claims,
            second.claims,
            similarity=self._similarity,
            is_same_response=first.response == second.response,
        )
        pairs: list[tuple[ClaimKey | None, ClaimKey | None]] = []
        for pair in matched:
            self._how[pair.how] += 1
            pairs.append((first.claims[pair.first], second.claims[pair.second]))
        if len(matched) < max(len(first.claims), len(second.claims)):
            ours, theirs = {pair.first for pair in matched}, {pair.second for pair in matched}
            pairs += [(claim, None) for place, claim in enumerate(first.claims) if place not in ours]
            pairs += [(None, claim) for place, claim in enumerate(second.claims) if place not in theirs]
        self.is_unchanged &= first.response == second.response
        seen: dict[tuple[int, int], None] = {}
        for one, other in pairs:
            cell = (ABSENT if one is None else one.label, ABSENT if other is None else other.label)
            self._claims[cell] = self._claims.get(cell, 0) + 1
            seen[cell] = None
            if cell[0] != cell[1]:
                self.is_unchanged = False
                self._keep(cell, record_id, one=one, other=other)
        for cell in seen:
            self._records[cell] = self._records.get(cell, 0) + 1

    def _keep(self, cell: tuple[int, int], record_id: str, *, one: ClaimKey | None, other: ClaimKey | None) -> None:
        """Keep an example, if there is room."""
        kept = self._examples.setdefault(cell, [])
        if len(kept) < self._most_examples:
            kept.append(ClaimChange(record_id, _shown(one), _shown(other)))

    def result(self) -> Transitions:
        """The whole table, in the order of the labels."""
        cells = tuple(
            Transition(
                first=STATES[cell[0]],
                second=STATES[cell[1]],
                claims=self._claims[cell],
                records=self._records[cell],
                examples=tuple(self._examples.get(cell, ())),
            )
            for cell in sorted(self._claims)
        )
        decided = {cell: count for cell, count in self._claims.items() if max(cell) < DECIDED_LABELS}
        broken = sum(count for (first, second), count in decided.items() if first == 0 and second)
        mended = sum(count for (first, second), count in decided.items() if first and second == 0)
        exact, moved, reworded = self._how
        return Transitions(
            cells=cells,
            exact=exact,
            moved=moved,
            reworded=reworded,
            broken=broken,
            mended=mended,
            claims_mid_p=mcnemar_mid_p(broken, mended),
        )


def _shown(claim: ClaimKey | None) -> str | None:
    if claim is None:
        return None
    return claim.text if len(claim.text) <= LONGEST_TEXT else f"{claim.text[: LONGEST_TEXT - 1]}…"
