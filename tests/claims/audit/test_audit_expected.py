"""The expected share in an audit: what the judge says of its calibration reaches the interval and the signature."""

from __future__ import annotations

import pytest

import hallumeter
from hallumeter import AuditSettings, MeasureSettings, MetricSummary
from hallumeter.records.claim import Failure, Label, Verdict
from hallumeter.records.judging import CalibratedJudge, JudgeSpec, JudgeTask

ROWS = [
    {"id": f"r{number}", "response": f"The tower is {number} m high. It is red.", "evidence": "The tower is 3 m high."}
    for number in range(6)
]
WIDE: tuple[tuple[float, float], ...] = ((-1.5, 1.0), (0.0, 1.0), (1.5, 1.0))


class Calibrated:
    """Gives every claim a probability; says of even records that they are of the kind that was refitted."""

    def __init__(self, refits: dict[str, tuple[tuple[float, float], ...]], kinds: tuple[str | None, ...]) -> None:
        self.refits = refits
        self._kinds = kinds
        self.spec = JudgeSpec("calibrated", (("threshold", "0.3"), ("calibration", "x")))

    def kind_of(self, task: JudgeTask) -> str | None:
        assert self.refits, "a judge without refits need not be asked"
        return self._kinds[int(task.response.record_id.removeprefix("r")) % len(self._kinds)]

    def judge(self, task: JudgeTask) -> list[Verdict | Failure]:
        number = int(task.response.record_id.removeprefix("r"))
        return [
            Verdict(each.record_id, each.claim_id, "calibrated", Label.SUPPORTED, unsupported_probability=probability)
            for each, probability in zip(task.claims, (0.1, 0.1 + 0.03 * number * number / 5), strict=True)
        ]


def row_of(judge: Calibrated, metric: str = "expected_unsupported_rate") -> MetricSummary:
    assert isinstance(judge, CalibratedJudge)
    settings = AuditSettings(judges=(judge,), measure=MeasureSettings(resamples=400))
    (row,) = [row for row in hallumeter.audit(ROWS, settings=settings).summary.metrics if row.metric == metric]
    return row


def width(row: MetricSummary) -> float:
    assert row.interval is not None
    return row.interval[1] - row.interval[0]


def test_refits_of_the_calibration_widen_the_interval_and_the_signature_says_so() -> None:
    without = row_of(Calibrated({}, ("qa",)))
    refitted = row_of(Calibrated({"qa": WIDE}, ("qa",)))
    partly = row_of(Calibrated({"qa": WIDE}, ("qa", None)))
    other = row_of(Calibrated({"summary": WIDE}, ("qa",)))
    assert without.value == refitted.value == partly.value == other.value == pytest.approx(0.1275)
    assert "|calibration_error:not-included|" in without.signature
    assert "|calibration_error:refitted|" in refitted.signature
    assert "|calibration_error:partly-refitted|" in partly.signature
    assert "|calibration_error:not-included|" in other.signature
    assert width(without) == width(other) < width(refitted)


def test_kinds_of_text_with_the_same_refits_are_off_together() -> None:
    shared = {"qa": WIDE, "summary": WIDE}
    together = row_of(Calibrated(shared, ("qa", "summary")))
    assert width(together) == pytest.approx(width(row_of(Calibrated({"qa": WIDE}, ("qa",)))))
    apart = row_of(Calibrated({**shared, "summary": (*WIDE[:1], (0.001, 1.0), *WIDE[2:])}, ("qa", "summary")))
    assert width(apart) < width(together)


@pytest.mark.parametrize("metric", ["mihr", "expected_unsupported_rate"])
def test_the_operating_point_is_stated_in_the_signature(metric: str) -> None:
    signature = row_of(Calibrated({}, ("qa",)), metric).signature
    assert "|threshold:0.3|calibration:x|" in signature


def test_the_judge_inside_the_package_states_its_own() -> None:
    settings = AuditSettings(judges=("embedded:fast",), threshold=0.4, measure=MeasureSettings(resamples=100))
    (row,) = [row for row in hallumeter.audit(ROWS, settings=settings).summary.metrics if row.metric == "mihr"]
    assert "|threshold:0.4|calibration:" in row.signature
