"""One person giving labels, without a terminal: the next question, an answer, a step back, and what it has come to."""

from __future__ import annotations

import math
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, structs

from hallumeter.errors import InputError
from hallumeter.pipelines.correcting import CorrectSettings, corrected_rate
from hallumeter.records import Label
from hallumeter.stats import expected_variances
from hallumeter.store import HumanLabel, LabelStore

from .agreement import AnnotatorAgreement, annotator_agreements
from .book import AnnotationBook
from .drawing import Answered, ClaimDrawing, ResponseDrawing, next_claim
from .shelf import ClaimShelf

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hallumeter.pipelines.run import Run
    from hallumeter.records.decisions.correction import CorrectedRate

    from .settings import AnnotateSettings
    from .shelf import AskedClaim

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
        self._shelf = ClaimShelf(run, settings.judge)
        if not os.access(run.path, os.W_OK):
            raise InputError(f"{run.path}: labels cannot be kept here (the folder cannot be written to)")
        self._book = AnnotationBook(run.path, self._shelf)
        self._drawing = (ClaimDrawing if settings.unit == "claim" else ResponseDrawing)(self._shelf.columns, settings)
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
        return self._shelf.columns.judge

    def next_question(self) -> AskedClaim | None:
        """The claim to ask about: one that was taken back, else the most useful; None when nothing is left."""
        if self._again:
            number: int | None = self._again.pop()
        else:
            self._book.refresh()
            number = next_claim(self._drawing, self._answered(), self._is_open(), overlap=self.settings.overlap)
        self._asked = None if number is None else self._shelf.claim(number)
        return self._asked

    def answer(self, label: Label) -> HumanLabel:
        """Keep what the annotator says of the claim that was asked about; UNDECIDED is who cannot tell.

        It is on disk when this returns.
        """
        asked = self._take()
        said = HumanLabel(
            record_id=asked.response.record_id,
            claim_id=asked.claim.claim_id,
            judge=self._shelf.judge,
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
        return self._shelf.claim(step.number)

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
        if now.half_width is None or not isinstance(self._drawing, ClaimDrawing):
            return None
        fresh = self._is_open() & ~self._book.is_answered
        variances = expected_variances(self._drawing.tally(fresh, self._book.unsupported), more)
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
        is_open = self._shelf.can_be_asked.copy()
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
        owners = self._shelf.columns.owners
        is_left = self._is_open() & ~self._book.is_answered & (owners == owners[self._steps[-1].number])
        return int(is_left.sum())


def half_width_of(rate: CorrectedRate) -> float | None:
    """Half the width of the interval of a corrected rate."""
    interval = rate.corrected.interval
    return None if interval is None else (interval[1] - interval[0]) / 2


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
