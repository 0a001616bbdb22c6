"""The blame of many sentences as a table and as files."""

from __future__ import annotations

import csv
import random
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest
from blamed_outputs import found, output, said, states

from hallumeter.aspects.blame.tables import (
    BlamePartial,
    BlameSums,
    blame_of,
    blame_table,
    write_blame_lines,
    write_blame_tables,
)
from hallumeter.aspects.records.aspect import CorrectionProposal, TextSpan
from hallumeter.aspects.records.blame import BlameTable, UnitBlame
from hallumeter.aspects.records.outputs import (
    Correction,
    DebateOutput,
    DebateRound,
    DebateTurn,
    EditTarget,
    FinalAspect,
    FinalResult,
    PipelineOutput,
    ProposedEdit,
    StageOne,
    StageTwo,
    StructuralValidation,
)
from hallumeter.records.measurement import MetricSummary

NAMED = (found("battery"), found("screen"), found("service"))
READ = (said("battery", "positive"), said("screen", "negative"), said("service", "negative"))
RIGHT = output(*states(ate=NAMED, atsa=READ))
INVENTED = msgspec.structs.replace(
    output(*states(ate=(*NAMED, found("camera")), atsa=(*READ, said("camera", "neutral")), ate_review=READ)),
    text_id="s2",
    stage2=StageTwo(),
)
TURNED = msgspec.structs.replace(
    output(*states(ate=NAMED, atsa=(said("battery", "negative"), *READ[1:]))),
    text_id="s3",
    stage1=StageOne(validator=StructuralValidation((), (CorrectionProposal("battery", "FLIP_POLARITY"),), 0.2)),
    correction_applied_log=(
        Correction("FLIP_POLARITY", "battery", step="validator_proposals", ignored_reason="disabled"),
    ),
)
FAILED = PipelineOutput("s4", "Nothing.", failed="ate: no answer")


def rate(table: BlameTable, step: str, error: str, name: str) -> MetricSummary:
    [row] = [
        row for row in table.rows if row.by == {"step": step, "error": error} and row.metric == f"step_{name}_rate"
    ]
    return row


def write_blame(outputs: Iterable[PipelineOutput], folder: Path) -> BlameTable:
    table = write_blame_lines(outputs, folder).table()
    write_blame_tables(table, folder)
    return table


def test_rates_are_counted_over_all_sentences() -> None:
    table = blame_table([RIGHT, INVENTED, TURNED, FAILED])
    assert (table.sentences, table.with_gold, table.coarse) == (4, 3, 0)
    assert table.undefined == {"the pipeline broke off": 1}
    introduction = rate(table, "ate", "ungrounded", "introduction")
    assert (introduction.count, introduction.total, introduction.value) == (1, 10, 0.1)
    assert introduction.interval is not None
    assert introduction.interval[0] <= 0.1 <= introduction.interval[1]
    assert rate(table, "atsa", "polarity", "introduction").value == 1 / 9
    assert rate(table, "ate_review", "spurious", "repair").value == 1
    assert rate(table, "validator", "polarity", "detection").value == 1
    assert rate(table, "validator", "polarity", "false_alarm").value == 0
    together = rate(table, "ate", "against_gold", "introduction")
    assert (together.count, together.total) == (1, 19)
    assert table.introduced_errors == {"polarity": {"atsa": 1}}
    assert table.ignored_errors == {"validator_proposals": {"disabled": 1}}


def test_a_rate_without_a_denominator_is_undefined_and_says_why() -> None:
    row = rate(blame_table([RIGHT]), "ate", "ungrounded", "repair")
    assert row.value is None
    assert row.interval is None
    assert row.undefined == "nothing is wrong before the step"


def test_without_gold_only_grounding_is_known() -> None:
    table = blame_table([msgspec.structs.replace(INVENTED, gold_tuples=None)])
    assert table.with_gold == 0
    assert rate(table, "ate", "ungrounded", "introduction").value == 0.25
    assert rate(table, "ate", "spurious", "introduction").value is None
    assert rate(table, "ate", "against_gold", "introduction").value is None


def test_runs_of_the_same_sentence_are_resampled_together() -> None:
    once, twice = BlameSums(), BlameSums()
    for sums, number in ((once, 1), (twice, 2)):
        for made in [RIGHT, INVENTED, TURNED] * number:
            sums.add(blame_of(made))
    first, second = (rate(sums.partial().table(), "ate", "ungrounded", "introduction") for sums in (once, twice))
    assert (second.count, second.total) == (2, 20)
    # Twice the counts are other draws of the same clusters; taken for six sentences they would be far narrower.
    assert first.interval == pytest.approx(second.interval, abs=0.02)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_split_by_sentence_merged_in_any_order_is_the_whole(seed: int) -> None:
    draw = random.Random(seed)
    sentences = [
        msgspec.structs.replace(draw.choice([RIGHT, INVENTED, TURNED, FAILED]), text_id=f"s{number}")
        for number in range(20)
    ]
    whole, sums = BlameSums(), [BlameSums() for _ in range(4)]
    for each in sentences:
        whole.add(blame_of(each))
        sums[draw.randrange(3)].add(blame_of(each))  # the last part stays empty
    parts = draw.sample([part.partial() for part in sums], 4)
    merged = parts[0].merge(parts[1]).merge(parts[2].merge(parts[3]))
    assert msgspec.json.decode(msgspec.json.encode(merged), type=BlamePartial) == whole.partial()
    assert merged.table() == whole.partial().table()


def test_an_empty_run_has_an_empty_table() -> None:
    table = blame_table([])
    assert (table.sentences, table.rows) == (0, ())


def test_the_order_of_sentences_does_not_matter() -> None:
    there, back = blame_table([RIGHT, INVENTED, TURNED]), blame_table([TURNED, INVENTED, RIGHT])
    assert [(row.by, row.metric, row.value) for row in there.rows] == [
        (row.by, row.metric, row.value) for row in back.rows
    ]


def test_steps_come_in_the_order_in_which_they_are_taken() -> None:
    steps = list(dict.fromkeys(row.by["step"] for row in blame_table([INVENTED, TURNED]).rows))
    assert steps == [
        "ate",
        "ate_tidying",
        "atsa",
        "atsa_tidying",
        "validator",
        "ate_review",
        "atsa_review",
        "anchoring",
    ]


def test_three_files_are_written(tmp_path: Path) -> None:
    table = write_blame(iter([RIGHT, INVENTED, TURNED, FAILED]), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["blame.csv", "blame.jsonl", "blame.md"]
    lines = (tmp_path / "blame.jsonl").read_bytes().splitlines()
    units = [msgspec.json.decode(line, type=UnitBlame) for line in lines]
    assert [(unit.text_id, unit.error, unit.term) for unit in units] == [
        ("s2", "ungrounded", "camera"),
        ("s2", "spurious", "camera"),
        ("s3", "polarity", "battery"),
    ]
    with (tmp_path / "blame.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(table.rows)
    [row] = [
        row
        for row in rows
        if (row["step"], row["error"], row["metric"]) == ("ate", "ungrounded", "step_introduction_rate")
    ]
    assert (row["count"], row["total"], row["value"]) == ("1.0", "10.0", "0.1")


def test_the_text_tells_who_introduced_ignored_and_repaired(tmp_path: Path) -> None:
    write_blame([RIGHT, INVENTED, TURNED, FAILED], tmp_path)
    text = (tmp_path / "blame.md").read_text(encoding="utf-8")
    assert "4 sentences, 3 of them with gold." in text
    assert "1 sentences have no blame: the pipeline broke off." in text
    assert "| `atsa` | 1 |" in text
    assert "| `validator_proposals` | disabled | 1 |" in text
    assert "0.100 (" in text


def test_the_text_of_a_run_without_errors_says_so(tmp_path: Path) -> None:
    write_blame([RIGHT], tmp_path)
    text = (tmp_path / "blame.md").read_text(encoding="utf-8")
    assert text.count("None.") == 2
    assert text.count("Nothing.") == 2
    assert (tmp_path / "blame.jsonl").read_bytes() == b""


def test_the_text_tells_of_coarse_outputs_and_of_missing_gold(tmp_path: Path) -> None:
    result = FinalResult("positive", 0.9, final_aspects=(FinalAspect("battery", TextSpan(0, 3), "positive"),))
    made = PipelineOutput("s1", "Nice.", final_result=result)
    write_blame([made], tmp_path)
    text = (tmp_path / "blame.md").read_text(encoding="utf-8")
    assert "Without gold" in text
    assert "only stage 1 and the final result are known" in text
    assert "| `final` | `ungrounded` |" in text


@pytest.mark.parametrize("name", ["a|b", "x\ny"])
def test_names_from_files_cannot_break_the_table(tmp_path: Path, name: str) -> None:
    edit = ProposedEdit("set_polarity", EditTarget(aspect_term="battery"), "positive")
    debate = DebateOutput((DebateRound(1, (DebateTurn(name, (edit,)),)),))
    write_blame([msgspec.structs.replace(TURNED, debate=debate)], tmp_path)
    text = (tmp_path / "blame.md").read_text(encoding="utf-8")
    assert name not in text
