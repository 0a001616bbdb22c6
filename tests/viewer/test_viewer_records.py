"""Records of a run from the server: every query against the plainest way to answer it."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from viewer_client import Asker, serving
from viewer_runs import SHARED, Written, written_run

from hallumeter.records.claim import Claim, Finding, Label, Verdict
from hallumeter.records.response import Response
from hallumeter.report.segmentation import settled_label

SETS = {
    "unsupported": {"REFUTED", "NOT_ENOUGH_INFO"},
    "decided": {"REFUTED", "NOT_ENOUGH_INFO", "SUPPORTED"},
    "unmeasured": {"UNDECIDED", "NONE"},
}
HEADLINE = "rules"
"""The judge of the first metric in the summary."""


class Plain:
    """The same run in lists, asked by going through all of it."""

    def __init__(self, written: Written) -> None:
        verdicts: dict[str, list[Verdict]] = {}
        for verdict in written.verdicts:
            verdicts.setdefault(verdict.claim_id, []).append(verdict)
        findings: dict[str, list[Finding]] = {}
        for claim in written.claims:
            own = Finding(claim, tuple(verdicts.get(claim.claim_id, ())))
            findings.setdefault(claim.record_id, []).append(own)
        self.records = [(record, findings.get(record.record_id, [])) for record in written.records]
        self.failures = {(failure.record_id, failure.code) for failure in written.failures}

    def positions(self, query: dict[str, Any]) -> set[int]:
        return {place for place, (record, own) in enumerate(self.records) if self._meets(record, own, query)}

    def _meets(self, record: Response, findings: list[Finding], query: dict[str, Any]) -> bool:
        behind = query.get("behind", {})
        on_finding = {key: behind[key] for key in ON_FINDING if key in behind}
        return (
            all(word in text_of(record, findings) for word in plain(query.get("search", "")).split())
            and all(word in text_of(record, findings) for word in plain(behind.get("search", "")).split())
            and self._is_right_record(record, findings, behind)
            and (not on_finding or any(meets_all(finding, record, behind) for finding in findings))
        )

    def _is_right_record(self, record: Response, findings: list[Finding], behind: dict[str, Any]) -> bool:
        failed = {code for name, code in self.failures if name == record.record_id}
        wanted = behind.get("failure")
        texts = {name: as_text(value) for name, value in record.fields.items() if value is not None}
        start, end = behind.get("length", (0, None))
        size = -1 if record.response is None and "length" in behind else len(record.response or "")
        return (
            ("model" not in behind or record.model == behind["model"])
            and all(texts.get(name) == value for name, value in behind.get("fields", {}).items())
            and (wanted is None or (bool(failed) if wanted is True else wanted in failed))
            and start <= size
            and (end is None or size < end)
            and ("without_claims" not in behind or (not findings) == behind["without_claims"])
        )


def plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()


def as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def text_of(record: Response, findings: list[Finding]) -> str:
    told = [record.record_id, record.model, record.question, record.response, record.reference]
    told += [as_text(value) for value in record.fields.values() if value is not None]
    told += [passage.text for passage in record.evidence]
    for finding in findings:
        told += [finding.claim.text, *(verdict.reason for verdict in finding.verdicts)]
        told += [verdict.note for verdict in finding.verdicts]
    return plain("\n".join(filter(None, told)))


def names(label: str | None) -> set[str]:
    return {"NONE"} if label is None else SETS.get(label, {label})


def name_of(label: Label | None) -> str:
    return "NONE" if label is None else label.value


def votes_as(finding: Finding, judge: str, wanted: str | None) -> bool:
    own = {verdict.label.value for verdict in finding.verdicts if verdict.judge == judge} or {"NONE"}
    return bool(own & names(wanted))


def tenth_of(claim: Claim, record: Response) -> int | None:
    size = len(record.response or "")
    if claim.start is None or claim.end is None or not claim.start < claim.end <= size:
        return None
    return min(9, int((claim.start + claim.end) / 2 / size * 10))


def has_probability(finding: Finding, behind: dict[str, Any]) -> bool:
    start, end = behind["probability"]
    values = [
        verdict.unsupported_probability
        for verdict in finding.verdicts
        if behind.get("judge") in (None, verdict.judge) and verdict.unsupported_probability is not None
    ]
    return any(start <= value and (end is None or value < end) for value in values)


ON_FINDING: dict[str, Callable[[Finding, Response, dict[str, Any]], bool]] = {
    "label": lambda finding, _, behind: name_of(settled_label(finding, HEADLINE)) in names(behind["label"]),
    "votes": lambda finding, _, behind: all(votes_as(finding, *vote) for vote in behind["votes"].items()),
    "reason": lambda finding, _, behind: behind["reason"] in [verdict.reason for verdict in finding.verdicts],
    "kind": lambda finding, _, behind: finding.claim.kind == behind["kind"],
    "tenth": lambda finding, record, behind: tenth_of(finding.claim, record) == behind["tenth"],
    "probability": lambda finding, _, behind: has_probability(finding, behind),
}


def meets_all(finding: Finding, record: Response, behind: dict[str, Any]) -> bool:
    return all(meets(finding, record, behind) for key, meets in ON_FINDING.items() if key in behind)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Written:
    return written_run(tmp_path_factory.mktemp("runs") / "one")


@pytest.fixture(scope="module")
def asker(run: Written) -> Iterator[Asker]:
    with serving(run.path) as asker:
        yield asker


def found(asker: Asker, query: dict[str, Any], order: str = "worst") -> list[int]:
    answer = asker.get(f"{asker.only_run()}records", query=json.dumps(query), order=order, count=200).json
    assert answer["matching"] == len(answer["entries"])
    return [entry["n"] for entry in answer["entries"]]


BEHIND: list[dict[str, Any]] = [
    *({"label": label} for label in ("REFUTED", "NOT_ENOUGH_INFO", "UNDECIDED", "NONE", "SUPPORTED", None)),
    *({"label": label} for label in SETS),
    {"votes": {"rules": "REFUTED"}},
    {"votes": {"rules": "REFUTED", "openai:small": "SUPPORTED"}},
    {"votes": {"rules": "unsupported", "openai:small": "NONE", "anthropic:large": "decided"}},
    {"votes": {"nobody": "NONE"}},
    {"votes": {"nobody": "REFUTED"}},
    {"reason": "number_mismatch"},
    {"reason": None},
    {"reason": "never_given"},
    {"kind": "slot"},
    {"kind": "slot", "label": "REFUTED", "reason": "silent"},
    *({"tenth": tenth} for tenth in range(10)),
    {"tenth": 4, "label": "unsupported"},
    {"probability": [0.2, 0.4]},
    {"probability": [0.9, None]},
    {"probability": [0.5, 0.6], "judge": "rules"},
    {"probability": [0.5, 0.6], "judge": "rules", "label": "REFUTED"},
    {"probability": [0, 2], "tenth": 3, "kind": "claim", "votes": {"openai:small": "SUPPORTED"}},
    {"model": "small"},
    {"model": None},
    {"model": "unknown"},
    {"fields": {"topic": "tax"}},
    {"fields": {"topic": None}},
    {"fields": {"hard": "true", "n": "2"}},
    {"fields": {"never": "x"}},
    {"failure": True},
    {"failure": "timeout"},
    {"failure": "never"},
    {"length": [0, 40]},
    {"length": [40, None]},
    {"without_claims": True},
    {"without_claims": False},
    {"search": "서울"},
    {"label": "REFUTED", "model": "large", "fields": {"topic": "law"}, "length": [10, 500]},
]


@pytest.mark.parametrize("behind", BEHIND, ids=json.dumps)
def test_a_query_finds_what_going_through_all_records_finds(asker: Asker, run: Written, behind: dict[str, Any]) -> None:
    assert set(found(asker, {"behind": behind})) == Plain(run).positions({"behind": behind})


SEARCHES = [
    *(
        "tower",
        "TOWER high",
        "r1",
        "Nr 7.",
        "서울",
        "한국의",
        "도이",
        "full",
        "été",
        "ÉTÉ paris",
        "שלום",
        "x2",
        "%",
        "_",
    ),
    *('"', "'", "a", "서", "*", "number_mismatch", "a note", "grenoble", "evidence 3", "claim r5#0", "nothing of it"),
    *("tower nowhere", "  ", "OR", "NEAR(", "tower OR seoul", "question 5? tax", "ower i"),
]


@pytest.mark.parametrize("search", SEARCHES)
def test_a_search_finds_parts_of_words_in_any_script(asker: Asker, run: Written, search: str) -> None:
    assert set(found(asker, {"search": search})) == Plain(run).positions({"search": search})


def test_a_search_and_a_query_must_both_be_met(asker: Asker, run: Written) -> None:
    query = {"search": "tower", "behind": {"label": "unsupported", "search": "paris"}}
    assert set(found(asker, query)) == Plain(run).positions(query)
    assert found(asker, query)


def test_a_label_or_a_model_may_be_asked_for_by_itself(asker: Asker, run: Written) -> None:
    query = {"label": "REFUTED", "model": None}
    assert set(found(asker, query)) == Plain(run).positions({"behind": query})


def test_records_come_in_the_order_that_was_asked_for(asker: Asker, run: Written) -> None:
    def counts(findings: list[Finding]) -> Counter[str]:
        return Counter(name_of(settled_label(finding, HEADLINE)) for finding in findings)

    rows = []
    for place, (_, findings) in enumerate(Plain(run).records):
        own = counts(findings)
        unsupported = own["REFUTED"] + own["NOT_ENOUGH_INFO"]
        decided = unsupported + own["SUPPORTED"]
        rows.append((place, unsupported, unsupported / decided if decided else 0.0, own["UNDECIDED"] + own["NONE"]))
    worst = sorted(rows, key=lambda row: (-row[1], -row[2], -row[3], row[0]))
    assert found(asker, {}, "worst") == found(asker, {}, "given") == [row[0] for row in worst]
    assert found(asker, {}, "share") == [row[0] for row in sorted(rows, key=lambda row: (-row[2], -row[1], row[0]))]
    assert found(asker, {}, "unmeasured") == [row[0] for row in sorted(rows, key=lambda row: (-row[3], row[0]))]
    assert found(asker, {}, "name") == list(range(len(rows)))


def test_the_records_on_which_judges_disagree_most_come_first(asker: Asker, run: Written) -> None:
    disputed = []
    for place, (_, findings) in enumerate(Plain(run).records):
        argued = sum(len({verdict.label for verdict in finding.verdicts}) > 1 for finding in findings)
        disputed.append((-argued, -argued / max(len(findings), 1), place))
    assert found(asker, {}, "disagreement") == [place for *_, place in sorted(disputed)]


def test_a_list_comes_in_pages(asker: Asker, run: Written) -> None:
    whole = found(asker, {}, "name")
    pages = [
        asker.get(f"{asker.only_run()}records", order="name", start=start, count=50).json for start in (0, 50, 100, 150)
    ]
    assert [len(page["entries"]) for page in pages] == [50, 50, 20, 0]
    assert [entry["n"] for page in pages for entry in page["entries"]] == whole
    assert {(page["total"], page["matching"]) for page in pages} == {(120, 120)}
    assert len(asker.get(f"{asker.only_run()}records", count=100_000).json["entries"]) == 120


def test_an_entry_tells_what_a_list_shows(asker: Asker, run: Written) -> None:
    (position,) = found(asker, {"search": "r44"})
    record, findings = Plain(run).records[position]
    entry = asker.get(f"{asker.only_run()}records", query={"search": "r44"}).json["entries"][0]
    labels = Counter(settled_label(finding, HEADLINE) for finding in findings)
    order = [Label.REFUTED, Label.NOT_ENOUGH_INFO, Label.UNDECIDED, None, Label.SUPPORTED]
    assert entry["id"] == "r44"
    assert entry.get("m") == record.model
    assert entry["c"] == [labels[label] for label in order]
    assert entry["w"] == (record.question or record.response or "")[:200]


def test_one_record_is_what_the_data_of_a_report_would_hold(asker: Asker, run: Written) -> None:
    _, findings = Plain(run).records[44]
    block = asker.get(f"{asker.only_run()}records/44").json
    (only,) = block["records"]
    assert only["id"] == "r44"
    assert SHARED.text in json.dumps(block, ensure_ascii=False)
    assert len(only.get("f", [])) == len(findings)
    assert block["judges"]


def test_facets_count_records(asker: Asker, run: Written) -> None:
    facets = asker.get(f"{asker.only_run()}facets").json
    everything = Plain(run)
    order = ("REFUTED", "NOT_ENOUGH_INFO", "UNDECIDED", "NONE", "SUPPORTED")
    assert facets["labels"] == [len(everything.positions({"behind": {"label": label}})) for label in order]
    models = Counter(record.model for record in run.records)
    assert facets["models"] == [["large", models["large"]], ["small", models["small"]], [None, models[None]]]
    reasons = {
        reason: len(everything.positions({"behind": {"reason": reason}})) for reason in ("silent", "name_mismatch")
    }
    assert reasons.items() <= dict(facets["reasons"]).items()
    assert dict(facets["kinds"])["slot"] == len(everything.positions({"behind": {"kind": "slot"}}))
    assert set(facets["fields"]) == {"topic", "hard", "n"}
    assert [name for name, _ in facets["fields"]["hard"]] == ["false", "true"]


def test_a_run_that_changes_is_read_again(tmp_path: Path) -> None:
    written_run(tmp_path / "one", 10)
    with serving(tmp_path) as asker:
        assert asker.get(f"{asker.only_run()}records").json["total"] == 10
        written_run(tmp_path / "one", 12, seed=9)
        assert asker.get(f"{asker.only_run()}records").json["total"] == 12


@pytest.mark.parametrize("name", ["records.jsonl", "claims.jsonl", "verdicts.jsonl"])
def test_damaged_records_are_told_of(tmp_path: Path, name: str) -> None:
    written_run(tmp_path / "one", 10)
    with (tmp_path / "one" / name).open("ab") as file:
        file.write(b"{broken\n")
    with serving(tmp_path) as asker:
        answer = asker.get(f"{asker.only_run()}records")
        assert answer.status == 503
        assert name in answer.text
        assert name in asker.get(asker.only_run()).text
        assert asker.events(f"{asker.only_run()}progress", "failed")[-1][1]["reason"].count(name) == 1
