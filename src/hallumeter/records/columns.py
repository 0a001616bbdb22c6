"""Records as columns: what the arithmetic of the metrics works on.

A metric over a million verdicts must not build a million objects, so verdicts are adapted to arrays once and
every metric of a family reads the same arrays. Rows are responses, or patterns of votes, or statements.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from .claim import Label, Verdict

LABEL_CODES = {Label.SUPPORTED: 0, Label.REFUTED: 1, Label.NOT_ENOUGH_INFO: 2, Label.UNDECIDED: 3}
"""Codes of the labels in label columns."""
UNDECIDED_CODE = 3
FAILED_CODE = 4
"""Code of a claim whose measurement broke; it has no label."""
DECIDED_LABELS = 3
"""Codes below this one are labels that say something about the evidence."""


def stable_hash(text: str) -> int:
    """A number of 64 bits for a text, the same in every process and on every machine, as Python's own hash is not.

    >>> stable_hash("claim-1") == int(stable_hashes(["claim-1"])[0])
    True
    """
    return int.from_bytes(_digest(text), "little", signed=True)


def stable_hashes(texts: Iterable[str]) -> NDArray[np.int64]:
    """The same of many texts."""
    return np.frombuffer(b"".join(map(_digest, texts)), dtype="<i8")


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()


class LabelCounts(Struct, frozen=True, eq=False):
    """How many claims of each response have which label; one row per response.

    >>> counts = LabelCounts.of([Verdict("r1", "c1", "human", Label.SUPPORTED),
    ...                          Verdict("r1", "c2", "human", Label.REFUTED)])
    >>> counts.decided.tolist(), counts.unsupported.tolist()
    ([2], [1])
    """

    table: NDArray[np.int64]
    """Columns: supported, refuted, not enough info, undecided, failed."""

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> LabelCounts:
        """Count the labels of one judge's verdicts, response by response."""
        rows: dict[str, int] = {}
        pairs = [(rows.setdefault(verdict.record_id, len(rows)), LABEL_CODES[verdict.label]) for verdict in verdicts]
        responses, labels = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return cls.tally(responses, labels, size=len(rows))

    @classmethod
    def tally(
        cls, responses: NDArray[np.signedinteger[Any]], labels: NDArray[np.signedinteger[Any]], *, size: int
    ) -> LabelCounts:
        """Count label codes by response code."""
        width = FAILED_CODE + 1
        keys = responses.astype(np.int64)
        keys *= width
        keys += labels
        flat = np.bincount(keys, minlength=size * width)
        return cls(flat.reshape(size, width).astype(np.int64, copy=False))

    @property
    def supported(self) -> NDArray[np.int64]:
        """Claims that the evidence supports."""
        return self.table[:, 0]

    @property
    def refuted(self) -> NDArray[np.int64]:
        """Claims that the evidence contradicts."""
        return self.table[:, 1]

    @property
    def unsupported(self) -> NDArray[np.int64]:
        """Claims that the evidence contradicts or does not mention."""
        return self.table[:, 1] + self.table[:, 2]

    @property
    def decided(self) -> NDArray[np.int64]:
        """Claims with a label that says something about the evidence."""
        return np.asarray(self.table[:, :DECIDED_LABELS].sum(axis=1))

    @property
    def unmeasured(self) -> NDArray[np.int64]:
        """Claims that are undecided or failed."""
        return np.asarray(self.table[:, DECIDED_LABELS:].sum(axis=1))

    @property
    def claims(self) -> NDArray[np.int64]:
        """All claims, measured or not."""
        return np.asarray(self.table.sum(axis=1))

    def resolved(self, label: Label) -> LabelCounts:
        """What would stand here if every unmeasured claim had turned out to have this label."""
        table = self.table.copy()
        table[:, LABEL_CODES[label]] += self.unmeasured
        table[:, DECIDED_LABELS:] = 0
        return LabelCounts(table)

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, rows: slice | NDArray[np.intp] | NDArray[np.bool_]) -> LabelCounts:
        return LabelCounts(self.table[rows])


class Ratings(Struct, frozen=True, eq=False):
    """Who gave which claim which label: one row per distinct pattern of votes.

    A panel of J judges with three labels has at most 4 ** J patterns, however many claims it judged.
    """

    patterns: NDArray[np.int8]
    """One column per judge; label codes, -1 where the judge gave no decided label."""
    multiplicities: NDArray[np.int64]
    """How many claims show each pattern."""
    judges: tuple[str, ...]
    clusters: NDArray[np.int64] | None = None
    """How many claims of each cluster of responses show each pattern; None when every claim stands alone."""

    @property
    def claims(self) -> int:
        """How many claims were rated."""
        return int(self.multiplicities.sum())

    def counts(self, categories: int = DECIDED_LABELS) -> NDArray[np.int64]:
        """For each pattern, how many judges chose each label."""
        return np.stack([(self.patterns == code).sum(axis=1) for code in range(categories)], axis=1)


class Answers(Struct, frozen=True, eq=False):
    """Which questions could be answered, and which responses abstained."""

    is_answerable: NDArray[np.bool_]
    did_abstain: NDArray[np.bool_]

    @classmethod
    def of(cls, rows: Sequence[tuple[bool, bool]]) -> Answers:
        """Columns from (is_answerable, did_abstain) pairs."""
        answerable, abstained = np.array(rows, dtype=bool).reshape(-1, 2).T
        return cls(answerable, abstained)

    def __len__(self) -> int:
        return len(self.is_answerable)

    def __getitem__(self, rows: slice | NDArray[np.intp] | NDArray[np.bool_]) -> Answers:
        return Answers(self.is_answerable[rows], self.did_abstain[rows])


class UncertaintySums(Struct, frozen=True, eq=False):
    """What the uncertainties of the claims of each response add up to, in nats or in variance units."""

    claims: NDArray[np.int64]
    """Claims that came with a distribution."""
    entropy: NDArray[np.float64]
    epistemic: NDArray[np.float64]
    aleatoric: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.claims)

    def __getitem__(self, rows: slice | NDArray[np.intp] | NDArray[np.bool_]) -> UncertaintySums:
        return UncertaintySums(self.claims[rows], self.entropy[rows], self.epistemic[rows], self.aleatoric[rows])


class ProbabilitySums(Struct, frozen=True, eq=False):
    """What the probabilities of being unsupported add up to over the claims of each response."""

    claims: NDArray[np.int64]
    """Claims that have a probability."""
    expected: NDArray[np.float64]
    """Their probabilities added up."""
    unknown: NDArray[np.int64]
    """Claims that have none."""
    changes: tuple[NDArray[np.float64], ...] = ()
    """For each calibration that was refitted, by how much each refit (a column) changes the sum of each response."""
    uncovered: NDArray[np.int64] | None = None
    """Claims with a probability whose calibration was not refitted; None for all of them."""
    calibrations: tuple[str, ...] = ()
    """What the calibrations are called, in the order of the changes."""

    def __len__(self) -> int:
        return len(self.claims)

    def __getitem__(self, rows: slice | NDArray[np.intp] | NDArray[np.bool_]) -> ProbabilitySums:
        return ProbabilitySums(
            self.claims[rows],
            self.expected[rows],
            self.unknown[rows],
            tuple(change[rows] for change in self.changes),
            None if self.uncovered is None else self.uncovered[rows],
            self.calibrations,
        )


class Support(Struct, frozen=True, eq=False):
    """Which model stated which claim about which question; one row per statement, no repeats."""

    questions: NDArray[np.int64]
    claims: NDArray[np.int64]
    """Codes of claims, equal when the claims are the same; one code may serve several questions."""
    models: NDArray[np.int64]
    is_supported: NDArray[np.bool_]
    """False when the model stated it and the evidence does not support it."""
    asked: NDArray[np.int64]
    """Pairs of question and model, one row for every model that answered, also without a claim."""
    model_names: tuple[str, ...]
