"""What the package index is told: hatch_build.py, which hatchling runs."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
README = "![Report](docs/a.png)\n\nSee [the `audit`\nguide](docs/a.md#b), [home](#top), [x](https://x.org/y).\n\n```sh\n[a](b)\n```\n"


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, with a stand-in for hatchling, which is only there while a wheel is built."""
    stand_in = ModuleType("hatchling.metadata.plugin.interface")
    stand_in.MetadataHookInterface = object  # type: ignore[attr-defined]
    parts = stand_in.__name__.split(".")
    for place in range(1, len(parts)):
        monkeypatch.setitem(sys.modules, ".".join(parts[:place]), ModuleType("package"))
    monkeypatch.setitem(sys.modules, stand_in.__name__, stand_in)
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def told(build: Any, repository: str) -> dict[str, Any]:
    hook = build.PackageIndexHook()
    hook.root, hook.config = str(ROOT), {"repository": repository}
    metadata: dict[str, Any] = {"version": "1.2.3"}
    hook.update(metadata)
    return metadata


def test_links_become_words_where_nobody_knows_an_address(build: Any) -> None:
    assert build.described(README, "", "1.2.3") == (
        "\n\nSee the `audit`\nguide, [home](#top), [x](https://x.org/y).\n\n```sh\n[a](b)\n```\n"
    )
    metadata = told(build, "")
    assert metadata["urls"] == {}
    assert not re.search(r"\]\((?!https?:|#)", metadata["readme"]["text"])


def test_links_lead_to_the_files_of_the_version_where_the_repository_is_set(build: Any) -> None:
    found = build.described(README, "https://example.org/hallumeter", "1.2.3")
    assert "![Report](https://example.org/hallumeter/raw/v1.2.3/docs/a.png)" in found
    assert "[the `audit`\nguide](https://example.org/hallumeter/blob/v1.2.3/docs/a.md#b)" in found
    assert "[home](#top), [x](https://x.org/y)" in found
    assert "\n[a](b)\n" in found
    assert told(build, "https://example.org/hallumeter/")["urls"] == {
        "Repository": "https://example.org/hallumeter",
        "Changelog": "https://example.org/hallumeter/blob/v1.2.3/CHANGELOG.md",
        "Documentation": "https://example.org/hallumeter/tree/main/docs",
    }


def test_the_repository_is_set_in_one_place() -> None:
    content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(content["project"]["dynamic"]) == {"readme", "urls"}
    assert isinstance(content["tool"]["hatch"]["metadata"]["hooks"]["custom"]["repository"], str)
