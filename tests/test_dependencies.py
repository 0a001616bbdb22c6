"""What is installed is little, locked, and listed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST_REQUIRED = 8


def printed_by(script: str, *arguments: str) -> str:
    command = [sys.executable, str(ROOT / "scripts" / script), *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=120, check=True).stdout


def name_of(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=!~;\[ ]", requirement)[0]).lower()


def test_few_packages_are_required() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert len(project["dependencies"]) <= MOST_REQUIRED


def test_every_package_that_contributors_install_is_locked() -> None:
    locked = {name_of(line) for line in locked_lines()}
    assert {name_of(line) for line in printed_by("all_requirements.py").splitlines()} <= locked


def test_every_locked_package_has_a_version_and_hashes() -> None:
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    for block in re.split(r"\n(?=\S)", text.strip()):
        assert re.match(r"\S+==\S+", block), block
        assert "--hash=sha256:" in block, block


def test_the_lock_names_no_host() -> None:
    assert not re.search(r"://|--index|--find-links|@ ", (ROOT / "constraints.txt").read_text(encoding="utf-8"))


def test_the_bill_of_materials_is_valid_and_names_what_is_required(tmp_path: Path) -> None:
    schema = pytest.importorskip("cyclonedx.schema")
    validation = pytest.importorskip("cyclonedx.validation.json")
    path = tmp_path / "sbom.cdx.json"
    printed_by("audit_dependencies.py", "--sbom", str(path))
    text = path.read_text(encoding="utf-8")
    assert validation.JsonStrictValidator(schema.SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {name_of(each) for each in project["dependencies"]} <= {name_of(each["name"]) for each in bill["components"]}


def locked_lines() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith(" ")]


def test_the_conda_recipe_requires_what_the_package_requires() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    run = recipe.partition("\n  run:\n")[2].partition("\n\n")[0]
    listed = [line.strip().removeprefix("- ").replace(" ", "") for line in run.splitlines()]
    assert sorted(listed) == sorted([f"python{project['requires-python']}", *project["dependencies"]])
    assert f'version: "{project["version"]}"' in recipe
