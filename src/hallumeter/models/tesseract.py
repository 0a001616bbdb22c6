"""Page images read by Tesseract, the program of the Debian package tesseract-ocr."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from hallumeter.errors import InputError, SettingsError
from hallumeter.text.normalize import one_line

from .page_readers import Reading, count_images, reading_of

_PROGRAM = "tesseract"
_SEPARATE_COLUMNS, _ONE_COLUMN = "3", "4"
"""Ways of Tesseract to cut a page into lines."""
_REMARKS = ("Page ", "Estimating ", "Detected ")
"""What it says when nothing is wrong."""
_PAGE, _WORD = "1", "5"
"""Levels of a row in its table."""
_COLUMNS = 12


class TesseractReader:
    """Reads page images with Tesseract, one process of one thread for each image."""

    def __init__(self, languages: Sequence[str] = ("eng",), *, timeout_seconds: float = 300) -> None:
        """Find the program and its languages, named by Tesseract's codes, the most frequent first.

        Raises:
            SettingsError: The program or a language is not installed; the message names the Debian package.
        """
        if not languages:
            raise SettingsError("tesseract needs at least one language, such as eng, fra or kor")
        program = shutil.which(_PROGRAM)
        if program is None:
            raise SettingsError(
                f"reading page images needs the program {_PROGRAM}, which is not on the PATH; "
                f"on Debian type: apt-get install tesseract-ocr {' '.join(map(_package, languages))}"
            )
        self._program = program
        self._timeout_seconds = timeout_seconds
        self._languages = tuple(languages)
        self._check_languages()
        self._name = f"{_PROGRAM}-{self._version()}-{'+'.join(languages)}"

    @property
    def name(self) -> str:
        """Program, version and languages."""
        return self._name

    def read(self, image: Path) -> Reading:
        """Read one PNG, JPEG or TIFF file, of a TIFF file all its images one after the other.

        Raises:
            InputError: The image cannot be read, or not within the time allowed.
        """
        images = count_images(image)
        with tempfile.TemporaryDirectory() as folder:
            base = Path(folder) / "page"
            # An absolute path cannot be taken for an option, for the standard input or for an address.
            complaint = self._recognize(image, [str(image.absolute()), str(base), *self._options()])
            text = _written(base.with_suffix(".txt"))
            rows = _rows(_written(base.with_suffix(".tsv")))
        pages = sum(row[0] == _PAGE for row in rows)
        if pages < images:  # it ends without an error on a TIFF file that is cut off
            raise InputError(
                f"{image}: tesseract could read {pages} of {images} images ({complaint or 'no reason given'})"
            )
        # The table parts Korean words into syllables; the text does not, and has the spaces where they belong.
        return reading_of(text.splitlines(), list(_confidences(rows)))

    def _options(self) -> list[str]:
        # Cutting Korean pages into columns loses most of their lines, on clean pages too.
        columns = _ONE_COLUMN if any(language.startswith("kor") for language in self._languages) else _SEPARATE_COLUMNS
        settings = ("tessedit_create_txt=1", "tessedit_create_tsv=1", "page_separator=")
        return [
            *("-l", "+".join(self._languages), "--psm", columns),
            *(word for setting in settings for word in ("-c", setting)),
        ]

    def _recognize(self, image: Path, arguments: list[str]) -> str:
        """Run the program on an image, and hand back the first line it complained with."""
        try:
            done = self._run(arguments)
        except subprocess.TimeoutExpired as error:
            raise InputError(
                f"{image}: tesseract had not finished after {self._timeout_seconds:g} seconds; scale the image down"
            ) from error
        complaints = (line for line in done.stderr.splitlines() if line.strip() and not line.startswith(_REMARKS))
        complaint = one_line(next(complaints, ""))
        if done.returncode:
            raise InputError(
                f"{image}: tesseract could not read it ({complaint or f'it ended with code {done.returncode}'})"
            )
        return complaint

    def _run(self, arguments: list[str]) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(  # noqa: S603 (a list of arguments, no shell)
                [self._program, *arguments],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=self._timeout_seconds,
                env={**os.environ, "OMP_THREAD_LIMIT": "1"},
                check=False,
            )
        except OSError as error:
            raise SettingsError(
                f"{self._program}: cannot be run ({error.strerror or error}); "
                "on Debian type: apt-get install --reinstall tesseract-ocr"
            ) from error

    def _answer(self, question: str) -> str:
        try:
            done = self._run([question])
        except subprocess.TimeoutExpired as error:
            raise SettingsError(f"{self._program} {question}: no answer; is this Tesseract?") from error
        return done.stdout + done.stderr  # older versions answer on the second

    def _version(self) -> str:
        found = re.match(r"tesseract v?(\S+)", self._answer("--version"))
        if found is None:
            raise SettingsError(f"{self._program} does not tell its version; is this Tesseract?")
        return found[1]

    def _check_languages(self) -> None:
        # A heading comes first; osd only tells which way up a page is.
        installed = set(self._answer("--list-langs").splitlines()[1:]) - {"osd"}
        missing = [language for language in self._languages if language not in installed]
        if missing:
            raise SettingsError(
                f"tesseract has no language {', '.join(map(one_line, missing))} "
                f"(it has {', '.join(sorted(installed)) or 'none'}); "
                f"on Debian type: apt-get install {' '.join(map(_package, missing))}"
            )


def _package(language: str) -> str:
    """The Debian package of a language: `tesseract-ocr-chi-sim` for `chi_sim`."""
    return f"tesseract-ocr-{one_line(language).lower().replace('_', '-').replace('/', '-')}"


def _written(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _rows(table: str) -> list[list[str]]:
    """The whole rows of its table; a line separator inside a word ends none."""
    rows = (line.split("\t", _COLUMNS - 1) for line in table.split("\n"))
    return [row for row in rows if len(row) == _COLUMNS]


def _confidences(rows: list[list[str]]) -> Iterator[tuple[float, int]]:
    """The confidence in every word, 0 to 1, and its characters; pictures are told as words of blanks."""
    for level, *_, confidence, word in rows:
        if level == _WORD and word.strip():
            yield float(confidence) / 100, len(word)
