"""Rates of a run corrected for the errors of its judge, by labels that people gave: what `hallumeter correct` runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hallumeter.catalog import METRICS_BY_ID
from hallumeter.claims.labelled.correction import CorrectSettings, corrected_rates
from hallumeter.claims.labelled.run import read_labelled
from hallumeter.records.decisions import CorrectedRate, Correction, EstimatedRate, LabelCensus
from hallumeter.report.table import Line, Table, left, markdown, right, terminal
from hallumeter.report.wording import NO_VALUE, format_number, format_pair, interval_words, plural, unit_word
from hallumeter.run.finished import Run, load
from hallumeter.text.normalize import printable


def correct(run: Run | str | Path, *, settings: CorrectSettings | None = None) -> Correction:
    """Correct the rates of a run for the errors of its judge, by the labels that people gave to some of its claims.

    Raises:
        InputError: There are no labels, or they speak of nothing in the run, or contradict each other.
    """
    chosen = settings or CorrectSettings()
    opened = run if isinstance(run, Run) else load(run)
    labelled = read_labelled(opened, chosen.source.drawn_as_in(opened.manifest))
    return corrected_rates(labelled, name=opened.path.name or str(opened.path), settings=chosen)


def correction_text(correction: Correction, *, width: int | None = None, has_color: bool = False) -> str:
    """Every rate as the judge has it and corrected, and how good the judge is."""
    head = [Line(_title(correction), "bold"), Line(census_words(correction.labels))]
    return terminal([*head, *_tables(correction), *map(Line, _endings(correction))], width=width, has_color=has_color)


def correction_markdown(correction: Correction) -> str:
    """The same as tables for a comment."""
    lines = [f"### {_plain(_title(correction))}", "", _plain(census_words(correction.labels)) + "."]
    for table in _tables(correction):
        lines += ["", f"**{_plain(table.title)}**", "", *markdown(table, escape=_plain)]
    endings = list(_endings(correction))
    return "\n".join([*lines, *([""] if endings else []), *(f"- {_plain(line)}" for line in endings)]) + "\n"


def census_words(census: LabelCensus) -> str:
    """How many labels there are, of what, and by whom."""
    names = ", ".join(f"{name} {count:,}" for name, count in census.annotators.items())
    about = f"{plural(census.claims, 'claim')} in {plural(census.responses, 'answer')}"
    if not census.claims:
        about = plural(census.responses, "answer")
    unsure = f"; {census.unsure:,} could not be told" if census.unsure else ""
    return f"{plural(census.labels, 'label')} on {about} ({names}){unsure}"


def rate_words(rate: EstimatedRate) -> str:
    """A value with its interval, or a dash."""
    if rate.value is None:
        return NO_VALUE
    return f"{format_number(rate.value)}  {format_pair(rate.interval)}".rstrip()


def _title(correction: Correction) -> str:
    return f"{correction.run} · corrected for the errors of {correction.judge} · by {unit_word(correction.cluster)}"


def _tables(correction: Correction) -> Iterator[Table]:
    interval = interval_words(correction.confidence)
    has_slices = any(rate.by for rate in correction.rates)
    first = left("metric", *(["slice"] if has_slices else []))
    needed = f"for ±{correction.half_width * 100:g} points"
    yield Table(
        [*first, *right("judge says", "corrected", "Rogan-Gladen", "labelled", needed)],
        [
            [
                *_names(rate, has_slices=has_slices),
                *map(rate_words, (rate.raw, rate.corrected, rate.rogan_gladen)),
                f"{rate.labelled:,} of {rate.total:,}",
                _need(rate),
            ]
            for rate in correction.rates
        ],
        f"Rates with {interval}",
    )
    known = [rate for rate in correction.rates if rate.metric in {"mihr", "mihr_refuted", "mahr"}]
    judged = [rate for rate in known if rate.sensitivity.value is not None or rate.specificity.value is not None]
    if judged:
        yield Table(
            [*first, *right("sensitivity", "specificity")],
            [
                [*_names(rate, has_slices=has_slices), rate_words(rate.sensitivity), rate_words(rate.specificity)]
                for rate in judged
            ],
            f"{correction.judge} on the labelled, with {interval}",
        )


def _names(rate: CorrectedRate, *, has_slices: bool) -> list[str]:
    known = METRICS_BY_ID.get(rate.metric)
    name = known.alias if known else rate.metric
    part = ", ".join(f"{field}={value}" for field, value in rate.by.items())
    return [name, *([part or "all"] if has_slices else [])]


def _need(rate: CorrectedRate) -> str:
    if rate.narrowest is None:
        return NO_VALUE
    if rate.more_labels is None:
        return f"±{rate.narrowest * 100:.1f} at best"
    return f"{rate.more_labels:,} more labels" if rate.more_labels else "enough labels"


def _endings(correction: Correction) -> Iterator[str]:
    """What a reader must know: rates that were not corrected, and intervals that mislead."""
    for rate in correction.rates:
        name = " ".join(_names(rate, has_slices=bool(rate.by)))
        if rate.corrected.undefined:
            yield f"not corrected: {name}: {rate.corrected.undefined}"
        elif rate.rogan_gladen.undefined:
            yield f"no estimate by Rogan and Gladen: {name}: {rate.rogan_gladen.undefined}"
    misled = [rate for rate in correction.rates if _misleads(rate) and not rate.by]
    if misled:
        names = ", ".join(_names(rate, has_slices=False)[0] for rate in misled)
        yield f"the judge's own interval leaves out the corrected rate: {names}"


def _misleads(rate: CorrectedRate) -> bool:
    """Whether each interval leaves out the other's rate: with a handful of labels only one of them would."""
    pairs = ((rate.raw, rate.corrected), (rate.corrected, rate.raw))
    return all(_leaves_out(one, other) for one, other in pairs)


def _leaves_out(one: EstimatedRate, other: EstimatedRate) -> bool:
    interval, value = one.interval, other.value
    return interval is not None and value is not None and not interval[0] <= value <= interval[1]


def _plain(text: str) -> str:
    """Text that Markdown takes for nothing else."""
    return "".join(f"\\{mark}" if mark in "\\`*_[]#|<>" else mark for mark in printable(text))
