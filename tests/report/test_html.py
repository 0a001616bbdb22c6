"""The page: whole, closed, quick, and the same every time."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

import hallumeter
from hallumeter.records.claim import Claim, Finding, Label, Verdict
from hallumeter.records.manifest import InputFile
from hallumeter.records.measurement import Profile
from hallumeter.records.response import Passage, Quote, Response
from hallumeter.report.document import Document, MetricText, RecordFindings
from hallumeter.report.drawing import PALETTE
from hallumeter.report.page.proof import page_markup
from hallumeter.report.page.render import render_html, write_html
from hallumeter.report.selection import Limits
from report_samples import finding, manifest, metric, sample_document, summary

STATIC = Path(hallumeter.__file__).parent / "report" / "static"


class Page(HTMLParser):
    """What a page holds: its tags with their attributes, its text, and the contents of its scripts and styles."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.inlined: list[tuple[str, dict[str, str | None], str]] = []
        self._open: tuple[str, dict[str, str | None]] | None = None
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = (tag, dict(attrs)) if tag in {"script", "style"} else None
        if self._open:
            self.inlined.append((*self._open, ""))

    def handle_endtag(self, tag: str) -> None:
        self._open = None

    def handle_data(self, data: str) -> None:
        if self._open:
            tag, attributes, content = self.inlined[-1]
            self.inlined[-1] = (tag, attributes, content + data)
        else:
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())

    def data(self, name: str) -> dict[str, object]:
        found = next(content for _, attributes, content in self.inlined if attributes.get("id") == name)
        block = msgspec.json.decode(found, type=dict[str, object])
        if list(block) != ["gzip"]:
            return block
        return msgspec.json.decode(gzip.decompress(base64.b64decode(str(block["gzip"]))), type=dict[str, object])


@pytest.fixture(scope="module")
def source() -> str:
    return render_html(sample_document())


@pytest.fixture(scope="module")
def page(source: str) -> Page:
    return Page(source)


def page_of(document: Document) -> Page:
    return Page(render_html(document))


def test_equal_documents_give_equal_pages(source: str) -> None:
    assert render_html(sample_document()) == source


def test_the_page_shows_no_time_so_that_equal_runs_give_equal_files(source: str) -> None:
    assert "2031-" not in source


def test_the_policy_lets_in_exactly_the_scripts_and_the_style_of_the_page(page: Page) -> None:
    policy = next(a["content"] for tag, a in page.tags if tag == "meta" and a.get("http-equiv"))
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert not re.search("unsafe|http|data:|\\*|nonce", policy)
    for kind, rule in (("script", "script-src"), ("style", "style-src")):
        contents = [content for tag, attributes, content in page.inlined if tag == kind and "type" not in attributes]
        digests = [base64.b64encode(hashlib.sha256(content.encode()).digest()).decode() for content in contents]
        assert rules[rule].split() == [f"'sha256-{digest}'" for digest in digests]


def test_nothing_on_the_page_points_outside_it_or_runs_from_an_attribute(page: Page) -> None:
    for tag, attributes in page.tags:
        assert not {"src", "srcset", "style", "action", "data"} & attributes.keys(), (tag, attributes)
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert (attributes.get("href") or "#").startswith("#"), (tag, attributes)
        assert tag not in {"link", "iframe", "object", "embed", "img", "base"}
    assert not any("sourceMappingURL" in content for _, _, content in page.inlined)


def test_headings_links_and_names_lead_to_places_that_exist(page: Page) -> None:
    names = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert len(names) == len(set(names))
    links = {(attributes.get("href") or "")[1:] for tag, attributes in page.tags if tag == "a"}
    assert links <= set(names)


def test_the_headline_shows_value_interval_counts_and_what_is_missing(page: Page) -> None:
    row = (
        "MiHR ↓ micro hallucination rate Which share of all claims is unsupported? "
        "signature mihr|judge:consensus|nei:unsupported|ci:cluster-bootstrap-2000|seed:0|v:0.1.0 "
        "0.098 0.018 – 0.188 47 / 481 28 undecided 0.092 – 0.147"
    )
    assert row in page.words
    assert "FAR ↓ false acceptance rate" in page.words
    assert "undefined: no question without an answer was asked 0 / 0" in page.words


def test_the_profile_tells_its_rule_and_the_names_that_readers_know(page: Page) -> None:
    assert "policy default Reliability: medium High risk of hallucination MaHR is above 0.30. Based on MiHR, MaHR." in (
        page.words
    )


def test_the_page_says_whose_verdicts_the_headline_rests_on(page: Page) -> None:
    assert "By the consensus of the judges." in page.words
    alone = sample_document([], summary=summary(metrics=(metric("mihr", 1, 2, judge="human"),)))
    assert "By the verdicts of human ." in page_of(alone).words


def test_a_judge_whose_verdicts_were_not_kept_has_no_counts_of_zero() -> None:
    rows = (metric("mihr", 1, 2), metric("mihr", 1, 2, judge="a"), metric("mihr", 1, 2, judge="b"))
    words = page_of(sample_document([], summary=summary(metrics=rows), manifest=manifest(judges=()))).words
    assert "consensus what the judges say together – – – – MiHR 0.500" in words
    settled = manifest(judges=(), settings={"consensus": "majority"})
    words = page_of(sample_document([], summary=summary(metrics=rows), manifest=settled)).words
    assert "consensus the label that most judges decided on – – – – MiHR 0.500" in words


def test_a_profile_without_any_measured_metric_says_so() -> None:
    profile = {"default": Profile("default", "unknown", False)}
    words = page_of(sample_document([], summary=summary(profile=profile))).words
    assert "Reliability: unknown No metric had a value." in words
    assert "High risk" not in words


def test_judges_failures_and_the_ledger_are_on_the_page(page: Page) -> None:
    assert "word-overlap settings recorded 0 93 28 360 MiHR 0.205" in page.words
    assert "κ ↑ Fleiss' kappa" in page.words
    assert "Failures 2 each with its cause below" in page.words
    assert "fr-1 fr#3 judge word-overlap timeout no reply in 60 s 3" in page.words
    assert "FAR , consensus : no question without an answer was asked" in page.words


def test_figures_that_are_undefined_for_the_same_reason_share_a_line() -> None:
    rows = [metric(name, 0, 0, by={"model": model}) for model in ("m1", "m2") for name in ("mihr", "far")]
    words = page_of(sample_document([], summary=summary(metrics=(metric("mahr", 1, 2), *rows)))).words
    assert "Undefined metrics 4 nothing to count" in words
    ledger = words[words.index("Undefined MiHR") :]
    assert ledger.startswith(
        "Undefined MiHR, FAR , 4 figures: no question without an answer was asked which MiHR, model m1, consensus"
    )
    assert ledger.count("no question without an answer was asked") == 1
    assert "FAR, model m2, consensus" in ledger


def test_what_could_not_be_measured_is_said_once_where_it_is_the_same_for_every_metric() -> None:
    same = [metric(name, 1, 4, by={"model": "a"}, undecided=3) for name in ("mihr", "mahr")]
    differing = [
        metric("mihr", 1, 4, by={"model": "b"}, undecided=2),
        metric("mahr", 1, 4, by={"model": "b"}, undecided=1),
    ]
    words = page_of(sample_document([], summary=summary(metrics=(*same, *differing)))).words
    assert "a 3 undecided 0.250" in words
    assert words.count("3 undecided") == 1
    assert "2 undecided" in words
    assert "1 undecided" in words


def test_a_table_has_no_column_in_which_nothing_would_stand(page: Page) -> None:
    # No statistic of agreement has bounds; one of the sample leaves claims out.
    assert "Agreement between judges Metric Value 95 % interval Counts Unmeasured κ ↑" in page.words


def test_a_pair_of_judges_is_named_with_its_agreement_and_two_judges_get_no_table_beside_each_other() -> None:
    texts = {name: MetricText(name, "", "", family="agreement") for name in ("pair", "each")}
    rows = [metric("pair", 1, 2, judge="human & word-overlap"), metric("pair", 1, 4, judge="all judges")]
    rows += [metric("each", 1, 2, judge=judge) for judge in ("human", "word-overlap")]
    words = page_of(sample_document([], summary=summary(metrics=tuple(rows)), metric_texts=texts)).words
    assert "pair ↓ human & word-overlap signature" in words
    assert "all judges" not in words.replace("judge:all judges", "")
    assert "Each judge beside the others" not in words


def test_a_confidence_is_not_shown_beside_the_probability_that_it_repeats() -> None:
    def shown(label: Label, probability: float, confidence: float) -> dict[str, object]:
        verdict = Verdict("r", "c", "j", label, unsupported_probability=probability, confidence=confidence)
        found = (Finding(Claim("r", "c"), (verdict,)),)
        payload = page_of(sample_document([RecordFindings(Response("r"), found)])).data("records-data")
        return payload["records"][0]["f"][0]["v"][0]  # type: ignore[no-any-return, index]

    assert "c" not in shown(Label.SUPPORTED, 0.25, 0.75)
    assert "c" not in shown(Label.REFUTED, 0.75, 0.75)
    assert shown(Label.SUPPORTED, 0.25, 0.9)["c"] == 0.9


def test_costs_are_shown_with_what_is_not_known_of_them() -> None:
    costs = {"a": 0.5, "b": None}
    found = tuple(
        Finding(Claim("r", name), (Verdict("r", name, "paid", Label.SUPPORTED, cost_usd=cost),))
        for name, cost in costs.items()
    )
    assert "0.5000 1 verdict without one" in page_of(sample_document([RecordFindings(Response("r"), found)])).words


def test_inputs_and_settings_are_shown_so_that_the_run_can_be_repeated(page: Page) -> None:
    assert f"answers.jsonl , 66 records, sha256 {'9f' * 32}" in page.words
    assert "by model" in page.words


def test_groups_are_shown_with_a_dash_where_a_metric_has_no_row() -> None:
    metrics = (
        metric("mihr", 1, 4, by={"model": "a"}),
        metric("mihr", 0, 0, by={"model": "b"}),
        metric("mahr", 1, 2, by={"model": "b"}, undecided=3),
    )
    words = page_of(sample_document([], summary=summary(metrics=metrics))).words
    assert "a 0.250 0.170 – 0.340 1 / 4 –" in words
    assert "b undefined: no question without an answer was asked 0 / 0 0.500" in words
    assert "1 / 2 3 undecided" in words


def test_the_record_browser_gets_every_word_once(page: Page) -> None:
    records = page.data("records-data")["records"]
    assert isinstance(records, list)
    assert sorted(record["o"] for record in records) == list(range(69))
    given = [passage[1] for record in records for passage in record["e"]]
    passages = [text for text in given if isinstance(text, str)]
    assert len(passages) == len(set(passages)) < len(given)
    korean = next(record for record in records if record["id"] == "ko-1")
    assert korean["t"] == "한강의 길이는 약 494 km이며 서울을 지나 동해로 흐릅니다."
    assert korean["f"][1]["v"][0]["q"] == [[0, 24, 27]]
    loose = next(record for record in records if record["id"] == "fr-1")
    assert [claim.get("n") for claim in loose["f"]] == [None, None, 1, None]
    assert loose["b"] == [["fr#3", "word-overlap", "judge: timeout: no reply in 60 s (3 attempts)", "timeout"]]


def test_quotations_that_cannot_be_placed_keep_their_words() -> None:
    quotes = (
        Quote("e", 0, 99, "beyond"),
        Quote("gone", 0, 1, "lost"),
        Quote("e", 0, 2, "other"),
        Quote("e", 0, 2, "ab"),
    )
    record = RecordFindings(
        Response("r", response="x", evidence=(Passage("e", "abc"),), reference="the reference"),
        (finding(0, 1, quotes=quotes),),
    )
    records = page_of(sample_document([record])).data("records-data")["records"]
    assert isinstance(records, list)
    assert records[0]["f"][0]["v"][0]["q"] == [
        [0, None, None, "beyond"],
        [-1, None, None, "lost", "gone"],
        [0, 0, 2, "other"],
        [0, 0, 2],
    ]
    assert records[0]["g"] == "the reference"


def test_a_report_without_anything_to_draw_carries_no_drawing_library() -> None:
    small = render_html(sample_document([], summary=summary(metrics=())))
    assert "vegaEmbed" not in small
    assert "BSD-3-Clause" not in small
    assert small.count("sha256-") == 3  # the two scripts that all pages share, and the style
    assert len(small) < 60_000


def test_licences_travel_with_the_libraries_that_they_belong_to(source: str) -> None:
    assert "Copyright (c) 2015-2023, University of Washington Interactive Data Lab" in source
    assert "Permission to use, copy, modify, and/or distribute this software" in source


def test_vendored_files_are_the_ones_that_were_published() -> None:
    lines = (STATIC / "VERSIONS").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 3
    for line in lines:
        name, *_, digest = line.split()
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == digest.removeprefix("sha256:")


def test_style_and_charts_take_their_colours_from_one_palette(page: Page) -> None:
    style = next(content for tag, _, content in page.inlined if tag == "style")
    for name, (light, dark) in PALETTE.items():
        assert f"--{name.replace('_', '-')}:{light};" in style
        assert f"--{name.replace('_', '-')}:{dark};" in style
    assert page.data("charts-data")["dark"] == dict(PALETTE.values())


def test_model_text_has_its_own_direction_and_the_page_its_language(source: str) -> None:
    assert '<html lang="en">' in source
    assert 'dir: "auto"' in (STATIC / "records.js").read_text(encoding="utf-8")


def test_scripts_put_text_in_as_text_only() -> None:
    for name in ("records.js", "charts.js"):
        script = (STATIC / name).read_text(encoding="utf-8")
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|fetch\(", script
        )


def test_a_section_of_a_kind_that_the_page_does_not_know_is_skipped() -> None:
    class FutureSection(msgspec.Struct, frozen=True, tag="future"):
        """A kind of section that another version may add."""

    document = sample_document([])
    extended = msgspec.structs.replace(document, sections=(*document.sections, FutureSection()))
    assert page_markup(render_html(extended)) == page_markup(render_html(document))


def test_a_thousand_short_records_make_a_small_file_quickly() -> None:
    question, answer, source = (
        "Which river flows through the town?",
        "The Loire flows through it. " * 5,
        "It lies on the Loire. " * 7,
    )
    records = [
        RecordFindings(
            Response(
                f"r{number}",
                question=question,
                response=f"{number} {answer}",
                evidence=(Passage("e", f"{number} {source}"),),
            ),
            tuple(
                finding(start, start + 20, claim_id=f"c{start}", quotes=(Quote("e", 3, 9),)) for start in (0, 30, 60)
            ),
        )
        for number in range(1000)
    ]
    document = sample_document(records, limits=Limits(worst=1000))
    page = render_html(document)
    assert len(page.encode()) < 2_000_000
    assert "All 1,000, worst first." in page


def test_a_file_is_written_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "report.html"
    target.write_text("before", encoding="utf-8")
    document = sample_document([])
    write_html(document, target)
    assert target.read_bytes().decode() == render_html(document)
    assert list(tmp_path.iterdir()) == [target]


def test_a_file_that_cannot_be_finished_leaves_the_one_before_untouched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "report.html"
    target.write_text("before", encoding="utf-8")

    def break_off(self: Path, data: bytes) -> int:
        with self.open("wb") as half:
            half.write(data[:10])
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_bytes", break_off)
    with pytest.raises(OSError, match="no space left"):
        write_html(sample_document([]), str(target))
    assert target.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [target]


def test_names_of_files_and_settings_are_escaped() -> None:
    files = (InputFile("<b>&.jsonl", None, 1),)
    source = render_html(sample_document([], manifest=manifest(inputs=files, settings={"<i>": "<u>"})))
    assert "<b>&.jsonl" not in source
    assert "&lt;b&gt;&amp;.jsonl" in source
    assert "&lt;i&gt;" in source
