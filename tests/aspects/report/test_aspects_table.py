"""Scorecards as tables for a terminal."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from aspect_outputs import aspect, card_of, output
from hallumeter.aspects.aggregate.overview import AggregateSettings
from hallumeter.aspects.aggregate.pipeline import aggregate
from hallumeter.aspects.aggregate.run_writer import aggregate_to_folder
from hallumeter.aspects.catalog import ASPECT_METRICS
from hallumeter.aspects.records.scorecard import Scorecard
from hallumeter.aspects.report.families import SECTIONS
from hallumeter.aspects.report.text import aspect_table, aspects_text
from hallumeter.aspects.score.scorecard import make_scorecard
from hallumeter.report.build import build_document
from hallumeter.report.catalog import metric_texts
from hallumeter.report.document import Document, RecordFindings
from hallumeter.run.run_folder import RunFolder


def table(*cards: Scorecard, width: int | None = None) -> str:
    return aspect_table(aggregate(cards).summary, width=width)


def test_every_metric_stands_in_one_section() -> None:
    shown = [metric for metrics in SECTIONS.values() for metric in metrics]
    assert sorted(shown) == sorted(metric.id for metric in ASPECT_METRICS)


def test_what_is_undefined_is_told_below_with_its_reason() -> None:
    printed = table(card_of(aspect("배터리")))
    assert "undefined: mean_offset_error, offset_convention_rate: no span is misplaced" in printed
    assert "By run" not in printed


def test_the_headline_splits_what_was_dropped() -> None:
    printed = table(card_of(aspect("배터리"), aspect("가")), card_of(aspect("화면", 0, 2), aspect("가")))
    assert printed.splitlines()[1] == "3 aspects dropped: H1 1, H2 0, filter 2"
    assert "aspects dropped:" not in table(card_of(aspect("배터리")))


def test_nothing_at_all_is_printed_without_a_table() -> None:
    printed = table()
    assert printed.startswith("0 sentences · 0 runs · 0 with gold · 0 failed\n")
    assert "Dropped aspects" not in printed
    assert "Parts" not in printed


def test_many_parts_are_cut_and_names_are_safe_to_print() -> None:
    card = make_scorecard(output())
    assert card.stage_delta is not None
    reasons = {f"reason {number}\x1b[31m": 20 - number for number in range(12)}
    printed = table(structs.replace(card, stage_delta=structs.replace(card.stage_delta, ignored_reasons=reasons)))
    assert "4 more" in printed
    assert "\x1b" not in printed


@pytest.mark.parametrize("width", [60, 100, 200])
def test_any_width_will_do(width: int) -> None:
    cards = [card_of(aspect("배터리", 1)), card_of(aspect("배터리"), seed=2, run_id="a run with a very long name")]
    for line in table(*cards, width=width).splitlines():
        assert len(line) <= max(width, 110)


def test_the_form_is_the_one_that_is_asked_for() -> None:
    summary = aggregate([card_of()]).summary
    assert aspects_text(summary, "json").startswith("{")
    assert aspects_text(summary, "csv").startswith("metric,")
    assert aspects_text(summary, "table").startswith("1 sentence")


def test_a_report_of_aspects_comes_back_from_json_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "cards.jsonl"
    path.write_bytes(msgspec.json.encode(make_scorecard(output())) + b"\n")
    aggregate_to_folder(path, tmp_path / "run", AggregateSettings())
    folder = RunFolder(tmp_path / "run")
    document = build_document(
        summary=folder.summary,
        manifest=folder.manifest,
        metric_texts=metric_texts(),
        records=(RecordFindings(*found) for found in folder.findings()),
        failures=folder.failures(),
    )
    assert msgspec.json.decode(msgspec.json.encode(document), type=Document) == document
