"""What models write is data: no text of theirs may become a tag, a script, or the end of one."""

from __future__ import annotations

import json

import msgspec
import pytest
from test_html import Page

from hallumeter.records.claim import Failure
from hallumeter.records.manifest import InputFile, JudgeEntry
from hallumeter.records.measurement import Profile
from hallumeter.records.response import Passage, Quote, Response
from hallumeter.report.document import Document, MetricText, RecordFindings
from hallumeter.report.page.render import render_html
from report_samples import finding, manifest, metric, sample_document, summary

HOSTILE = {
    "script": "<script>window.stolen = 1</script>",
    "end of script": "</script><script>window.stolen = 1</script>",
    "end of script in capitals": "</SCRIPT\t><img src=x onerror=window.stolen=1>",
    "comment": "<!--<script>window.stolen = 1//",
    "end of comment": "--><script>window.stolen = 1</script><!--",
    "attribute": '" onmouseover="window.stolen=1" x=\'',
    "image": "<img src=x onerror=window.stolen=1>",
    "drawing": "<svg onload=window.stolen=1>",
    "address": "javascript:window.stolen=1",
    "template": "{{ 7 * 7 }}{% include 'report.html' %}{# #}",
    "expression": "datum.value; window.stolen = 1",
    "character reference": "&lt;script&gt;&#60;script&#62;",
    "separators": "a\u2028b\u2029c",
    "override": "\u202eevil\u202c \u2066hidden",
    "zero width": "a\u200bb\u200d\ufeffc",
    "null": "a\x00b\x08\x1b[31mc",
    "backslashes": "\\u003c/script\\u003e \\\\",
    "prototype": "__proto__",
    "combining": "Z̷͘a̴l̶g̵o̸" * 40,
}


def hostile_document(text: str) -> Document:
    """A document with this text in every place that takes one from outside."""
    record = RecordFindings(
        Response(text, text, text, (Passage(text, text),), text, model=text, fields={text: text, "lang": text}),
        (
            finding(
                0,
                len(text),
                claim_id=text,
                text=text,
                quotes=(Quote(text, 0, 1, text), Quote("gone", None, None, text)),
                note=text,
                judge=text,
                reason=text,
            ),
            finding(None, None, None, claim_id=text, text=text),
        ),
    )
    return sample_document(
        [record, record],
        summary=summary(
            notices=(text,),
            metrics=(
                metric(text, 1, 2, judge=text),
                metric("alpha_gain_without", 1, 2, judge=text),
                metric(text, 1, 2, by={text: text}, judge=text),
                metric(text, 1, 3, by={text: "other"}, judge=text),
            ),
            profile={text: Profile(text, "low", True, (text,), (text,))},
        ),
        manifest=manifest(inputs=(InputFile(text, text, 1),), settings={text: text}, judges=(JudgeEntry(text, text),)),
        metric_texts={
            text: MetricText(text, text, text, (0, 1)),
            "alpha_gain_without": MetricText("gain", "gain", "Who stands apart?", (-2, 2), "agreement"),
        },
        failures=[Failure(text, text, text, text, text, text)],
    )


def harmless(page: Page) -> list[tuple[str, tuple[str, ...]]]:
    """Tags and the names of their attributes: what a page is made of, whatever it says."""
    return [(tag, tuple(sorted(attributes))) for tag, attributes in page.tags]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_text_changes_no_tag_of_the_page(text: str) -> None:
    page = Page(render_html(hostile_document(text)))
    assert harmless(page) == harmless(Page(render_html(hostile_document("plain"))))


@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_text_reaches_the_reader_unchanged(text: str) -> None:
    page = Page(render_html(hostile_document(text)))
    records = page.data("records-data")["records"]
    assert isinstance(records, list)
    assert records[0]["q"] == text
    assert records[0]["t"] == text
    assert page.data("charts-data")


@pytest.mark.parametrize("name", ["records-data", "charts-data"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_a_data_block_holds_nothing_that_could_end_it(name: str, text: str) -> None:
    page = Page(render_html(hostile_document(text)))
    block = next(content for _, attributes, content in page.inlined if attributes.get("id") == name)
    assert not set("<>&\u2028\u2029\x00") & set(block)
    json.loads(block)


def test_a_response_of_one_line_of_a_megabyte_is_carried_whole() -> None:
    text = "<b>&" * 262_144
    record = RecordFindings(Response("r", response=text), (finding(5, 900_000),))
    records = Page(render_html(sample_document([record]))).data("records-data")["records"]
    assert isinstance(records, list)
    assert records[0]["t"] == text
    assert records[0]["f"][0]["s"] == [5, 900_000]


def test_lone_surrogates_are_replaced_even_in_a_document_made_by_hand() -> None:
    document = hostile_document("a\ud800b\udfff")
    by_hand = msgspec.structs.replace(document, title="a\ud800b", notices=("\udfff",))
    page = render_html(by_hand)
    assert page.encode("utf-8")
    assert "a\ufffdb" in page


def test_a_record_with_an_unaligned_surrogate_pair_keeps_its_positions() -> None:
    text = "\ud83d\ude00 grin"
    record = RecordFindings(Response("r", response=text), (finding(3, 7),))
    records = Page(render_html(sample_document([record]))).data("records-data")["records"]
    assert isinstance(records, list)
    assert records[0]["t"] == "\ufffd\ufffd grin"
    assert records[0]["f"][0]["s"] == [3, 7]
