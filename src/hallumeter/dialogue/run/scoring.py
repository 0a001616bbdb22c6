"""The metrics of every answer, from whoever can tell them; null where nobody can."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from msgspec import Struct, field

from hallumeter.dialogue.measure.setup import DialogueSetup
from hallumeter.dialogue.measure.turns import event_metrics, measure_event
from hallumeter.dialogue.records import Event
from hallumeter.errors import HallumeterError, SettingsError
from hallumeter.models.vectors import encode
from hallumeter.records.claim import Failure, Label, Verdict
from hallumeter.records.response import Passage, Response

from .asking import record_name
from .experiment import Experiment
from .messages import words_in
from .recall import record_lines
from .systems import GIVEN_METRICS

CLINICAL_METRICS = ("SFS", "CSP", "CUS_improved", "CUS", "MCS", "ASS")
METRICS = (*CLINICAL_METRICS, *GIVEN_METRICS)
"""What stands in every event, a number or null."""
ClaimChecker = Callable[[Response], Sequence[Verdict | Failure]]
"""Finds the claims of a response and judges them by its evidence; who starts a run brings one."""


class Scored(Struct, frozen=True):
    """The metrics of one answer."""

    metrics: dict[str, float | None] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    answered_at: str | None = None
    """When the answer came: one that comes later to the same question has metrics of its own."""


NOTHING_SCORED = Scored(dict.fromkeys(METRICS))
"""Of a question without an answer: nothing, which is not the same as a perfect answer."""


class Scoring:
    """Scores one answer after the other."""

    def __init__(
        self,
        experiment: Experiment,
        dialogue_setup: DialogueSetup,
        *,
        checker: Callable[[], ClaimChecker] | None = None,
        is_strict: bool = False,
    ) -> None:
        """`checker` is called if faithfulness is to be measured, since that may load a model."""
        self._dialogue_setup = dialogue_setup
        self._is_strict = is_strict
        self._measures: dict[str, Callable[[Event], float | None]] = {}
        if experiment.faithfulness == "embedded":
            if checker is None:
                raise SettingsError("faithfulness: nobody was given to check the claims; give run_experiment a checker")
            self._check = checker()
            self._measures["faithfulness"] = self._faithfulness
        if experiment.answer_relevance == "vectors":
            self._measures["answer_relevance"] = _relevance

    def scored(self, event: Event, earlier: Sequence[Event]) -> Scored:
        """The metrics of an answer; what a measure breaks on is a failure, and null."""
        if event.answer is None:
            return NOTHING_SCORED
        failures: list[Failure] = []
        found: dict[str, float | None] = dict.fromkeys(METRICS)
        if event.slots_truth is not None:
            # The metrics speak of a patient; without facts nothing could be true or false.
            found |= self._tried(event, "clinical", failures, measure=lambda: self._clinical(event, earlier))
        for name, measure in self._measures.items():
            found |= self._tried(event, name, failures, measure=partial(_alone, name, measure, event))
        found |= {name: value for name, value in event.metrics.items() if value is not None}
        return Scored(found, tuple(failures), event.timestamps.get("finished"))

    def _clinical(self, event: Event, earlier: Sequence[Event]) -> dict[str, float | None]:
        found = event_metrics(measure_event(event, earlier, self._dialogue_setup))
        return {name: found.get(name) for name in CLINICAL_METRICS}

    def _faithfulness(self, event: Event) -> float | None:
        """Share of the answer's sentences that the patient's record supports. Undefined when none is decided."""
        words = words_in(str(event.metadata.get("language") or "en"))
        lines = record_lines(event.slots_truth, words)
        if not lines:
            return None
        response = Response(
            "answer",
            question=event.question.text,
            response=event.answer,
            evidence=(Passage("record", "\n".join(lines)),),
        )
        labels = [verdict.label for verdict in self._check(response) if isinstance(verdict, Verdict)]
        decided = [label for label in labels if label is not Label.UNDECIDED]
        return sum(label is Label.SUPPORTED for label in decided) / len(decided) if decided else None

    def _tried(
        self,
        event: Event,
        name: str,
        failures: list[Failure],
        *,
        measure: Callable[[], dict[str, float | None]],
    ) -> dict[str, float | None]:
        try:
            return measure()
        except HallumeterError:
            raise  # a setting or a package is missing, for this answer and for all others
        except Exception as error:
            if self._is_strict:
                raise
            record = record_name(event.mode, event.patient_id, event.turn_id)
            message = f"{record}: {name} could not be measured ({type(error).__name__}: {error})"
            failures.append(Failure(record, None, "measure", None, "measure_error", message))
            return {}


def _alone(name: str, measure: Callable[[Event], float | None], event: Event) -> dict[str, float | None]:
    return {name: measure(event)}


def _relevance(event: Event) -> float | None:
    """Cosine between the vectors of question and answer."""
    asked, said = encode([event.question.text, event.answer or ""])
    return float(np.dot(asked.astype(np.float64), said.astype(np.float64)))
