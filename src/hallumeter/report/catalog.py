"""The catalog of metrics in words: for the terminal and for the docs."""

from __future__ import annotations

import math
from itertools import chain

from hallumeter.errors import SettingsError, nearest
from hallumeter.instruments import all_metrics, instrument_of
from hallumeter.records.metric import Metric

from .document import MetricText
from .table import Line, terminal, terminal_width
from .wording import DIRECTION_WORDS

MOST_WIDTH = 100
"""Columns beyond which prose is hard to read."""
LEAST_QUESTION = 40
"""Columns below which a question stands on the line after its metric."""


def catalog_text(*, width: int | None = None) -> str:
    """Every metric: its id, which way is better, the question it answers."""
    columns = width or terminal_width()["width"]
    metrics = all_metrics()
    longest = max(map(len, metrics))
    parts: list[Line] = []
    for metric in metrics.values():
        head = f"{metric.id:<{longest}}  {DIRECTION_WORDS[metric.direction][0] or ' '}  "
        if columns - len(head) >= LEAST_QUESTION:
            parts.append(Line(f"{head}{metric.question}", hang=len(head)))
        else:
            parts += [Line(f"{metric.id} {DIRECTION_WORDS[metric.direction][0]}"), Line(f"    {metric.question}")]
    parts += [Line(), Line("`hallumeter metrics ID` explains one; ↑ higher is better, ↓ lower is better.")]
    return terminal(parts, width=columns)


def metric_text_page(name: str, *, width: int | None = None) -> str:
    """Everything the catalog knows about one metric, by its id or its name."""
    metric = find_metric(name)
    parts = [Line(f"{metric.id}: {metric.alias}, {metric.name}")]
    for title, text in metric_facts(metric).items():
        parts += [Line(), Line(title), Line(text)]
    return terminal(parts, width=min(width or terminal_width()["width"], MOST_WIDTH))


def find_metric(name: str) -> Metric:
    """The metric with this id or name; capitals count only where two names differ in nothing else."""
    wanted = name.strip()
    metrics = all_metrics().values()
    exact = (metric for metric in metrics if wanted in _names(metric))
    alike = (metric for metric in metrics if wanted.lower() in map(str.lower, _names(metric)))
    for metric in chain(exact, alike):
        return metric
    raise SettingsError(f"no metric is called {name!r}; {nearest(name, all_metrics())}")


def _names(metric: Metric) -> tuple[str, ...]:
    """The id, the name in tables, and the name in brackets after it, which the literature uses."""
    plain, _, literature = metric.alias.rstrip(")").partition(" (")
    return (metric.id, metric.alias, plain, literature) if literature else (metric.id, metric.alias)


def metric_facts(metric: Metric) -> dict[str, str]:
    """Titles and texts, in reading order."""
    low, high = metric.range
    ends = f"{low:g} to {high:g}" if high is not None else f"from {low:g}, no upper end"
    if math.isinf(low):
        ends = f"no lower end, up to {high:g}"
    return {
        "Question": metric.question,
        "Formula": metric.formula,
        "Range": f"{ends}; {DIRECTION_WORDS[metric.direction][1]}",
        "Undefined": f"when {metric.undefined_when}",
        "Example by hand": metric.example,
        "What it does not tell": metric.caution,
        "Source": metric.source,
    }


def metric_texts(run: str | None = None) -> dict[str, MetricText]:
    """What a report tells its readers about the metrics of a run of this name, or about all."""
    metrics = all_metrics().values() if run is None else instrument_of(run).metrics
    return {
        metric.id: MetricText(
            alias=metric.alias,
            name=metric.name,
            question=metric.question,
            range=(None if math.isinf(metric.range[0]) else metric.range[0], metric.range[1]),
            family="agreement" if metric.reads == "ratings" else metric.reads,
        )
        for metric in metrics
    }
