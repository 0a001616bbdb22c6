"""One person giving labels, without a terminal: the next question, an answer, a step back, and what it has come to."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from itertools import combinations
from pathlib import Path

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.claims.labelled.correction import CorrectSettings, corrected_rate
from hallumeter.claims.labelled.run import LabelledRun, mean_said
from hallumeter.claims.labelled.sources import stored_label
from hallumeter.errors import InputError, SettingsError
from hallumeter.formats.records import label_of
from hallumeter.records.claim import Label
from hallumeter.records.columns import Ratings
from hallumeter.records.decisions import CorrectedRate, GivenLabel, LabelCensus
from hallumeter.run.finished import Run, load
from hallumeter.run.labels import HumanLabel, LabelStore, login_name
from hallumeter.stats.agreement import cohen_kappa
from hallumeter.stats.allocation import expected_variances
from hallumeter.stats.raters import distinct_patterns

from .claims import AnnotateSettings, AskedClaim, ClaimTable
from .order import Answered, ClaimOrder, ResponseOrder, next_claim

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


# Whether annotators say the same of the same claims.


class AnnotatorAgreement(Struct, frozen=True):
    """How far two annotators agree on whether claims are supported."""

    annotators: tuple[str, str]
    claims: int
    """Claims on which both said something."""
    agreed: int
    """Claims on which they said the same."""
    kappa: float | None
    """Cohen's."""
    undefined: str | None = None
    """Why there is no kappa; None when there is one."""


def annotator_agreements(said: Iterable[Mapping[str, GivenLabel]]) -> tuple[AnnotatorAgreement, ...]:
    """The agreement of every two annotators with a claim in common, in the order of their names."""
    rows = [
        {name: int(label.is_unsupported) for name, label in labels.items() if label.is_unsupported is not None}
        for labels in said
    ]
    together = [row for row in rows if len(row) > 1]
    names = sorted({name for row in together for name in row})
    pairs = [(pair, _votes(together, pair)) for pair in combinations(names, 2)]
    return tuple(_agreement(pair, votes) for pair, votes in pairs if len(votes))


def _votes(rows: Iterable[Mapping[str, int]], pair: tuple[str, str]) -> np.ndarray:
    return np.array([[row[name] for name in pair] for row in rows if all(name in row for name in pair)], dtype=np.int8)


def _agreement(pair: tuple[str, str], votes: np.ndarray) -> AnnotatorAgreement:
    patterns, times, _ = distinct_patterns(votes)
    found = cohen_kappa(Ratings(patterns, times, pair), 0, 1)
    agreed = int((votes[:, 0] == votes[:, 1]).sum())
    return AnnotatorAgreement(pair, len(votes), agreed, found.value, found.undefined)


# What all annotators have said of a run up to now.


class AnnotationLog:
    """The labels in a run folder by claim and annotator, read again whenever somebody may have added one."""

    def __init__(self, folder: Path, claim_table: ClaimTable) -> None:
        self._store, self._claims = LabelStore(folder), claim_table
        self.said: dict[int, dict[str, GivenLabel]] = {}
        """By the number of the claim, what each annotator says."""
        self.unsupported: FloatArray = np.empty(0)
        self.refuted: FloatArray = np.empty(0)
        self.refresh()

    def refresh(self) -> None:
        """Read what is on disk: other annotators may sit at the same run."""
        self.said = {}
        for label in self._store.latest():
            number = self._claims.number_of(label.record_id, label.claim_id, fingerprint=label.fingerprint)
            if number is not None:
                self.said.setdefault(number, {})[label.annotator] = stored_label(label)
        claims = len(self._claims.columns.claim_ids)
        self.unsupported, self.refuted = np.full(claims, np.nan), np.full(claims, np.nan)
        for number, labels in self.said.items():
            self.unsupported[number] = mean_said(labels.values(), "is_unsupported")
            self.refuted[number] = mean_said(labels.values(), "is_refuted")

    @property
    def is_answered(self) -> BoolArray:
        """Which claims somebody has answered, sure or not."""
        return self._marked(self.said)

    def is_answered_by(self, annotator: str) -> BoolArray:
        """The same for one annotator."""
        return self._marked(number for number, labels in self.said.items() if annotator in labels)

    def _marked(self, numbers: Iterable[int]) -> BoolArray:
        found = np.zeros(len(self.unsupported), dtype=bool)
        found[list(numbers)] = True
        return found

    def columns(self) -> LabelledRun:
        """The run beside these labels."""
        names = Counter(
            name for labels in self.said.values() for name, label in labels.items() if label.is_unsupported is not None
        )
        is_known, columns = ~np.isnan(self.unsupported), self._claims.columns
        census = LabelCensus(
            labels=names.total(),
            claims=int(is_known.sum()),
            responses=len(np.unique(columns.owners[is_known])),
            annotators=dict(sorted(names.items())),
        )
        nobody = np.full(len(columns.record_ids), np.nan)
        return structs.replace(
            columns, response_truth=nobody, unsupported=self.unsupported, refuted=self.refuted, census=census
        )


METRICS = {"claim": "mihr", "response": "mahr"}
"""The rate that is watched, by what is drawn."""
FEW_RESAMPLES = 200
"""Of the judge's own interval, which is not shown while labels are given."""


class Progress(Struct, frozen=True):
    """What the labels have come to."""

    labels: int
    """Labels of all annotators that say something."""
    own: int
    """Answers of this annotator, sure or not."""
    rate: CorrectedRate
    """The rate that is watched, as the judge has it and corrected."""
    half_width: float | None
    """Half the width of its interval; None without one."""
    history: tuple[tuple[int, float], ...]
    """Labels and half width whenever they were looked at in this session."""
    pending: int
    """Claims of the response at hand that nobody has answered yet, where responses are drawn."""
    agreements: tuple[AnnotatorAgreement, ...]


class _Step(Struct, frozen=True):
    """Something that can be taken back."""

    number: int
    label: HumanLabel | None
    """None for a claim that was passed over."""


class LabelSession:
    """Asks one annotator about the claims of a run, and keeps every answer at once."""

    def __init__(self, run: Run, settings: AnnotateSettings) -> None:
        self.settings = settings
        self._store = LabelStore(run.path)
        self._claims = ClaimTable(run, settings.judge)
        if not os.access(run.path, os.W_OK):
            raise InputError(f"{run.path}: labels cannot be kept here (the folder cannot be written to)")
        self._book = AnnotationLog(run.path, self._claims)
        self._order = (ClaimOrder if settings.unit == "claim" else ResponseOrder)(self._claims.columns, settings)
        self._correct = CorrectSettings(half_width=settings.half_width, resamples=FEW_RESAMPLES)
        self._passed: set[int] = set()
        self._steps: list[_Step] = []
        self._again: list[int] = []
        self._asked: AskedClaim | None = None
        self._history: list[tuple[int, float]] = []
        self._progress: Progress | None = None

    @property
    def answers(self) -> int:
        """Answers of this session that were not taken back."""
        return sum(step.label is not None for step in self._steps)

    @property
    def judge(self) -> str:
        """Whose verdicts are examined, or `consensus`."""
        return self._claims.columns.judge

    def next_question(self) -> AskedClaim | None:
        """The claim to ask about: one that was taken back, else the most useful; None when nothing is left."""
        if self._again:
            number: int | None = self._again.pop()
        else:
            self._book.refresh()
            number = next_claim(self._order, self._answered(), self._is_open(), overlap=self.settings.overlap)
        self._asked = None if number is None else self._claims.claim(number)
        return self._asked

    def answer(self, label: Label) -> HumanLabel:
        """Keep what the annotator says of the claim that was asked about; UNDECIDED is who cannot tell.

        It is on disk when this returns.
        """
        asked = self._take()
        said = HumanLabel(
            record_id=asked.response.record_id,
            claim_id=asked.claim.claim_id,
            judge=self._claims.judge,
            judged=None if asked.judged is None else asked.judged.value,
            is_right=label is asked.judged,
            annotator=self.settings.annotator,
            noted=_now(),
            fingerprint=asked.fingerprint,
            label=label.value,
        )
        self._store.add(said)
        self._steps.append(_Step(asked.number, said))
        self._progress = None
        return said

    def skip(self) -> None:
        """Pass the claim over: it is not asked about again in this session."""
        asked = self._take()
        self._passed.add(asked.number)
        self._steps.append(_Step(asked.number, None))

    def undo(self) -> AskedClaim | None:
        """Take back the last answer of this session, or the last claim that was passed over; it is asked about next.

        None when there is nothing to take back.
        """
        if not self._steps:
            return None
        step = self._steps.pop()
        if step.label is None:
            self._passed.discard(step.number)
        else:
            self._store.add(structs.replace(step.label, is_right=None, label=None, noted=_now()))
            self._progress = None
        if self._asked is not None:
            self._again.append(self._asked.number)
            self._asked = None
        self._again.append(step.number)
        return self._claims.claim(step.number)

    def progress(self) -> Progress:
        """What all labels had come to after the last answer, those of others included."""
        if self._progress is None:
            self._progress = self._measured()
        return self._progress

    def expected_half_width(self, more: int) -> float | None:
        """Half the width of the interval after so many more labels, if claims go on as they began.

        None without an interval now, where responses are drawn, and when there are not so many left.
        """
        now = self.progress()
        if now.half_width is None or not isinstance(self._order, ClaimOrder):
            return None
        fresh = self._is_open() & ~self._book.is_answered
        variances = expected_variances(self._order.tally(fresh, self._book.unsupported), more)
        if len(variances) <= more:
            return None
        # A part of the width comes from how many responses there are, which no label changes.
        fixed = min(now.rate.narrowest or 0.0, now.half_width)
        return math.sqrt(fixed**2 + (now.half_width**2 - fixed**2) * variances[-1] / variances[0])

    def _measured(self) -> Progress:
        self._book.refresh()
        columns = self._book.columns()
        rate = corrected_rate(columns, METRICS[self.settings.unit], settings=self._correct)
        half_width = half_width_of(rate)
        if half_width is not None:
            self._history.append((columns.census.labels, half_width))
        return Progress(
            labels=columns.census.labels,
            own=int(self._book.is_answered_by(self.settings.annotator).sum()),
            rate=rate,
            half_width=half_width,
            history=tuple(self._history),
            pending=self._pending(),
            agreements=annotator_agreements(self._book.said.values()),
        )

    def _answered(self) -> Answered:
        book = self._book
        return Answered(book.unsupported, book.is_answered, book.is_answered_by(self.settings.annotator))

    def _is_open(self) -> NDArray[np.bool_]:
        is_open = self._claims.can_be_asked.copy()
        is_open[list(self._passed)] = False
        return is_open

    def _take(self) -> AskedClaim:
        asked, self._asked = self._asked, None
        if asked is None:
            raise ValueError("no question was asked; call next_question first")
        return asked

    def _pending(self) -> int:
        if not self._steps or self.settings.unit == "claim":
            return 0
        owners = self._claims.columns.owners
        is_left = self._is_open() & ~self._book.is_answered & (owners == owners[self._steps[-1].number])
        return int(is_left.sum())


def half_width_of(rate: CorrectedRate) -> float | None:
    """Half the width of the interval of a corrected rate."""
    interval = rate.corrected.interval
    return None if interval is None else (interval[1] - interval[0]) / 2


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


# Labels from Python: from a function, or question by question.


def label(
    run: Run | str | Path,
    answer: Callable[[AskedClaim], Label | str | None] | None = None,
    *,
    limit: int | None = None,
    settings: AnnotateSettings | None = None,
) -> LabelSession:
    """Ask for the labels that say most about a run; every answer is kept in the run folder at once.

    Args:
        run: The run, or its folder.
        answer: Asked about one claim after the other, until nothing is left or there are `limit` answers: it returns a
            label, ``UNDECIDED`` if it cannot tell, or None to skip the claim. Without it nothing is asked, and the
            session is yours: `next_question`, `answer`, `skip`, `undo`, `progress`.
        limit: Stop after so many answers.
        settings: Whose labels these are, and what is drawn; without them, of whoever is logged in.

    Raises:
        InputError: Labels cannot be kept there.
        SettingsError: An answer is no label.
    """
    session = LabelSession(
        run if isinstance(run, Run) else load(run), settings or AnnotateSettings(annotator=login_name())
    )
    while answer is not None and (limit is None or session.answers < limit):
        asked = session.next_question()
        if asked is None:
            break
        said = answer(asked)
        if said is None:
            session.skip()
        else:
            session.answer(_label(said))
    return session


def _label(said: Label | str) -> Label:
    found = said if isinstance(said, Label) else label_of(str(said))
    if found is None:
        raise SettingsError(f"{said!r} is no label; expected one of {', '.join(each.value for each in Label)}")
    return found
