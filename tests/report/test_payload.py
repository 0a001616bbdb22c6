"""Records on their way into a page: packed, pooled, and no more of them than fit."""

from __future__ import annotations

import base64
import gzip
import json
import random

import msgspec
import pytest
from test_html import Page

from hallumeter.records.claim import Label
from hallumeter.records.response import Passage, Response
from hallumeter.report.document import Coverage, RecordFindings, RecordSection
from hallumeter.report.drawing import Json
from hallumeter.report.page.chapters import ROOM, fitted
from hallumeter.report.page.payload import SMALL, entry_of, entry_payload, packed, remote_payload
from hallumeter.report.page.render import render_html
from hallumeter.report.selection import record_view
from report_samples import finding, sample_document

NOISE = random.Random(0)


def noise(length: int) -> str:
    """Text that no packing makes small."""
    return "".join(chr(NOISE.randrange(0x4E00, 0x9FA5)) for _ in range(length))


def test_a_small_block_stays_as_it_is_and_a_large_one_is_packed() -> None:
    assert packed({"a": "b" * 10}) == {"a": "b" * 10}
    large: dict[str, Json] = {"a": "é\ud800" * SMALL}
    found = packed(large)
    assert isinstance(found, dict)
    assert packed(large) == found
    assert json.loads(gzip.decompress(base64.b64decode(str(found["gzip"])))) == {"a": "é\ufffd" * SMALL}


def test_passages_that_records_share_stand_in_the_page_once_and_the_order_is_kept() -> None:
    found = [
        RecordFindings(Response(f"r{n}", response="x", evidence=(Passage("e", f"text {n % 2}"),)), (finding(0, 1),))
        for n in range(4)
    ]
    records = Page(render_html(sample_document(found))).data("records-data")["records"]
    assert isinstance(records, list)
    assert [(record["id"], record["o"], record["e"][0][1]) for record in records] == [
        *(("r0", 0, "text 0"), ("r2", 2, 0), ("r1", 1, "text 1"), ("r3", 3, 1)),
    ]


@pytest.mark.parametrize("length", [800, 8_000])
def test_a_page_stays_below_two_megabytes_whatever_its_records_hold(length: int) -> None:
    found = [
        RecordFindings(Response(f"r{n}", response=noise(length), evidence=(Passage("e", noise(length)),)), ())
        for n in range(300)
    ]
    document = sample_document(found)
    source = render_html(document)
    assert len(source.encode()) < 2_000_000
    section = next(section for section in fitted(document).document.sections if isinstance(section, RecordSection))
    assert 0 < len(section.records) < 300
    assert section.coverage == Coverage(300, len(section.records), 0, too_large=300 - len(section.records))
    assert f"{300 - len(section.records)} more would make this file too large" in Page(source).words


def test_when_records_are_left_out_some_of_those_drawn_at_random_stay() -> None:
    views = tuple(
        record_view(
            RecordFindings(Response(f"r{n}", response=noise(4_000)), ()), picked="random" if n >= 90 else "worst"
        )
        for n in range(100)
    )
    document = sample_document([])
    whole = msgspec.structs.replace(document, sections=(RecordSection(Coverage(500, 90, 10), views),))
    section = fitted(whole).document.sections[0]
    assert isinstance(section, RecordSection)
    assert section.coverage.random == len(section.records) // 10
    assert section.coverage.worst + section.coverage.random + section.coverage.too_large == 100
    # Two runs on a page have half the room each.
    half = fitted(whole, chapters=2).document.sections[0]
    assert isinstance(half, RecordSection)
    assert len(half.records) <= len(section.records) / 2 + 1


def test_one_record_stays_however_large_it_is() -> None:
    record = RecordFindings(Response("r", response=noise(ROOM // 2)), ())
    section = next(one for one in fitted(sample_document([record])).document.sections if isinstance(one, RecordSection))
    assert len(section.records) == 1


def test_an_entry_tells_what_a_list_shows() -> None:
    found = (finding(0, 1, Label.REFUTED), finding(1, 2, Label.SUPPORTED, claim_id="c1"))
    fields: dict[str, str | int | float | bool | None] = {"lang": "fr", "is_hard": True, "seed": 3, "gone": None}
    view = record_view(RecordFindings(Response("r", "Q" * 300, "ab", model="m", fields=fields), found), picked="worst")
    assert entry_payload(entry_of(view, 7)) == {
        "n": 7,
        "id": "r",
        "m": "m",
        "w": "Q" * 200,
        "c": [1, 0, 0, 0, 1],
        "x": {"lang": "fr", "is_hard": "true", "seed": "3"},
    }


def test_a_page_whose_records_a_server_gives_is_told_how_many_there_are() -> None:
    told = remote_payload(total=100_000, judges=["rules"])
    assert (told["source"], told["total"], told["judges"]) == ("records", 100_000, ["rules"])
    assert "records" not in told
