"""From scorecards to a summary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import structs

from aspect_outputs import FIRST, SECOND, aspect, card_of, correction, failed_output, foreign_card, gold_card, output
from hallumeter.aspects.aggregate import counted
from hallumeter.aspects.aggregate.overview import AggregateSettings
from hallumeter.aspects.aggregate.pipeline import aggregate, aggregate_file
from hallumeter.aspects.aggregate.run_writer import aggregate_to_folder
from hallumeter.aspects.catalog import ASPECT_METRICS
from hallumeter.aspects.records.outputs import CallUsage, MappingStats, OutputMeta, ReviewContext
from hallumeter.aspects.records.scorecard import AspectScore, Scorecard
from hallumeter.aspects.score import reading
from hallumeter.aspects.score.scorecard import make_scorecard
from hallumeter.aspects.settings import MappingThresholds
from hallumeter.compat.absa import aggregate_single_run
from hallumeter.errors import InputError, RecordError, SettingsError
from hallumeter.records.measurement import MetricSummary, Summary
from hallumeter.records.summaries import AspectSummary

CLEAN, MISPLACED, INVENTED = (aspect("배터리"),), (aspect("배터리", 1),), (aspect("화면", 0, 2),)


def summary_of(*cards: Scorecard, **settings: Any) -> Summary:
    return aggregate(cards, AggregateSettings(**settings)).summary


def row(summary: Summary, metric: str, by: dict[str, str] | None = None) -> MetricSummary:
    [found] = [each for each in summary.metrics if each.metric == metric and each.by == (by or {})]
    return found


def about(summary: Summary) -> AspectSummary:
    assert summary.aspects is not None
    return summary.aspects


def five() -> list[Scorecard]:
    kinds = (CLEAN, MISPLACED, (*CLEAN, *INVENTED), (), CLEAN)
    return [card_of(*aspects, text_id=f"s{number}") for number, aspects in enumerate(kinds)]


def test_drops_in_two_of_five_sentences_are_a_rate_of_two_fifths_with_an_interval() -> None:
    summary = summary_of(*five())
    found = row(summary, "aspect_hallucination_rate")
    assert (found.count, found.total, found.value) == (2, 5, 0.4)
    assert found.interval is not None
    assert found.interval[0] < 0.4 < found.interval[1]
    assert "cluster:sentence" in found.signature
    assert row(summary, "aspect_hallucination_rate_h1").value == 0.2
    assert row(summary, "aspect_hallucination_rate_h2").value == 0.2
    assert row(summary, "filter_rejection_rate").value == 0


def test_every_metric_has_one_row_and_undefined_ones_say_why() -> None:
    summary = summary_of(*five())
    assert [each.metric for each in summary.metrics] == [metric.id for metric in ASPECT_METRICS]
    for each in summary.metrics:
        assert (each.value is None) == (each.undefined is not None)


def test_the_same_sentence_under_several_seeds_is_one_cluster() -> None:
    once = [card_of(*(MISPLACED if number % 2 else CLEAN), text_id=f"s{number}") for number in range(40)]
    twice = [card_of(*(MISPLACED if number % 2 else CLEAN), text_id=f"s{number}", seed=2) for number in range(40)]
    alone, together = (row(summary_of(*cards), "aspect_hallucination_rate") for cards in (once, once + twice))
    assert alone.value == together.value == 0.5
    assert alone.interval is not None
    assert together.interval is not None
    assert together.interval == pytest.approx(alone.interval, abs=0.03)  # repeating sentences adds no certainty


def test_runs_are_told_apart_with_their_mean_and_deviation() -> None:
    cards = [card_of(*CLEAN, text_id="a"), card_of(*MISPLACED, text_id="b")]
    cards += [card_of(*CLEAN, text_id=name, seed=2) for name in "ab"]
    summary = summary_of(*cards)
    assert [row(summary, "aspect_hallucination_rate", {"run": "demo", "seed": seed}).value for seed in "12"] == [0.5, 0]
    [spread] = [each for each in about(summary).spread if each.metric == "aspect_hallucination_rate"]
    assert (spread.mean, spread.deviation, spread.runs) == (0.25, 0.25, 2)
    assert about(summary).runs == ({"run": "demo", "seed": "1"}, {"run": "demo", "seed": "2"})


def test_one_run_has_no_spread_and_no_consistency() -> None:
    summary = summary_of(*five())
    assert about(summary).spread == ()
    for metric in ("self_consistency_exact", "flip_flop_rate", "risk_set_consistency", "tuple_agreement_rate"):
        assert row(summary, metric).value is None
    assert any("there is one run" in notice for notice in summary.notices)


def test_repeated_runs_are_compared_sentence_by_sentence() -> None:
    def repeated(seed: int, said: Any) -> Scorecard:
        return make_scorecard(output("a", meta=OutputMeta(run_id="demo", seed=seed), **said))

    same = summary_of(repeated(1, {}), repeated(2, {}))
    assert row(same, "self_consistency_exact").value == row(same, "tuple_agreement_rate").value == 1
    assert row(same, "flip_flop_rate").value == 0
    flipped = structs.replace(output().moderator, final_label="positive")  # type: ignore[type-var]
    other = summary_of(repeated(1, {}), repeated(2, {"moderator": flipped}))
    assert row(other, "self_consistency_exact").value == 0
    assert row(other, "risk_set_consistency").value == 1


def test_failed_sentences_widen_the_bounds_and_are_never_clean() -> None:
    summary = summary_of(*five(), make_scorecard(failed_output()))
    found = row(summary, "aspect_hallucination_rate")
    assert (found.total, found.value, found.failed) == (5, 0.4, 1)
    assert found.bounds == pytest.approx((2 / 6, 3 / 6))
    assert row(summary, "aspect_drop_rate").bounds is None
    failures = row(summary, "parse_generate_failure_rate")
    assert (failures.count, failures.total, failures.failed, failures.bounds) == (1, 6, 0, (1 / 6, 1 / 6))
    assert about(summary).failed == 1
    assert summary.counts.failures == 1


@pytest.mark.parametrize("metric", ["changed_samples_rate", "guided_change_rate", "unguided_drift_rate"])
def test_changes_are_counted_of_measured_sentences_and_failed_ones_widen_the_bounds(metric: str) -> None:
    cards = [make_scorecard(output(f"s{number}")) for number in range(3)]
    found = row(summary_of(*cards, make_scorecard(failed_output())), metric)
    assert (found.total, found.failed) == (3, 1)
    assert found.count is not None
    assert found.bounds == pytest.approx((found.count / 4, (found.count + 1) / 4))


@pytest.mark.parametrize(
    ("metric", "mean"), [("mean_tokens", 505), ("mean_cost_usd", 0.006), ("mean_latency_ms", 31_500)]
)
def test_what_failed_sentences_took_is_in_the_means_here_and_in_compat(metric: str, mean: float) -> None:
    failed = make_scorecard(failed_output(usage=CallUsage(3, 2, 1, 500, 20, 0.01, 61_000.0)))
    cards = [make_scorecard(output()), failed]
    found = row(summary_of(*cards), metric)
    assert found.value == pytest.approx(mean)
    assert (found.total, found.failed) == (2, 0)
    assert aggregate_single_run(cards)[metric] == pytest.approx(mean)


def test_failed_sentences_with_gold_widen_the_bounds_of_f1() -> None:
    failed = make_scorecard(failed_output(gold_tuples=()))
    found = row(summary_of(gold_card(FIRST, SECOND, SECOND), failed), "tuple_f1_s1")
    assert found.bounds == (0.25, 0.75)
    delta = row(summary_of(gold_card(FIRST, SECOND, SECOND), failed), "delta_f1")
    assert (delta.value, delta.bounds) == (0.5, None)


def test_unknown_classes_are_undecided() -> None:
    found = row(summary_of(foreign_card(drops=1), foreign_card(keeps=1)), "aspect_hallucination_rate_h1")
    assert (found.count, found.total, found.undecided, found.bounds) == (0, 1, 1, (0, 0.5))


def test_differences_keep_their_interval_between_minus_one_and_one() -> None:
    cards = [gold_card(FIRST, SECOND, SECOND), gold_card(SECOND, FIRST, SECOND), gold_card(FIRST, SECOND, SECOND)]
    found = row(summary_of(*cards), "delta_f1")
    assert (found.count, found.total) == (0.5, 3)
    assert found.value == pytest.approx(1 / 6)
    assert found.interval is not None
    assert -1 <= found.interval[0] < 1 / 6 < found.interval[1] <= 1
    unchanged = row(summary_of(*[gold_card(FIRST, FIRST, SECOND)] * 5), "net_gain")
    assert unchanged.interval is not None
    assert unchanged.interval[0] == pytest.approx(-unchanged.interval[1])


def test_risk_resolution_is_of_summed_counts_and_may_be_negative() -> None:
    cards = [make_scorecard(output(f"s{number}")) for number in range(6)]
    found = row(summary_of(*cards), "risk_resolution_rate")
    assert (found.count, found.total, found.value) == (6, 6, 1)
    assert row(summary_of(card_of()), "risk_resolution_rate").undefined is not None


@pytest.mark.parametrize("profile", ["smoke", "paper_main"])
def test_a_profile_that_no_scorecard_has_gives_nothing_and_never_all(profile: str) -> None:
    summary = summary_of(*five(), profile=profile)
    assert summary.counts.records == about(summary).samples == 0
    assert all(each.value is None for each in summary.metrics)
    assert any(f"other profiles than {profile}, left out: 5" in notice for notice in summary.notices)


def test_only_the_scorecards_of_the_profile_count() -> None:
    smoke = make_scorecard(output(), profile="smoke")
    summary = summary_of(*five(), smoke, profile="smoke")
    assert about(summary).samples == 1
    assert about(summary).profiles == {"regression": 5, "smoke": 1}
    assert "profile:smoke" in row(summary, "aspect_hallucination_rate").signature


def test_an_unknown_profile_is_refused() -> None:
    with pytest.raises(SettingsError, match="no profile is called 'huge'"):
        AggregateSettings(profile="huge")


def test_no_scorecards_give_no_rates() -> None:
    summary = summary_of()
    assert summary.counts.records == 0
    assert all(each.value is None for each in summary.metrics)


def test_the_way_of_counting_that_a_run_suggests_is_told() -> None:
    right = card_of(aspect("배터리", 0, 9), aspect("뷰", 23, 26))
    summary = summary_of(right, card_of(*CLEAN, text_id="s2"))
    assert about(summary).suggested_convention == "utf8_bytes"
    assert about(summary).right_under["placed"] == 3
    assert any("bytes of UTF-8: convert the offsets" in notice for notice in summary.notices)
    assert any("measures how well offsets are counted, not inventions" in notice for notice in summary.notices)


def test_breakdowns_name_every_rule_and_flag_even_where_there_is_none() -> None:
    parts = {each.name: each for each in about(summary_of(make_scorecard(output()))).breakdowns}
    assert parts["moderator_rule"].parts == {"Z": 0, "B": 1, "M": 1, "C": 0, "A": 0, "D": 0, "E": 0}
    assert parts["arbiter_flag"].parts["veto_undone_by_rule_d"] == 0
    assert parts["override"].parts == {"skipped_low_signal": 1}


def ten_cards(seed: int = 1) -> list[Scorecard]:
    """Rule M decided in one of ten sentences."""
    alone = structs.replace(output().moderator, applied_rules=("B",))  # type: ignore[type-var]
    meta = OutputMeta(run_id="demo", seed=seed)
    return [
        make_scorecard(output(f"s{number}", meta=meta, **({"moderator": alone} if number else {})))
        for number in range(10)
    ]


def test_shares_of_sentences_have_an_interval() -> None:
    parts = {each.name: each for each in about(summary_of(*ten_cards())).breakdowns}
    rules = parts["moderator_rule"]
    assert rules.intervals is not None
    assert set(rules.intervals) == set(rules.parts)
    # By hand, (p + z²/2n ± z√(p(1 - p)/n + z²/4n²)) / (1 + z²/n) with z = 1.959964 and n = 10.
    assert rules.intervals["M"] == pytest.approx((0.017876, 0.404150), abs=1e-6)
    assert rules.intervals["Z"] == pytest.approx((0, 0.277533), abs=1e-6)
    wide = {each.name: each for each in about(summary_of(*ten_cards(), confidence=0.5)).breakdowns}["moderator_rule"]
    assert wide.intervals is not None
    assert wide.intervals["M"][1] < rules.intervals["M"][1]


@pytest.mark.parametrize(
    "name",
    ["drop_class", "offset_error", "offset_convention", "risk", "ignored_reason", "mapping_fail_reason", "override"],
)
def test_parts_of_which_a_sentence_has_several_have_no_interval(name: str) -> None:
    ignored = make_scorecard(output(correction_applied_log=(correction(applied=False),)))
    cards = [*ten_cards(), card_of(*MISPLACED, *INVENTED, text_id="x"), structs.replace(ignored, meta=None)]
    [found] = [each for each in about(summary_of(*cards)).breakdowns if each.name == name and not each.by]
    assert found.total > 0
    assert found.intervals is None


def test_sentences_that_stand_in_several_runs_have_intervals_by_run_alone() -> None:
    rules = [
        each for each in about(summary_of(*ten_cards(), *ten_cards(2))).breakdowns if each.name == "moderator_rule"
    ]
    assert [each.intervals is None for each in rules] == [True, False, False]
    apart = [card_of(text_id="a"), card_of(text_id="b", seed=2)]
    assert all(each.intervals for each in about(summary_of(*apart)).breakdowns if each.name == "failure")


def test_failures_are_shares_of_all_sentences() -> None:
    summary = summary_of(*five(), make_scorecard(failed_output()))
    [found] = [each for each in about(summary).breakdowns if each.name == "failure"]
    assert (found.total, found.parts) == (6, {"parse_failed": 0, "generate_failed": 1})
    assert found.intervals is not None
    assert found.intervals["generate_failed"][0] < 1 / 6 < found.intervals["generate_failed"][1]


def test_breakdowns_are_told_by_run_as_well() -> None:
    summary = summary_of(card_of(*MISPLACED), card_of(*INVENTED, seed=2))
    found = {tuple(each.by.values()): each.parts for each in about(summary).breakdowns if each.name == "drop_class"}
    assert found[()] == {"H1": 1, "H2": 1, "filter": 0}
    assert found["demo", "1"] == {"H1": 0, "H2": 1, "filter": 0}


def test_reasons_without_end_are_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counted, "MOST_PARTS", 3)
    delta = card_of().stage_delta
    assert delta is not None
    reasons = {f"reason {number}": 1 for number in range(9)}
    summary = summary_of(structs.replace(card_of(), stage_delta=structs.replace(delta, ignored_reasons=reasons)))
    [found] = [each for each in about(summary).breakdowns if each.name == "ignored_reason"]
    assert found.parts["others"] >= 6
    assert found.total == 9
    [rules] = [each for each in about(summary).breakdowns if each.name == "quality_fail_reason"]
    assert rules.intervals is not None
    assert (rules.total, "others" in rules.parts, "others" in rules.intervals) == (1, True, False)


@pytest.mark.parametrize(
    ("stats", "reasons", "expected"),
    [
        (MappingStats(4, 0, 6), {}, []),
        (MappingStats(3, 0, 7), {}, [("WARN", "debate_mapping_coverage")]),
        (MappingStats(2, 0, 8), {}, [("HIGH", "debate_mapping_coverage")]),
        (MappingStats(9, 0, 1), {"no_match": 5}, [("WARN", "debate_fail_no_match_rate")]),
        (MappingStats(9, 0, 1), {"no_match": 7}, [("HIGH", "debate_fail_no_match_rate")]),
        (MappingStats(9, 0, 1), {"neutral_stance": 7}, [("HIGH", "debate_fail_neutral_stance_rate")]),
    ],
)
def test_debates_that_map_badly_are_warned_of_with_advice(
    stats: MappingStats, reasons: dict[str, int], expected: list[tuple[str, str]]
) -> None:
    context = ReviewContext(mapping_stats=stats, mapping_fail_reasons=reasons)
    warnings = about(summary_of(make_scorecard(output(debate_review_context=context)))).warnings
    assert [(each.level, each.metric) for each in warnings] == expected
    assert all(each.advice for each in warnings)


def test_the_bounds_of_warnings_can_be_set() -> None:
    card = make_scorecard(output())
    assert about(summary_of(card, thresholds=MappingThresholds(coverage_warn=0.9))).warnings[0].level == "WARN"


def test_a_sentence_twice_in_one_run_is_said() -> None:
    assert any("has one of already: 1" in notice for notice in summary_of(card_of(), card_of()).notices)


def test_sentences_without_an_id_are_all_others() -> None:
    cards = [structs.replace(card_of(), meta=None, runtime=None) for _ in range(3)]
    assert not any("already" in notice for notice in summary_of(*cards).notices)


def test_the_grounding_buckets_add_up_to_one() -> None:
    assert about(summary_of(make_scorecard(output()), *five())).grounding_sum == 1
    assert about(summary_of(foreign_card(keeps=1))).grounding_sum is None


def written(path: Path, *lines: object) -> Path:
    texts = [line if isinstance(line, bytes) else msgspec.json.encode(line) for line in lines]
    path.write_bytes(b"\n".join(texts) + b"\n")
    return path


def test_a_file_gives_what_its_scorecards_give(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "CHUNK_BYTES", 4096)
    cards = [*five(), make_scorecard(output("x")), make_scorecard(failed_output("y"))]
    path = written(tmp_path / "c.jsonl", *cards)
    for workers in (1, 2):
        assert aggregate_file(path, AggregateSettings(workers=workers)).summary == summary_of(*cards)


def test_lines_that_are_no_scorecards_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = written(tmp_path / "c.jsonl", card_of(), b"{oops", b"[]", b'{"ate": {"hallucination_flag": "yes"}}')
    found = aggregate_file(path, AggregateSettings())
    assert found.summary.counts.records == 2
    assert [failure.message.partition(": ")[0] for failure in found.failures] == ["c.jsonl:2", "c.jsonl:3"]
    with pytest.raises(RecordError, match=r"c\.jsonl:2: "):
        aggregate_file(path, AggregateSettings(is_strict=True))


@pytest.mark.parametrize("line", [b"{}", b'{"text": "Good.", "label": 1}', b'{"run_id": "demo", "profile": "smoke"}'])
def test_an_object_without_a_block_of_a_scorecard_is_none(line: bytes, tmp_path: Path) -> None:
    blocks = (b'{"ate": null}', b'{"ate_score": {"hallucination_flag": true}}', b'{"aux_signals": {}}')
    found = aggregate_file(written(tmp_path / "c.jsonl", line, *blocks, card_of()), AggregateSettings())
    assert found.summary.counts.records == 4
    [failure] = found.failures
    assert failure.message.startswith("c.jsonl:1: no scorecard; expected an object with blocks such as meta, ate, ")
    with pytest.raises(InputError, match=r"no scorecard could be read; the first fault: d\.jsonl:1: no scorecard; "):
        aggregate_file(written(tmp_path / "d.jsonl", line), AggregateSettings())


def test_classes_that_no_scorecard_tells_have_no_rates() -> None:
    summary = summary_of(Scorecard(), Scorecard(ate=AspectScore()))
    assert row(summary, "aspect_hallucination_rate").value is None
    for metric in ("aspect_hallucination_rate_h1", "aspect_hallucination_rate_h2", "filter_rejection_rate"):
        assert (row(summary, metric).value, row(summary, metric).undecided) == (None, 2)


def test_the_first_run_is_that_of_the_first_scorecard_whatever_stands_before_it(tmp_path: Path) -> None:
    path = written(tmp_path / "c.jsonl", b"{}", b"", card_of(*CLEAN), card_of(*CLEAN, seed=2))
    aggregate_to_folder(path, tmp_path / "run", AggregateSettings())
    records = (tmp_path / "run" / "records.jsonl").read_bytes().splitlines()
    assert [msgspec.json.decode(line)["record_id"] for line in records] == ["s1", "s1@2"]


def test_a_file_without_a_scorecard_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no scorecard could be read; the first fault"):
        aggregate_file(written(tmp_path / "c.jsonl", b"{oops"), AggregateSettings())
    with pytest.raises(InputError, match=r"no scorecard could be read$"):
        aggregate_file(written(tmp_path / "d.jsonl", b""), AggregateSettings())


def test_a_file_of_another_profile_is_no_fault(tmp_path: Path) -> None:
    found = aggregate_file(written(tmp_path / "c.jsonl", card_of()), AggregateSettings(profile="smoke"))
    assert found.summary.counts.records == 0
