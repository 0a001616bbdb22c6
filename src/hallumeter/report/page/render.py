"""The report as one HTML file that needs nothing else: no network, no other file, no server."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import version
from importlib.util import cache_from_source
from itertools import groupby
from pathlib import Path

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from msgspec import Struct, field

from hallumeter.records.claim import Label
from hallumeter.records.measurement import MetricSummary
from hallumeter.report.charts import length_words, tenth_words
from hallumeter.report.document import BreakdownSection, Document, JudgeSection, MetricRow, ReasonCount
from hallumeter.report.drawing import LABEL_COLOURS, PALETTE, Chart, Json
from hallumeter.report.integrity import LANGUAGE_WORDS
from hallumeter.report.judges import advice_html, agreement_level, pair_grid
from hallumeter.report.languages.speaking import (
    ENGLISH,
    catalogue,
    say,
    say_count,
    say_count_html,
    say_html,
    speaking,
    spoken,
)
from hallumeter.report.overview import format_percent, format_percents, isolated, tell_fact_html, tell_reason
from hallumeter.report.presentation import Behind, presentation_of
from hallumeter.report.reasons import UndefinedGroup, failure_words, place_words, reason_words, undefined_groups
from hallumeter.report.record_queries import mode_query, query_behind, reason_query
from hallumeter.report.sections import CONFUSED, ReadingSection
from hallumeter.report.segmentation import CONSENSUS
from hallumeter.report.wording import (
    ALL_JUDGES,
    DIRECTION_WORDS,
    LABEL_WORDS,
    NO_VALUE,
    coverage_words,
    field_words,
    format_cost,
    format_count,
    format_counts,
    format_number,
    format_pair,
    instrument_words,
    interval_words,
    p_words,
    signed,
    signed_pair,
    value_words,
)

from .chapters import Chapter, chapters_of, chart_blocks
from .proof import BLANK, PROOF, report_proof, sealed

_TEMPLATES = Path(__file__).parents[1] / "templates"
_TRIMS = True


class _CompiledTemplates(BytecodeCache):
    """Keeps compiled templates where Python keeps compiled modules: compiling them takes longer than a small audit."""

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """The name of the file; a template whose text has changed is compiled again in any case."""
        return hashlib.sha256(f"{name} {filename} {version('jinja2')} {_TRIMS}".encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read what is kept, if anything is."""
        with suppress(OSError), _place(bucket).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep it, unless the place may not be written to or Python was told to write none."""
        if sys.dont_write_bytecode:
            return
        place = _place(bucket)
        unfinished = place.with_name(f"{place.name}.{os.getpid()}")
        with suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            with unfinished.open("wb") as file:
                bucket.write_bytecode(file)
            unfinished.replace(place)


def _place(bucket: Bucket) -> Path:
    return Path(cache_from_source(str(_TEMPLATES / f"{bucket.key}.py")))


@cache
def templates(runs: tuple[str, ...] = ()) -> Environment:
    """The templates of a page on runs of these names; every text that they are given is escaped."""
    own = dict.fromkeys(shown.templates for shown in map(presentation_of, runs) if shown.templates is not None)
    environment = Environment(
        loader=FileSystemLoader([_TEMPLATES, *own]),
        autoescape=True,
        undefined=StrictUndefined,
        bytecode_cache=_CompiledTemplates(),
        trim_blocks=_TRIMS,
        lstrip_blocks=_TRIMS,
    )
    environment.filters.update(_filters())
    environment.globals.update(_functions())
    environment.tests["widened"] = _is_widened
    behind: dict[str, Behind] = {}
    for run in runs:
        shown = presentation_of(run)
        behind |= shown.behind
        environment.filters.update(shown.filters())
        environment.globals.update(shown.functions())
    environment.globals["query_behind"] = partial(query_behind, behind=behind)
    environment.globals["mode_query"] = partial(mode_query, behind=behind)
    return environment


def _is_widened(summary: MetricSummary) -> bool:
    """Whether what could not be measured leaves several values possible."""
    return summary.bounds is not None and summary.bounds[0] != summary.bounds[1]


def _filters() -> dict[str, Callable[..., object]]:
    return {
        "number": format_number,
        "cost": format_cost,
        "reason": reason_words,
        "groupby_label": _by_label,
        "failure": failure_words,
        "by_reason": _by_reason,
        "place": place_words,
        "pair": format_pair,
        "count": format_count,
        "fields": field_words,
        "coverage": coverage_words,
        "capitalized": lambda text: text[:1].upper() + text[1:],
        "interval": interval_words,
        "percent": format_percent,
        "percents": format_percents,
        "signed": signed,
        "plain_p": p_words,
        "signed_pair": signed_pair,
    }


def _functions() -> dict[str, object]:
    return {
        "_": say,
        "html": say_html,
        "counted": say_count,
        "counted_html": say_count_html,
        "spoken": spoken,
        "counts_of": format_counts,
        "instrument_of": instrument_words,
        "reason_query": reason_query,
        "value_of": value_words,
        "all_judges": ALL_JUDGES,
        "directions": DIRECTION_WORDS,
        "label_words": LABEL_WORDS,
        "label_colours": LABEL_COLOURS,
        "no_value": NO_VALUE,
        "consensus": CONSENSUS,
        "groups_of": _groups_of,
        "grid_of": _grid_of,
        "unmeasured_of": _unmeasured_of,
        "grid_of_judges": _grid_of_judges,
        "tell": tell_fact_html,
        "tell_reason": tell_reason,
        "isolated": isolated,
        "aliases_of": _aliases_of,
        "tenth_words": tenth_words,
        "length_words": length_words,
        "pair_grid_of": pair_grid,
        "level_of": agreement_level,
        "advice_of": advice_html,
        "language_words": LANGUAGE_WORDS,
        "confused": [Label(name) for name in CONFUSED],
    }


def _aliases_of(metrics: Sequence[str], aliases: Mapping[str, str]) -> str:
    """Metrics in a row, by the names that the literature knows."""
    return ", ".join(aliases.get(metric, metric) for metric in metrics)


def _by_label(rows: Sequence[ReasonCount]) -> list[tuple[Label, list[ReasonCount]]]:
    """Rows that stand together by label, under their label."""
    return [(label, list(group)) for label, group in groupby(rows, key=lambda row: row.label)]


def _by_reason(rows: Sequence[MetricRow]) -> list[UndefinedGroup]:
    """Figures without a value, by the reason for it."""
    return undefined_groups((row.text.alias, row.summary) for row in rows)


def _unmeasured_of(rows: Sequence[MetricRow]) -> MetricRow | None:
    """A row that tells what could not be measured, where all rows of a group that tell anything tell the same."""
    telling = [row for row in rows if row.summary.undecided or row.summary.failed]
    missing = {(row.summary.undecided, row.summary.failed) for row in telling}
    return telling[0] if len(missing) == 1 and len(telling) > 1 else None


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
    defined = {row.summary.metric for row in section.each if row.summary.value is not None}
    return [row for metric, row in columns.items() if metric in defined], judges


# The messages that scripts say, found in the scripts themselves.

_STATIC = Path(__file__).parents[1] / "static"
_TEXT = r'"(?:[^"\\\n]|\\.)*"'
_SAID = re.compile(rf"\bsay\(({_TEXT})")
_COUNTED = re.compile(rf"\bsayCount\([^\n]*?,\s*{_TEXT},\s*({_TEXT})")


def script_words(scripts: Iterable[str]) -> dict[str, Json]:
    """What the scripts say, in the language that is being spoken; nothing in English, which stands in them."""
    own = catalogue(spoken())
    found: dict[str, Json] = {"language": spoken(), "numbers": dict(own.numbers)}
    names = [name for name in scripts if not name.endswith(".min.js")]
    said = {text for name in names for text in said_in(name)}
    counted = {text for name in names for text in counted_in(name)}
    found["messages"] = {text: own.messages[text] for text in sorted(said) if text in own.messages}
    found["counts"] = {text: list(own.counts[text]) for text in sorted(counted) if text in own.counts}
    return found


@cache
def said_in(name: str) -> frozenset[str]:
    """The messages of a script."""
    return frozenset(json.loads(text) for text in _SAID.findall(_read(name)))


@cache
def counted_in(name: str) -> frozenset[str]:
    """The plural forms of what a script counts."""
    return frozenset(json.loads(text) for text in _COUNTED.findall(_read(name)))


def _read(name: str) -> str:
    return (_STATIC / name).read_text(encoding="utf-8")


PALETTE_STYLE = "palette.css"
"""The name under which a server gives the colours."""
_VEGA = ("vega.min.js", "vega-lite.min.js", "vega-embed.min.js")
_LICENCES = ("LICENSE.vega.txt", "LICENSE.vega-lite.txt", "LICENSE.vega-embed.txt", "LICENSE.bundled.txt")
_IN_DATA = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})
_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]")
_SOURCE_MAP = re.compile(r"^//# sourceMappingURL=.*$", re.MULTILINE)


class Served(Struct, frozen=True):
    """What a server puts into a page beside its chapters."""

    template: str
    files: str
    """Where scripts and styles are, as seen from the page; ends with a slash."""
    scripts: tuple[str, ...] = ()
    """Those that only a server's page has."""
    styles: tuple[str, ...] = ()
    blocks: dict[str, Json] = field(default_factory=dict)
    """Data of scripts, in place of what the chapters have under the same names or beside it."""
    facts: dict[str, object] = field(default_factory=dict)
    """What the template says, under the names that it uses."""


def render_html(document: Document | Sequence[Document], *, language: str = ENGLISH) -> str:
    """The whole report as one page, with a chapter for each run.

    Texts of models are data: the template escapes them, and the page's script puts them in as text only.
    Characters that HTML or UTF-8 cannot carry are replaced by U+FFFD.
    """
    documents = [document] if isinstance(document, Document) else document
    with speaking(language):
        chapters = chapters_of(documents)
        proof = report_proof(documents, [chapter.fitting for chapter in chapters], language)
        return sealed(_UNREADABLE.sub("\ufffd", _page(chapters, proof)))


def write_html(
    document: Document | Sequence[Document], path: str | os.PathLike[str], *, language: str = ENGLISH
) -> None:
    """Write the report; a file of that name is replaced at once or not at all."""
    write_page(render_html(document, language=language), path)


def write_page(page: str, path: str | os.PathLike[str]) -> None:
    """Write a page; a file of that name is replaced at once or not at all."""
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        unfinished.write_bytes(page.encode())
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def render_served(served: Served, chapters: Sequence[Chapter] = (), *, charts: Sequence[Chart] = ()) -> str:
    """A page as a server gives it: the same templates and scripts, which come as files of their own.

    It is said in the language that is being spoken. The page names no policy: the server does, for all of its pages.
    """
    names = list(dict.fromkeys([*page_scripts(chapters, has_charts=bool(charts)), *served.scripts]))
    own = {**chart_blocks(charts), **_blocks(chapters), **served.blocks}
    page = (
        templates(_runs(chapters))
        .get_template(served.template)
        .render(
            **served.facts,
            chapters=chapters,
            charts=charts,
            files=served.files,
            styles=[PALETTE_STYLE, *page_styles(chapters), *served.styles],
            scripts=names,
            blocks={name: as_data(block) for name, block in {"words-data": script_words(names), **own}.items()},
        )
    )
    return _UNREADABLE.sub("\ufffd", page)


def render_alone(
    template: str,
    facts: Mapping[str, object],
    *,
    charts: Sequence[Chart] = (),
    scripts: Sequence[str] = (),
    styles: Sequence[str] = (),
    proof: Json = None,
) -> str:
    """A page of its own that is no report of a run, as one file, in the language that is being spoken."""
    names = [*page_scripts((), has_charts=bool(charts)), *scripts]
    style = page_style(()) + "\n".join(static(name) for name in styles)
    page = _alone(template, names, style, facts=facts, blocks={**chart_blocks(charts), PROOF: proof}, runs=())
    return sealed(_UNREADABLE.sub("\ufffd", page))


def _page(chapters: Sequence[Chapter], proof: Json) -> str:
    facts = {
        "chapters": chapters,
        "version": chapters[0].document.provenance.hallumeter,
        "has_images": any(map(_has_images, chapters)),
    }
    return _alone(
        "report.html",
        page_scripts(chapters),
        page_style(chapters),
        facts=facts,
        blocks={**_blocks(chapters), PROOF: proof},
        runs=_runs(chapters),
    )


def _has_images(chapter: Chapter) -> bool:
    sections = (section for section in chapter.document.sections if isinstance(section, ReadingSection))
    return any(view.image for section in sections for view in section.readings)


def _runs(chapters: Sequence[Chapter]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chapter.document.instrument for chapter in chapters))


def _alone(
    template: str,
    names: Sequence[str],
    style: str,
    *,
    facts: Mapping[str, object],
    blocks: dict[str, Json],
    runs: tuple[str, ...],
) -> str:
    """A page with everything that it needs inside."""
    scripts = [static(name) for name in names]
    data = {"words-data": script_words(names), **blocks}
    return (
        templates(runs)
        .get_template(template)
        .render(
            **facts,
            files=None,
            digest=BLANK,
            policy=_policy(scripts, style, has_images=bool(facts.get("has_images"))),
            style=style,
            scripts=scripts,
            licences=[static(name) for name in _LICENCES] if _VEGA[0] in names else [],
            blocks={name: as_data(block) for name, block in data.items()},
        )
    )


def _blocks(chapters: Sequence[Chapter]) -> dict[str, Json]:
    return {name: block for chapter in chapters for name, block in chapter.blocks.items()}


def page_scripts(chapters: Sequence[Chapter], *, has_charts: bool = False) -> list[str]:
    """The scripts that the chapters need, each once."""
    has_charts = has_charts or any(chapter.charts for chapter in chapters)
    shared = ["nodes.js", "downloads.js"]
    drawn = [*_VEGA, *shared, "chart_files.js", "charts.js"] if has_charts else shared
    used = [name for chapter in chapters for name in chapter.scripts]
    return list(dict.fromkeys([*drawn, *used, *(["chapters.js"] if len(chapters) > 1 else [])]))


def page_style(chapters: Iterable[Chapter]) -> str:
    """The style of a page that holds these chapters."""
    return palette_style() + "\n".join(static(name) for name in page_styles(chapters))


def page_styles(chapters: Iterable[Chapter]) -> list[str]:
    """The files of it, but for the colours."""
    return list(dict.fromkeys(["report.css", "records.css", *(chapter.style for chapter in chapters if chapter.style)]))


def as_data(value: Json) -> str:
    """JSON that cannot end the block it stands in, whatever texts it holds."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_IN_DATA)


@cache
def static(name: str) -> str:
    """A file that goes into every page as it is."""
    return _SOURCE_MAP.sub("", (_STATIC / name).read_text(encoding="utf-8")).strip()


@cache
def static_names() -> frozenset[str]:
    """The scripts and styles that a server may give."""
    return frozenset(path.name for path in _STATIC.iterdir() if path.suffix in {".js", ".css"})


def _policy(scripts: list[str], style: str, *, has_images: bool) -> str:
    """A content security policy that lets in these scripts, this style and perhaps images inside the page."""
    hashes = " ".join(_hash(script) for script in scripts) or "'none'"
    sources = f"script-src {hashes}; style-src {_hash(style)}{'; img-src data:' if has_images else ''}"
    return f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"


def _hash(content: str) -> str:
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def palette_style() -> str:
    """The colours, for light and for dark paper."""
    light, dark = (
        "".join(f"--{name.replace('_', '-')}:{pair[side]};" for name, pair in PALETTE.items()) for side in (0, 1)
    )
    return f":root{{{light}}}\n@media (prefers-color-scheme: dark){{:root{{{dark}}}}}\n"
