"""The report as one HTML file that needs nothing else: no network, no other file, no server."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from msgspec import Struct, field

from hallumeter.report.document import Document
from hallumeter.report.drawing import PALETTE, Chart, Json
from hallumeter.report.languages.speaking import ENGLISH, catalogue, speaking, spoken
from hallumeter.report.sections import ReadingSection

from .chapters import Chapter, chapters_of, chart_blocks
from .proof import BLANK, PROOF, report_proof, sealed
from .templates import templates

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
