"""A comparison, or a ranking, as one page: alone in a file, or given by a server."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING

from hallumeter.records.decisions.comparison import Comparison, RunRanking
from hallumeter.report.languages.catalogue import ENGLISH
from hallumeter.report.languages.speaking import say, speaking
from hallumeter.report.page.rendering import Served, render_alone, render_served, write_page
from hallumeter.report.wording import instrument_words

from .charts import difference_charts, ranking_charts, unit_words
from .ranking import ranked_metrics
from .telling import HEADLINES, reasons_of, share_words
from .views import ROWS_SHOWN, matrix_of, row_views, shortened, state_words

if TYPE_CHECKING:
    import os

    from hallumeter.report.drawing import Chart

Compared = Comparison | RunRanking
SCRIPTS = ("comparison.js",)
STYLES = ("comparison.css",)
NOTICES_SHOWN = 30


def render_comparison(found: Compared, *, language: str = ENGLISH) -> str:
    """The whole page: no other file, no network. Texts of the runs are escaped."""
    with speaking(language):
        template, facts, charts = _told(found)
        return render_alone(template, {**facts, "chapters": ()}, charts=charts, scripts=SCRIPTS, styles=STYLES)


def write_comparison(found: Compared, path: str | os.PathLike[str], *, language: str = ENGLISH) -> None:
    """Write the page; a file of that name is replaced at once or not at all."""
    write_page(render_comparison(found, language=language), path)


def served_comparison(found: Comparison, *, files: str, facts: dict[str, object]) -> str:
    """The same page as a server gives it, in the language that is being spoken."""
    template, own, charts = _told(found)
    served = Served(
        f"viewer_{template}",
        files,
        scripts=SCRIPTS,
        styles=("viewer.css", *STYLES),
        facts={**own, "licences": (), **facts},
    )
    return render_served(served, charts=charts)


def _told(found: Compared) -> tuple[str, dict[str, object], list[Chart]]:
    """The template, what it says, and what it draws."""
    shared: dict[str, object] = {
        "found": found,
        "unit": unit_words(found.cluster),
        "instruments": " + ".join(instrument_words(name) for name in found.instrument.split(" and ")),
        "notices": [shortened(notice) if len(notice) > 2_000 else notice for notice in found.notices[:NOTICES_SHOWN]],
        "version": version("hallumeter"),
        "links": None,
    }
    if isinstance(found, RunRanking):
        charts = ranking_charts(found.rankings, found.cluster)
        title = say("Ranking of runs")
        own = {"title": title, "metrics": ranked_metrics(found, charts), "runs": [("", run) for run in found.runs]}
        return "ranking.html", {**shared, **own}, charts
    names = {"first": shortened(found.first.name), "second": shortened(found.second.name)}
    whole = [row for row in found.rows if not row.by]
    slices = [row for row in found.rows if row.by]
    drawn = difference_charts(whole, found.confidence, number=0)
    drawn_slices = difference_charts(slices, found.confidence, number=1)
    facts = {
        **shared,
        "title": say("{first} and {second}", **names),
        "headline": say(HEADLINES[found.outcome], **names),
        "reasons": reasons_of(found),
        "rows": row_views(whole),
        "slices": row_views(slices[:ROWS_SHOWN]),
        "slices_left_out": max(0, len(slices) - ROWS_SHOWN),
        "drawn": drawn,
        "drawn_slices": drawn_slices,
        "matrix": matrix_of(found),
        "state_words": state_words,
        "share_of": share_words,
    }
    return "comparison.html", facts, [*drawn, *drawn_slices]
