"""Pages that are not aligned are measured as columns: the same numbers as from a record for each."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hallumeter.records.page import Transcript
from hallumeter.transcripts.commands import MeasuredTranscripts, measure_transcripts
from hallumeter.transcripts.inputs import opened_paths, opened_records
from hallumeter.transcripts.records import MeasuredPage
from hallumeter.transcripts.settings import TranscriptSettings

TEXTS = st.sampled_from(
    [
        "",
        " ",
        "le roi de france",
        "le roi de france et de navarre",
        "a b",
        "x y z w",
        "Le ROI, dit-on",
        "cafe\u0301 noir",
    ]
)
TRANSCRIPTS = st.lists(
    st.builds(
        Transcript,
        page=st.sampled_from(["p1", "p2", "p3"]),
        engine=st.sampled_from(["one", "two"]),
        reference=TEXTS,
        response=TEXTS,
        fields=st.sampled_from([{}, {"century": 15}, {"century": "16"}]),
    ),
    min_size=1,
)


def measured(given: list[Transcript], chosen: TranscriptSettings, *, as_records: bool) -> MeasuredTranscripts:
    kept: list[MeasuredPage] = []
    with opened_records(given, columns=chosen.columns) as jobs:
        return measure_transcripts(jobs, chosen, keep=kept.append if as_records else None)


@settings(max_examples=60)
@given(TRANSCRIPTS, st.sampled_from([(), ("page",)]))
def test_columns_and_records_give_the_same_rows_and_numbers(given: list[Transcript], by: tuple[str, ...]) -> None:
    chosen = TranscriptSettings(measures="anchoring", by=by, resamples=100)
    one, other = (measured(given, chosen, as_records=as_records) for as_records in (False, True))
    assert list(one.rows) == list(other.rows)
    assert one.summary == other.summary
    assert one.failures == other.failures
    assert one.corpus.fields == other.corpus.fields
    for name, column in other.corpus.columns().columns.items():
        assert one.corpus.columns().columns[name].tolist() == column.tolist(), name


@pytest.mark.parametrize("workers", [1, 2])
def test_files_of_pages_have_digests_failures_and_notices_all_the_same(tmp_path: Path, workers: int) -> None:
    for side in ("truth", "engine"):
        (tmp_path / side).mkdir()
        for number in range(3):
            (tmp_path / side / f"p{number}.txt").write_text(f"le roi {side} {number}", encoding="utf-8")
    (tmp_path / "truth" / "p1.txt").write_text(unicodedata.normalize("NFD", "né à Paris"), encoding="utf-8")
    (tmp_path / "engine" / "p1.txt").write_text("né à Paris", encoding="utf-8")
    (tmp_path / "engine" / "p2.txt").write_bytes(b"\xff\xfe\x00")
    chosen = TranscriptSettings(measures="anchoring", workers=workers, resamples=100)
    told: list[tuple[int, int]] = []
    kept: list[MeasuredPage] = []
    paths = [tmp_path / "truth", tmp_path / "engine"]
    with opened_paths(paths, columns=chosen.columns) as jobs:
        one = measure_transcripts(jobs, chosen, progress=lambda *counts: told.append(counts))
    with opened_paths(paths, columns=chosen.columns) as jobs:
        other = measure_transcripts(jobs, chosen, keep=kept.append)
    assert (one.summary, one.failures, one.inputs) == (other.summary, other.failures, other.inputs)
    assert any("another Unicode form" in notice for notice in one.summary.notices)
    assert told[-1] == (3, 3)
