"""The catalog of metrics in words: for the terminal and for the docs."""

from __future__ import annotations

import math
import textwrap
from itertools import chain

from hallumeter.errors import SettingsError
from hallumeter.instruments import all_metrics, instrument_of
from hallumeter.records.metric import Metric

from .document import MetricText
from .wording import DIRECTION_WORDS

WIDTH = 100


def catalog_text() -> str:
    """One line per metric: id, alias, which way is better, the question it answers."""
    metrics = all_metrics()
    longest = max(map(len, metrics))
    lines = [
        f"{metric.id:<{longest}}  {DIRECTION_WORDS[metric.direction][0] or ' '}  {metric.question}"
        for metric in metrics.values()
    ]
    return "\n".join([*lines, "", "`hallumeter metrics ID` explains one; ↑ higher is better, ↓ lower is better.", ""])


def metric_text_page(name: str) -> str:
    """Everything the catalog knows about one metric, by its id or its alias."""
    parts = [f"{title}\n{textwrap.fill(text, WIDTH)}\n" for title, text in metric_facts(find_metric(name)).items()]
    metric = find_metric(name)
    return "\n".join([f"{metric.alias} ({metric.id}): {metric.name}\n", *parts])


def find_metric(name: str) -> Metric:
    """The metric with this id or alias; capitals count only where two names differ in nothing else."""
    wanted = name.strip()
    metrics = all_metrics().values()
    exact = (metric for metric in metrics if wanted in (metric.id, metric.alias))
    alike = (metric for metric in metrics if wanted.lower() in (metric.id, metric.alias.lower()))
    for metric in chain(exact, alike):
        return metric
    raise SettingsError(f"no metric is called {name!r}; `hallumeter metrics` lists the {len(metrics)} that exist")


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
