"""The page on transcriptions: its words, its policy, its charts, and texts that stay data."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from test_charts import DARK, LIGHT, contrast, lab, linear
from test_html import Page
from test_untrusted_text import HOSTILE, harmless

import hallumeter
from hallumeter.records.claim import Failure
from hallumeter.records.manifest import InputFile, JudgeEntry
from hallumeter.records.page import PageRow
from hallumeter.report.charts import charts_of
from hallumeter.report.document import Document, MetricText, RecordFindings
from hallumeter.report.drawing import ENGINE_COLOURS, PALETTE, Chart, Json
from hallumeter.report.page.render import render_html
from hallumeter.report.selection import Limits
from report_samples import manifest, sample_document
from transcript_samples import (
    Part,
    made_up_readings,
    page_row,
    ranking_of,
    reading,
    rows_of,
    transcripts_document,
    transcripts_summary,
    witnessed_summary,
    written_readings,
)

STATIC = Path(hallumeter.__file__).parent / "report" / "static"


@pytest.fixture(scope="module")
def source() -> str:
    return render_html(transcripts_document())


@pytest.fixture(scope="module")
def page(source: str) -> Page:
    return Page(source)


def chart(document: Document, kind: str) -> Chart:
    return next(one for one in charts_of(document) if one.kind == kind)


def layers(drawn: Chart) -> list[dict[str, Json]]:
    found = drawn.spec["layer"]
    assert isinstance(found, list)
    return [layer for layer in found if isinstance(layer, dict)]


def plain(layer: dict[str, Json]) -> dict[str, Any]:
    """A part of a specification, to be walked through without asking at every step what it is."""
    return layer


def test_the_head_counts_pages_engines_empty_outputs_and_failures(page: Page) -> None:
    assert "4 pages 2 engines 1 empty output 1 failure" in page.words


def test_the_page_speaks_of_pages_and_engines_not_of_responses_models_and_verdicts(page: Page) -> None:
    for word in ("responses", "Supported", "Refuted", "Not enough info", "By its verdicts", "unsupported", "models"):
        assert word not in page.words
    for word in ("invented", "left out", "loop", "inserted", "misread", "Robust view (without hallucinated pages)"):
        assert word in page.words


def test_equal_documents_give_equal_pages_without_any_time(source: str) -> None:
    assert render_html(transcripts_document()) == source
    assert "2031-" not in source


def test_the_policy_lets_in_exactly_the_scripts_and_the_style_of_the_page(page: Page) -> None:
    policy = next(a["content"] for tag, a in page.tags if tag == "meta" and a.get("http-equiv"))
    assert policy is not None
    assert not re.search("unsafe|http|data:|blob:|\\*|nonce", policy)
    for kind, rule in (("script", "script-src"), ("style", "style-src")):
        contents = [content for tag, attributes, content in page.inlined if tag == kind and "type" not in attributes]
        digests = [base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() for content in contents]
        allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
        assert f"{rule} {allowed};" in policy


def test_nothing_on_the_page_points_outside_it_and_names_lead_to_places_that_exist(page: Page) -> None:
    for tag, attributes in page.tags:
        assert not {"src", "srcset", "style", "action", "data"} & attributes.keys(), (tag, attributes)
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert (attributes.get("href") or "#").startswith("#"), (tag, attributes)
    names = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(names) == len(set(names))
    targets = {a.get("for") for tag, a in page.tags if tag in {"label", "output"} and a.get("for")}
    assert targets <= set(names)


def test_scripts_put_text_in_as_text_only() -> None:
    for name in ("nodes.js", "ranking.js", "pages.js", "readings.js"):
        script = (STATIC / name).read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|fetch\(", script
        )


def test_a_report_on_claims_carries_nothing_of_the_report_on_pages() -> None:
    other = render_html(sample_document())
    assert "pages-data" not in other
    assert "--omission" not in other
    assert "Robust view" not in other


def test_the_table_of_engines_has_values_intervals_and_counts(page: Page) -> None:
    assert "1 mean 1.25 ocr-a 0.250 0.000–0.674 0.000 0/3" in page.words
    assert "0.750 3/4 0.326–1.174" in page.words
    cer = [a.get("data-value") for tag, a in page.tags if tag == "td"]
    assert "0.25" in cer


def test_without_a_ranking_the_order_is_told_to_be_by_error_rate_and_nothing_is_drawn() -> None:
    summary = transcripts_summary(rows_of(written_readings()), ranking=None)
    page = Page(render_html(transcripts_document(summary=summary)))
    assert "Order: CER, lowest first." in page.words
    assert "Pairs of engines" not in page.words
    assert "Which engines differ" not in page.words


def test_an_engine_without_a_metric_has_a_dash_and_an_undefined_one_its_reason() -> None:
    rows = rows_of(written_readings())
    metrics = [row for row in transcripts_summary(rows).metrics if (row.metric, row.by) != ("wer", {"engine": "ocr-a"})]
    metrics = [
        msgspec.structs.replace(row, value=None, interval=None, undefined="no page with text")
        if (row.metric, row.by) == ("mer", {"engine": "ocr-a"})
        else row
        for row in metrics
    ]
    page = Page(render_html(transcripts_document(summary=transcripts_summary(rows, metrics=tuple(metrics)))))
    assert "– undefined: no page with text 0.250" in page.words


def test_few_engines_show_every_pair_and_many_only_neighbours_until_one_is_chosen() -> None:
    few = Page(render_html(transcripts_document(made_up_readings(5)))).words
    assert "Shown without a choice" not in few
    many = Page(render_html(transcripts_document(made_up_readings(12, copies=1)))).words
    assert "the 11 pairs of engines next to each other in rank, of 66" in many


def test_every_pair_reaches_the_page_once() -> None:
    document = transcripts_document(made_up_readings(12, copies=1))
    pairs = Page(render_html(document)).data("pairs-data")["pairs"]
    assert isinstance(pairs, list)
    assert len({(first, second) for first, second, *_ in pairs}) == 66


def test_the_table_of_pages_reaches_the_page_unrounded(page: Page) -> None:
    rows = rows_of(written_readings())
    table = page.data("pages-data")
    pages, engines, numbers = table["pages"], table["engines"], table["numbers"]
    assert isinstance(pages, list)
    assert isinstance(engines, list)
    assert isinstance(numbers, dict)
    assert [pages[place] for place in table["page"]] == [row.page for row in rows]  # type: ignore[attr-defined]
    assert [engines[place] for place in table["engine"]] == [row.engine for row in rows]  # type: ignore[attr-defined]
    for name, values in numbers.items():
        assert values == [getattr(row, name) for row in rows]
    assert table["badge"] == [row.is_hallucinating for row in rows]


def test_a_ground_truth_that_engines_share_is_written_once(page: Page) -> None:
    payload = page.data("readings-data")
    references, readings = payload["references"], payload["readings"]
    assert isinstance(references, list)
    assert isinstance(readings, list)
    assert (len(references), len(readings)) == (4, 8)


def test_pages_that_were_not_kept_are_counted_on_the_page() -> None:
    words = Page(render_html(transcripts_document(limits=Limits(pages=4)))).words
    assert "4 readings of 2 pages, drawn at random with all their engines; 4 further readings of 2 pages" in words


def test_integrity_counts_what_says_less_than_it_seems_to() -> None:
    rows = [msgspec.structs.replace(row, is_exact=False) for row in rows_of(written_readings())]
    words = Page(render_html(transcripts_document(own=rows))).words
    assert "Empty outputs 1 the engine wrote nothing" in words
    assert "Upper bounds 8 long pages aligned by anchors" in words
    assert "Undecided pages 0" in words
    assert "Pages with empty ground truth 0" in words
    assert "truth/letter-9.xml: not well-formed (line 3)" in words


def test_metrics_over_all_engines_are_shown_without_claims(page: Page) -> None:
    assert "All engines together" in page.words
    assert not any(one.kind == "rates" for one in charts_of(transcripts_document()))


def test_an_engine_with_pages_enough_has_a_warning_sign() -> None:
    words = Page(render_html(transcripts_document(made_up_readings(2)))).words
    assert re.search(r"\d/19 ⚠", words)
    assert "More than a fifth of the engine’s pages hallucinate" in words


def test_a_report_with_a_witness_says_on_top_that_nothing_is_proven(page: Page) -> None:
    rows = rows_of(written_readings())
    document = transcripts_document(summary=witnessed_summary(rows), own=rows)
    told = (
        "Compared with a witness: figures are disagreement, not error; passages are unconfirmed, not proven invented."
    )
    words = Page(render_html(document)).words
    assert told in words
    assert "cleared: 1 ; flagged: 3 ." in words
    for word in ("Engines, as given", "most unconfirmed"):
        assert word in words
    for word in ("best first", "Robust view", "Rank", "worst first"):
        assert word not in words
    assert "ompared with a witness" not in page.words


@pytest.mark.parametrize("engines", [2, 5, 48])
def test_every_engine_has_a_line_in_the_drawing_of_ranks(engines: int) -> None:
    drawn = chart(transcripts_document(made_up_readings(engines, copies=1)), "ranks")
    values = drawn.spec["data"]
    assert isinstance(values, dict)
    rows = values["values"]
    assert isinstance(rows, list)
    assert len(rows) == engines
    assert drawn.spec["height"] == 22 * engines
    assert json.loads(json.dumps(drawn.spec, allow_nan=False)) == drawn.spec


def test_bars_that_join_engines_never_cover_each_other() -> None:
    rows = rows_of(made_up_readings(48, copies=2))
    ranking = ranking_of(rows)
    drawn = chart(transcripts_document(summary=transcripts_summary(rows), own=rows, records=[]), "ranks")
    names = [ranked.engine for ranked in ranking.engines]
    bars: dict[object, list[tuple[int, int]]] = {}
    for layer in map(plain, layers(drawn)[2:]):
        (entry,) = layer["data"]["values"]
        ends = names.index(entry["name"]), names.index(entry["last"])
        bars.setdefault(layer["encoding"]["x"]["value"], []).append(ends)
    assert sum(map(len, bars.values())) == len(ranking.groups) > 5
    for lane in bars.values():
        assert all(one[1] < other[0] for one, other in itertools.pairwise(lane))


def test_the_drawing_of_ranks_tells_its_test_and_what_is_not_counted() -> None:
    caption = chart(transcripts_document(), "ranks").caption
    assert "by CER over 4 pages; 1 is best" in caption
    assert "Friedman's test, p < 0.001" in caption
    assert "Not counted: 1 page that some engine lacks." in caption
    rows = rows_of(written_readings())
    untested = msgspec.structs.replace(
        ranking_of(rows), critical_difference=None, p_value=None, groups=(), undefined="there is no page", dropped=0
    )
    caption = chart(transcripts_document(summary=transcripts_summary(rows, ranking=untested)), "ranks").caption
    assert caption.endswith("1 is best. Not tested: there is no page.")


def test_the_danger_zone_is_drawn_at_the_thresholds_of_picarones() -> None:
    zones = [plain(layer)["data"]["values"][0] for layer in layers(chart(transcripts_document(), "pages"))[:2]]
    assert zones[0]["right"] == zones[1]["left"] == 0.5
    assert zones[1]["from"] == 1.2


@pytest.mark.parametrize("side", [LIGHT, DARK])
def test_colours_of_engines_can_be_seen_and_told_apart(side: int) -> None:
    colours = [pair[side] for pair in ENGINE_COLOURS]
    assert min(contrast(colour, PALETTE["surface"][side]) for colour in colours) >= 3
    # Engines have a shape of their own as well, for readers who see fewer colours.
    shades = [lab(linear(colour)) for colour in colours]
    apart = [np.linalg.norm(a - b) for place, a in enumerate(shades) for b in shades[place + 1 :]]
    assert min(apart) > 15


def hostile_document(text: str) -> Document:
    """A document on pages with this text in every place that takes one from outside."""
    parts = [Part("run", text, text, text), Part("block", text), Part("omission", reference=text)]
    first = reading(text, text, parts)
    item = RecordFindings(
        msgspec.structs.replace(first.response, fields={**first.response.fields, text: text}), first.findings
    )
    other = reading(text, "plain", parts)
    rows: list[PageRow] = [page_row(one, is_hallucinating=True) for one in (item, other)]
    return transcripts_document(
        [item, other],
        summary=transcripts_summary(rows, notices=(text,)),
        own=rows,
        metric_texts={"cer": MetricText(text, text, text)},
        failures=[Failure(item.response.record_id, text, text, text, text, text)],
        manifest=manifest(inputs=(InputFile(text, text, 1),), judges=(JudgeEntry(text, text),)),
    )


@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_text_changes_no_tag_of_the_page_and_ends_no_block(text: str) -> None:
    page = Page(render_html(hostile_document(text)))
    assert harmless(page) == harmless(Page(render_html(hostile_document("unlike"))))
    for name in ("pairs-data", "pages-data", "readings-data", "charts-data"):
        block = next(content for _, attributes, content in page.inlined if attributes.get("id") == name)
        assert not set("<>&\u2028\u2029\x00") & set(block)
        json.loads(block)


def test_lone_surrogates_are_replaced_and_places_stay() -> None:
    record = reading("p\ud800", "e", [Part("run", "a \udfff b", "a \udfff b"), Part("block", "c d e f")])
    document = transcripts_document([record])
    assert render_html(document).encode()
    payload = Page(render_html(document)).data("readings-data")["readings"]
    assert isinstance(payload, list)
    assert payload[0]["t"] == "a \ufffd b\nc d e f"
    assert payload[0]["s"][1][2:4] == [6, 13]
