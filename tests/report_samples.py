"""Documents to test with: the bundled answers, and a few in Korean, French and Hebrew written for these tests."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from importlib import resources
from typing import Literal

from hallumeter.records.claim import Claim, Failure, Finding, Label, Verdict
from hallumeter.records.manifest import InputFile, JudgeEntry, Manifest
from hallumeter.records.measurement import Counts, MetricSummary, Profile, Summary
from hallumeter.records.response import Passage, Quote, Response
from hallumeter.report.build import build_document
from hallumeter.report.document import Document, MetricText, RecordFindings

Row = dict[str, str | int | float | list[str]]

METRIC_TEXTS = {
    "mihr": MetricText("MiHR", "micro hallucination rate", "Which share of all claims is unsupported?", (0, 1)),
    "mahr": MetricText("MaHR", "macro hallucination rate", "Which share of responses has one or more?", (0, 1)),
    "factscore": MetricText("FactScore", "factual precision", "Which share of claims is supported?", (0, 1)),
    "far": MetricText("FAR", "false acceptance rate", "How often is a question without an answer answered?", (0, 1)),
    "kappa": MetricText("κ", "Fleiss' kappa", "Do the judges agree beyond chance?", (-1, 1), "agreement"),
}


def metric(
    name: str,
    count: float | None,
    total: float | None,
    *,
    by: dict[str, str] | None = None,
    judge: str | None = "consensus",
    direction: Literal["lower", "higher", "none"] = "lower",
    undecided: int = 0,
) -> MetricSummary:
    """A summary line with its value divided here, an interval of fixed width, and bounds from what is undecided."""
    value = count / total if count is not None and total else None
    low, high = (None, None) if value is None else (max(0.0, value - 0.08), min(1.0, value + 0.09))
    bounds = None
    if count is not None and total:
        bounds = (count / (total + undecided), (count + undecided) / (total + undecided))
    return MetricSummary(
        metric=name,
        by=by or {},
        judge=judge,
        count=count,
        total=total,
        value=value,
        interval=None if low is None or high is None else (low, high),
        interval_method=None if value is None else "cluster_bootstrap",
        direction=direction,
        undefined=None if value is not None else "no question without an answer was asked",
        undecided=undecided,
        failed=0,
        bounds=bounds,
        signature=f"{name}|judge:{judge}|nei:unsupported|ci:cluster-bootstrap-2000|seed:0|v:0.1.0",
    )


def manifest(**changes: object) -> Manifest:
    """A manifest with times, which no report may show."""
    facts: dict[str, object] = {
        "version": 1,
        "hallumeter": "0.1.0",
        "instrument": "audit",
        "inputs": (InputFile("answers.jsonl", "9f" * 32, 66),),
        "settings": {"extractor": "sentences", "by": ["model"]},
        "judges": (JudgeEntry("human", "recorded"), JudgeEntry("word-overlap", "recorded")),
        "started": "2031-01-02T03:04:05Z",
        "finished": "2031-01-02T03:05:06Z",
    }
    return Manifest(**{**facts, **changes})  # type: ignore[arg-type]


def finding(
    start: int | None = None,
    end: int | None = None,
    label: Label | None = Label.REFUTED,
    *,
    claim_id: str = "c0",
    text: str | None = None,
    quotes: tuple[Quote, ...] = (),
    note: str | None = None,
    judge: str = "human",
    reason: str | None = None,
) -> Finding:
    """A claim with one verdict, or none."""
    verdict = Verdict("r0", claim_id, judge, label, reason=reason, evidence=quotes, note=note) if label else None
    return Finding(Claim("r0", claim_id, start=start, end=end, text=text), (verdict,) if verdict else ())


def bundled_rows(name: str) -> list[Row]:
    """The rows of a bundled sample."""
    lines = (resources.files("hallumeter.samples") / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def bundled_records() -> list[RecordFindings]:
    """Sixty-six real answers with the verdicts of people and of two lexical judges."""
    votes = defaultdict(list)
    for row in bundled_rows("panel.jsonl"):
        votes[row["record_id"], row["model"], row["claim_id"]].append(row)
    responses: dict[tuple[str, str], Response] = {}
    findings: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for row in bundled_rows("rag_answers.jsonl"):
        key = (str(row["record_id"]), str(row["model"]))
        if "response" in row:
            passages = row["evidence"]
            assert isinstance(passages, list)
            responses[key] = Response(
                record_id=key[0],
                question=str(row["question"]),
                response=str(row["response"]),
                evidence=tuple(Passage(f"e{place + 1}", text) for place, text in enumerate(passages)),
                model=key[1],
            )
        claim = Claim(key[0], str(row["claim_id"]), start=int(row["start"]), end=int(row["end"]), text=str(row["text"]))  # type: ignore[arg-type]
        verdicts = tuple(_verdict(row, vote) for vote in votes[*key, row["claim_id"]])
        human = Verdict(key[0], claim.claim_id, "consensus", Label(row["label"]), reason=_optional(row, "reason"))
        findings[key].append(Finding(claim, (human, *verdicts)))
    return [RecordFindings(responses[key], tuple(findings[key])) for key in responses]


def _verdict(row: Row, vote: Row) -> Verdict:
    probability = vote.get("unsupported_probability")
    return Verdict(
        record_id=str(row["record_id"]),
        claim_id=str(row["claim_id"]),
        judge=str(vote["judge"]),
        label=Label(vote["label"]),
        unsupported_probability=float(probability) if isinstance(probability, float | int) else None,
        reason=_optional(row if vote["judge"] == "human" else vote, "reason"),
    )


def _optional(row: Row, name: str) -> str | None:
    value = row.get(name)
    return None if value is None else str(value)


def written_records() -> list[RecordFindings]:
    """Answers in Korean, French and Hebrew, with quotations, overlaps, a claim without a place, and a failure."""
    korean = Response(
        record_id="ko-1",
        question="한강의 길이는 얼마입니까?",
        response="한강의 길이는 약 494 km이며 서울을 지나 동해로 흐릅니다.",
        evidence=(Passage("백과", "한강은 길이 약 494 km로 서울을 지나 황해로 흘러든다."),),
        model="모델-가",
        fields={"lang": "ko", "task": "QA"},
    )
    french = Response(
        record_id="fr-1",
        question="Quand l’opéra a-t-il ouvert ?",
        response="L’opéra a ouvert en 1869, sous Napoléon III ; l’architecte était « Garnier ».",
        evidence=(Passage("p1", "Le palais Garnier fut inauguré le 5 janvier 1875."), Passage("p2", "Rien d’autre.")),
        model="modèle-b",
        fields={"lang": "fr", "task": "QA"},
    )
    hebrew = Response(
        record_id="he-1",
        question="מהי בירת צרפת?",
        response="בירת צרפת היא ליון 🇫🇷.",
        evidence=(Passage("e1", "פריז היא בירת צרפת."),),
        model="modèle-b",
    )
    sea = finding(
        *_place(korean, "동해로 흐릅니다"), quotes=(Quote("백과", 24, 27),), note="동해가 아니라 황해", claim_id="ko#1"
    )
    opened = (
        finding(*_place(french, "L’opéra a ouvert en 1869"), claim_id="fr#0", quotes=(Quote("p1", 44, 48, "1875"),)),
        finding(*_place(french, "1869, sous Napoléon III"), Label.NOT_ENOUGH_INFO, claim_id="fr#1"),
        finding(None, None, Label.NOT_ENOUGH_INFO, claim_id="fr#2", text="Garnier était né à Paris."),
        finding(*_place(french, "l’architecte était « Garnier »"), None, claim_id="fr#3"),
    )
    city = finding(*_place(hebrew, "בירת צרפת היא ליון"), quotes=(Quote("e1", 0, 4),), claim_id="he#0")
    return [
        RecordFindings(
            korean, (finding(*_place(korean, "한강의 길이는 약 494 km"), Label.SUPPORTED, claim_id="ko#0"), sea)
        ),
        RecordFindings(french, opened),
        RecordFindings(hebrew, (city,)),
    ]


def _place(response: Response, words: str) -> tuple[int, int]:
    start = (response.response or "").index(words)
    return start, start + len(words)


def _by_model(model: str, unsupported: int, claims: int, undecided: int = 0) -> list[MetricSummary]:
    by = {"model": model}
    return [
        metric("mihr", unsupported, claims, by=by, undecided=undecided),
        metric("mahr", unsupported // 2, 11, by=by, undecided=undecided),
        metric("factscore", claims - unsupported, claims, by=by, undecided=undecided, direction="higher"),
    ]


def summary(**changes: object) -> Summary:
    """Headline rates, one of them undefined, agreement, and a breakdown by model."""
    facts: dict[str, object] = {
        "version": 1,
        "instrument": "audit",
        "counts": Counts(records=69, claims=488, verdicts=1449, failures=2, judges=3, models=8),
        "metrics": (
            metric("mihr", 47, 481, undecided=28),
            metric("mahr", 28, 66),
            metric("factscore", 434, 481, direction="higher"),
            metric("far", 0, 0),
            metric("mihr", 93, 453, judge="word-overlap"),
            MetricSummary(
                *("kappa", {}, None, None, None, 0.31, (0.2, 0.41), "delta", "higher", None, 287, 0, None),
                signature="kappa|v:0.1.0",
                note="Most claims have one label, which lowers kappa; read it with AC1.",
            ),
            *_by_model("gpt-4-0613", 3, 70),
            *_by_model("llama-2-7b-chat", 16, 90, undecided=6),
        ),
        "profile": {"default": Profile("default", "medium", True, ("mihr", "mahr"), ("MaHR is above 0.30.",))},
        "notices": ("field 'answer' was read as 'response'",),
    }
    return Summary(**{**facts, **changes})  # type: ignore[arg-type]


FAILURES = (
    Failure("fr-1", "fr#3", "judge", "word-overlap", "timeout", "no reply in 60 s", attempts=3),
    Failure(None, None, "read", None, "bad_line", "answers.jsonl:7: expected an object, found a list"),
)


def sample_document(records: Iterable[RecordFindings] | None = None, **changes: object) -> Document:
    """A whole document of the bundled and the written answers."""
    arguments: dict[str, object] = {
        "summary": summary(),
        "manifest": manifest(),
        "metric_texts": METRIC_TEXTS,
        "records": [*bundled_records(), *written_records()] if records is None else records,
        "failures": FAILURES,
    }
    return build_document(**{**arguments, **changes})  # type: ignore[arg-type]
