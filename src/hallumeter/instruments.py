"""The one list of instruments. Each has a module with a value `INSTRUMENT`, imported when a run of it is met."""

from __future__ import annotations

from importlib import import_module

from hallumeter.records.instrument import Instrument
from hallumeter.records.metric import Metric

INSTRUMENTS = (
    ("audit", "hallumeter.claims.instrument"),
    ("measure", "hallumeter.claims.instrument"),
    ("ingest", "hallumeter.claims.instrument"),
    ("transcripts", "hallumeter.transcripts.instrument"),
    ("dialogue", "hallumeter.dialogue.instrument"),
    ("aspects", "hallumeter.aspects.instrument"),
)
"""The first word of what runs are called, and the module of their instrument."""


def instrument_of(run: str) -> Instrument:
    """The instrument of a run, by what its manifest calls it; one that is not known is shown as claims are.

    >>> instrument_of("aspects replay").name, instrument_of("ingest").name
    ('aspects', 'claims')
    """
    modules = dict(INSTRUMENTS)
    return _instrument(modules.get(run.partition(" ")[0], INSTRUMENTS[0][1]))


def all_instruments() -> tuple[Instrument, ...]:
    """Every instrument, in the order of the list."""
    return tuple(_instrument(module) for module in dict.fromkeys(module for _, module in INSTRUMENTS))


def own_files() -> frozenset[str]:
    """What runs of any instrument hold beside the files that all runs have."""
    return frozenset(name for instrument in all_instruments() for name in instrument.files)


def metric_named(metric: str) -> Metric | None:
    """The metric with this id; None for one of another tool. Instruments are looked at one by one, as far as needed."""
    for _, module in INSTRUMENTS:
        for known in _instrument(module).metrics:
            if known.id == metric:
                return known
    return None


def all_metrics() -> dict[str, Metric]:
    """Every metric of every instrument by its id."""
    return {metric.id: metric for instrument in all_instruments() for metric in instrument.metrics}


def _instrument(module: str) -> Instrument:
    found = import_module(module).INSTRUMENT
    assert isinstance(found, Instrument), f"{module}.INSTRUMENT is no Instrument"
    return found
