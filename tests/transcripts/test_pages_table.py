"""The table of pages is read back as it was written, whatever pages are called."""

from __future__ import annotations

import csv
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hallumeter.errors import InputError
from hallumeter.records.page import PageRow
from hallumeter.transcripts.pages_table import StoredRows, read_pages, write_pages

NAME = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    st.sampled_from(["car\rriage", "\r", "\n", "\r\n", '"', ",", "a\0b", "null", "true", "1", " ", "=1+1", "'"]),
)
RATE = st.none() | st.floats(0, 1e300)
COUNT = st.integers(0, 10**9)
ROWS = st.builds(
    PageRow,
    page=NAME,
    engine=NAME,
    status=st.sampled_from(["ok", "empty_output", "empty_reference", "both_empty", "undecided"]),
    is_hallucinating=st.sampled_from([None, True, False]),
    picarones_badge=st.booleans(),
    cer=RATE,
    wil=RATE,
    net_insertion_rate=st.floats(0, 1),
    anchor_score=st.floats(0, 1),
    length_ratio=RATE,
    length_ratio_capped=st.floats(0, 9.99),
    omission_rate=RATE,
    reference_words=COUNT,
    response_words=COUNT,
    blocks=st.none() | COUNT,
    is_exact=st.sampled_from([None, True, False]),
)


@given(st.lists(ROWS, max_size=5))
def test_rows_come_back_exactly(tmp_path_factory: pytest.TempPathFactory, rows: list[PageRow]) -> None:
    path = tmp_path_factory.mktemp("table") / "pages.csv"
    write_pages(path, rows)
    assert list(read_pages(path)) == rows


ROW = PageRow(
    page="p1",
    engine="e",
    status="empty_output",
    is_hallucinating=None,
    picarones_badge=True,
    net_insertion_rate=0.0,
    anchor_score=0.0,
    length_ratio=0.0,
    length_ratio_capped=0.0,
    reference_words=3,
    response_words=0,
)


def test_what_is_not_known_is_an_empty_cell_and_never_a_zero(tmp_path: Path) -> None:
    write_pages(tmp_path / "pages.csv", [ROW])
    with (tmp_path / "pages.csv").open(encoding="utf-8", newline="") as stream:
        [row] = csv.DictReader(stream)
    assert (row["is_hallucinating"], row["cer"], row["blocks"]) == ("", "", "")
    assert (row["picarones_badge"], row["anchor_score"], row["response_words"]) == ("true", "0.0", "0")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (b"empty_output", b"fine", r"pages.csv:2: damaged \(.*status"),
        (b",3,", b",three,", r"pages.csv:2: damaged \(.*reference_words"),
        (b"p1", b"\xff", "pages.csv:1: damaged"),
        (b"e,", b",,", "pages.csv:2: damaged"),
    ],
)
def test_a_damaged_table_names_its_line(tmp_path: Path, old: bytes, new: bytes, said: str) -> None:
    path = tmp_path / "pages.csv"
    write_pages(path, [ROW])
    head, body = path.read_bytes().split(b"\n", 1)
    path.write_bytes(head + b"\n" + body.replace(old, new, 1))
    with pytest.raises(InputError, match=said):
        list(read_pages(path))


def test_a_table_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"pages.csv: cannot be read \(No such file"):
        list(read_pages(tmp_path / "pages.csv"))


@given(st.lists(ROWS, max_size=12), st.integers(1, 4))
def test_rows_that_are_kept_on_disk_come_back_in_their_order_as_often_as_needed(
    rows: list[PageRow], at_once: int
) -> None:
    stored = StoredRows()
    with mock.patch.object(StoredRows, "_AT_ONCE", at_once):
        for row in rows:
            stored.add(row)
    assert len(stored) == len(rows)
    assert list(stored) == rows
    # Two at a time, each at its own place.
    assert [pair[1] for pair in zip(stored, stored, strict=True)] == rows
    assert all(row in stored for row in rows)
    assert not rows or rows[0] not in StoredRows()
