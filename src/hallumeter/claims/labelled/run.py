"""A run as columns beside what is true of it, and the strata in which labels are drawn and counted."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol
from zlib import crc32

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from hallumeter.errors import InputError, SettingsError
from hallumeter.records.claim import Claim, Finding, Label, Verdict
from hallumeter.records.columns import DECIDED_LABELS, FAILED_CODE, LABEL_CODES
from hallumeter.records.decisions import GivenLabel, LabelCensus
from hallumeter.records.manifest import Manifest
from hallumeter.records.measurement import Summary
from hallumeter.records.response import Response
from hallumeter.report.segmentation import CONSENSUS, settled_label
from hallumeter.report.tallies import reference_judge
from hallumeter.run.groups import RecordGroups, field_of
from hallumeter.run.labels import claim_fingerprint
from hallumeter.run.run_folder import RunFolder
from hallumeter.stats.allocation import FEWEST_LABELS

from .sources import VERDICT_INSTRUMENTS, LabelLog, LabelSettings, truth_of

# A run as far as labels need it.


class OpenedRun(Protocol):
    """A finished run on disk, whoever opened it."""

    @property
    def path(self) -> Path:
        """Where it is kept."""
        ...

    @property
    def manifest(self) -> Manifest:
        """What it was made from."""
        ...

    @property
    def summary(self) -> Summary:
        """Everything measured, pooled."""
        ...


# What a run's judge said: of claims, or of whole responses where a tool gave nothing but a score.

WHOLE = "response"
"""Kind and id of the claim that stands for a whole response."""
EVEN = 0.5
"""A response is flagged from this probability on."""


def judged_findings(run: OpenedRun, judge: str | None = None) -> Iterator[tuple[Response, tuple[Finding, ...]]]:
    """Every response with its findings; in a run without claims, with one for its score.

    A score between 0 and 1 that is better when it is higher (or lower) is the probability that the response is
    supported (or is not): the response is one claim, flagged below one half. `judge` names the metric.
    """
    folder = RunFolder(run.path)
    if has_claims(run):
        yield from folder.findings()
        return
    metric, is_higher_better = score_metric(run, judge)
    scores = {
        row.record_id: row.value
        for row in folder.measurements()
        if row.metric == metric and row.record_id is not None and row.value is not None
    }
    for response in folder.records():
        score = scores.get(response.record_id)
        if score is not None and not 0 <= score <= 1:
            raise InputError(f"{run.path}: {metric} of record {response.record_id!r} is {score}; expected 0 to 1")
        claim = whole_claim(response)
        judged = [] if score is None else [_verdict(claim, metric, score, is_higher_better=is_higher_better)]
        yield response, (Finding(claim, tuple(judged)),)


def whole_claim(response: Response) -> Claim:
    """The claim that stands for a whole response."""
    text = response.response
    start, end = (0, len(text)) if text else (None, None)
    return Claim(response.record_id, WHOLE, WHOLE, start, end, text)


def has_claims(run: OpenedRun) -> bool:
    """Whether the run has claims, and not scores of responses alone."""
    return bool(run.summary.counts.claims)


def score_metric(run: OpenedRun, chosen: str | None) -> tuple[str, bool]:
    """The score that stands for a judge in a run without claims, and whether more of it is better."""
    known = {row.metric: row.direction for row in run.summary.metrics if not row.by and row.direction != "none"}
    if chosen is not None and chosen not in known:
        raise SettingsError(f"the run has no score {chosen!r} with a better side; it has: {', '.join(known) or 'none'}")
    metric = chosen or next(iter(known), None)
    if metric is None:
        raise InputError(
            f"{run.path}: the run has no claims, and no score with a better side; nothing can be corrected"
        )
    return metric, known[metric] == "higher"


def _verdict(claim: Claim, metric: str, score: float, *, is_higher_better: bool) -> Verdict:
    probability = 1 - score if is_higher_better else score
    label = Label.SUPPORTED if probability < EVEN else Label.NOT_ENOUGH_INFO
    return Verdict(claim.record_id, claim.claim_id, metric, label, unsupported_probability=probability)


_HASHES = 1 << 32


class LabelledRun(Struct, frozen=True, eq=False):
    """Every claim of a run with the judge's word, and with the truth where somebody said it."""

    judge: str
    """Whose verdicts are examined, or `consensus`."""
    unit: str
    """What is drawn together."""
    record_ids: list[str]
    clusters: NDArray[np.int64]
    """Of each record, numbered from 0."""
    slices: list[tuple[str, ...]]
    """Of each record, the values of the fields that were asked for."""
    response_truth: NDArray[np.float64]
    """Of each record: whether it is hallucinated, as people said of the whole; NaN where nobody did."""
    claim_ids: list[str]
    owners: NDArray[np.int64]
    """Of each claim, the number of its record."""
    codes: NDArray[np.int8]
    """The judge's labels."""
    probabilities: NDArray[np.float64]
    """In the judge's eyes, to be unsupported; NaN where it gave none."""
    unsupported: NDArray[np.float64]
    """The truth: 0 or 1, a share where annotators disagree, NaN where nobody said."""
    refuted: NDArray[np.float64]
    census: LabelCensus

    @property
    def is_decided(self) -> NDArray[np.bool_]:
        """Which claims have a label that says something."""
        return np.asarray(self.codes < DECIDED_LABELS)

    @property
    def is_flagged(self) -> NDArray[np.bool_]:
        """Which claims the judge calls unsupported."""
        return np.asarray(self.is_decided & (self.codes != LABEL_CODES[Label.SUPPORTED]))


def read_labelled(run: OpenedRun, settings: LabelSettings, *, needs_labels: bool = True) -> LabelledRun:
    """Read a run beside its labels.

    Raises:
        InputError: A label speaks of nothing in the run, two of one person contradict, or there is none.
        SettingsError: The run has no such judge, or is of an instrument that does not judge.
    """
    check_instrument(run)
    reader = _Reader(run, settings)
    for response, findings in judged_findings(run, settings.judge):
        reader.add(response, findings)
    found = reader.result()
    if needs_labels:
        reader.refuse_none(found)
    return found


def read_labelled_judges(
    run: OpenedRun,
    settings: LabelSettings,
    *,
    progress: Callable[[Response, Sequence[Finding]], None],
    most: int | None = None,
) -> list[LabelledRun]:
    """Read a run once beside its labels for every judge, and for what several of them settled together.

    `progress` sees the records of which something is labelled. Of more than `most` records that may be, about so many
    are drawn, always the same, and all others left out.

    Raises:
        InputError: As for one judge.
        SettingsError: As for one judge.
    """
    check_instrument(run)
    reader = _Reader(run, settings, is_for_all=settings.judge is None)
    is_chosen = reader.drawn(most)
    for response, findings in judged_findings(run, settings.judge):
        if is_chosen(response.record_id) and reader.add(response, findings):
            progress(response, findings)
    found = reader.results()
    reader.refuse_none(found[0])
    return found


def drawing_order(record_id: str) -> int:
    """A number by which records are drawn, lowest first: one that is drawn stays drawn, whatever else the run holds."""
    return crc32(record_id.encode(errors="replace"))


class _Reader:
    """Collects the columns record by record."""

    def __init__(self, run: OpenedRun, settings: LabelSettings, *, is_for_all: bool = False) -> None:
        self.book = LabelLog(run.path, settings)
        self._run = run.path
        self._records = run.summary.counts.records
        self._settings = settings
        self._groups = RecordGroups(run.manifest, settings.cluster)
        self._reference = _reference(run, settings, has_labels=bool(self.book.left))
        self._judges: list[str | None]
        if has_claims(run):
            self._judges = [headline_judge(run, settings.judge, reference=self._reference)]
        else:
            self._judges = [score_metric(run, settings.judge)[0]]
        if is_for_all and has_claims(run):
            apart = (self._reference, CONSENSUS)
            known = [judge.name for judge in run.manifest.judges if judge.name not in apart]
            self._judges = [*known, None] if len(known) != 1 else [*known]
        self._ids: list[str] = []
        self._claim_ids: list[str] = []
        self._clusters: list[str] = []
        self._slices: list[tuple[str, ...]] = []
        self._owners = array("q")
        self._codes, self._probabilities = [array("b") for _ in self._judges], [array("d") for _ in self._judges]
        self._unsupported, self._refuted = array("d"), array("d")
        self._response_truth = array("d")
        self._annotators: Counter[str] = Counter()
        self._disputed = self._unsure = self._detached = 0

    def drawn(self, most: int | None) -> Callable[[str], bool]:
        """Which records to read, of those that may be labelled; all without a limit."""
        named = None if self._reference is not None or self._settings.gold is not None else self.book.records
        possible = self._records if named is None else len(named)
        if most is None:
            return lambda _: True
        bound = _HASHES if possible <= most else _HASHES * most // possible
        return lambda name: (named is None or name in named) and drawing_order(name) < bound

    def add(self, response: Response, findings: Sequence[Finding]) -> bool:
        """Add a record; says whether anything of it is labelled."""
        before, number = self._annotators.total(), len(self._ids)
        self._ids.append(response.record_id)
        self._clusters.append(self._groups.of(response))
        self._slices.append(tuple(field_of(response, name) for name in self._settings.by))
        of_response = self._said_of_response(response)
        self._response_truth.append(mean_said(of_response, "is_unsupported"))
        for finding in findings:
            judged = self._without_reference(finding)
            self._claim_ids.append(finding.claim.claim_id)
            self._owners.append(number)
            for judge, codes, probabilities in zip(self._judges, self._codes, self._probabilities, strict=True):
                label = settled_label(judged, judge)
                codes.append(FAILED_CODE if label is None else LABEL_CODES[label])
                probabilities.append(_probability(judged, judge))
            said = self._said_of_claim(finding, response)
            if finding.claim.kind == WHOLE:
                said = [*said, *of_response]
            self._unsupported.append(mean_said(said, "is_unsupported"))
            self._refuted.append(mean_said(said, "is_refuted"))
        return self._annotators.total() > before

    def refuse_none(self, found: LabelledRun) -> None:
        """Refuse a run without labels."""
        if not found.census.labels:
            raise InputError(f"{self.book.source}: there are no labels; make some with `hallumeter label {self._run}`")

    def result(self) -> LabelledRun:
        """For the judge that was chosen."""
        return self.results()[0]

    def results(self) -> list[LabelledRun]:
        """For every judge."""
        self.book.refuse_unknown()
        unsupported, owners = np.array(self._unsupported), np.array(self._owners, dtype=np.int64)
        response_truth = np.array(self._response_truth)
        is_known = ~np.isnan(response_truth)
        is_known[owners[~np.isnan(unsupported)]] = True
        numbers: dict[str, int] = {}
        first = LabelledRun(
            judge="",
            unit=self._groups.unit,
            record_ids=self._ids,
            clusters=np.array([numbers.setdefault(name, len(numbers)) for name in self._clusters], dtype=np.int64),
            slices=self._slices,
            response_truth=response_truth,
            claim_ids=self._claim_ids,
            owners=owners,
            codes=np.zeros(0, dtype=np.int8),
            probabilities=np.zeros(0),
            unsupported=unsupported,
            refuted=np.array(self._refuted),
            census=LabelCensus(
                labels=self._annotators.total(),
                claims=int((~np.isnan(unsupported)).sum()),
                responses=int(is_known.sum()),
                annotators=dict(sorted(self._annotators.items())),
                disputed=self._disputed,
                unsure=self._unsure,
                detached=self._detached + (self.book.left if self.book.is_from_run else 0),
            ),
        )
        own = zip(self._judges, self._codes, self._probabilities, strict=True)
        return [
            structs.replace(
                first,
                judge=judge or CONSENSUS,
                codes=np.array(codes, dtype=np.int8),
                probabilities=np.array(probabilities),
            )
            for judge, codes, probabilities in own
        ]

    def _without_reference(self, finding: Finding) -> Finding:
        """The truth has no vote on itself."""
        if self._reference is None:
            return finding
        others = tuple(verdict for verdict in finding.verdicts if verdict.judge != self._reference)
        return Finding(finding.claim, others)

    def _said_of_response(self, response: Response) -> list[GivenLabel]:
        said = self.book.take(response.record_id, None)
        if self._settings.gold is not None:
            value = response.fields.get(self._settings.gold)
            if value is not None:
                said.append(_gold(response, self._settings.gold, value))
        return self._counted(said)

    def _said_of_claim(self, finding: Finding, response: Response) -> list[GivenLabel]:
        claim = finding.claim
        said = self.book.take(claim.record_id, claim.claim_id)
        if said:
            own = claim_fingerprint(claim, response.response)
            attached = [label for label in said if label.fingerprint in (None, own)]
            self._detached += len(said) - len(attached)
            said = attached
        for verdict in finding.verdicts:
            if verdict.judge == self._reference:
                said.append(GivenLabel.saying(verdict.label, claim.record_id, claim.claim_id, annotator=verdict.judge))
        return self._counted(said)

    def _counted(self, said: list[GivenLabel]) -> list[GivenLabel]:
        sure = [label for label in said if label.is_unsupported is not None]
        self._unsure += len(said) - len(sure)
        self._disputed += len({label.is_unsupported for label in sure}) > 1
        self._annotators.update(label.annotator for label in sure)
        return sure


def mean_said(said: Iterable[GivenLabel], name: str) -> float:
    """The share of the annotators that say so, of those who said anything; NaN when nobody did."""
    known = [value for label in said if (value := getattr(label, name)) is not None]
    return sum(known) / len(known) if known else float("nan")


def headline_judge(run: OpenedRun, chosen: str | None, *, reference: str | None = None) -> str | None:
    """The judge whose verdicts are examined; None for what all of them settled together."""
    known = [judge.name for judge in run.manifest.judges if judge.name != reference]
    if chosen is not None:
        return None if chosen == CONSENSUS else judge_named(chosen, known)
    if len(known) == 1:
        return known[0]
    headline = next((row.judge for row in run.summary.metrics if row.judge is not None and not row.by), None)
    return headline if headline in known else None


def judge_named(name: str, known: Sequence[str]) -> str:
    """The judge of that name, which may be given without its version and its tier where only one fits.

    >>> judge_named("embedded", ["embedded:full@1", "human"])
    'embedded:full@1'
    """
    fitting = [judge for judge in known if name in (judge, judge.partition("@")[0], judge.partition(":")[0])]
    if name in known or len(fitting) == 1:
        return name if name in known else fitting[0]
    raise SettingsError(f"the run has no judge {name!r}; its judges: {', '.join(known) or 'none'}")


def check_instrument(run: OpenedRun) -> None:
    """Refuse a run whose instrument does not judge."""
    instrument = run.manifest.instrument
    if instrument.split()[0] not in VERDICT_INSTRUMENTS:
        raise InputError(
            f"{run.path}: a run of `{instrument}` has no judge to be wrong; "
            f"expected one of {', '.join(VERDICT_INSTRUMENTS)}"
        )


def _reference(run: OpenedRun, settings: LabelSettings, *, has_labels: bool) -> str | None:
    """The judge whose verdicts are the truth: as chosen, or one called human or gold where nothing else is known."""
    known = [judge.name for judge in run.manifest.judges]
    if settings.reference is not None:
        return judge_named(settings.reference, known)
    return None if settings.gold is not None or has_labels else reference_judge(known)


def _probability(finding: Finding, headline: str | None) -> float:
    """The judge's, or the mean of all that gave one."""
    given = [
        verdict.unsupported_probability
        for verdict in finding.verdicts
        if verdict.unsupported_probability is not None and headline in (None, verdict.judge)
    ]
    return sum(given) / len(given) if given else float("nan")


def _gold(response: Response, name: str, value: object) -> GivenLabel:
    label = truth_of(str(value))
    if label is None:
        raise InputError(
            f"record {response.record_id!r}: {name} is {str(value)!r}; expected whether it is hallucinated, "
            "as true or false"
        )
    return GivenLabel.saying(label, response.record_id, None, annotator=name)


# The slices of a labelled run.


def record_slices(run: LabelledRun, by: tuple[str, ...]) -> Iterator[tuple[dict[str, str], NDArray[np.bool_]]]:
    """All records, then those of each combination of values of the fields.

    Raises:
        SettingsError: No record has one of the fields.
    """
    for place, name in enumerate(by):
        if not any(values[place] for values in run.slices):
            raise SettingsError(f"--by {name}: no record of the run has that field")
    yield {}, np.ones(len(run.record_ids), dtype=bool)
    if by:
        for values in sorted(set(run.slices)):
            yield dict(zip(by, values, strict=True)), np.array([each == values for each in run.slices])


PARTS = 3
"""Into how many parts of equal size the claims of a label are cut, by their probability."""
OUTSIDE = -1
"""The stratum of claims that the judge did not decide."""


def claim_strata(codes: NDArray[np.int8], probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
    """The stratum of each claim: the judge's label, and which third of that label's probabilities.

    A label whose claims have no probabilities, or all the same one, is one stratum.

    >>> claim_strata(np.array([0, 0, 0, 1, 3], np.int8), np.array([0.1, 0.3, 0.2, 0.9, 0.5])).tolist()
    [0, 2, 1, 3, -1]
    """
    strata = np.full(len(codes), OUTSIDE, dtype=np.int64)
    for code in range(DECIDED_LABELS):
        mine = np.flatnonzero(codes == code)
        strata[mine] = code * PARTS + _thirds(probabilities[mine])
    return strata


def merged_strata(
    strata: NDArray[np.int64], answers: NDArray[Any], is_labelled: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Strata with two labels or more, numbered from 0: one with fewer joins the next of the same answer.

    `answers` says which strata may be joined: those in which the judge said the same, as far as a metric cares.

    >>> is_flagged = np.array([False, False, False, True])
    >>> merged_strata(np.array([0, 0, 1, 3]), is_flagged, np.array([True, True, False, True])).tolist()
    [0, 0, 0, 1]
    """
    found = np.zeros(len(strata), dtype=np.int64)
    number = -1
    for answer in np.unique(answers):
        first = number + 1
        gathered: list[int] = []
        for stratum in np.unique(strata[answers == answer]).tolist():
            gathered.append(stratum)
            mine = np.isin(strata, gathered) & (answers == answer)
            if is_labelled[mine].sum() >= FEWEST_LABELS:
                number += 1
                found[mine] = number
                gathered = []
        if gathered:
            # What is left joins the last one of its answer, or is alone.
            number = max(number, first)
            found[np.isin(strata, gathered) & (answers == answer)] = number
    return found


def _thirds(probabilities: NDArray[np.float64]) -> NDArray[np.int64]:
    """Which part of its like each probability is in; ties stay together, and one unknown makes all unknown."""
    if not len(probabilities) or np.isnan(probabilities).any():
        return np.zeros(len(probabilities), dtype=np.int64)
    cuts = np.quantile(probabilities, np.arange(1, PARTS) / PARTS, method="lower")
    parts: NDArray[np.int64] = np.searchsorted(cuts, probabilities, side="left").astype(np.int64)
    return parts
