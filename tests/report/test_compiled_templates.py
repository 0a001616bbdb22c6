"""Compiled templates are kept beside the package's bytecode, and say the same in every language."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jinja2 import nodes
from jinja2.filters import FILTERS as DEFAULT_FILTERS

from hallumeter.instruments import INSTRUMENTS
from hallumeter.report.page.render import templates

RUNS = tuple(run for run, _ in INSTRUMENTS)
NAMES = templates().list_templates(extensions=["html"])
ANY = "counts_claims.html"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    templates.cache_clear()
    return tmp_path


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_template_is_compiled_once_and_kept(kept: Path) -> None:
    templates().get_template(ANY)
    (file,) = files(kept)
    written = file.stat().st_mtime_ns
    templates.cache_clear()
    templates().get_template(ANY)
    assert [(each, each.stat().st_mtime_ns) for each in files(kept)] == [(file, written)]


@pytest.mark.parametrize("damage", [b"", b"j2 and nothing else"])
def test_a_damaged_file_is_compiled_again(kept: Path, damage: bytes) -> None:
    templates().get_template(ANY)
    (file,) = files(kept)
    good = file.read_bytes()
    file.write_bytes(damage)
    templates.cache_clear()
    templates().get_template(ANY)
    assert file.read_bytes() == good


def test_nothing_is_kept_where_python_keeps_nothing(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    templates().get_template(ANY)
    assert not files(kept)


def test_a_place_that_cannot_be_written_to_is_no_fault(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (kept / "file").write_text("", encoding="utf-8")
    monkeypatch.setattr(sys, "pycache_prefix", str(kept / "file"))
    templates().get_template(ANY)
    assert files(kept) == [kept / "file"]


@pytest.mark.parametrize("name", NAMES)
def test_no_filter_of_ours_is_given_a_constant(name: str) -> None:
    """It would be computed when the template is compiled, in the language of that moment."""
    environment = templates(RUNS)
    assert environment.loader is not None
    tree = environment.parse(environment.loader.get_source(environment, name)[0])
    context = nodes.EvalContext(environment, name)
    for used in tree.find_all(nodes.Filter):
        if used.name not in DEFAULT_FILTERS:
            with pytest.raises(nodes.Impossible):
                used.as_const(context)
