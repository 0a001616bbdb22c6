"""What other people's code may rely on: the names in __all__, sorted, documented, and there."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from hallumeter.cli.main import main as command_line
from hallumeter.public_names import HOMES

PACKAGES = ["hallumeter", "hallumeter.compat", "hallumeter.compat.judge_auditor", "hallumeter.samples"]
"""What is documented for users; everything else is internal and may move."""
MOST_NAMES = 82
COMMANDS = (
    *("aspects", "audit", "baselines", "calibrate", "check", "compare", "correct", "dialogue", "gate", "ingest"),
    *("integrity", "label", "measure", "report", "stress", "transcripts", "verify"),
)
"""What the command line does and Python does as well, by the same names."""
SETTINGS = {
    *("AnnotateSettings", "AuditSettings", "BaselineSettings", "Bound", "CalibrateSettings", "CheckSettings"),
    *("CompareSettings", "CorrectSettings", "DialogueSettings", "IntegritySettings", "LabelSettings"),
    *("LanguageModelSettings", "MeasureSettings", "Policy", "StressSettings", "TranscriptSettings"),
}

every_package = pytest.mark.parametrize("package", PACKAGES)


def reading_order(name: str) -> tuple[int, list[str | int]]:
    """Constants, then classes, then functions; numbers in names compared as numbers. The linter's order too."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2
    return kind, [int(piece) if piece.isdigit() else piece for piece in re.split(r"(\d+)", name)]


def public_names(module: ModuleType) -> list[str]:
    names = getattr(module, "__all__", None)
    assert names is not None, f"{module.__name__} has no __all__; an empty one says that nothing is public"
    return list(names)


@every_package
def test_public_names_are_sorted_and_unique(package: str) -> None:
    names = public_names(importlib.import_module(package))
    assert names == sorted(set(names), key=reading_order)


@every_package
def test_public_names_exist_and_are_documented(package: str) -> None:
    module = importlib.import_module(package)
    for name in public_names(module):
        thing = getattr(module, name)
        if inspect.isclass(thing) or inspect.isroutine(thing):
            # Taken from the thing itself: a subclass without a docstring would show that of its parent.
            assert thing.__dict__.get("__doc__") or (not inspect.isclass(thing) and thing.__doc__), (
                f"{package}.{name} has no docstring"
            )


@pytest.mark.parametrize(
    "module", ["aspects.settings", "dialogue.records", "ingest.pipeline", "report.table", "transcripts.records"]
)
def test_importing_a_folder_leaves_the_function_of_its_name_in_place(module: str) -> None:
    importlib.import_module(f"hallumeter.{module}")
    name = module.partition(".")[0]
    assert inspect.isfunction(getattr(importlib.import_module("hallumeter"), name))


def test_the_package_has_few_public_names() -> None:
    names = public_names(importlib.import_module("hallumeter"))
    assert 0 < len(names) <= MOST_NAMES


def test_a_listing_of_the_package_shows_its_public_names_alone() -> None:
    module = importlib.import_module("hallumeter")
    assert dir(module) == sorted(public_names(module))
    assert not [name for name in dir(module) if name.startswith("_")]


def test_every_public_name_has_one_home_and_every_home_a_public_name() -> None:
    assert set(public_names(importlib.import_module("hallumeter"))) == HOMES.keys()


def test_what_the_command_line_does_python_does_as_well_with_its_settings() -> None:
    module = importlib.import_module("hallumeter")
    assert all(inspect.isfunction(getattr(module, name)) for name in COMMANDS)
    assert set(public_names(module)) >= SETTINGS
    # METRICS is the catalog; ci is audit, gate and compare; a run has its tables; the others print, serve or clean up.
    elsewhere = {"cache", "ci", "demo", "export", "mcp", "metrics", "view"}
    assert set(command_line.list_commands(None)) - elsewhere == set(COMMANDS)  # type: ignore[arg-type]


def test_type_checkers_are_not_shown_the_function_that_finds_names_when_they_are_used() -> None:
    source = inspect.getsource(importlib.import_module("hallumeter"))
    tree = ast.parse(source)
    assert not [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "__getattr__"]
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level == 1
        for alias in node.names
    }
    assert imported - {"HOMES"} == HOMES.keys()


@pytest.mark.long
def test_a_type_checker_flags_a_name_that_does_not_exist(tmp_path: Path) -> None:
    code = "import hallumeter\nhallumeter.check('', '')\nhallumeter.nonexistent\nreveal_type(hallumeter.check)\n"
    (tmp_path / "snippet.py").write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache"), "snippet.py"]
    source = str(Path(importlib.import_module("hallumeter").__file__ or "").parents[1])
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": source},
        capture_output=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    errors = [line for line in done.stdout.splitlines() if line.startswith("snippet.py") and "error" in line]
    assert len(errors) == 1, done.stdout + done.stderr
    assert 'Module has no attribute "nonexistent"' in errors[0]
    assert "Unpack" in done.stdout or "on_refusal" in done.stdout, "the options of a check are typed"


def test_a_name_that_does_not_exist_is_reported_as_such() -> None:
    module = importlib.import_module("hallumeter")
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = module.no_such_name
