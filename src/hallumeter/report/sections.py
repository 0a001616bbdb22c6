"""What a report tells about verdicts: where they concentrate, who agrees with whom, and what was cut."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from hallumeter.records.claim import Label
from hallumeter.records.measurement import MetricSummary
from hallumeter.records.page import InventedWord, PageRow, WorstLine
from hallumeter.records.ranking import Direction, Ranking
from hallumeter.records.response import FieldValue
from hallumeter.records.summaries import Breakdown, Fairness, MappingWarning, ModeDifference, ScoreBins, UnitStatus

CONFUSED = ("REFUTED", "NOT_ENOUGH_INFO", "UNDECIDED", "SUPPORTED")
"""The labels of a confusion table, in the order of its rows and columns."""


class TenthBin(Struct, frozen=True):
    """The unsupported claims of one tenth of the responses."""

    tenth: int
    """From 0, the beginning; the middle of a claim decides."""
    count: int
    total: int
    """Decided claims."""
    interval: tuple[float, float] | None

    @property
    def value(self) -> float | None:
        """The rate; None without a decided claim."""
        return self.count / self.total if self.total else None


class LengthBin(Struct, frozen=True):
    """The unsupported claims of responses that are alike in length."""

    start: int
    """Code points of the shortest."""
    end: int | None
    """One more than the longest may have; None for the last bin."""
    responses: int
    """With a decided claim."""
    count: int
    total: int
    interval: tuple[float, float] | None

    @property
    def value(self) -> float | None:
        """The rate; None without a decided claim."""
        return self.count / self.total if self.total else None


class ConcentrationSection(Struct, frozen=True, tag="concentration"):
    """Where in responses, and in responses of what length, claims are unsupported; intervals draw whole responses."""

    tenths: tuple[TenthBin, ...] = ()
    lengths: tuple[LengthBin, ...] = ()
    without_text: int = 0
    """Decided claims of responses whose words are not known."""
    without_place: int = 0
    """Decided claims that have no place in their response; they are in no tenth."""
    counted: Literal["unsupported", "REFUTED"] = "unsupported"
    """The labels that are counted."""


class JudgePair(Struct, frozen=True):
    """Two judges on the same claims."""

    first: str
    second: str
    shared: int
    """Claims that both decided."""
    agreed: int
    """Of these, those that both gave the same label."""
    kappa: float | None
    """Cohen's."""
    undefined: str | None
    """Why there is no kappa."""
    table: tuple[tuple[int, ...], ...] = ()
    """Claims by the label of the first judge (rows) and of the second, in the order of `CONFUSED`."""

    @property
    def agreement(self) -> float | None:
        """The share of shared claims with the same label."""
        return self.agreed / self.shared if self.shared else None


class CalibrationBin(Struct, frozen=True):
    """Claims that a judge gave about the same probability to be unsupported."""

    start: float
    end: float
    """The last bin has its upper end."""
    count: int
    """Of these, unsupported by the reference."""
    total: int
    mean: float | None
    """Of the probabilities."""
    interval: tuple[float, float] | None
    """Of the share, whole responses drawn again."""

    @property
    def value(self) -> float | None:
        """The share that is unsupported by the reference; None for an empty bin."""
        return self.count / self.total if self.total else None


class Calibration(Struct, frozen=True):
    """Whether the probabilities of a judge hold what they promise."""

    judge: str
    reference: str | None
    """The judge whose labels count as the truth; None for what most of the other judges say."""
    claims: int
    """With a probability and a reference."""
    without_reference: int
    """With a probability and nothing to compare it with."""
    error: float | None
    """The expected calibration error; None when there is no claim to compare."""
    bins: tuple[CalibrationBin, ...] = ()


class LanguageCount(Struct, frozen=True):
    """Responses in a language that a judge's model was not checked in."""

    language: str
    """``another`` where it is not known which."""
    responses: int


class CutCounts(Struct, frozen=True):
    """What was not read, or is not shown, to its end."""

    cut_verdicts: int = 0
    """Verdicts by judges that have not seen all of the evidence."""
    undecided_by_cut: int = 0
    """Of these, those that stayed undecided because of it."""
    cut_replies: int = 0
    """Failures because a reply broke off."""
    cut_passages: int = 0
    """Passages of evidence that this report shows without their end."""
    cut_readings: int = 0
    """Pages that this report shows without their end."""


class PanelAdvice(Struct, frozen=True):
    """Whether the panel would agree better without one of its judges."""

    judge: str | None
    """The judge that could be dropped; None when none stands out."""
    figures: tuple[MetricSummary | None, ...] = ()
    """Alpha of all, alpha without the judge, and the gain."""
    also: tuple[str, ...] = ()
    """Further judges of whom the same is true, each taken alone."""


class PageCensus(Struct, frozen=True):
    """How many pages and readings a run holds, and how many of them tell nothing or less than they seem to."""

    pages: int
    engines: int
    readings: int
    """Pages times engines, as far as there is an output."""
    empty_outputs: int = 0
    """The engine wrote nothing for a page with text."""
    empty_references: int = 0
    """The ground truth is empty, so that no error rate exists."""
    refused: int = 0
    """The engine said that it cannot read the page, and wrote little else."""
    undecided: int = 0
    """The witness was too poor to tell."""
    upper_bounds: int = 0
    """Long pages that were aligned by anchors: their error rates are upper bounds."""
    hallucinating: int = 0
    without_badge: int = 0
    """Readings of which it could not be told whether they hallucinate, empty outputs among them."""


class RankingColumn(Struct, frozen=True):
    """A metric as a column of the table of engines."""

    metric: str
    heading: str
    name: str = ""
    question: str = ""
    direction: Direction = "none"
    signature: str | None = None
    """How to repeat the numbers of the column; None when no engine has one."""


class EngineRow(Struct, frozen=True):
    """An engine with its numbers."""

    engine: str
    pages: int | None
    """None when the run does not tell."""
    empty_outputs: int | None
    place: int | None
    """Position in the table; None for an engine that the ranking leaves out."""
    mean_rank: float | None
    """Over the pages that every ranked engine has read; None when there is no ranking, or not of this engine."""
    metrics: dict[str, MetricSummary] = field(default_factory=dict)
    """By the id of the metric; what an engine lacks is left out."""
    is_warned: bool = False
    """More pages hallucinate than a reader should accept."""
    errors: dict[str, int] = field(default_factory=dict)
    """Misread words by the class of their error; empty when no page was aligned."""
    modernised: tuple[tuple[str, str], ...] = ()
    """Examples of words on the page, and the later spelling that the engine gave them."""


class RankingSection(Struct, frozen=True, tag="ranking"):
    """Engines, best first, and which of them differ."""

    census: PageCensus
    engines: tuple[EngineRow, ...]
    columns: tuple[RankingColumn, ...]
    further: tuple[RankingColumn, ...] = ()
    """Metrics of each engine that a first look does not need."""
    ranking: Ranking | None = None
    """With as many pairs as the document may hold."""
    pairs_left_out: int = 0


class PageSection(Struct, frozen=True, tag="pages"):
    """Pages in numbers, for a reader to leave some out and to look at the rest."""

    rows: tuple[PageRow, ...]
    """All of them, or all engines' readings of some pages that were drawn at random."""
    pages: int
    """Distinct pages among the rows."""
    rows_left_out: int = 0
    pages_left_out: int = 0


class StretchView(Struct, frozen=True, omit_defaults=True):
    """A stretch of a page: read, invented, repeated or left out."""

    kind: str
    words: float
    label: Label | None = None
    start: int | None = None
    """First code point in what the engine wrote; None for what it left out."""
    end: int | None = None
    reference_start: int | None = None
    """First code point in the ground truth; None for what stands nowhere in it."""
    reference_end: int | None = None
    is_moved: bool = False
    note: str | None = None


class ReadingView(Struct, frozen=True, omit_defaults=True):
    """One engine's text of one page beside the text that it was compared with."""

    record_id: str
    page: str
    engine: str
    picked: Literal["worst", "random"]
    response: str
    """Cut when it is very long."""
    response_characters: int
    """Of the whole text."""
    reference: str
    reference_characters: int
    witness: str | None = None
    """The name of the text compared with, when it is not the ground truth."""
    stretches: tuple[StretchView, ...] = ()
    row: PageRow | None = None
    fields: dict[str, FieldValue] = field(default_factory=dict)
    failures: tuple[str, ...] = ()
    image: str | None = None
    """The image of the page: a file while the view is made, then an address that a browser can show."""
    response_places: tuple[tuple[int, ...], ...] = ()
    """Lines of the engine's text on the image: first and last code point, left, top, right and bottom in
    ten-thousandths of the page."""
    reference_places: tuple[tuple[int, ...], ...] = ()


class ReadingSection(Struct, frozen=True, tag="readings"):
    """Pages to read, most invented and left out first."""

    readings: tuple[ReadingView, ...]
    total: int
    """Readings of the run, shown or not."""
    too_large: int = 0
    """Chosen, but left out because the document would have grown beyond its limit."""


class LineSection(Struct, frozen=True, tag="lines"):
    """Lines that were read worst, and names and numbers that are not on the page; engine by engine, the best first."""

    lines: tuple[WorstLine, ...] = ()
    lines_left_out: int = 0
    """In `lines.csv`, and not here."""
    invented: tuple[InventedWord, ...] = ()
    invented_left_out: int = 0


class PartSection(Struct, frozen=True, tag="parts"):
    """Wholes and their parts in counts: why aspects were dropped, which rules decided, what overrides did."""

    breakdowns: tuple[Breakdown, ...]
    warnings: tuple[MappingWarning, ...] = ()
    """What is wrong with the debate's mapping to aspects, and what to do about it."""
    title: str | None = None
    """What they are about, where there are several such sections."""


class FlowMove(Struct, frozen=True):
    """How many of the things that were ever wrong stood so before a step, and so after it."""

    error: str
    """Which kind of wrong."""
    was: UnitStatus
    became: UnitStatus
    units: int


class FlowStep(Struct, frozen=True):
    """What a step did to all that was ever wrong; what it left as it was is told as well."""

    step: str
    moves: tuple[FlowMove, ...]


class FlowSection(Struct, frozen=True, tag="flow"):
    """All that was ever wrong on its way through the steps."""

    steps: tuple[FlowStep, ...] = ()
    """In the order of the pipeline; empty where nothing was ever wrong, or nothing is known."""
    sentences: int = 0
    """Whose errors are known, whether or not they have any."""
    missing: Literal["outputs", "blame"] | None = None
    """The file that the run does not hold, so that nothing can be told."""
    has_gold: bool = True
    """Without gold, only what is not in the text is known to be wrong."""


class IgnoredErrors(Struct, frozen=True):
    """Errors that stand at the end although somebody had flagged them."""

    by: str
    """Who let them stand."""
    reason: str
    error: str
    errors: int


class BlameSection(Struct, frozen=True, tag="blame"):
    """Who introduced, flagged, repaired, broke and ignored which errors."""

    rows: tuple[MetricSummary, ...]
    """Rates by step and error, where there was anything to count."""
    standing: dict[str, dict[str, int]] = field(default_factory=dict)
    """Errors at the end, by their kind and the step that introduced them last."""
    ignored: tuple[IgnoredErrors, ...] = ()


class TracedAspect(Struct, frozen=True, omit_defaults=True):
    """An aspect as somebody stated it."""

    term: str
    """Empty for an aspect that is not named."""
    start: int | None = None
    """Where it is said to stand, in code points, right or wrong; None when no place was given."""
    end: int | None = None
    polarity: str | None = None
    """None where it is missing, which is not neutral."""
    is_judged: bool = True
    """False while nobody has said what is felt about it."""
    confidence: float | None = None
    evidence: str | None = None
    """The words that are to show it."""


class Remark(Struct, frozen=True, omit_defaults=True):
    """One thing that somebody said: a risk, a proposal, an edit, an item of a review, a decision."""

    asks: str
    """In the speaker's own words: the type of a risk or a proposal, an operation, an action."""
    about: tuple[str, ...] = ()
    """The terms of the aspects that it is about."""
    value: str | None = None
    """What they shall become; of a risk, how severe it is."""
    why: str | None = None
    evidence: str | None = None
    outcome: Literal["applied", "ignored"] | None = None
    """None for what asks for no change."""
    reason: str | None = None
    """Why it was ignored, or what was done."""


class TraceStep(Struct, frozen=True, omit_defaults=True):
    """What one agent said, or one step of the code did."""

    by: str
    """A step that changes aspects, or a speaker."""
    aspects: tuple[TracedAspect, ...] | None = None
    """All aspects after it; None where it left what it found."""
    remarks: tuple[Remark, ...] = ()


class TracedError(Struct, frozen=True, omit_defaults=True):
    """Something that was wrong after at least one step."""

    error: str
    """One of `ERROR_WORDS`."""
    aspect: TracedAspect
    """As it was last stated; what gold has, where it is about gold."""
    gold_polarity: str | None = None
    changes: tuple[tuple[str, UnitStatus], ...] = ()
    """Each step that changed how it stood, and how it stood then; it begins as absent."""
    flagged_by: tuple[str, ...] = ()
    ignored_by: tuple[tuple[str, str], ...] = ()
    """Who let it stand although it was flagged, and why."""


class ModeratorWord(Struct, frozen=True, omit_defaults=True):
    """How the label of the sentence was settled."""

    label: str
    confidence: float
    rules: tuple[str, ...] = ()
    stage: str | None = None
    """The stage that was taken."""
    why: str = ""


class SentenceTrace(Struct, frozen=True, omit_defaults=True):
    """The way of one sentence through the agents, in their order."""

    steps: tuple[TraceStep, ...] = ()
    errors: tuple[TracedError, ...] | None = None
    """None where nobody has looked for who is to blame."""
    moderator: ModeratorWord | None = None
    gold: tuple[TracedAspect, ...] | None = None
    """None when no gold is known."""
    notes: tuple[str, ...] = ()
    """What code repaired or left out."""
    untold: tuple[str, ...] = ()
    """Who was not asked, and blocks that an output which was made elsewhere does not have."""
    failed: str | None = None
    """Why the pipeline broke off."""


class DifferenceSection(Struct, frozen=True, tag="differences"):
    """Modes compared on the same patients, turns and questions."""

    differences: tuple[ModeDifference, ...]
    fairness: Fairness | None = None
    names: dict[str, str] = field(default_factory=dict)
    """What the metrics are called in the literature."""
    caution: str | None = None
    """Why no difference can be shown at all; None where one can."""


class ScoreSection(Struct, frozen=True, tag="scores"):
    """How scores are spread over answers, and how they change from turn to turn."""

    modes: tuple[str, ...]
    spread: tuple[ScoreBins, ...]
    by_mode: tuple[MetricSummary, ...]
    trend: tuple[MetricSummary, ...]
    """By mode and turn."""
    names: dict[str, str] = field(default_factory=dict)


OFF_TARGET = "off_target"
