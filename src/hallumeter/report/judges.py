"""What each judge did, and how far they agree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from hallumeter.records.claim import Label
from hallumeter.records.columns import DECIDED_LABELS, LABEL_CODES, Ratings
from hallumeter.records.decisions import JudgeChecks
from hallumeter.records.manifest import Manifest
from hallumeter.records.measurement import MetricSummary
from hallumeter.stats.agreement import cohen_kappa, judges_apart
from hallumeter.stats.calibration import expected_calibration_error

from .document import JudgeRow, JudgeSection, MetricRow
from .languages.speaking import message, say, say_html
from .overview import isolated
from .sections import CONFUSED, Calibration, CalibrationBin, JudgePair, PanelAdvice
from .segmentation import CONSENSUS
from .tallies import BINS, CalibrationTally, Tallies, VoteTally, tally_of
from .wording import format_number, format_pair

NOBODY = message("No judge stands out: without any one of them, the others do not agree better by more than chance.")


_APART = message(
    "Without {judge} the others agree better (alpha {before} → {after}, gain {gain}, intervals in brackets): consider "
    "dropping it. Agreement is not correctness: keep it if it is the judge you trust."
)


_ALSO = message("The same holds for {judges}; leave out one at a time.")


def panel_advice(rows: Sequence[MetricSummary]) -> PanelAdvice | None:
    """What the rows of a whole run say about dropping a judge; None when no judge could be left out."""
    whole = [row for row in rows if not row.by]
    if all(row.value is None for row in whole if row.metric == "alpha_gain_without"):
        return None
    apart = judges_apart(whole)
    if not apart:
        return PanelAdvice(None)
    judge = apart[0]
    found = {row.metric: row for row in whole if row.judge == judge or row.metric == "krippendorff_alpha"}
    figures = tuple(found.get(name) for name in ("krippendorff_alpha", "alpha_without", "alpha_gain_without"))
    return PanelAdvice(judge, figures, apart[1:])


def advice_text(advice: PanelAdvice) -> str:
    """The sentence as plain text."""
    if advice.judge is None:
        return say(NOBODY)
    text = say(_APART, judge=advice.judge, **_figures(advice))
    return f"{text} {say(_ALSO, judges=', '.join(advice.also))}" if advice.also else text


def advice_html(advice: PanelAdvice) -> Markup:
    """The sentence with the names of judges isolated."""
    if advice.judge is None:
        return say_html(NOBODY)
    text = say_html(_APART, judge=isolated(advice.judge), **_figures(advice))
    if not advice.also:
        return text
    return Markup(" ").join([text, say_html(_ALSO, judges=Markup(", ").join(map(isolated, advice.also)))])


def _figures(advice: PanelAdvice) -> dict[str, str]:
    return dict(zip(("before", "after", "gain"), map(_figure, advice.figures), strict=True))


def _figure(row: MetricSummary | None) -> str:
    if row is None or row.value is None:
        return say("undefined")
    return format_number(row.value) + (f" [{format_pair(row.interval)}]" if row.interval else "")


JUDGES_SHOWN = 12
"""More judges make a table that nobody reads: those with most verdicts are kept."""


LEVELS = 5


_LABELS = len(LABEL_CODES)


_ORDER = [LABEL_CODES[Label(name)] for name in CONFUSED]


def most_active(judges: Mapping[str, int]) -> list[str]:
    """The judges with most verdicts, at most as many as are shown, in the order in which they were given."""
    ranked = sorted(judges, key=lambda judge: -judges[judge])[:JUDGES_SHOWN]
    return [judge for judge in judges if judge in ranked]


def judge_pairs(tally: VoteTally, verdicts: Mapping[str, int]) -> tuple[JudgePair, ...]:
    """Every two of the most active judges; `verdicts` is how many each of them gave."""
    places = {judge: place for place, judge in enumerate(tally.judges)}
    shown = most_active({judge: verdicts.get(judge, 0) for judge in tally.judges})
    if len(shown) < 2:
        return ()
    return tuple(
        _pair(first, second, _block(tally.together, places[first], places[second]))
        for first, second in combinations(shown, 2)
    )


def calibrations(tally: VoteTally, verdicts: Mapping[str, int], *, confidence: float) -> tuple[Calibration, ...]:
    """The judges that give probabilities, as far as they are shown."""
    shown = most_active({judge: verdicts.get(judge, 0) for judge in tally.calibration})
    return tuple(_calibration(judge, tally, confidence=confidence) for judge in shown)


def pair_grid(pairs: Sequence[JudgePair]) -> tuple[list[str], dict[tuple[str, str], JudgePair]]:
    """The judges of all pairs, and each pair under both orders of its names."""
    judges = list(dict.fromkeys(judge for pair in pairs for judge in (pair.first, pair.second)))
    return judges, {names: pair for pair in pairs for names in ((pair.first, pair.second), (pair.second, pair.first))}


def agreement_level(kappa: float) -> int:
    """How dark a kappa is drawn: 0 for none or less than chance gives, 5 for full agreement.

    >>> agreement_level(-0.2), agreement_level(0.47), agreement_level(1.0)
    (0, 3, 5)
    """
    return min(LEVELS, max(0, math.ceil(kappa * LEVELS)))


def _block(together: NDArray[np.int64], first: int, second: int) -> NDArray[np.int64]:
    """Claims by the labels of two judges, as codes."""
    rows, columns = (slice(place * _LABELS, (place + 1) * _LABELS) for place in (first, second))
    return together[rows, columns]


def _pair(first: str, second: str, table: NDArray[np.int64]) -> JudgePair:
    decided = table[:DECIDED_LABELS, :DECIDED_LABELS]
    votes = np.indices(decided.shape).reshape(2, -1).T.astype(np.int8)
    kappa = cohen_kappa(Ratings(votes, decided.ravel(), (first, second)), 0, 1)
    return JudgePair(
        first,
        second,
        shared=int(decided.sum()),
        agreed=int(np.trace(decided)),
        kappa=kappa.value,
        undefined=kappa.undefined,
        table=tuple(tuple(row) for row in table[np.ix_(_ORDER, _ORDER)].tolist()),
    )


def _calibration(judge: str, votes: VoteTally, *, confidence: float) -> Calibration:
    tally = votes.calibration[judge]
    bins = tuple(_bin(tally, place, confidence=confidence) for place in range(BINS))
    counts, totals = [each.count for each in bins], [each.total for each in bins]
    return Calibration(
        judge,
        reference=votes.reference,
        claims=sum(totals),
        without_reference=tally.without_reference,
        error=expected_calibration_error(counts, totals, tally.sums),
        bins=bins if sum(totals) else (),
    )


def _bin(tally: CalibrationTally, place: int, *, confidence: float) -> CalibrationBin:
    rate = tally.cells.rate([place], confidence=confidence)
    return CalibrationBin(
        start=place / BINS,
        end=(place + 1) / BINS,
        count=rate.count,
        total=rate.total,
        mean=float(tally.sums[place]) / rate.total if rate.total else None,
        interval=rate.interval,
    )


AGREEMENT = "agreement"
"""The family of the metrics that compare judges."""


def judge_section(
    rows: Sequence[MetricRow],
    manifest: Manifest,
    *,
    tallies: Tallies,
    confidence: float,
    checks: JudgeChecks | None = None,
) -> JudgeSection:
    """The judges of a run, alone, two by two, and all together."""
    found = tallies.judges()
    verdicts = {judge: sum(tally.labels.values()) for judge, tally in found.items()}
    agreement = [row for row in rows if row.text.family == AGREEMENT and not row.summary.by]
    known = {judge.name for judge in manifest.judges} | set(found)
    each = tuple(row for row in agreement if row.summary.judge in known)
    judges = sum(judge != CONSENSUS for judge in found)
    return JudgeSection(
        judges=_judge_rows(rows, manifest, tallies=tallies),
        agreement=tuple(row for row in agreement if row not in each),
        each=each,
        advice=panel_advice([row.summary for row in rows]),
        pairs=judge_pairs(tallies.votes, verdicts),
        calibrations=calibrations(tallies.votes, verdicts, confidence=confidence),
        left_out=max(0, judges - JUDGES_SHOWN),
        baselines=None if checks is None else checks.baselines,
        correction=None if checks is None else checks.correction,
    )


def has_comparison(section: JudgeSection) -> bool:
    """Whether there is anything to say of judges: several of them, a cost, or labels that one is held against."""
    judges = [judge for judge in section.judges if judge.judge != CONSENSUS]
    # Beside nothing at all, probabilities have nothing to hold to.
    is_calibrated = any(each.claims for each in section.calibrations)
    labelled = section.baselines is not None or section.correction is not None
    return len(judges) > 1 or section.cost_usd is not None or is_calibrated or labelled


def _judge_rows(rows: Sequence[MetricRow], manifest: Manifest, *, tallies: Tallies) -> tuple[JudgeRow, ...]:
    specs = {judge.name: judge.spec for judge in manifest.judges}
    found = tallies.judges()
    own_rows = [row for row in rows if not row.summary.by and row.text.family != AGREEMENT]
    measured = [row.summary.judge for row in own_rows if row.summary.judge is not None]
    names = sorted(dict.fromkeys([*specs, *sorted(found), *measured]), key=CONSENSUS.__eq__)
    judges = []
    for name in names:
        tally = found.get(name)
        judges.append(
            JudgeRow(
                judge=name,
                spec=specs.get(name),
                tally=None if tally is None else tally_of(tally.labels),
                cost_usd=None if tally is None else tally.cost_usd,
                verdicts_without_cost=0 if tally is None else tally.without_cost,
                rows=tuple(row for row in own_rows if row.summary.judge == name),
            )
        )
    return tuple(judges)
