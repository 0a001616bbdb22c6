"""Pages to read: text drawn with fonts of Debian's packages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

FONTS = Path("/usr/share/fonts/truetype")
LATIN, KOREAN = FONTS / "dejavu" / "DejaVuSans.ttf", FONTS / "nanum" / "NanumGothic.ttf"
PACKAGES = {LATIN: "fonts-dejavu-core", KOREAN: "fonts-nanum"}

Draw = Callable[[Path, Sequence[str]], Path]


@pytest.fixture(scope="session")
def draw() -> Draw:
    """Draw lines of text, black on white, into an image file of the kind its name says."""
    image, drawing, fonts = (pytest.importorskip(f"PIL.{name}") for name in ("Image", "ImageDraw", "ImageFont"))

    def drawn(path: Path, lines: Sequence[str]) -> Path:
        font = KOREAN if any("가" <= letter <= "힣" for line in lines for letter in line) else LATIN
        if not font.exists():
            pytest.skip(f"the font {font} is not installed; type: apt-get install {PACKAGES[font]}")
        page = image.new("L", (1200, 120 + 64 * len(lines)), 255)
        pen = drawing.Draw(page)
        for place, line in enumerate(lines):
            pen.text((60, 60 + 64 * place), line, font=fonts.truetype(str(font), 34), fill=0)
        page.save(path)
        return path

    return drawn


@pytest.fixture(scope="session")
def bomb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PNG file of some 50 KB that unfolds to 400 million black pixels."""
    side = 20_000
    image = pytest.importorskip("PIL.Image")
    path = tmp_path_factory.mktemp("bomb") / "bomb.png"
    image.new("1", (side, side)).save(path)
    assert path.stat().st_size < 200_000
    return path
