"""Parts of a run that are measured apart and merged give the summary of the whole, bit for bit."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import msgspec
import pytest
from msgspec import structs

import hallumeter
from hallumeter import InputError, MeasureSettings, SettingsError
from hallumeter.claims.instrument import INSTRUMENT
from hallumeter.claims.measure.commands import measure_batches, measure_to_folder
from hallumeter.claims.partial import ClaimsPartial, partial_from_bytes, partial_of
from hallumeter.records.measurement import Summary
from hallumeter.run.inputs import row_batches
from hallumeter.run.run_folder import keeping_partials
from verdict_rows import Row, write_lines

LABELS = ("SUPPORTED", "SUPPORTED", "REFUTED", "NOT_ENOUGH_INFO", "UNDECIDED", "maybe")
SETTINGS = (
    MeasureSettings(resamples=100),
    MeasureSettings(resamples=100, by=("topic",)),
    MeasureSettings(resamples=100, by=("topic", "model"), cluster="document", headline="zoe"),
    MeasureSettings(resamples=100, cluster="question_id", similarity=0.9),
)


def rows_of(seed: int, records: int, judges: tuple[str, ...] = ("zoe", "adam", "mia")) -> list[list[Row]]:
    """Verdict rows, record by record, with all that metrics read: groups, models, probabilities, answers."""
    draw, found = random.Random(seed), []
    for number in range(records):
        rows = []
        for model in draw.sample(["m1", "m2", "m3"], draw.choice([1, 2])):
            response: Row = {"record_id": f"r{number}", "model": model, "document": f"d{number // 3}"}
            response |= {"question_id": f"q{number}", "topic": draw.choice(["art", "law", "(none)", "한국", None])}
            answer: Row = {"answerable": draw.random() < 0.5, "response": draw.choice(["Yes.", "I cannot say."])}
            rows += [*claims_of(response, judges, draw), {**response, **draw.choice([answer, {}])}]
        found.append(rows)
    return found


def claims_of(response: Row, judges: tuple[str, ...], draw: random.Random) -> list[Row]:
    """Verdicts on the claims of a response: most judges on most claims, some with probabilities."""
    rows = []
    for claim in range(draw.randrange(5)):
        for judge in draw.sample(judges, draw.randint(1, len(judges))):
            row: Row = {**response, "claim_id": f"c{claim}", "text": f"claim {draw.randrange(3)} of the answer"}
            share = draw.random()
            further: list[Row] = [{}, {"unsupported_probability": share}, {"probabilities": [share, 1 - share]}]
            rows.append({**row, "judge": judge, "label": draw.choice(LABELS), **draw.choice(further)})
    return rows


def partial_of_rows(rows: list[Row], settings: MeasureSettings) -> ClaimsPartial:
    with keeping_partials():
        batches = row_batches(rows, fields=settings.fields, shape=settings.shape)
        return measure_batches([("rows", batches)], settings, version="1").partial


def split(records: list[list[Row]], by: str, parts: int, draw: random.Random) -> list[list[Row]]:
    """The rows in so many parts, whole by a field, records in any order; some parts may be empty."""
    names = {str(row[by]) for rows in records for row in rows}
    place = {name: draw.randrange(parts) for name in sorted(names)}
    shuffled = draw.sample(records, len(records))
    return [[row for rows in shuffled for row in rows if place[str(row[by])] == part] for part in range(parts)]


def merged(partials: list[ClaimsPartial]) -> ClaimsPartial:
    """Merged in pairs, as a tree, with a trip through bytes."""
    while len(partials) > 1:
        first, second, *rest = partials
        partials = [*rest, partial_from_bytes(first.to_bytes()).merge(second)]
    return partials[0]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize(("seed", "records", "parts"), [(1, 24, 3), (2, 6, 5), (3, 1, 2)])
def test_any_split_merged_in_any_order_is_the_whole(
    settings: MeasureSettings, seed: int, records: int, parts: int
) -> None:
    check_splits(settings, seed, records=records, parts=parts)


@pytest.mark.long
@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("seed", range(1, 16))
def test_many_more_splits_are_the_whole(settings: MeasureSettings, seed: int) -> None:
    check_splits(settings, seed, records=3 * seed, parts=2 + seed % 5)


def check_splits(settings: MeasureSettings, seed: int, *, records: int, parts: int) -> None:
    by_record, draw = rows_of(seed, records), random.Random(seed)
    whole = partial_of_rows([row for rows in by_record for row in rows], settings)
    by = {"response": "record_id", "document": "document"}.get(settings.cluster, "question_id")
    partials = [partial_of_rows(rows, settings) for rows in split(by_record, by, parts, draw)]
    found = merged(draw.sample(partials, len(partials)))
    assert found.summary() == whole.summary()
    assert found.to_bytes() == whole.to_bytes()


def test_the_summary_of_a_partial_is_that_of_measure() -> None:
    settings = MeasureSettings(resamples=100, by=("topic",))
    rows = [row for rows in rows_of(3, 40) for row in rows]
    found = partial_of_rows(rows, settings)
    found = structs.replace(found, numbers=structs.replace(found.numbers, version=version("hallumeter")))
    assert found.summary() == hallumeter.measure(rows, settings=settings)


def test_many_responses_are_kept_as_sums_and_blocks_and_stay_exact() -> None:
    settings, draw = MeasureSettings(resamples=100), random.Random(0)
    verdict: Row = {"claim_id": "c", "label": "REFUTED", "judge": "only"}
    records: list[list[Row]] = [
        [{**verdict, "record_id": f"r{number}", "unsupported_probability": draw.random()}] for number in range(9_000)
    ]
    whole = partial_of_rows([row for rows in records for row in rows], settings)
    tally = whole.groups[0].judges["only"].probabilities
    assert tally is not None
    assert tally.rates.cells is None
    assert whole.groups[0].votes.is_blocked
    assert len(whole.to_bytes()) < 20_000
    found = merged([partial_of_rows(rows, settings) for rows in split(records, "record_id", 3, draw)])
    assert found.to_bytes() == whole.to_bytes()
    assert found.summary() == whole.summary()
    assert found.summary()["expected_unsupported_rate"].interval_method == "cluster_linearized"


def test_parts_with_different_judges_merge_into_one_panel() -> None:
    settings = MeasureSettings(resamples=100)
    first, second = rows_of(1, 30, judges=("b",)), rows_of(2, 30, judges=("a", "c"))
    second = [[{**row, "record_id": f"x{row['record_id']}", "question_id": None} for row in rows] for rows in second]
    parts = [[row for rows in part for row in rows] for part in (first, second)]
    whole = partial_of_rows([*parts[1], *parts[0]], settings)
    found = merged([partial_of_rows(part, settings) for part in parts])
    assert found.judges == ("a", "b", "c")
    assert found.summary() == whole.summary()


def test_interpreters_with_other_hash_seeds_make_the_same_partial(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib; sys.path.insert(0, sys.argv[2]); from test_claims_partial import *; "
        "rows = [row for rows in rows_of(5, 50) for row in rows]; "
        "pathlib.Path(sys.argv[1]).write_bytes(partial_of_rows(rows, SETTINGS[2]).to_bytes())"
    )
    found = set()
    for seed in ("0", "1", "77"):
        path = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([*path, *sys.path])}
        command = [sys.executable, "-c", program, str(tmp_path / seed), path[0]]
        subprocess.run(command, env=environment, check=True)
        found.add((tmp_path / seed).read_bytes())
    assert len(found) == 1


def test_answers_to_one_question_in_two_parts_leave_consensus_undefined() -> None:
    settings = MeasureSettings(resamples=100)
    claim: Row = {"claim_id": "c", "text": "Paris is the capital.", "label": "SUPPORTED", "question_id": "q"}
    parts: list[list[Row]] = [[{**claim, "record_id": name, "model": name}] for name in ("a", "b")]
    found = merged([partial_of_rows(part, settings) for part in parts]).summary()
    row = found["consensus_f1"]
    assert row.value is None
    assert row.undefined is not None
    assert "different parts" in row.undefined
    together = partial_of_rows([*parts[0], *parts[1]], settings).summary()
    assert together["consensus_f1"].value == 1.0


def test_dawid_skene_over_all_votes_cannot_be_merged_and_says_so() -> None:
    settings = MeasureSettings(resamples=100, consensus="dawid-skene")
    parts = [partial_of_rows([row for rows in rows_of(seed, 9) for row in rows], settings) for seed in (1, 2)]
    with pytest.raises(SettingsError, match="join the judges by majority"):
        merged(parts)


def test_parts_of_different_settings_are_refused() -> None:
    rows = [row for rows in rows_of(1, 5) for row in rows]
    with pytest.raises(SettingsError, match="different settings"):
        partial_of_rows(rows, SETTINGS[0]).merge(partial_of_rows(rows, SETTINGS[1]))


def test_a_headline_judge_need_not_be_in_every_part_but_in_the_whole() -> None:
    settings = MeasureSettings(resamples=100, headline="nobody")
    with keeping_partials():
        found = partial_of_rows([row for rows in rows_of(1, 5) for row in rows], settings)
        assert isinstance(found.summary(), Summary)
    with pytest.raises(SettingsError, match="no verdict is by a judge called 'nobody'"):
        found.summary()


def test_a_run_that_is_a_part_keeps_its_partial_in_its_folder(tmp_path: Path) -> None:
    verdicts = write_lines(tmp_path / "v.jsonl", [row for rows in rows_of(4, 20) for row in rows])
    with keeping_partials():
        measure_to_folder([verdicts], tmp_path / "part", settings=SETTINGS[0])
    measure_to_folder([verdicts], tmp_path / "whole", settings=SETTINGS[0])
    assert INSTRUMENT.partials is not None
    assert INSTRUMENT.partials().partial_of(tmp_path / "part").summary() == hallumeter.load(tmp_path / "whole").summary
    with pytest.raises(InputError, match="has kept no partial"):
        partial_of(tmp_path / "whole")


def test_what_is_no_partial_is_refused() -> None:
    with pytest.raises(InputError, match="not a partial of this version"):
        partial_from_bytes(b"{}")
    assert msgspec.json.decode(partial_of_rows([], SETTINGS[0]).to_bytes())["judges"] == []
