"""Every record survives the way through JSON, with None, tuples and enumerations intact."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from dialogue_records import DIALOGUE_RECORDS, FAIRNESS
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from comparison_samples import compared_row, comparison_of
from hallumeter.dialogue import records as dialogue_nouns
from hallumeter.dialogue.records import Mention
from hallumeter.errors import RecordError
from hallumeter.records import claim, manifest, measurement, page, ranking, rate, response, summaries
from hallumeter.records.claim import Claim, Failure, Finding, Label, Verdict
from hallumeter.records.manifest import InputFile, JudgeEntry, Manifest, RunFile
from hallumeter.records.measurement import Counts, Measurement, MetricSummary, Profile, Signature, Summary
from hallumeter.records.page import InventedWord, PageRow, Transcript, WorstLine
from hallumeter.records.ranking import EnginePair, RankedEngine, Ranking
from hallumeter.records.rate import Rate, Rates
from hallumeter.records.response import Passage, Quote, Response
from hallumeter.transcripts import records as transcript_nouns

NOUNS = (claim, manifest, measurement, page, ranking, rate, response, summaries, dialogue_nouns, transcript_nouns)
COLUMNS = {
    *("Answers", "LabelCounts", "PageColumns", "PageCounts", "Rates", "Ratings", "Support", "UncertaintySums"),
    *("MeasuredPage", "PageLines", "TurnColumns", "TurnRates"),
}
"""Arrays, and what they are made from, for arithmetic, which are never written down as they are."""
OF_ASPECTS = {"AspectSummary", "Breakdown", "MappingWarning", "SeedSpread"}
"""Written and read again where aspects are aggregated."""

CLAIM = Claim("r1", "r1#0", kind="statement", start=3, end=9, text="파리는 수도다.", weight=0.5)
VERDICT = Verdict(
    record_id="r1",
    claim_id="r1#0",
    judge="openai:m@1|x",
    label=Label.NOT_ENOUGH_INFO,
    unsupported_probability=0.93,
    reason="number_mismatch",
    start=3,
    end=5,
    evidence=(Quote("e1", 5, 8, "1.2"), Quote("e2")),
    note="« dit 999 »",
    cost_usd=0.0,
    confidence=1.0,
    probabilities=(0.1, 0.2, 0.7),
    inference_samples=((0.0, 0.0, 1.0), (1.0, 0.0, 0.0)),
)
ROW = MetricSummary(
    metric="mihr",
    by={"model": "m"},
    judge=None,
    count=1.0,
    total=3.0,
    value=1 / 3,
    interval=(0.1, 0.5),
    interval_method="cluster_bootstrap",
    direction="lower",
    undefined=None,
    undecided=2,
    failed=1,
    bounds=(0.1, 0.9),
    signature="mihr|v:1",
    note="a warning",
)
UNDEFINED_ROW = MetricSummary(
    metric="fleiss_kappa",
    by={},
    judge="all judges",
    count=None,
    total=None,
    value=None,
    interval=None,
    interval_method=None,
    direction="higher",
    undefined="every rating falls in one category",
    undecided=0,
    failed=0,
    bounds=None,
    signature="fleiss_kappa|v:1",
)
ENGINES = (RankedEngine("tesseract", 1.25), RankedEngine("vlm", 1.75))
PAIR = EnginePair("tesseract", "vlm", pages=4, difference=-0.01, p_value=0.125, adjusted_p_value=0.125)
RANKING = Ranking(
    metric="cer",
    pages=4,
    dropped=1,
    engines=ENGINES,
    statistic=1.0,
    p_value=0.32,
    critical_difference=0.98,
    groups=(("tesseract", "vlm"),),
    pairs=(PAIR,),
)
WORST = WorstLine(
    engine="vlm",
    page="p1",
    line=3,
    cer=0.5,
    errors=2,
    characters=4,
    reference="Rouen",
    response="Roien",
    start=7,
    end=12,
)
INVENTED = InventedWord("vlm", "p1", "number", "1899", "im Jahre 1899", 9)
PAGE = PageRow(
    page="p1",
    engine="vlm",
    status="empty_reference",
    is_hallucinating=None,
    picarones_badge=True,
    net_insertion_rate=1.0,
    anchor_score=0.0,
    length_ratio=None,
    length_ratio_capped=9.99,
    reference_words=0,
    response_words=3,
)
RECORDS: tuple[Struct, ...] = (
    CLAIM,
    comparison_of(compared_row(), compared_row("mahr", by={"언어": "fr"}, p_value=None)),
    Claim("r1", "c2"),
    VERDICT,
    *(Verdict("r1", "c1", "human", label) for label in Label),
    Finding(CLAIM, (VERDICT, VERDICT)),
    Finding(CLAIM, ()),
    Passage("e1", "text\u0000 with \U0001f600"),
    Quote("e1"),
    Quote("e1", 0, 0, ""),
    Response("r1"),
    Response(
        record_id="r1",
        question="q",
        response="",
        evidence=(Passage("e1", "x"),),
        reference="ref",
        samples=("a", "b"),
        token_logprobs=(-0.5, 0.0),
        answerable=False,
        model="m",
        fields={"task": "QA", "turn": 2, "score": 1.0, "is_long": True, "none": None},
    ),
    Failure("r1", None, "judge", "openai:m", "timeout", "no reply in 60 s", attempts=3),
    Failure(None, None, "read", None, "bad_line", "answers.jsonl:3: not JSON"),
    Measurement("mihr", "record", "r1", {}, "consensus", 1.0, 3.0, 1 / 3),
    Measurement("mihr", "group", None, {"model": "m"}, None, None, None, None, "no claim is decided"),
    ROW,
    UNDEFINED_ROW,
    Counts(),
    Counts(records=9, claims=31, verdicts=62, failures=1, records_without_claims=2, judges=2, models=3),
    Profile("judge-auditor", "unknown", is_high_risk=False),
    Profile("hallumeter", "low", is_high_risk=True, measured=("mihr",), reasons=("mihr is 0.500, above 0.3",)),
    Summary(1, "measure", Counts(), ()),
    Summary(
        1, "audit", Counts(records=1), (ROW, UNDEFINED_ROW), {"p": Profile("p", "high", is_high_risk=False)}, ("n",)
    ),
    InputFile("answers.jsonl", None, 0),
    InputFile("answers.jsonl", "0" * 64, 9),
    JudgeEntry("embedded:full@1", "recorded"),
    RunFile("verdicts.jsonl", 120, 2, "0" * 64),
    Manifest(1, "0.1.0", "measure", ()),
    Manifest(
        version=1,
        hallumeter="0.1.0",
        instrument="audit",
        inputs=(InputFile("a", None, 1),),
        settings={"by": ["model", "task"], "seed": 0, "confidence": 0.95, "is_strict": False, "policy": None, "x": "y"},
        judges=(JudgeEntry("human", "recorded"),),
        seed=3,
        started="2024-01-01T00:00:00Z",
        finished="2024-01-01T00:00:01Z",
    ),
    *ENGINES,
    PAIR,
    EnginePair("a", "b", pages=0, difference=None, p_value=None, adjusted_p_value=None),
    RANKING,
    Ranking("cer", 1, 0, ENGINES, None, None, None, (), (), undefined="fewer than two pages"),
    Summary(1, "transcripts", Counts(records=2), (ROW,), {}, (), RANKING),
    PAGE,
    WORST,
    INVENTED,
    msgspec.structs.replace(PAGE, status="ok", cer=0.25, length_ratio=1.5, blocks=2, is_exact=False),
    Transcript("p1", "vlm", "서울\0", ""),
    Transcript("p1", "vlm", "", "x", {"century": 15, "hand": None}),
    Rate(1.0, 3.0),
    Signature("mihr", None, (("nei", "unsupported"),), None, "0.1.0"),
    *DIALOGUE_RECORDS,
)


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_written_and_read_again_is_equal(record: Struct) -> None:
    text = msgspec.json.encode(record)
    assert msgspec.json.decode(text, type=type(record)) == record
    assert msgspec.json.encode(msgspec.json.decode(text, type=type(record))) == text


def test_every_record_is_written_and_read_here_or_is_a_column() -> None:
    structs = {
        name
        for module in NOUNS
        for name, value in vars(module).items()
        if isinstance(value, type(Struct)) and value.__module__ == module.__name__ and not name.startswith("_")
    }
    assert structs - COLUMNS - OF_ASPECTS == {type(record).__name__ for record in RECORDS} - {"Comparison"}


def test_a_comparison_is_fair_when_nothing_differs() -> None:
    assert not FAIRNESS.is_fair
    assert msgspec.structs.replace(FAIRNESS, differences=(), differences_total=0).is_fair


def test_the_first_place_where_something_is_asserted_is_told() -> None:
    mentions = [record for record in DIALOGUE_RECORDS if isinstance(record, Mention)]
    assert [mention.asserted and mention.asserted.start for mention in mentions] == [12, None]


def test_fields_are_written_in_the_order_of_the_contract() -> None:
    verdict = Verdict("r1", "r1#0", "embedded:full@1", Label.REFUTED)
    assert msgspec.json.encode(verdict).startswith(
        b'{"record_id":"r1","claim_id":"r1#0","judge":"embedded:full@1","label":"REFUTED",'
        b'"unsupported_probability":null,"reason":null,"start":null,"end":null,"evidence":[],"note":null,"cost_usd":null'
    )
    measurement = Measurement("mihr", "record", "r1", {}, "consensus", 1.0, 3.0, 1 / 3)
    assert msgspec.json.encode(measurement) == (
        b'{"metric":"mihr","scope":"record","record_id":"r1","by":{},"judge":"consensus",'
        b'"count":1.0,"total":3.0,"value":0.3333333333333333,"undefined":null}'
    )


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Claim, b'{"record_id":"r","claim_id":"c","start":4,"end":2}'),
        (Claim, b'{"record_id":"r","claim_id":"c","weight":-1}'),
        (Quote, b'{"evidence_id":"e","start":4}'),
        (Verdict, b'{"record_id":"r","claim_id":"c","judge":"j","label":"REFUTED","probabilities":[0.5,0.6]}'),
    ],
)
def test_a_record_that_is_read_is_checked_like_one_that_is_made(kind: type[Struct], text: bytes) -> None:
    with pytest.raises(RecordError, match=r"expected|give both or neither"):
        msgspec.json.decode(text, type=kind)


def test_an_unknown_label_is_refused_by_name() -> None:
    text = b'{"record_id":"r","claim_id":"c","judge":"j","label":"MAYBE"}'
    with pytest.raises(msgspec.ValidationError, match=r"Invalid enum value 'MAYBE' - at `\$.label`"):
        msgspec.json.decode(text, type=Verdict)


@settings(max_examples=100)
@given(
    st.builds(
        Response,
        record_id=st.text(),
        question=st.none() | st.text(),
        samples=st.lists(st.text(), max_size=3).map(tuple),
        answerable=st.none() | st.booleans(),
        fields=st.dictionaries(
            st.text(),
            st.none()
            | st.booleans()
            | st.integers(-(2**53), 2**53)
            | st.floats(allow_nan=False, allow_infinity=False)
            | st.text(),
            max_size=4,
        ),
    )
)
def test_any_response_survives_and_keeps_the_types_of_unknown_fields(response: Response) -> None:
    again = msgspec.json.decode(msgspec.json.encode(response), type=Response)
    assert again == response
    assert [type(value) for value in again.fields.values()] == [type(value) for value in response.fields.values()]


def test_columns_are_compared_by_identity_because_arrays_have_no_single_answer() -> None:
    rates = Rates(np.array([1.0]), np.array([2.0]))
    assert rates == rates  # noqa: PLR0124
    assert rates != Rates(np.array([1.0]), np.array([2.0]))
