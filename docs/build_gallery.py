"""Write the live reports that docs/gallery.md links to, from the bundled samples, into docs/gallery.

    python docs/build_gallery.py

`make docs` does this before it builds the site. The reports are not kept in the repository.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from click.testing import CliRunner

from hallumeter.cli.main import main as command_line
from hallumeter.demo import run_demo

GALLERY = Path(__file__).parent / "gallery"
RUNS = ("answers", "newspapers", "dialogues", "reviews-english")
"""Runs of the demo, each with a report of its own."""
REPORTS = (*(f"{name}.html" for name in RUNS), "demo.html", "answers-fr.html", "comparison.html")
JUDGES = ("rules", "embedded")
INCONCLUSIVE = 3


def build(gallery: Path) -> None:
    """Fill a folder with every report of the gallery; what was there before is removed."""
    shutil.rmtree(gallery, ignore_errors=True)
    gallery.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as name, as_file(files("hallumeter.samples")) as samples:
        work = Path(name)
        run_demo(work / "demo")
        for run in RUNS:
            shutil.copy(work / "demo" / run / "report.html", gallery / f"{run}.html")
        shutil.copy(work / "demo" / "report.html", gallery / "demo.html")
        _run("report", work / "demo" / "answers", "--language", "fr", "--out", gallery / "answers-fr.html")
        for judge in JUDGES:
            _run("audit", samples / "rag_answers.jsonl", "--judge", judge, "--out", work / judge, "--quiet")
        _run("compare", *(work / judge for judge in JUDGES), "--out", gallery / "comparison.html")


def _run(*words: str | Path) -> None:
    """Run a command; a comparison of few answers may be inconclusive, which is no failure here."""
    result = CliRunner().invoke(command_line, [str(word) for word in words])
    if result.exit_code not in {0, INCONCLUSIVE}:
        raise SystemExit(f"hallumeter {' '.join(map(str, words))}: exit code {result.exit_code}\n{result.output}")


def main() -> None:
    """Build the gallery and say how large it is."""
    build(GALLERY)
    size = sum(path.stat().st_size for path in GALLERY.iterdir())
    sys.stdout.write(f"{GALLERY}: {len(REPORTS)} reports, {size >> 10} KiB\n")


if __name__ == "__main__":
    main()
