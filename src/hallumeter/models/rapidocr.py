"""Page images read by rapidocr, a Python package with its weights inside; needs the extra ``ocr``."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hallumeter.errors import InputError, MissingExtraError, SettingsError
from hallumeter.text.normalize import one_line

from .page_readers import Reading, count_images, reading_of

_WEIGHTS = {
    "Det": "PP-OCRv6_det_small.onnx",
    "Cls": "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
    "Rec": "PP-OCRv6_rec_small.onnx",
}
"""Files of the package that find lines, turn them upright and read them."""
_UNREAD_SCRIPTS = {
    "Hangul": {"kor", "kor_vert"},
    "Cyrillic": {"bel", "bul", "kaz", "mkd", "mon", "rus", "srp", "tgk", "ukr"},
    "Arabic": {"ara", "fas", "kur", "pus", "urd"},
    "Hebrew": {"heb", "yid"},
    "Thai": {"tha"},
    "Devanagari": {"hin", "mar", "nep", "san"},
}
"""Scripts of which its dictionary has no character, and Tesseract's codes of languages written in them."""
_LONG_CODES = {
    "ko": "kor",
    "korean": "kor",
    "ru": "rus",
    "uk": "ukr",
    "ar": "ara",
    "fa": "fas",
    "he": "heb",
    "hi": "hin",
}
"""Other ways to write some of these codes."""


class Piece(NamedTuple):
    """Text that was found in one box of a page."""

    text: str
    confidence: float
    left: float
    top: float
    bottom: float


class RapidOcrReader:
    """Reads page images with rapidocr in this process, on one thread, without the network."""

    def __init__(self, languages: Sequence[str] = ()) -> None:
        """Load the weights. Languages are only checked: one model reads Latin, Greek, Chinese and Japanese script.

        Raises:
            SettingsError: A language is written in a script that it does not know, or the weights are missing.
            MissingExtraError: The package is not installed.
        """
        _check_scripts(languages)
        try:
            import onnxruntime  # noqa: F401 (rapidocr imports it only when it reads)
            import rapidocr
        except ImportError as error:
            raise MissingExtraError("ocr", "reading page images with rapidocr") from error
        version = importlib.metadata.version("rapidocr")
        folder = Path(rapidocr.__file__).parent / "models"
        settings: dict[str, Any] = {
            "Global.log_level": "critical",
            # A line read badly is a line all the same; how badly is told by the confidence.
            "Global.text_score": 0.0,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
        for step, file in _WEIGHTS.items():
            if not (folder / file).is_file():
                raise SettingsError(f"rapidocr {version} does not bring {file}; type: pip install rapidocr==3.10.0")
            settings[f"{step}.model_path"] = str(folder / file)  # a path that is given is never downloaded
        self._engine: Any = rapidocr.RapidOCR(params=settings)
        self._name = f"rapidocr-{version}"

    @property
    def name(self) -> str:
        """Package and version."""
        return self._name

    def read(self, image: Path) -> Reading:
        """Read one PNG, JPEG or TIFF file, line by line from top to bottom.

        Raises:
            InputError: The image cannot be read, or the file holds several.
        """
        images = count_images(image)
        if images > 1:
            raise InputError(
                f"{image}: the file holds {images} images and rapidocr reads one; split it or use tesseract"
            )
        try:
            # A path is turned upright as the camera says, but left open when it cannot be decoded; bytes are neither.
            self._engine.load_img(image.read_bytes())
            found = self._engine(image.absolute())
        except Exception as error:  # decoders and models raise whatever they like
            raise InputError(f"{image}: rapidocr could not read it ({one_line(str(error))})") from error
        if found.boxes is None:
            return reading_of([], [])
        pieces = pieces_of(found.boxes, found.txts, found.scores)
        lines = [" ".join(piece.text for piece in line) for line in lines_of(pieces)]
        return reading_of(lines, [(piece.confidence, len(piece.text)) for piece in pieces])


def pieces_of(boxes: NDArray[np.float64], texts: Sequence[str], confidences: Sequence[float]) -> list[Piece]:
    """Texts with the places of their boxes, each given by four corners."""
    return [
        Piece(text, float(confidence), float(box[:, 0].min()), float(box[:, 1].min()), float(box[:, 1].max()))
        for box, text, confidence in zip(boxes, texts, confidences, strict=True)
    ]


def lines_of(pieces: Sequence[Piece]) -> list[list[Piece]]:
    """Pieces from top to bottom, and from left to right where they share a line.

    A piece belongs to a line when its middle lies between top and bottom of the piece that opened the line.

    >>> right, left = Piece("right", 1, left=50, top=2, bottom=12), Piece("left", 1, left=0, top=0, bottom=10)
    >>> [[piece.text for piece in line] for line in lines_of([right, left])]
    [['left', 'right']]
    """
    lines: list[list[Piece]] = []
    for piece in sorted(pieces, key=_middle):
        if lines and lines[-1][0].top <= _middle(piece) <= lines[-1][0].bottom:
            lines[-1].append(piece)
        else:
            lines.append([piece])
    return [sorted(line, key=lambda piece: piece.left) for line in lines]


def _middle(piece: Piece) -> float:
    return (piece.top + piece.bottom) / 2


def _check_scripts(languages: Sequence[str]) -> None:
    for language in languages:
        code = _LONG_CODES.get(language.lower(), language)
        for script, codes in _UNREAD_SCRIPTS.items():
            if code in codes:
                raise SettingsError(
                    f"rapidocr cannot read {language}: its dictionary has no character of the {script} script; "
                    f"use tesseract:{code}"
                )
