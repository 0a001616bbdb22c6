"""Pages for the transcripts instrument, and a look at what it has written."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

TRUTH = {
    "p1": "Le roi de France est mort à Paris le 4 avril 1422 .",
    "p2": "Nous faisons savoir à tous présents et à venir",
    "p3": "Donné à Tours le dixième jour de mai",
}
FAITHFUL = TRUTH
INVENTIVE = {
    "p1": "Le roi de France est mort à Paris le 4 avril 1422 . dans son palais entouré de ses fidèles",
    "p2": "Nous faisons savoir " + "à tous présents et " * 12 + "à venir",
    "p3": "Donné à Tours",
}
"""A block of seven words on the first page, a loop on the second, an omission on the third."""


def write_pages(folder: Path, pages: Mapping[str, str], ending: str = ".txt") -> Path:
    """A folder with one text file per page."""
    folder.mkdir(parents=True, exist_ok=True)
    for page, text in pages.items():
        (folder / f"{page}{ending}").write_text(text, encoding="utf-8")
    return folder


def write_rows(path: Path, rows: Iterable[Mapping[str, object]]) -> Path:
    """A JSONL file."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def files_of(run: Path) -> dict[str, bytes]:
    """Every file of a run folder; the manifest without its times."""
    files = {path.name: path.read_bytes() for path in sorted(run.iterdir())}
    manifest = json.loads(files["manifest.json"])
    assert manifest.pop("started") <= manifest.pop("finished")
    files["manifest.json"] = json.dumps(manifest).encode()
    return files


def alto(*lines: str) -> str:
    """A page of ALTO 4."""
    words = "".join(
        "<TextLine>" + "".join(f'<String CONTENT="{word}"/>' for word in line.split()) + "</TextLine>" for line in lines
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?><alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page>'
        f"<PrintSpace><TextBlock>{words}</TextBlock></PrintSpace></Page></Layout></alto>"
    )


def page_xml(*lines: str) -> str:
    """A page of PAGE XML of 2019."""
    words = "".join(
        f'<TextLine id="l{place}"><TextEquiv><Unicode>{line}</Unicode></TextEquiv></TextLine>'
        for place, line in enumerate(lines)
    )
    namespace = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><PcGts xmlns="{namespace}"><Page>'
        f'<TextRegion id="r1">{words}</TextRegion></Page></PcGts>'
    )


def hocr(*lines: str) -> str:
    """A page of hOCR."""
    words = "".join(
        "<span class='ocr_line'>"
        + " ".join(f"<span class='ocrx_word'>{word}</span>" for word in line.split())
        + "</span>"
        for line in lines
    )
    return f"<html><body><div class='ocr_page'><p class='ocr_par'>{words}</p></div></body></html>"
