"""The picture of the folders shows them as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_picture_of_the_folders_is_up_to_date() -> None:
    drawn = subprocess.run(
        [sys.executable, ROOT / "scripts" / "draw_house", "--check"], capture_output=True, text=True, check=False
    )
    assert drawn.returncode == 0, drawn.stdout + drawn.stderr
