"""A fifth instrument is a folder of its own and one row in the list: everything shared takes it from there."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent
from threading import Event
from typing import Any

import pytest
from click.testing import CliRunner
from viewer_client import serving

import hallumeter.instruments
from hallumeter.catalog import METRICS_BY_ID
from hallumeter.cli.main import main
from hallumeter.models.prices import Spending
from hallumeter.run.finished import load
from hallumeter.run.progress import NoProgress
from hallumeter.run.runner import run_work

MOST_LINES = 100

WORDS = """
    [capitals_rate]
    alias = "Capitals"
    name = "Share of letters that are capitals"
    question = "How loud is a text?"
    formula = "capital letters / letters"
    undefined_when = "there is no letter"
    example = "In 'Ab' 1 of 2 letters is a capital: 0.5."
    caution = "Some languages have no capitals."
    source = "A test."
"""
TEMPLATE = """
    {% for row in part.section.rows %}
    <p>{{ row.summary.by.model }} shouts {{ row.summary.value | number }}</p>
    {% endfor %}
"""
INSTRUMENT = '''
    """How much of what models write is in capitals."""

    from contextlib import nullcontext
    from datetime import UTC, datetime
    from importlib.metadata import version
    from pathlib import Path

    import numpy as np

    from hallumeter.formats.jsonl import write_jsonl
    from hallumeter.records.instrument import Instrument
    from hallumeter.records.measurement import SUMMARY_VERSION, Counts, Measurement, Summary
    from hallumeter.records.metric import Metric
    from hallumeter.records.rate import Rates
    from hallumeter.records.response import Response
    from hallumeter.report.build import breakdown_sections, metric_sections, record_sections
    from hallumeter.report.charts import section_charts
    from hallumeter.report.presentation import Presentation, SectionKind, Sections
    from hallumeter.run.finished import load
    from hallumeter.run.identity import RunIdentity, manifest_of
    from hallumeter.run.journal import decoded, entry_of
    from hallumeter.run.run_folder import CLAIMS, FAILURES, MEASUREMENTS, RECORDS, REPORT, SUMMARY, VERDICTS, write_json
    from hallumeter.run.runner import FinishedRun
    from hallumeter.stats.summarize import Slice, SummarySettings, summarize_rates
    from hallumeter.text.metric_texts import with_texts


    def capitals_rate(texts):
        counts = [sum(letter.isupper() for letter in text) for text in texts]
        return Rates(np.array(counts, float), np.array([sum(map(str.isalpha, text)) for text in texts], float))


    (CAPITALS,) = METRICS = with_texts(
        "shouting",
        Metric(id="capitals_rate", reads="texts", compute=capitals_rate, direction="lower", range=(0, 1),
               is_poolable=True, interval="cluster_bootstrap"),
    )


    class Work:
        """A run over texts by model."""

        instrument, started, notices = "shouting", datetime.now(UTC), ()

        def __init__(self, texts, folder):
            self._texts, self.folder = texts, folder
            self.identity = RunIdentity(hallumeter=version("hallumeter"))
            self.manifest = manifest_of(self.identity, "shouting", {}, inputs=(), seed=0)
            self.steps = (self._read,)

        def opened(self, *, stop, spending):
            return nullcontext()

        def _read(self, context):
            for place, (model, text) in enumerate(self._texts):
                record = Response(f"r{place // 2}-{model}", response=text, model=model)
                context.journal.add([entry_of("texts", place, record)])
            return True

        def write(self, folder, context):
            records = list(decoded((entry.body for entry in context.journal.entries("texts")), Response))
            rates = CAPITALS.compute([record.response for record in records])
            write_jsonl(folder / RECORDS, records)
            for name in (CLAIMS, VERDICTS, FAILURES):
                write_jsonl(folder / name, ())
            write_jsonl(folder / MEASUREMENTS, (
                Measurement("capitals_rate", "record", record.record_id, {}, None, count, total, count / total)
                for record, count, total in zip(records, rates.counts.tolist(), rates.totals.tolist())
            ))
            settings, models = SummarySettings(version("hallumeter")), np.array([each.model for each in records])
            rows = [summarize_rates(CAPITALS, rates, Slice({}, None), settings=settings)] + [
                summarize_rates(CAPITALS, rates[models == model], Slice({"model": str(model)}, None), settings=settings)
                for model in np.unique(models)
            ]
            summary = Summary(SUMMARY_VERSION, "shouting", Counts(records=len(records)), tuple(rows))
            write_json(folder / SUMMARY, summary)
            (folder / "loudest.txt").write_text(records[int(np.argmax(rates.counts))].record_id, encoding="utf-8")
            return FinishedRun(summary=summary)

        def write_report(self, folder):
            load(folder).to_html(folder / REPORT)

        def read_finished(self):
            return FinishedRun(summary=load(self.folder).summary)


    def _sections(gathered):
        return Sections([*metric_sections(gathered), *breakdown_sections(gathered), *record_sections(gathered)])


    PRESENTATION = Presentation(
        sections=_sections, facts=lambda *_: (), figures=("capitals_rate",), charts=section_charts,
        kinds={"breakdown": SectionKind(title="Who shouts", template="who_shouts.html")},
        templates=Path(__file__).parent, group_title=lambda fields: f"Who shouts, by {fields[0]}",
    )
    INSTRUMENT = Instrument(
        name="shouting", runs={"shouting": "shouting"}, metrics=METRICS, compared=("capitals_rate",),
        headline=("capitals_rate",), resample="response", files=("loudest.txt",), presentation=lambda: PRESENTATION,
    )
'''


@pytest.fixture
def shouting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the instrument, in a folder of its own."""
    package = tmp_path / "code" / "shouting"
    package.mkdir(parents=True)
    for name, text in (("metrics.en.toml", WORDS), ("who_shouts.html", TEMPLATE), ("instrument.py", INSTRUMENT)):
        (package / name).write_text(dedent(text).lstrip(), encoding="utf-8")
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(package.parent))
    row = ("shouting", "shouting.instrument")
    monkeypatch.setattr(hallumeter.instruments, "INSTRUMENTS", (*hallumeter.instruments.INSTRUMENTS, row))
    found = hallumeter.instruments.instrument_of("shouting")
    for metric in found.metrics:  # the catalog was made before, by another test
        monkeypatch.setitem(METRICS_BY_ID, metric.id, metric)
    yield sys.modules["shouting.instrument"]
    for name in ("shouting.instrument", "shouting"):
        del sys.modules[name]


@pytest.fixture
def runs(shouting: Any, tmp_path: Path) -> Path:
    """A folder with a run of quiet texts, and one of loud texts."""
    quiet = [(model, f"It rains in city number {place}") for place in range(30) for model in ("a", "b")]
    loud = [(model, text.upper() if model == "b" else text) for model, text in quiet]
    for name, texts in (("quiet", quiet), ("loud", loud)):
        work = shouting.Work(texts, tmp_path / "runs" / name)
        run_work(work, progress=NoProgress(), stop=Event(), spending=Spending())
    return tmp_path / "runs"


def test_it_is_small() -> None:
    assert len(INSTRUMENT.strip().splitlines()) <= MOST_LINES


def test_its_runs_have_the_files_of_all_runs_and_its_own(runs: Path) -> None:
    names = {path.name for path in (runs / "loud").iterdir()}
    assert {"manifest.json", "summary.json", "measurements.jsonl", "report.html", "loudest.txt"} <= names
    assert load(runs / "quiet").summary.metrics[0].value == pytest.approx(1 / 20, abs=0.02)


def test_its_report_has_its_own_section_and_the_words_of_its_metric(runs: Path) -> None:
    page = (runs / "loud" / "report.html").read_text(encoding="utf-8")
    assert "Who shouts, by model" in page
    assert "b shouts" in page
    assert "Share of letters that are capitals" in page
    assert "How loud is a text?" in page


def test_two_of_its_runs_can_be_compared(runs: Path) -> None:
    told = CliRunner().invoke(main, ["compare", str(runs / "quiet"), str(runs / "loud")])
    assert "Capitals" in told.output
    assert told.exit_code == 1, told.output


@pytest.mark.parametrize(("run", "code"), [("quiet", 0), ("loud", 1)])
def test_its_runs_are_held_to_a_policy(runs: Path, run: str, code: int) -> None:
    policy = runs.parent / "policy.toml"
    policy.write_text('name = "quiet"\n[[bounds]]\nmetric = "capitals_rate"\nat_most = 0.2\n', encoding="utf-8")
    told = CliRunner().invoke(main, ["gate", str(runs / run), "--policy", str(policy)])
    assert told.exit_code == code, told.output


def test_the_viewer_lists_and_shows_its_runs(runs: Path) -> None:
    with serving(runs) as asker:
        listed = asker.get("").text
        assert "Capitals" in listed
        page = asker.get(f"runs/{asker.run_ids()['loud']}/").text
    assert "Who shouts, by model" in page


def test_a_metric_of_it_is_explained_at_the_command_line(runs: Path) -> None:
    assert "How loud is a text?" in CliRunner().invoke(main, ["metrics", "capitals_rate"]).output
