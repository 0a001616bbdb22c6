"""Charts: what is drawn, what is said to be left out, and whether everyone can tell the colours apart."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from numpy.typing import NDArray

from hallumeter.records.claim import Label
from hallumeter.records.response import Response
from hallumeter.report.charts import GROUPS_DRAWN, charts_of
from hallumeter.report.document import Document, MetricText, RecordFindings
from hallumeter.report.drawing import LABEL_COLOURS, PALETTE, Chart, Json
from report_samples import METRIC_TEXTS, finding, manifest, metric, sample_document, summary

LIGHT, DARK = 0, 1
# Linear RGB seen without one kind of cone: Machado, Oliveira and Fernandes 2009, severity 1.0.
CONES = {
    "all": np.eye(3),
    "no long": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no middle": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no short": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}


def chart(document: Document, kind: str) -> Chart:
    return next(one for one in charts_of(document) if one.kind == kind)


def rows_of(part: Json) -> list[Json]:
    assert isinstance(part, dict)
    source = part["data"]
    assert isinstance(source, dict)
    values = source["values"]
    assert isinstance(values, list)
    return values


def linear(colour: str) -> NDArray[np.float64]:
    parts = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.asarray(np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4))


def contrast(first: str, second: str) -> float:
    """WCAG 2.2 contrast ratio."""
    low, high = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (first, second))
    return (high + 0.05) / (low + 0.05)


def lab(rgb: NDArray[np.float64]) -> NDArray[np.float64]:
    """CIELAB under D65."""
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    ratio = matrix @ np.clip(rgb, 0, 1) / [0.9505, 1, 1.089]
    root = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def test_the_sample_is_drawn_with_every_kind_of_chart() -> None:
    drawn = charts_of(sample_document())
    kinds = ["rates", "groups", "groups", "groups", "shares", "labels", "tenths", "lengths"]
    assert [one.chart_id for one in drawn] == [f"{kind}-{place}" for place, kind in enumerate(kinds)]
    assert [one.title for one in drawn[1:4]] == ["MiHR by model", "MaHR by model", "FactScore by model"]
    assert [one.section for one in drawn] == [3, 4, 4, 4, 5, 5, 6, 6]


def test_specifications_are_plain_json_without_numbers_that_are_not_finite() -> None:
    for one in charts_of(sample_document()):
        assert json.loads(json.dumps(one.spec, allow_nan=False)) == one.spec


def test_a_rate_is_a_point_on_its_interval_before_its_bounds() -> None:
    document = sample_document([], summary=summary(metrics=(metric("mihr", 7, 31, undecided=4),)))
    drawn = chart(document, "rates")
    assert rows_of(drawn.spec) == [
        {
            "name": "MiHR ↓",
            "value": 7 / 31,
            "low": 7 / 31 - 0.08,
            "high": 7 / 31 + 0.09,
            "best": 7 / 35,
            "worst": 11 / 35,
            "shown": "0.226",
            "interval": "0.146 – 0.316",
            "bounds": "0.200 – 0.314",
            "counts": "7 / 31",
        }
    ]


def test_a_name_from_outside_stands_only_in_the_data_where_it_cannot_become_an_expression() -> None:
    strange = "'; window.stolen = 1; '"
    metrics = tuple(metric("mihr", 1, 2, by={strange: f"{strange}{number}"}) for number in range(2))
    record = RecordFindings(Response("r", response="x", model=strange), (finding(0, 1),))
    for one in charts_of(sample_document([record], summary=summary(metrics=metrics))):
        spec = {name: part for name, part in one.spec.items() if name not in {"data", "description"}}
        assert "stolen" not in json.dumps(spec)


def test_an_undefined_rate_is_named_in_the_caption_and_not_drawn_as_zero() -> None:
    drawn = chart(sample_document(), "rates")
    assert drawn.caption.endswith("Not drawn: FAR (undefined: no question without an answer was asked).")
    assert "FAR" not in json.dumps(drawn.spec)


def test_a_statistic_that_is_not_on_the_scale_from_0_to_1_is_not_drawn_on_it() -> None:
    texts = {**METRIC_TEXTS, "entropy": MetricText("H", "entropy", "", (0, None))}
    document = sample_document([], summary=summary(metrics=(metric("entropy", 5, 3),)), metric_texts=texts)
    assert charts_of(document) == ()


def test_intervals_are_called_by_their_confidence() -> None:
    document = sample_document([], manifest=manifest(settings={"confidence": 0.9}))
    drawn = chart(document, "rates")
    assert "Line: its 90 % interval." in drawn.caption
    assert "90 % interval" in json.dumps(drawn.spec)


def test_groups_are_compared_only_when_there_are_two_or_more() -> None:
    alone = (metric("mihr", 1, 2, by={"model": "a"}),)
    assert charts_of(sample_document([], summary=summary(metrics=alone))) == ()


def test_groups_of_metrics_that_are_not_the_usual_ones_are_compared_by_the_first_three() -> None:
    texts = {name: MetricText(name.upper(), "", "", (0, 1)) for name in "pqrs"}
    metrics = tuple(metric(name, 1, 2, by={"turn": turn}) for name in "pqrs" for turn in "12")
    document = sample_document([], summary=summary(metrics=metrics), metric_texts=texts)
    assert [one.title for one in charts_of(document)] == ["P by turn", "Q by turn", "R by turn"]


def test_more_groups_than_can_be_drawn_are_said_to_be_in_the_table() -> None:
    metrics = tuple(metric("mihr", 1, 2, by={"page": str(number)}) for number in range(GROUPS_DRAWN + 7))
    drawn = chart(sample_document([], summary=summary(metrics=metrics)), "groups")
    assert "The first 30 of 37 groups" in drawn.caption
    assert len(rows_of(drawn.spec)) == GROUPS_DRAWN


def test_responses_without_a_decided_claim_are_said_not_to_be_drawn() -> None:
    undecided = RecordFindings(Response("u", response="x"), (finding(0, 1, Label.UNDECIDED),))
    refuted = RecordFindings(Response("r", response="x"), (finding(0, 1),))
    drawn = chart(sample_document([undecided, refuted]), "shares")
    assert drawn.caption.endswith("Not drawn: 1 answer without a decided claim.")
    only_undecided = charts_of(sample_document([undecided]))
    assert "shares" not in {one.kind for one in only_undecided}


def test_responses_without_claims_have_no_labels_to_draw() -> None:
    drawn = charts_of(sample_document([RecordFindings(Response("r", response="x"), ())]))
    assert "labels" not in {one.kind for one in drawn}


def test_labels_are_drawn_as_shares_that_add_up_for_each_model() -> None:
    drawn = chart(sample_document(), "labels")
    totals: dict[str, float] = {}
    for row in rows_of(drawn.spec):
        assert isinstance(row, dict)
        share = row["share"]
        assert isinstance(share, float)
        totals[str(row["model"])] = totals.get(str(row["model"]), 0.0) + share
    assert len(totals) == 8
    assert all(total == pytest.approx(1) for total in totals.values())


def test_models_that_are_not_drawn_are_counted() -> None:
    records = [
        RecordFindings(Response("r", response="x", model=f"m{n}"), (finding(0, 1),)) for n in range(GROUPS_DRAWN + 2)
    ]
    assert chart(sample_document(records), "labels").caption.endswith("Not drawn: 2 models.")


@pytest.mark.parametrize("side", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("paper", ["paper", "surface"])
def test_text_and_marks_stand_out_from_the_paper(side: int, paper: str) -> None:
    for name in ("ink", "muted", "accent"):
        assert contrast(PALETTE[name][side], PALETTE[paper][side]) >= 4.5, name
    for name in LABEL_COLOURS.values():
        assert contrast(PALETTE[name][side], PALETTE[paper][side]) >= 3, name
    # The count of failures is written in this colour.
    assert contrast(PALETTE["refuted"][side], PALETTE[paper][side]) >= 4.5


@pytest.mark.parametrize("side", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("eye", list(CONES))
def test_labels_can_be_told_apart_by_eyes_that_lack_a_kind_of_cone(side: int, eye: str) -> None:
    seen = {name: lab(CONES[eye] @ linear(PALETTE[name][side])) for name in LABEL_COLOURS.values()}
    for first, second in itertools.combinations(seen, 2):
        assert np.linalg.norm(seen[first] - seen[second]) > 20, (first, second)


def test_light_colours_are_all_different_so_that_a_page_can_swap_them() -> None:
    assert len({light for light, _ in PALETTE.values()}) == len(PALETTE)
