"""The report as one HTML file that needs nothing else: no network, no other file, no server."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from msgspec import Struct

from .aspects.building import ASPECTS
from .aspects.families import OPEN
from .charts import charts_of
from .dialogue.building import DIALOGUE
from .dialogue.sections import DifferenceSection
from .dialogue.wording import (
    MARK_WORDS,
    difference_cells,
    fairness_words,
    group_title,
    pairs_of_modes,
    result_words,
)
from .document import (
    TRANSCRIPTS,
    BreakdownSection,
    IntegritySection,
    JudgeSection,
    MetricSection,
    RecordSection,
)
from .drawing import LABEL_COLOURS, PALETTE
from .payload import record_payload
from .segmentation import CONSENSUS
from .transcripts.payload import KIND_WORDS, pages_payload, pairs_payload, readings_payload
from .transcripts.ranking import (
    HALLUCINATING,
    difference_words,
    metric_words,
    neighbours,
    p_words,
)
from .transcripts.sections import PageSection, RankingSection, ReadingSection
from .transcripts.wording import WITNESS_WORDS, has_witness, reading_coverage_words
from .undefined import place_words, undefined_groups
from .verdicts.codes import failure_words, reason_words
from .wording import (
    ALL_JUDGES,
    DIRECTION_WORDS,
    LABEL_WORDS,
    NO_VALUE,
    coverage_words,
    format_cost,
    format_count,
    format_counts,
    format_number,
    format_pair,
    interval_words,
    plural,
    value_words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.records import Label
    from hallumeter.records.pairing import ModeDifference

    from .document import Document, MetricRow, ReasonCount, Section
    from .drawing import Chart, Json
    from .transcripts.sections import PageCensus
    from .undefined import UndefinedGroup

TITLES = {
    "metrics": "Metrics",
    "distribution": "Spread",
    "breakdown": "By group",
    "judges": "Judges",
    "reasons": "Reasons",
    "records": "Responses",
    "integrity": "Integrity",
    "ranking": "Engines",
    "pages": "Pages",
    "readings": "Page by page",
    "differences": "Modes compared",
    "scores": "Spread and trend",
    "parts": "Parts in counts",
}
"""The sections that this renderer knows, and their headings; each has a template of its own."""
_OWN_TITLES = {
    TRANSCRIPTS: {"metrics": "All engines together"},
    DIALOGUE: {"metrics": "All answers together", "records": "Answers"},
    ASPECTS: {"records": "Sentences"},
}
"""The headings that an instrument has in place of these."""
_OWN_TEMPLATES = {
    DIALOGUE: {"records": "section_records_dialogue.html"},
    ASPECTS: {"metrics": "section_metrics_aspects.html"},
}
_OWN_STYLES = {TRANSCRIPTS: "transcripts.css", DIALOGUE: "dialogues.css"}
_GUIDES = {TRANSCRIPTS: "guide_pages.html", DIALOGUE: "guide_dialogue.html", ASPECTS: "guide_aspects.html"}
_SECTION_SCRIPTS = {
    RecordSection: "records.js",
    RankingSection: "ranking.js",
    PageSection: "pages.js",
    ReadingSection: "readings.js",
}
"""What the sections need in the browser, beside what all of them share."""
_HERE = Path(__file__).parent
_VEGA = ("vega.min.js", "vega-lite.min.js", "vega-embed.min.js")
_LICENCES = ("LICENSE.vega.txt", "LICENSE.vega-lite.txt", "LICENSE.vega-embed.txt", "LICENSE.bundled.txt")
_IN_DATA = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})
_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*$", re.MULTILINE)


def render_html(document: Document) -> str:
    """The whole report as one page.

    Texts of models are data: the template escapes them, and the page's script puts them in as text only.
    Characters that HTML or UTF-8 cannot carry are replaced by U+FFFD.
    """
    charts = charts_of(document)
    scripts = _scripts(document, has_charts=bool(charts))
    own_style = _OWN_STYLES.get(document.instrument)
    style = _palette_style() + _static("report.css") + (_static(own_style) if own_style else "")
    template = _environment().get_template("report.html")
    page = template.render(
        document=document,
        census=_census(document),
        caution=_caution(document),
        guide=_GUIDES.get(document.instrument, "guide.html"),
        aliases=_aliases(document),
        parts=_parts(document, charts),
        policy=_policy(scripts, style),
        style=style,
        scripts=scripts,
        licences=[_static(name) for name in _LICENCES] if charts else [],
        blocks=_data_blocks(document, charts),
    )
    return _UNREADABLE.sub("\ufffd", page)


def write_html(document: Document, path: str | os.PathLike[str]) -> None:
    """Write the report; a file of that name is replaced at once or not at all."""
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        unfinished.write_bytes(render_html(document).encode())
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def _aliases(document: Document) -> dict[str, str]:
    """What the metrics are called in the literature."""
    rows: list[MetricRow] = []
    for section in document.sections:
        if isinstance(section, MetricSection):
            rows += section.rows
        elif isinstance(section, JudgeSection):
            rows += section.agreement + section.each
    return {row.summary.metric: row.text.alias for row in rows}


class _Part(Struct, frozen=True):
    """A section on its way to its template."""

    anchor: str
    title: str
    template: str
    section: Section
    charts: tuple[Chart, ...]


def _parts(document: Document, charts: tuple[Chart, ...]) -> list[_Part]:
    """The sections that have a template; a kind that this renderer does not know is skipped."""
    parts = []
    titles = TITLES | _OWN_TITLES.get(document.instrument, {})
    templates = _OWN_TEMPLATES.get(document.instrument, {})
    for place, section in enumerate(document.sections):
        kind = str(section.__struct_config__.tag)
        title = titles.get(kind)
        if title is None:
            continue
        if isinstance(section, MetricSection | BreakdownSection) and section.title is not None:
            title = section.title
        elif isinstance(section, BreakdownSection):
            title = group_title(section.by) if document.instrument == DIALOGUE else f"By {', '.join(section.by)}"
        drawn = tuple(chart for chart in charts if chart.section == place)
        parts.append(_Part(f"{kind}-{place}", title, templates.get(kind, f"section_{kind}.html"), section, drawn))
    return parts


def _scripts(document: Document, *, has_charts: bool) -> list[str]:
    names = [*_VEGA, "charts.js"] if has_charts else []
    kinds = {type(section) for section in document.sections}
    used = [name for kind, name in _SECTION_SCRIPTS.items() if kind in kinds]
    if document.instrument == DIALOGUE and RecordSection in kinds:
        used.insert(0, "dialogues.js")
    return [_static(name) for name in (*names, *(["nodes.js", *used] if used else []))]


def _data_blocks(document: Document, charts: tuple[Chart, ...]) -> dict[str, str]:
    """The data that the scripts read, each under the name of its block."""
    blocks = {}
    if charts:
        specs: dict[str, Json] = {chart.chart_id: dict(chart.spec) for chart in charts}
        swaps: dict[str, Json] = dict(PALETTE.values())
        blocks["charts-data"] = _data({"specs": specs, "dark": swaps})
    for section in document.sections:
        if isinstance(section, RecordSection):
            blocks["records-data"] = _data(record_payload(section))
    return blocks | {name: _data(payload) for name, payload in _page_payloads(document).items()}


def _page_payloads(document: Document) -> dict[str, dict[str, Json]]:
    """The data of the scripts that show pages; empty when there are none."""
    sections = {str(section.__struct_config__.tag): section for section in document.sections}
    ranking, pages, readings = (sections.get(name) for name in ("ranking", "pages", "readings"))
    found = {}
    if isinstance(ranking, RankingSection):
        found["pairs-data"] = pairs_payload(ranking)
    if isinstance(pages, PageSection):
        engines = [engine.engine for engine in ranking.engines] if isinstance(ranking, RankingSection) else []
        shown = readings if isinstance(readings, ReadingSection) else None
        found["pages-data"] = pages_payload(pages, engines, shown)
    if isinstance(readings, ReadingSection):
        found["readings-data"] = readings_payload(readings)
    return found


def _census(document: Document) -> PageCensus | None:
    """How many pages there are; None for an instrument without pages."""
    return next((section.census for section in document.sections if isinstance(section, IntegritySection)), None)


def _caution(document: Document) -> str | None:
    """What a reader must know before any number of pages that have no ground truth; None where they have it."""
    rankings = [section for section in document.sections if isinstance(section, RankingSection)]
    columns = [column for section in rankings for column in section.columns + section.further]
    return WITNESS_WORDS.capitalize() + "." if has_witness(column.signature for column in columns) else None


def _data(value: Json) -> str:
    """JSON that cannot end the block it stands in, whatever texts it holds."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_IN_DATA)


def _policy(scripts: list[str], style: str) -> str:
    """A content security policy that lets in these scripts and this style, and nothing else."""
    hashes = " ".join(_hash(script) for script in scripts) or "'none'"
    return f"default-src 'none'; script-src {hashes}; style-src {_hash(style)}; base-uri 'none'; form-action 'none'"


def _hash(content: str) -> str:
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    return f"'sha256-{digest}'"


@cache
def _static(name: str) -> str:
    text = (_HERE / "static" / name).read_text(encoding="utf-8")
    return _SOURCE_MAP.sub("", text).strip()


def _palette_style() -> str:
    light, dark = (
        "".join(f"--{name.replace('_', '-')}:{pair[side]};" for name, pair in PALETTE.items()) for side in (0, 1)
    )
    return f":root{{{light}}}\n@media (prefers-color-scheme: dark){{:root{{{dark}}}}}\n"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        number=format_number,
        cost=format_cost,
        reason=reason_words,
        groupby_label=_by_label,
        failure=failure_words,
        by_reason=_by_reason,
        place=place_words,
        pair=format_pair,
        count=format_count,
        plural=plural,
        coverage=coverage_words,
        interval=interval_words,
        metric_name=metric_words,
        p_value=p_words,
        reading_coverage=reading_coverage_words,
    )
    environment.globals.update(
        counts_of=format_counts,
        value_of=value_words,
        all_judges=ALL_JUDGES,
        directions=DIRECTION_WORDS,
        label_words=LABEL_WORDS,
        mark_words=MARK_WORDS,
        label_colours=LABEL_COLOURS,
        no_value=NO_VALUE,
        consensus=CONSENSUS,
        groups_of=_groups_of,
        grid_of=_grid_of,
        unmeasured_of=_unmeasured_of,
        grid_of_judges=_grid_of_judges,
        kind_words=KIND_WORDS,
        hallucinating=HALLUCINATING,
        difference_of=difference_words,
        neighbours_of=neighbours,
        difference_cells_of=difference_cells,
        result_of=result_words,
        fairness_of=fairness_words,
        pairs_of=_pairs_of,
        open_families=OPEN,
    )
    return environment


def _pairs_of(section: DifferenceSection) -> list[tuple[tuple[str, str], list[ModeDifference]]]:
    """The differences of a section, by the modes that are compared."""
    return pairs_of_modes(section.differences)


def _by_label(rows: Sequence[ReasonCount]) -> list[tuple[Label, list[ReasonCount]]]:
    """Rows that stand together by label, under their label."""
    return [(label, list(group)) for label, group in groupby(rows, key=lambda row: row.label)]


def _by_reason(rows: Sequence[MetricRow]) -> list[UndefinedGroup]:
    """Figures without a value, by the reason for it."""
    return undefined_groups((row.text.alias, row.summary) for row in rows)


def _unmeasured_of(rows: Sequence[MetricRow]) -> MetricRow | None:
    """A row that tells what could not be measured, where all rows of a group that tell anything tell the same."""
    telling = [row for row in rows if row.summary.undecided or row.summary.failed]
    told = {(row.summary.undecided, row.summary.failed) for row in telling}
    return telling[0] if len(told) == 1 and len(telling) > 1 else None


def _groups_of(section: BreakdownSection) -> list[tuple[str, ...]]:
    """The groups of a breakdown in order of appearance."""
    return list(dict.fromkeys(tuple(row.summary.by.values()) for row in section.rows))


def _grid_of(section: BreakdownSection) -> list[tuple[MetricRow, dict[tuple[str, ...], MetricRow]]]:
    """For each metric (and judge) its rows by group."""
    lines: dict[tuple[str, str | None], dict[tuple[str, ...], MetricRow]] = {}
    for row in section.rows:
        key = (row.summary.metric, row.summary.judge)
        lines.setdefault(key, {})[tuple(row.summary.by.values())] = row
    return [(next(iter(cells.values())), cells) for cells in lines.values()]


def _grid_of_judges(section: JudgeSection) -> tuple[list[MetricRow], dict[str | None, dict[str, MetricRow]]]:
    """The metrics that say something of single judges, and for each judge its rows by metric."""
    columns: dict[str, MetricRow] = {}
    judges: dict[str | None, dict[str, MetricRow]] = {}
    for row in section.each:
        columns.setdefault(row.summary.metric, row)
        judges.setdefault(row.summary.judge, {})[row.summary.metric] = row
    told = {row.summary.metric for row in section.each if row.summary.value is not None}
    return [row for metric, row in columns.items() if metric in told], judges
