"""Names that lead out of a folder lead nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from hallumeter.formats.paths import path_below


@pytest.mark.parametrize("name", ["..", "../other", "/etc/passwd", "in/../../other", "out", "a\0b", "n" * 5_000 + "/x"])
def test_a_name_that_leads_out_or_is_none_leads_nowhere(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "out").symlink_to(tmp_path)
    assert path_below(folder, name) is None


def test_a_name_inside_leads_to_its_file_there_or_not(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "page.txt")
    for name in ("page.txt", "in/../page.txt", "link", tmp_path / "page.txt"):
        assert path_below(tmp_path, name) == tmp_path.resolve() / "page.txt"


def test_links_in_a_circle_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    assert path_below(tmp_path, "one") is None
