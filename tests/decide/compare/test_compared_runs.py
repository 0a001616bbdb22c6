"""Two runs over the same records: values, transitions, outcomes, and what cannot be compared."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from msgspec import structs

from compared_runs import run_of, verdict_rows
from hallumeter import Comparison, Run, compare, load, transcripts
from hallumeter.claims.profiles import Policy
from hallumeter.decide.compare.pipeline import rank_runs
from hallumeter.decide.compare.sides import CompareSettings
from hallumeter.decide.compare.text import comparison_text
from hallumeter.decide.gate.pipeline import gate_result
from hallumeter.decide.policy import ComparePolicy
from hallumeter.errors import InputError, SettingsError
from hallumeter.records.bounds import Bound
from hallumeter.records.comparison import MetricComparison


def row_of(comparison: Comparison, metric: str, **by: str) -> MetricComparison:
    return next(row for row in comparison.rows if row.metric == metric and row.by == by)


def cells_of(comparison: Comparison) -> dict[tuple[str, str], int]:
    return {(cell.first, cell.second): cell.claims for cell in comparison.transitions.cells}


def test_values_are_those_of_the_summaries_and_claims_are_counted_by_what_became_of_them(tmp_path: Path) -> None:
    first = run_of(tmp_path / "a", verdict_rows({"r1": "ssr", "r2": "sn", "r3": "s"}))
    second = run_of(tmp_path / "b", verdict_rows({"r1": "srr", "r2": "ss", "r3": "ss"}))
    found = compare(first, second)
    for metric in ("mihr", "mihr_refuted", "mahr"):
        row = row_of(found, metric)
        values = [next(each.value for each in run.summary.metrics if each.metric == metric) for run in (first, second)]
        assert [row.first, row.second] == values
    # By hand: 2 of 6 claims, then 2 of 7.
    assert row_of(found, "mihr").difference == pytest.approx(2 / 7 - 2 / 6)
    assert cells_of(found) == {
        ("SUPPORTED", "SUPPORTED"): 3,
        ("SUPPORTED", "REFUTED"): 1,
        ("REFUTED", "REFUTED"): 1,
        ("NOT_ENOUGH_INFO", "SUPPORTED"): 1,
        ("ABSENT", "SUPPORTED"): 1,
    }
    assert (found.transitions.broken, found.transitions.mended, found.transitions.claims_mid_p) == (1, 1, 1.0)
    [example] = next(cell for cell in found.transitions.cells if cell.second == "REFUTED" != cell.first).examples
    assert (example.record_id, example.first) == ("r1", "claim 1 of r1")


def test_the_order_of_the_records_changes_nothing(tmp_path: Path) -> None:
    rng = random.Random(1)
    before = {f"r{number}": "".join(rng.choices("sssr", k=4)) for number in range(60)}
    after = {name: "".join(rng.choices("ssr", k=4)) for name in before}
    names = sorted(after, key=lambda name: rng.random())
    first = run_of(tmp_path / "a", verdict_rows(before))
    second = run_of(tmp_path / "b", verdict_rows(after))
    shuffled = run_of(tmp_path / "c", verdict_rows({name: after[name] for name in names}))
    one, other = compare(first, second), compare(first, shuffled)
    assert one.rows == other.rows
    assert cells_of(one) == cells_of(other)


def test_a_regression_is_one_after_correction_for_all_metrics(tmp_path: Path) -> None:
    before = {f"r{number}": "ssss" for number in range(40)}
    after = {name: "ssss" if number % 2 else "srrs" for number, name in enumerate(before)}
    found = compare(run_of(tmp_path / "a", verdict_rows(before)), run_of(tmp_path / "b", verdict_rows(after)))
    assert found.outcome == "regression"
    row = row_of(found, "mahr")
    assert row.test == "mcnemar_mid_p (responses)"
    # By hand: 20 discordant responses, all one way: 2 * 2**-20 - 2**-20; three metrics.
    assert row.p_value == pytest.approx(2**-20)
    assert row.adjusted_p_value == pytest.approx(3 * 2**-20)
    back = compare(tmp_path / "b", tmp_path / "a")
    assert {row.outcome for row in back.rows} == {"better"}
    assert back.outcome == "no_regression"


def test_runs_that_do_not_differ_at_all_pass_however_few_records_they_have(tmp_path: Path) -> None:
    rows = verdict_rows({"r1": "ssr", "r2": "s"})
    found = compare(run_of(tmp_path / "a", rows), run_of(tmp_path / "b", rows))
    assert found.outcome == "no_regression"
    assert {row.outcome for row in found.rows} == {"same"}


def test_few_records_that_differ_are_inconclusive_and_many_rule_a_regression_out(tmp_path: Path) -> None:
    def change(records: int, name: str) -> Comparison:
        before = {f"r{number}": "sssssssssr" for number in range(records)}
        after = {**before, "r0": "ssssssssrs", "r1": "sssssssssr"}
        runs = [run_of(tmp_path / f"{name}{place}", verdict_rows(each)) for place, each in enumerate((before, after))]
        return compare(*runs)

    few = change(5, "few")
    assert few.outcome == "inconclusive"
    assert "neither shown nor ruled out" in few.reasons[0]
    many = change(400, "many")
    assert many.outcome == "no_regression"
    assert row_of(many, "mihr").outcome == "equivalent"


def test_a_margin_that_was_chosen_excuses_a_smaller_difference_that_is_shown(tmp_path: Path) -> None:
    before = {f"r{number}": "s" * 50 for number in range(300)}
    after = {name: "s" * 49 + ("r" if number % 5 == 0 else "s") for number, name in enumerate(before)}
    first, second = run_of(tmp_path / "a", verdict_rows(before)), run_of(tmp_path / "b", verdict_rows(after))
    settings = CompareSettings(metrics=("mihr",))
    assert compare(first, second, settings=settings).outcome == "regression"
    chosen = structs.replace(settings, policy=ComparePolicy(margins={"mihr": 0.02}))
    assert compare(first, second, settings=chosen).outcome == "no_regression"


def test_too_much_that_is_unmeasured_is_no_pass_and_widens_the_bounds(tmp_path: Path) -> None:
    first = run_of(tmp_path / "a", verdict_rows({"r1": "ssss", "r2": "ssss"}))
    second = run_of(tmp_path / "b", verdict_rows({"r1": "ssuu", "r2": "ssss"}))
    found = compare(first, second)
    assert found.outcome == "unmeasured"
    row = row_of(found, "mihr")
    assert (row.unmeasured, row.measurable) == ((0, 2), (8, 8))
    # By hand: the two undecided claims may be supported or not, of eight.
    assert row.difference_bounds == pytest.approx((0.0, 2 / 8))
    lenient = CompareSettings(policy=ComparePolicy(largest_unmeasured=0.5))
    assert compare(first, second, settings=lenient).outcome == "inconclusive"


def test_a_run_that_lost_records_is_unmeasured(tmp_path: Path) -> None:
    first = run_of(tmp_path / "a", verdict_rows({f"r{number}": "ss" for number in range(20)}))
    second = run_of(tmp_path / "b", verdict_rows({f"r{number}": "ss" for number in range(10)}))
    found = compare(first, second)
    assert (found.common, found.only_first, found.only_second, found.outcome) == (10, 10, 0, "unmeasured")
    assert "50.0% of the records are in one run only" in found.reasons[0]


def test_a_metric_that_one_run_cannot_count_is_unmeasured(tmp_path: Path) -> None:
    first = run_of(tmp_path / "a", verdict_rows({"r1": "s", "r2": "s"}))
    second = run_of(tmp_path / "b", verdict_rows({"r1": "u", "r2": "u"}))
    row = row_of(compare(first, second), "mihr")
    assert (row.outcome, row.undefined) == ("unmeasured", "the second run has nothing to count")


def test_slices_are_compared_beside_the_whole_and_clusters_hold_records_together(tmp_path: Path) -> None:
    def rows(letters: str) -> list[dict[str, object]]:
        return [
            row
            for number in range(12)
            for row in verdict_rows({f"r{number}": letters}, task="QA" if number % 3 else "chat", doc=f"d{number // 2}")
        ]

    first, second = run_of(tmp_path / "a", rows("ssr")), run_of(tmp_path / "b", rows("srr"))
    found = compare(first, second, settings=CompareSettings(by=("task",), cluster="doc", metrics=("mihr",)))
    assert [(row.by, row.clusters) for row in found.rows] == [({}, 6), ({"task": "QA"}, 6), ({"task": "chat"}, 4)]
    assert found.cluster == "doc"
    assert all(row.test and row.test.startswith("sign_flip") for row in found.rows)
    with pytest.raises(SettingsError, match=r"cannot compare 'mihrr': .* did you mean mihr"):
        compare(first, second, settings=CompareSettings(metrics=("mihrr",)))


def test_slices_decide_nothing_unless_they_are_gated(tmp_path: Path) -> None:
    """One small task gets much worse, the others not at all: the whole is what it is without a look at slices."""

    def rows(bad: str) -> list[dict[str, object]]:
        return [
            row
            for number in range(40)
            for row in verdict_rows({f"r{number}": "ssss" if number % 4 else bad}, task="QA" if number % 4 else "chat")
        ]

    first, second = run_of(tmp_path / "a", rows("ssss")), run_of(tmp_path / "b", rows("rrrr"))
    margin = ComparePolicy(margin=0.6, is_margin_chosen=True)

    def compared(*by: str, policy: ComparePolicy = margin) -> Comparison:
        return compare(first, second, settings=CompareSettings(by=by, metrics=("mihr",), policy=policy))

    whole, sliced = compared(), compared("task")
    assert sliced.rows[0] == whole.rows[0], "to look at slices changes nothing about the whole"
    assert (sliced.outcome, sliced.are_slices_gated) == (whole.outcome, False) == ("no_regression", False)
    assert [row.outcome for row in sliced.rows if row.by == {"task": "chat"}] == ["worse"]
    gated = compared("task", policy=structs.replace(margin, are_slices_gated=True))
    assert (gated.outcome, gated.are_slices_gated) == ("regression", True)
    assert gated.reasons == ("Unsupported claims (MiHR), task=chat is worse by more than chance",)
    assert "Slices (they decide nothing without --gate-slices)" in comparison_text(sliced, width=80)
    assert "Slices (they decide as well)" in comparison_text(gated, width=80)
    assert "p (Holm)" not in comparison_text(gated, width=80)
    assert "p (Holm)" in comparison_text(gated, is_verbose=True, width=80)


def test_models_under_one_id_are_aligned_and_drawn_together(tmp_path: Path) -> None:
    def rows(bad: str) -> list[dict[str, object]]:
        return [
            *verdict_rows({"q1": "ss", "q2": "ss"}, model="small"),
            *verdict_rows({"q1": bad, "q2": "ss"}, model="large"),
        ]

    found = compare(run_of(tmp_path / "a", rows("ss")), run_of(tmp_path / "b", rows("sr")))
    assert (found.common, found.cluster, row_of(found, "mihr").clusters) == (4, "question", 2)


def test_records_can_be_aligned_by_a_field(tmp_path: Path) -> None:
    first = run_of(tmp_path / "a", verdict_rows({"x1": "s"}, page="1") + verdict_rows({"x2": "s"}, page="2"))
    second = run_of(tmp_path / "b", verdict_rows({"y1": "r"}, page="1") + verdict_rows({"y2": "s"}, page="2"))
    with pytest.raises(InputError, match=r"no record in common: .*'x1'.*'y1'; align them by a field with --on FIELD"):
        compare(first, second)
    assert compare(first, second, settings=CompareSettings(on=("page",))).common == 2
    with pytest.raises(SettingsError, match="has no field 'leaf' to be aligned by"):
        compare(first, second, settings=CompareSettings(on=("leaf",)))
    same = run_of(tmp_path / "c", verdict_rows({"1": "s", "2": "s"}, book="j"))
    with pytest.raises(InputError, match="two records are called 'j', by book"):
        compare(same, same, settings=CompareSettings(on=("book",)))


def test_other_judges_are_named(tmp_path: Path) -> None:
    first = run_of(tmp_path / "a", verdict_rows({"r1": "s"}))
    second = run_of(tmp_path / "b", [{**row, "judge": "k"} for row in verdict_rows({"r1": "s"})])
    assert any("the judges differ (j and k)" in notice for notice in compare(first, second).notices)


def test_a_run_measured_on_parts_of_records_is_refused(tmp_path: Path) -> None:
    rows = [{**row, "part": str(place)} for place, row in enumerate(verdict_rows({"r1": "sr", "r2": "ss"}))]
    run = run_of(tmp_path / "a", rows, by=("part",))
    with pytest.raises(InputError, match="measured on parts of records"):
        compare(run, run)


@pytest.mark.parametrize("setting", [{"similarity": 0.0}, {"examples": -1}, {"resamples": 10}])
def test_impossible_settings_are_refused(setting: dict[str, float]) -> None:
    with pytest.raises(SettingsError):
        CompareSettings(**setting)  # type: ignore[arg-type]


def test_three_runs_are_ranked_on_the_records_that_all_have(tmp_path: Path) -> None:
    letters = {"good": "ssss", "fair": "sssr", "poor": "srrr"}
    runs = [
        run_of(tmp_path / name, verdict_rows({f"r{number}": each for number in range(10)}))
        for name, each in letters.items()
    ]
    found = rank_runs(runs, settings=CompareSettings(metrics=("mihr",)))
    [ranking] = found.rankings
    assert [(each.engine, each.mean_rank) for each in ranking.engines] == [("good", 1.0), ("fair", 2.0), ("poor", 3.0)]
    # By hand: 12 * 10 / (3 * 4) * ((1-2)^2 + 0 + 1) = 20.
    assert ranking.statistic == pytest.approx(20.0)


def pages_run(folder: Path, name: str, text: str) -> Run:
    """A run of one engine over twelve pages, all with the same text."""
    truth, engine = folder / name / "truth", folder / name / "engine"
    for place in (truth, engine):
        place.mkdir(parents=True)
        for number in range(12):
            words = "The old bridge crosses the river.\nIt was built of stone in 1742.\n"
            (place / f"p{number:02}.txt").write_text(words if place == truth else text, encoding="utf-8")
    transcripts([truth, engine], out=folder / f"{name}-run")
    return load(folder / f"{name}-run")


def test_pages_are_compared_by_page_and_a_ratio_needs_a_margin_of_its_own(tmp_path: Path) -> None:
    first = pages_run(tmp_path, "a", "The old bridge crosses the river.\nIt was built of stone in 1742.\n")
    text = "The old bridge crosses the river.\nIt was built of stone in 1742.\nA dragon sleeps below its second arch.\n"
    second = pages_run(tmp_path, "b", text)
    found = compare(first, second)
    assert (found.cluster, found.outcome) == ("page", "regression")
    assert row_of(found, "invented_rate").outcome == "worse"
    others = compare(first, second, settings=CompareSettings(metrics=("length_ratio", "cer")))
    assert row_of(others, "length_ratio").outcome == "differs"
    assert row_of(others, "cer").margin is None
    assert row_of(others, "cer").outcome == "worse"
    back = compare(first, first, settings=CompareSettings(metrics=("cer",)))
    assert back.outcome == "no_regression"
    result = gate_result(second, Policy("p", bounds=(Bound("invented_rate", at_most=0.1),)), source=tmp_path / "b")
    assert {claim.place and (Path(claim.place.file).name, claim.place.line) for claim in result.claims} == {
        (f"p{number:02}.txt", 3) for number in range(12)
    }
