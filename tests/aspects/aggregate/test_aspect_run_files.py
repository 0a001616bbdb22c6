"""The files of a run of aspects."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

from aspect_outputs import (
    SECOND,
    TEXT,
    aspect,
    card_of,
    failed_output,
    foreign_card,
    gold_card,
    only_stage1,
    output,
)
from hallumeter.aspects.aggregate.counted import HEAD, card_lines, safe_cell, triptych_line
from hallumeter.aspects.aggregate.overview import AggregateSettings
from hallumeter.aspects.aggregate.pipeline import aggregate
from hallumeter.aspects.aggregate.run_writer import aggregate_to_folder, write_aspect_run
from hallumeter.aspects.aggregate.tables import (
    quality_report,
    spread_csv,
    spread_table,
    structural_csv,
    structural_table,
)
from hallumeter.aspects.metrics import counts
from hallumeter.aspects.records.aspect import AspectTuple, TextSpan
from hallumeter.aspects.records.outputs import FinalResult, OutputMeta, PipelineOutput
from hallumeter.aspects.records.scorecard import Scorecard
from hallumeter.aspects.score.scorecard import make_scorecard
from hallumeter.errors import InputError
from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.measurement import Measurement, Summary
from hallumeter.records.response import Response
from hallumeter.run.finished import load

FILES = {
    "aggregated_mean_std.csv", "aggregated_mean_std.md", "claims.jsonl", "failures.jsonl", "measurements.jsonl",
    "quality_report.md", "records.jsonl", "scorecards.jsonl", "structural_metrics.csv",
    "structural_metrics_table.md", "summary.json", "triptych_table.tsv", "verdicts.jsonl",
}  # fmt: skip


def written(path: Path, *records: object) -> Path:
    path.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in records))
    return path


def two_runs() -> list[Scorecard]:
    cards = [make_scorecard(output("a")), make_scorecard(output("b")), make_scorecard(failed_output("c"))]
    other = [
        make_scorecard(output(name, meta=OutputMeta(run_id="demo", seed=2, profile="regression"))) for name in "ab"
    ]
    return [*cards, *other]


def summary_of(*cards: Scorecard) -> Summary:
    return aggregate(cards).summary


def table_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_wide_table_has_a_row_for_each_run_and_one_for_all() -> None:
    rows = table_of(structural_csv(summary_of(*two_runs())))
    assert [(row["run"], row["seed"], row["N"], row["N_failed"]) for row in rows] == [
        ("demo", "1", "3", "1"), ("demo", "2", "2", "0"), ("all", "", "5", "1"),
    ]  # fmt: skip
    assert rows[-1]["aspect_hallucination_rate"] == "0"
    assert rows[-1]["aspect_hallucination_rate_H1"] == "0"
    assert rows[-1]["hf_polarity_disagreement_rate"] == ""
    assert rows[-1]["moderator_rule_M"] == "4"
    [row] = table_of(
        structural_csv(summary_of(gold_card((("", "negative"),), (("", "positive"),), (("", "positive"),))))
    )
    assert (row["delta_f1_implicit_only"], row["delta_f1_explicit_only"]) == ("1", "")


def test_cells_of_the_wide_table_are_numbers_apart_from_the_run() -> None:
    card = structs.replace(make_scorecard(output()), run_id="=1+1")
    [row] = table_of(structural_csv(summary_of(card)))
    assert row.pop("run") == "all"
    assert row.pop("seed") == ""
    for name, value in row.items():
        assert value == "" or float(value) is not None
        assert name[0].isalpha()
    rows = table_of(structural_csv(summary_of(card, card_of(seed=2))))
    assert rows[0]["run"] == "'=1+1"


def test_tables_have_four_decimals_and_say_what_is_not_known() -> None:
    text = structural_table(summary_of(*two_runs()))
    assert "| tuple\\_f1\\_s1 | 0.5000 |" in text
    assert "| hf\\_polarity\\_disagreement\\_rate | N/A | N/A | 0 / 0 |" in text
    assert "N = 5, of which 1 failed." in text
    assert "### moderator rule" in text


def test_parts_have_a_share_and_where_they_are_of_sentences_an_interval() -> None:
    summary = summary_of(make_scorecard(output("a")), make_scorecard(failed_output("b")))
    for text in (structural_table(summary), quality_report(summary)):
        assert "| part | count | share | 95 % interval |" in text
        assert "| generate\\_failed | 1 | 0.5000 | 0.0945 – 0.9055 |" in text
        assert "| skipped\\_low\\_signal | 1 | 1.0000 | N/A |" in text


def test_mean_and_deviation_are_written_for_runs() -> None:
    rows = {row["metric"]: row for row in table_of(spread_csv(summary_of(*two_runs())))}
    assert (rows["tuple_f1_final"]["mean"], rows["tuple_f1_final"]["std"], rows["tuple_f1_final"]["runs"]) == (
        "1",
        "0",
        "2",
    )
    assert rows["hf_polarity_disagreement_rate"]["mean"] == ""
    assert "| tuple\\_f1\\_final | 1.0000 | 0.0000 | 2 |" in spread_table(summary_of(*two_runs()))
    assert "There is one run" in spread_table(summary_of(card_of()))


def test_the_triptych_shows_stage_1_result_and_gold_side_by_side() -> None:
    cells = triptych_line(make_scorecard(output())).decode().rstrip("\n").split("\t")
    row = dict(zip(HEAD.decode().rstrip("\n").split("\t"), cells, strict=True))
    assert row["stage1"] == "배터리: positive; 뷰: positive"
    assert row["final"] == row["gold"] == "배터리: positive; 뷰: negative"
    assert (row["f1_stage1"], row["f1_final"], row["status"]) == ("0.5000", "1.0000", "")


def test_the_triptych_tells_nothing_from_unknown() -> None:
    failed = triptych_line(make_scorecard(failed_output())).decode().rstrip("\n").split("\t")
    assert failed[4:] == ["", "", "", "", "", "", "", "failed"]
    unnamed = triptych_line(gold_card((("", None),), (), None)).decode().split("\t")
    assert unnamed[5:9] == ["(unnamed): (missing)", "–", "–", ""]
    assert triptych_line(Scorecard()).count(b"\t") == HEAD.count(b"\t")


def test_no_text_leaves_its_cell_or_becomes_a_formula() -> None:
    made = PipelineOutput("=cmd", "a\tb\nc\r\\d")
    line = triptych_line(make_scorecard(made))
    assert line.count(b"\n") == 1
    assert line.startswith(b"'=cmd\t\t0\ta\\tb\\nc\\r\\\\d\t")
    assert [safe_cell(text) for text in ("+1", "-a", "@a", "a=b")] == ["+1", "'-a", "'@a", "a=b"]


def verdicts_of(card: Scorecard) -> list[tuple[Claim, Verdict]]:
    lines = card_lines(card, None)
    claims = [msgspec.json.decode(line, type=Claim) for line in lines.claims.splitlines()]
    verdicts = [msgspec.json.decode(line, type=Verdict) for line in lines.verdicts.splitlines()]
    assert [claim.claim_id for claim in claims] == [verdict.claim_id for verdict in verdicts]
    assert lines.claim_count == len(claims)
    return list(zip(claims, verdicts, strict=True))


@pytest.mark.parametrize(
    ("given", "label", "reason", "place", "quote", "note"),
    [
        (aspect("배터리"), Label.SUPPORTED, None, (0, 3), "배터리", None),
        (
            aspect("화면", 0, 2),
            Label.REFUTED,
            "out_of_text",
            (0, 2),
            None,
            "does not stand in the text; given_span 0-2",
        ),
        (aspect("배터리", 1), Label.REFUTED, "span_mismatch", (1, 4), "배터리", "stands at 0-3; given_span 1-4"),
        (
            aspect("별로", 12, 99),
            Label.REFUTED,
            "span_mismatch",
            (None, None),
            "별로",
            "stands at 12-14; given_span 12-99",
        ),
        (aspect("가"), Label.NOT_ENOUGH_INFO, "not_a_target", (10, 11), None, "is no target; given_span 10-11"),
        (aspect("뷰", 23, 26), Label.REFUTED, "span_mismatch", (None, None), "뷰", "right when counted as utf8_bytes"),
    ],
)
def test_every_aspect_is_a_claim_with_a_verdict(
    given: object,
    label: Label,
    reason: str | None,
    place: tuple[int | None, int | None],
    quote: str | None,
    note: str | None,
) -> None:
    assert isinstance(given, type(aspect("뷰")))
    [(claim, verdict)] = verdicts_of(make_scorecard(only_stage1(given)))
    assert (claim.kind, claim.text, claim.start, claim.end) == ("aspect", given.term, *place)
    assert (verdict.judge, verdict.label, verdict.reason) == ("aspect-grounding", label, reason)
    assert [each.quote for each in verdict.evidence] == ([] if quote is None else [quote])
    assert (verdict.note is None) == (note is None)
    assert (note or "") in (verdict.note or "")


def test_an_aspect_without_a_span_says_so() -> None:
    [(claim, verdict)] = verdicts_of(make_scorecard(only_stage1(structs.replace(aspect("배터리"), span=None))))
    assert claim.start is None
    assert "no span given" in (verdict.note or "")


def test_a_drop_of_unknown_class_is_undecided() -> None:
    [(_, verdict)] = verdicts_of(foreign_card(drops=1))
    assert (verdict.label, verdict.note) == (Label.UNDECIDED, "no span given")


@pytest.mark.parametrize("span", [(-3, 2), (3, 1), (0, 99)])
def test_a_kept_aspect_at_an_impossible_place_is_told_without_a_quote(span: tuple[int, int], tmp_path: Path) -> None:
    kept = {"term": "배터리", "span": span, "action": "keep"}
    lost = {
        "term": "뷰",
        "span": [0, 1],
        "action": "drop",
        "drop_class": "H2",
        "placement": {"nearest": {"start": 9, "end": 99}},
    }
    row = {"meta": {"text_id": "s1", "input_text": TEXT}, "inputs": {"ate_debug": {"filtered": [kept, lost]}}}
    cards = written(tmp_path / "c.jsonl", row, card_of(aspect("배터리"), text_id="s2"))
    aggregate_to_folder(cards, tmp_path / "run", AggregateSettings())
    claims = [json.loads(line) for line in (tmp_path / "run" / "claims.jsonl").read_bytes().splitlines()]
    verdicts = [json.loads(line) for line in (tmp_path / "run" / "verdicts.jsonl").read_bytes().splitlines()]
    assert [(each["record_id"], each["start"], each["end"]) for each in claims] == [
        ("s1", None, None), ("s1", 0, 1), ("s2@demo/1", 0, 3),
    ]  # fmt: skip
    assert [len(each["evidence"]) for each in verdicts] == [0, 0, 1]
    assert (verdicts[0]["label"], verdicts[0]["note"]) == ("SUPPORTED", f"given_span {span[0]}-{span[1]}")


def test_aspects_of_the_result_are_claims_of_their_own() -> None:
    final = (
        AspectTuple("배터리", "positive", span=TextSpan(0, 3)),
        AspectTuple("뷰", "negative"),
        AspectTuple("화면", "negative"),
        AspectTuple("뷰", "negative", span=TextSpan(0, 1)),
        AspectTuple("", "positive"),
    )
    result = FinalResult("mixed", 0.8, final_tuples=final)
    found = verdicts_of(make_scorecard(output(final_result=result)))
    told = [(claim.text, verdict.label.value) for claim, verdict in found if claim.kind == "final_aspect"]
    assert told == [("배터리", "SUPPORTED"), ("뷰", "SUPPORTED"), ("화면", "REFUTED"), ("뷰", "REFUTED")]


def test_a_sentence_is_a_record_with_itself_as_evidence() -> None:
    lines = card_lines(make_scorecard(output()), ("demo", 1))
    record = msgspec.json.decode(lines.records, type=Response)
    assert (record.record_id, record.response, record.model) == ("s1", TEXT, "demo")
    assert [(each.evidence_id, each.text) for each in record.evidence] == [("sentence", TEXT)]
    assert record.fields["label"] == "mixed"
    assert record.fields["seed"] == 1


@pytest.mark.parametrize(
    ("run", "seed", "name"),
    [("demo", 1, "s1"), ("demo", 2, "s1@2"), ("other", 1, "s1@other/1"), ("other", None, "s1@other/")],
)
def test_sentences_of_other_runs_have_the_run_in_their_id(run: str, seed: int | None, name: str) -> None:
    card = make_scorecard(output())
    assert card.runtime is not None
    card = structs.replace(card, run_id=run, runtime=structs.replace(card.runtime, seed=seed))
    assert msgspec.json.decode(card_lines(card, ("demo", 1)).records, type=Response).record_id == name


def test_a_failed_sentence_has_a_failure_and_undefined_measurements() -> None:
    lines = card_lines(make_scorecard(failed_output()), None)
    failure = msgspec.json.decode(lines.failures, type=Failure)
    assert (failure.record_id, failure.step, failure.code) == ("s9", "pipeline", "timeout")
    assert lines.claims == b""
    measured = [msgspec.json.decode(line, type=Measurement) for line in lines.measurements.splitlines()]
    assert {each.undefined for each in measured} == {"the pipeline broke off"}


@pytest.mark.parametrize(("why", "code"), [("oops", "generate_failed"), ("unusable_reply", "parse_failed")])
def test_a_failure_in_other_words_has_a_code_too(why: str, code: str) -> None:
    lines = card_lines(make_scorecard(failed_output(why=why)), None)
    assert msgspec.json.decode(lines.failures, type=Failure).code == code


def test_every_sentence_has_its_measurements() -> None:
    lines = card_lines(make_scorecard(only_stage1(aspect("배터리"), aspect("화면", 0, 2))), None)
    measured = {each["metric"]: each for each in map(json.loads, lines.measurements.splitlines())}
    assert (measured["aspect_drop_rate"]["value"], measured["aspect_hallucination_rate"]["value"]) == (0.5, 1)
    assert measured["tuple_f1_s1"]["undefined"] == "no sentence has gold and tuples"


def test_a_folder_holds_everything_and_is_never_written_over(tmp_path: Path) -> None:
    path = written(tmp_path / "cards.jsonl", *two_runs())
    found = aggregate_to_folder(path, tmp_path / "run", AggregateSettings())
    folder = tmp_path / "run"
    assert {each.name for each in folder.iterdir()} == FILES | {"manifest.json", "report.html"}
    run = load(folder)
    assert run.summary == found.summary
    assert run.manifest.instrument == "aspects"
    assert run.manifest.inputs[0].records == 5
    assert len(list(run.findings())) == found.summary.counts.claims == 16
    assert [failure.record_id for failure in run.failures] == ["c"]
    with pytest.raises(InputError, match="exists already"):
        aggregate_to_folder(path, folder, AggregateSettings())


def test_the_same_scorecards_give_the_same_bytes(tmp_path: Path) -> None:
    path = written(tmp_path / "cards.jsonl", *two_runs())
    for name, workers in (("one", 1), ("two", 2)):
        aggregate_to_folder(path, tmp_path / name, AggregateSettings(workers=workers))
    for name in FILES:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes(), name


def test_a_folder_of_outputs_is_scored_and_aggregated(tmp_path: Path) -> None:
    outputs = written(tmp_path / "outputs.jsonl", output("a"), failed_output("c"))
    (tmp_path / "failures.jsonl").write_bytes(b"kept\n")
    summary = write_aspect_run(outputs, tmp_path).summary
    assert summary.aspects is not None
    assert (summary.aspects.samples, summary.aspects.failed) == (2, 1)
    assert (tmp_path / "failures.jsonl").read_bytes() == b"kept\n"
    assert {each.name for each in tmp_path.iterdir()} == FILES | {"outputs.jsonl"}


def test_unreadable_lines_are_kept_as_failures(tmp_path: Path) -> None:
    path = written(tmp_path / "cards.jsonl", *two_runs())
    path.write_bytes(path.read_bytes() + b"{oops\n")
    aggregate_to_folder(path, tmp_path / "run", AggregateSettings())
    assert [failure.code for failure in load(tmp_path / "run").failures] == ["timeout", "bad_line"]


def test_the_quality_report_says_what_the_drops_are() -> None:
    cards = [card_of(aspect("배터리", 1), text_id=f"s{number}") for number in range(9)] + [
        card_of(aspect("화면", 0, 2))
    ]
    text = quality_report(summary_of(*cards))
    assert "Of 10 dropped aspects, 1 do not stand in their text (H1), 9 stand elsewhere in it (H2)" in text
    assert "measures how well offsets are counted, not inventions" in text
    assert "There is no gold." in text
    assert "What the overrides are worth is not known" in text
    assert "No warning." in text


def test_the_quality_report_tells_what_overrides_are_worth_and_warns() -> None:
    from aspect_outputs import correction
    from hallumeter.aspects.records.outputs import MappingStats, OverrideDecision, ReviewContext

    context = ReviewContext(mapping_stats=MappingStats(1, 0, 9), mapping_fail_reasons={"no_match": 9})
    made = output(
        override_log=(OverrideDecision("뷰", 2.0, 0.0, "applied", "debate_override_flip positive->negative"),),
        correction_applied_log=(correction(applied=True, kind="DEBATE_OVERRIDE"),),
        debate_review_context=context,
    )
    text = quality_report(summary_of(make_scorecard(made)))
    assert "F1 changed by +0.5000 on average (1 sentences)" in text
    assert "**HIGH** debate\\_mapping\\_coverage is 0.1000, below 0.25" in text
    assert "Sanity check: gold against itself" in text


def test_gold_that_does_not_match_itself_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "_is_unequal", lambda _: True)
    summary = summary_of(gold_card(SECOND, SECOND, SECOND))
    assert "Sanity check failed" in quality_report(summary)
    assert any("can be trusted" in notice for notice in summary.notices)


def test_names_of_reasons_from_files_break_no_table() -> None:
    log = (structs.replace(output().correction_applied_log[0], applied=False, ignored_reason=None),)
    card = make_scorecard(output(correction_applied_log=log))
    assert card.stage_delta is not None
    delta = structs.replace(card.stage_delta, ignored_reasons={"a|b\n<script>": 1})
    summary = summary_of(structs.replace(card, stage_delta=delta))
    assert "<script>" not in quality_report(summary)
    assert len(structural_csv(summary).splitlines()) == 2
