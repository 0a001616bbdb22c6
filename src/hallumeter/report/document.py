"""The versioned report document: everything that a renderer may show, and the only thing it sees.

A document is a few facts and a list of sections. An instrument adds what is special to it as one more kind of
section; a renderer shows the kinds that it knows, in the order of the document, and skips the others.
"""

from __future__ import annotations

import re
from typing import Literal, TypeVar

from msgspec import Struct, field, json

from hallumeter.records.claim import Failure, Finding, Label
from hallumeter.records.decisions import Correction, NullBaselines
from hallumeter.records.manifest import InputFile, JudgeEntry, RunFile
from hallumeter.records.measurement import Counts, MetricSummary, Profile
from hallumeter.records.response import FieldValue, Quote, Response

from .sections import (
    BlameSection,
    Calibration,
    ConcentrationSection,
    CutCounts,
    DifferenceSection,
    FlowSection,
    JudgePair,
    LanguageCount,
    LineSection,
    PageCensus,
    PageSection,
    PanelAdvice,
    PartSection,
    RankingSection,
    ReadingSection,
    ScoreSection,
    SentenceTrace,
)
from .segmentation import CONSENSUS, Segment

# The first section of every report.

ValueKind = Literal[
    "count", "number", "numbers", "signed", "signeds", "share", "shares", "p", "confidence", "name", "names", "words",
    "metrics", "signs",
]  # fmt: skip


class FactValue(Struct, frozen=True, omit_defaults=True):
    """What stands in a place of a sentence: numbers as they are in the summary, or words of the data."""

    kind: ValueKind
    """How it is written: ``share`` in per cent, ``names`` in a row, and so on."""
    numbers: tuple[float, ...] = ()
    words: tuple[str, ...] = ()


class Fact(Struct, frozen=True):
    """A sentence about a run: a message in English, and the values for the places that it names."""

    code: str
    """What it is about, in one word."""
    message: str
    values: dict[str, FactValue] = field(default_factory=dict)
    figure: str | None = None
    """The metric that it tells; where its figure is shown, the sentence adds nothing."""


class Figure(Struct, frozen=True):
    """A number that the overview shows in large."""

    alias: str
    name: str
    question: str
    summary: MetricSummary
    is_share: bool = False
    """Whether it lies between 0 and 1 and is told in per cent."""


class OverviewSection(Struct, frozen=True, tag="overview"):
    """What was measured and what came of it."""

    facts: tuple[Fact, ...] = ()
    figures: tuple[Figure, ...] = ()


DOCUMENT_VERSION = 1
USUAL_CONFIDENCE = 0.95


class RecordFindings(Struct, frozen=True):
    """A response and everything found in it: what a report is built from."""

    response: Response
    findings: tuple[Finding, ...]


class MetricText(Struct, frozen=True):
    """What a reader is told about a metric."""

    alias: str
    """Its name in the literature, such as MiHR."""
    name: str
    question: str
    """The question it answers, as a sentence."""
    range: tuple[float | None, float | None] | None = None
    """Smallest and largest possible value; None on a side without an end."""
    family: str = ""
    """``agreement`` puts it among the judges instead of among the headline metrics."""


class MetricRow(Struct, frozen=True):
    """One metric over one group of responses, with the words for it."""

    text: MetricText
    summary: MetricSummary


class LabelTally(Struct, frozen=True):
    """How many claims have which label."""

    supported: int = 0
    refuted: int = 0
    not_enough_info: int = 0
    undecided: int = 0
    no_verdict: int = 0
    """Claims without any verdict, because the measurement failed."""

    @property
    def unsupported(self) -> int:
        """Claims that the evidence contradicts or does not mention."""
        return self.refuted + self.not_enough_info

    @property
    def decided(self) -> int:
        """Claims with a label that says something about the evidence."""
        return self.supported + self.unsupported

    @property
    def unmeasured(self) -> int:
        """Claims that are undecided or have no verdict."""
        return self.undecided + self.no_verdict

    @property
    def claims(self) -> int:
        """All claims, measured or not."""
        return self.decided + self.unmeasured

    @property
    def by_label(self) -> dict[Label | None, int]:
        """The counts, worst label first; None stands for no verdict."""
        return {
            Label.REFUTED: self.refuted,
            Label.NOT_ENOUGH_INFO: self.not_enough_info,
            Label.UNDECIDED: self.undecided,
            None: self.no_verdict,
            Label.SUPPORTED: self.supported,
        }


class VerdictView(Struct, frozen=True, omit_defaults=True):
    """One judge's word on one claim, as far as it is shown."""

    judge: str
    label: Label
    unsupported_probability: float | None = None
    confidence: float | None = None
    reason: str | None = None
    note: str | None = None
    start: int | None = None
    """First code point of the part of the response that this judge pointed to."""
    end: int | None = None
    quotes: tuple[Quote, ...] = ()
    """Places in the evidence; their text is filled in where the passage has it."""
    cost_usd: float | None = None


class FindingView(Struct, frozen=True, omit_defaults=True):
    """A claim with its settled label and what every judge said."""

    claim_id: str
    label: Label | None
    """What the judges said together; None when there is no verdict."""
    verdicts: tuple[VerdictView, ...] = ()
    kind: str = "claim"
    text: str | None = None
    """The claim's words; None when neither the claim nor the response has them."""
    start: int | None = None
    """The claim's place in the response, in code points; None when it has none."""
    end: int | None = None
    is_aligned: bool = True
    """False when no piece of the response can show it; it is then listed below the text."""


class PassageView(Struct, frozen=True, omit_defaults=True):
    """A passage of evidence, cut when it is very long."""

    evidence_id: str
    text: str
    characters: int
    """Length of the whole passage."""


class RecordView(Struct, frozen=True, omit_defaults=True):
    """A response with its findings marked."""

    record_id: str
    picked: Literal["worst", "random"]
    tally: LabelTally
    segments: tuple[Segment, ...] | None = None
    """None when the words of the response are not known."""
    findings: tuple[FindingView, ...] = ()
    model: str | None = None
    question: str | None = None
    evidence: tuple[PassageView, ...] = ()
    reference: str | None = None
    fields: dict[str, FieldValue] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    """The first few things that broke while this response was measured."""
    trace: SentenceTrace | None = None
    """Of a sentence that agents have read: its way through them; None where it is not known."""

    @property
    def response(self) -> str | None:
        """The words of the response."""
        return None if self.segments is None else "".join(piece.text for piece in self.segments)


class ShareBin(Struct, frozen=True):
    """How many responses have an unsupported share above `above` and up to `to`; both 0 means exactly none."""

    above: float
    to: float
    responses: int


class ModelTally(Struct, frozen=True):
    """The labels of one model's claims."""

    model: str | None
    """None where the model is not known."""
    responses: int
    tally: LabelTally


class JudgeRow(Struct, frozen=True):
    """What one judge did."""

    judge: str
    spec: str | None
    """Its settings; None when the manifest does not list it."""
    tally: LabelTally | None
    """None when none of its verdicts was kept, as for a consensus that was only counted."""
    cost_usd: float | None
    """The known costs added up; None when no cost is known."""
    verdicts_without_cost: int
    rows: tuple[MetricRow, ...] = ()
    """The headline metrics by this judge's verdicts alone."""


class Coverage(Struct, frozen=True):
    """How many responses there are, and which of them the document holds."""

    responses: int
    worst: int
    random: int
    too_large: int = 0
    """Chosen, but left out because the document would have grown beyond its limit."""


class FailureCount(Struct, frozen=True):
    """How often a step, or a judge, broke in the same way."""

    step: str
    judge: str | None
    """None where no judge was at work."""
    code: str
    failures: int


class ReasonCount(Struct, frozen=True):
    """How often judges gave the same label for the same reason."""

    label: Label
    reason: str | None
    """None where a judge gave none."""
    verdicts: int
    judges: dict[str, int]
    """The same by judge."""


class MetricSection(Struct, frozen=True, tag="metrics"):
    """The headline numbers."""

    rows: tuple[MetricRow, ...]
    title: str | None = None
    """What they are about, where there are several such sections."""


class DistributionSection(Struct, frozen=True, tag="distribution"):
    """How the unsupported claims are spread over all responses, shown or not."""

    bins: tuple[ShareBin, ...]
    without_decided_claim: int
    """Responses in no bin, because none of their claims is decided."""
    models: tuple[ModelTally, ...]
    models_left_out: int = 0


class BreakdownSection(Struct, frozen=True, tag="breakdown"):
    """The metrics by group."""

    by: tuple[str, ...]
    """The fields that make the groups."""
    rows: tuple[MetricRow, ...]
    """By the headline judge, and metrics that need no judge."""
    rows_left_out: int = 0
    """Rows by other judges and of agreement between judges."""
    title: str | None = None
    """What it is called; None for the names of the fields."""


class JudgeSection(Struct, frozen=True, tag="judges"):
    """What each judge did, and how far they agree."""

    judges: tuple[JudgeRow, ...]
    agreement: tuple[MetricRow, ...]
    """Of all judges together, and of pairs."""
    each: tuple[MetricRow, ...] = ()
    """What the votes of the panel say about each judge."""
    advice: PanelAdvice | None = None
    """None for fewer than three judges."""
    pairs: tuple[JudgePair, ...] = ()
    """Every two of the judges that gave most verdicts."""
    calibrations: tuple[Calibration, ...] = ()
    """Of the judges that give probabilities."""
    left_out: int = 0
    """Judges that are in no pair, because there are too many."""
    baselines: NullBaselines | None = None
    """Each judge beside null baselines; None where nothing is labelled."""
    correction: Correction | None = None
    """The rates of the headline's judge, corrected for its errors; None where labels do not allow it."""

    @property
    def cost_usd(self) -> float | None:
        """The known costs of all judges added up; None when no cost is known."""
        known = [judge.cost_usd for judge in self.judges if judge.cost_usd is not None]
        return sum(known) if known else None

    @property
    def verdicts_without_cost(self) -> int:
        """Verdicts whose cost is not known; the settled verdict of a panel costs nothing of its own."""
        return sum(judge.verdicts_without_cost for judge in self.judges if judge.judge != CONSENSUS)


class ReasonSection(Struct, frozen=True, tag="reasons"):
    """Why claims were not called supported."""

    rows: tuple[ReasonCount, ...]
    """By label, worst first; the most frequent reasons of each."""
    verdicts_left_out: int = 0
    """With reasons that are not among the most frequent."""


class RecordSection(Struct, frozen=True, tag="records"):
    """Responses to read, worst first."""

    coverage: Coverage
    records: tuple[RecordView, ...]


class Quoted(Struct, frozen=True, omit_defaults=True):
    """A place in the evidence, with a few words around it."""

    evidence_id: str
    text: str
    before: str = ""
    after: str = ""


class ListedFinding(Struct, frozen=True, omit_defaults=True):
    """An unsupported claim that can be understood without its response: what is wrong, why, and what stands there."""

    record_id: str
    claim_id: str
    label: Label
    marked: str
    """The words that the evidence does not support."""
    before: str = ""
    """The words of the claim, or of the response, before them."""
    after: str = ""
    kind: str = "claim"
    model: str | None = None
    question: str | None = None
    reason: str | None = None
    note: str | None = None
    probability: float | None = None
    """That the claim is unsupported, by the judge that says why."""
    judges: tuple[str, ...] = ()
    """Those that call it unsupported."""
    against: tuple[str, ...] = ()
    """Those that call it supported."""
    evidence: Quoted | None = None
    """None where no judge quoted any."""
    others: int = 0
    """Further unsupported claims of the same response."""


class FindingSection(Struct, frozen=True, tag="findings"):
    """The most certain findings, one of each response."""

    findings: tuple[ListedFinding, ...]
    claims: int
    """Unsupported ones in all responses."""
    responses: int
    """With an unsupported claim."""


class IntegritySection(Struct, frozen=True, tag="integrity"):
    """Everything that is not a number: undefined, undecided, failed, left out."""

    tally: LabelTally
    undefined: tuple[MetricRow, ...]
    failure_counts: tuple[FailureCount, ...]
    failures: tuple[Failure, ...]
    """The first of them."""
    failures_total: int
    records_without_claims: int
    not_aligned: int
    """Claims that no piece of their response can show."""
    census: PageCensus | None = None
    """Of pages; None for an instrument that reads no pages."""
    cuts: CutCounts = CutCounts()
    """What was not read, or is not shown, to its end."""
    languages: tuple[LanguageCount, ...] = ()
    """Responses in languages that the model of a judge was not checked in, most first."""


Section = (
    OverviewSection
    | FindingSection
    | MetricSection
    | ConcentrationSection
    | DistributionSection
    | BreakdownSection
    | JudgeSection
    | ReasonSection
    | RecordSection
    | IntegritySection
    | RankingSection
    | PageSection
    | ReadingSection
    | LineSection
    | DifferenceSection
    | ScoreSection
    | PartSection
    | FlowSection
    | BlameSection
)


class Provenance(Struct, frozen=True):
    """What the numbers were made from; no times, so that equal runs give equal documents."""

    hallumeter: str
    seed: int
    inputs: tuple[InputFile, ...]
    judges: tuple[JudgeEntry, ...]
    settings: dict[str, str | int | float | bool | list[str] | None]
    files: tuple[RunFile, ...] = ()
    """Every file of the run with its digest, by which a report is known to belong to it."""


class Document(Struct, frozen=True):
    """A report: facts on top, then sections in reading order."""

    title: str
    instrument: str
    provenance: Provenance
    counts: Counts
    sections: tuple[Section, ...]
    headline: str | None = None
    """The judge whose verdicts the headline metrics and the labels of claims rest on; None when there is none."""
    confidence: float = USUAL_CONFIDENCE
    """Of every interval in the document."""
    profiles: dict[str, Profile] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    version: int = DOCUMENT_VERSION


# A document as JSON, for other programs, and made fit for UTF-8.

_ENCODER = json.Encoder()
_SURROGATE = re.compile("[\ud800-\udfff]")
_Value = TypeVar("_Value")


def document_json(document: Document) -> str:
    """A document as indented JSON; `msgspec.json.decode(…, type=Document)` reads it back."""
    return json.format(_ENCODER.encode(document), indent=2).decode() + "\n"


def document_schema() -> str:
    """The JSON Schema of documents."""
    return json.format(_ENCODER.encode(json.schema(Document)), indent=2).decode() + "\n"


def encodable(value: _Value) -> _Value:
    r"""The same value with every lone surrogate replaced, since UTF-8 cannot carry one; positions stay.

    >>> encodable(("a\ud800b", 1))
    ('a�b', 1)
    """
    try:
        _ENCODER.encode(value)
    except UnicodeEncodeError:
        # The union of containers is walked by shape; each branch gives back the type that it was given.
        return _encodable(value)  # type: ignore[return-value]
    return value


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if isinstance(value, tuple | list):
        return type(value)(_encodable(item) for item in value)
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, Struct):
        return type(value)(**{name: _encodable(getattr(value, name)) for name in value.__struct_fields__})
    return value
