"""Can a witness accuse as well as clear, by the confidences in its hOCR? On drawn pages with planted inventions.

    python benchmarks/witness_hocr.py GROUND_TRUTH.jsonl [--pages 120]

Texts of real pages (InkBench's ground truth) are drawn, clean or with blur and speckles, and read by Tesseract into
hOCR: the witness. What the engine under test wrote is the same text with one word in thirty misread; into every second
page one to three passages of 6 to 24 words from other pages are planted, so that every invented place is known. Pages
are dealt into two halves before anything is read. Nothing was tuned on either; the second half is the one to quote.
The same hOCR without its confidences shows what they add.
"""

import argparse
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from hallumeter import load
from hallumeter.run.finished import Run
from hallumeter.stats.intervals import wilson_interval
from hallumeter.transcripts.commands import transcripts_to_folder
from hallumeter.transcripts.settings import Columns, TranscriptSettings
from hallumeter.transcripts.witness import opened_witness

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf"
WORDS, LINE = 60, 60
DAMAGE = ((0.0, 0.0), (0.8, 0.002), (1.4, 0.01), (2.2, 0.03))
"""Blur in pixels and share of speckled pixels; every fourth page has each."""


class Made(NamedTuple):
    """A page that was made, and where text was planted in it."""

    name: str
    truth: str
    response: str
    planted: list[tuple[int, int]]


def page_texts(path: Path, pages: int) -> list[list[str]]:
    """Words of real pages, long ones cut."""
    texts = (msgspec.json.decode(line)["text"].split() for line in path.read_bytes().splitlines())
    return [words[:WORDS] for words in texts if len(words) >= WORDS][: 2 * pages]


def wrapped(words: list[str]) -> str:
    """Words in lines."""
    lines, line = [], ""
    for word in words:
        if line and len(line) + len(word) >= LINE:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


def misread(word: str, rng: np.random.Generator) -> str:
    """One letter of one word in thirty is another."""
    if rng.random() > 1 / 30 or len(word) < 3:
        return word
    place = int(rng.integers(len(word)))
    return word[:place] + "abcdeilnorstu"[int(rng.integers(13))] + word[place + 1 :]


def make(number: int, texts: list[list[str]], rng: np.random.Generator) -> Made:
    """A page; every second one with passages of other pages, which are never drawn themselves."""
    words = texts[number]
    pieces: list[tuple[str, bool]] = [(misread(word, rng), False) for word in words]
    for _ in range(int(rng.integers(1, 4)) * (number // len(DAMAGE) % 2)):
        other = texts[len(texts) // 2 + int(rng.integers(len(texts) // 2))]
        length, start = int(rng.integers(6, 25)), int(rng.integers(len(other) - 25))
        place = int(rng.integers(len(pieces)))
        pieces[place:place] = [(word, True) for word in other[start : start + length]]
    response, planted = "", []
    for word, is_planted in pieces:
        start = len(response)
        response += f"{word} "
        if is_planted:
            planted.append((start, start + len(word)))
    return Made(f"p{number:03d}", wrapped(words), response.strip(), planted)


def draw(made: Made, path: Path, damage: tuple[float, float], rng: np.random.Generator) -> None:
    """Draw the text of a page, and damage it."""
    lines = made.truth.split("\n")
    image = Image.new("L", (1250, 100 + 42 * len(lines)), 255)
    pen, font = ImageDraw.Draw(image), ImageFont.truetype(FONT, 28)
    for place, line in enumerate(lines):
        pen.text((50, 50 + 42 * place), line, font=font, fill=20)
    blur, speckles = damage
    image = image.filter(ImageFilter.GaussianBlur(blur)) if blur else image
    pixels = np.asarray(image).copy()
    spots = rng.random(pixels.shape) < speckles
    pixels[spots] = 255 - pixels[spots]
    Image.fromarray(pixels).save(path)


def read(image: Path, folder: Path) -> None:
    """Let Tesseract read an image into hOCR."""
    command = ["tesseract", str(image), str(folder / image.stem), "-l", "eng", "hocr"]
    subprocess.run(command, check=True, capture_output=True, env={"OMP_THREAD_LIMIT": "1", "PATH": "/usr/bin:/bin"})


def flagged_words(run: Run, pages: dict[str, Made]) -> tuple[int, int, int]:
    """Words that were flagged and planted, all flagged, and all planted, on pages whose witness was sure."""
    hits = flagged = planted = 0
    rows = {row.page: row for row in run.pages()}
    found: dict[str, list[tuple[int, int]]] = {}
    for finding in run.findings():
        claim = finding.claim
        if claim.kind in {"block", "insertion"} and finding.verdicts[0].label.name == "NOT_ENOUGH_INFO":
            assert claim.start is not None
            assert claim.end is not None
            found.setdefault(claim.record_id, []).append((claim.start, claim.end))
    for name, made in pages.items():
        if rows[name].is_hallucinating is None:
            continue
        spans = [match.span() for match in re.finditer(r"\S+", made.response)]
        told = {span for span in spans if any(a <= span[0] and span[1] <= b for a, b in found.get(name, ()))}
        hits += len(told & set(made.planted))
        flagged += len(told)
        planted += len(made.planted)
    return hits, flagged, planted


def share(count: int, total: int) -> str:
    """A share with its counts and its interval."""
    if not total:
        return "none"
    interval = wilson_interval(count, total)
    assert interval is not None
    return f"{count} of {total} ({count / total:.2f}; {interval.low:.2f}–{interval.high:.2f})"


def told(title: str, run: Run, pages: dict[str, Made]) -> str:
    """A line of the table."""
    rows = [row for row in run.pages() if row.page in pages]
    flagged = [row for row in rows if row.is_hallucinating]
    cleared = [row for row in rows if row.is_hallucinating is False]
    has_planted = {row.page for row in rows if pages[row.page].planted}
    hits, marked, planted = flagged_words(run, pages)
    cells = [
        title,
        str(len(rows)),
        share(sum(row.page in has_planted for row in flagged), len(flagged)),
        share(sum(row.page in has_planted for row in flagged), len(has_planted)),
        share(sum(row.page not in has_planted for row in cleared), len(cleared)),
        str(len(rows) - len(flagged) - len(cleared)),
        share(hits, marked),
        share(hits, planted),
    ]
    return f"| {' | '.join(cells)} |"


HEADER = (
    "| half, witness | pages | flagged pages with planted text (precision) | pages with planted text that are flagged "
    "(recall) | cleared pages without | undecided | flagged words that were planted | planted words that were flagged, "
    "on decided pages |"
)


def main(truth: Path, count: int) -> None:
    """Make the pages, let Tesseract read them, and print the table."""
    rng = np.random.default_rng(7)
    texts = page_texts(truth, count)
    made = [make(number, texts, rng) for number in range(min(count, len(texts) // 2))]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in ("images", "witness", "silent", "engine"):
            (folder / name).mkdir()
        for number, page in enumerate(made):
            draw(page, folder / "images" / f"{page.name}.png", DAMAGE[number % len(DAMAGE)], rng)
            (folder / "engine" / f"{page.name}.txt").write_text(page.response, encoding="utf-8")
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda image: read(image, folder / "witness"), sorted((folder / "images").glob("*.png"))))
        for file in (folder / "witness").glob("*.hocr"):
            without = re.sub(r"; x_wconf \d+", "", file.read_text(encoding="utf-8"))
            (folder / "silent" / file.name).write_text(without, encoding="utf-8")
        print(f"{HEADER}\n|{' --- |' * HEADER.count(' | ')} --- |")
        for witness in ("witness", "silent"):
            jobs = opened_witness([folder / "engine"], witness=str(folder / witness), images=None, columns=Columns())
            transcripts_to_folder(jobs, folder / f"run-{witness}", settings=TranscriptSettings())
            run = load(folder / f"run-{witness}")
            for half, title in ((0, "first"), (1, "second, held back")):
                own = {page.name: page for place, page in enumerate(made) if place // 8 % 2 == half}
                said = "with" if witness == "witness" else "without"
                print(told(f"{title}, {said} confidences", run, own))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--pages", type=int, default=120)
    given = parser.parse_args()
    main(given.truth, given.pages)
