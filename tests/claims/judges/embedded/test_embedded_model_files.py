"""The files of the model: what is missing or damaged is named, and nobody loads them who does not judge."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from embedded_tasks import TIERS, model_in, only

from hallumeter.claims.judges.embedded import model_files
from hallumeter.cli.main import main
from hallumeter.errors import SettingsError

READ_BY = {
    "full": ("model.json", "tokenizer.json", "trees.npz", "words.npz", "encoder.onnx"),
    "fast": ("model.json", "tokenizer.json", "trees.npz", "words.npz"),
}
EVERY_USE = [(tier, name) for tier in TIERS for name in READ_BY[tier]]
DAMAGEABLE = [(tier, name) for tier, name in EVERY_USE if name != "model.json"]
WHAT_TO_DO = "install hallumeter again, or use --judge rules"


@pytest.fixture
def copied(tmp_path: Path) -> Iterator[Path]:
    """A copy of the model that the judge loads, removed afterwards since it is large."""
    folder = tmp_path / "model"
    shutil.copytree(model_files.FOLDER, folder)
    with model_in(folder):
        yield folder
    shutil.rmtree(folder)


def change_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def refusal(tier: str) -> str:
    """The one line with which the judge refuses to work."""
    with pytest.raises(SettingsError) as caught:
        only(tier, "The tower is high.", "The tower is high.")
    (line,) = str(caught.value).splitlines()
    return line


def audited(folder: Path, *arguments: str) -> tuple[int, str, str]:
    """Exit code, output and errors of an audit of one record."""
    path = folder / "answers.jsonl"
    row = {"record_id": "r", "response": "The tower is high.", "evidence": "The tower is high."}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    done = CliRunner().invoke(main, ["audit", str(path), "--out", str(folder / "run"), *arguments])
    assert done.exception is None or isinstance(done.exception, SystemExit), repr(done.exception)
    return done.exit_code, done.stdout, done.stderr


def test_the_list_names_every_file_that_ships_and_no_other() -> None:
    shipped = {path.name for path in model_files.FOLDER.iterdir() if path.is_file()}
    assert shipped == {*model_files.shipped_model().files, model_files.LIST}
    assert set(model_files.shipped_model().tiers) == set(TIERS)


@pytest.mark.parametrize("tier", TIERS)
def test_a_whole_copy_works_as_well_as_the_original(tier: str, copied: Path) -> None:
    assert only(tier, "The tower is high.", "The tower is high.").judge == f"embedded:{tier}@3"


@pytest.mark.parametrize(("tier", "name"), EVERY_USE)
def test_a_missing_file_is_named_with_what_to_do(tier: str, name: str, copied: Path) -> None:
    (copied / name).unlink()
    line = refusal(tier)
    assert f"the file {name} of the embedded judge cannot be read" in line
    assert WHAT_TO_DO in line


@pytest.mark.parametrize(("tier", "name"), DAMAGEABLE)
def test_a_file_with_one_other_byte_is_named_with_what_to_do(tier: str, name: str, copied: Path) -> None:
    change_a_byte(copied / name)
    assert refusal(tier) == f"the file {name} of the embedded judge is damaged; {WHAT_TO_DO}"


@pytest.mark.parametrize("tier", TIERS)
def test_a_file_that_the_list_does_not_name_is_not_used(tier: str, copied: Path) -> None:
    listed = json.loads((copied / "model.json").read_bytes())
    del listed["files"]["trees.npz"]
    (copied / "model.json").write_text(json.dumps(listed), encoding="utf-8")
    assert "trees.npz" in refusal(tier)


def test_the_fast_tier_does_without_the_network(copied: Path) -> None:
    (copied / "encoder.onnx").unlink()
    assert only("fast", "The tower is high.", "The tower is high.").judge == "embedded:fast@3"


@pytest.mark.parametrize("judge", ["embedded", "embedded:fast"])
def test_the_command_line_refuses_a_model_without_its_list_in_one_line(
    judge: str, copied: Path, tmp_path: Path
) -> None:
    (copied / "model.json").unlink()
    code, printed, errors = audited(tmp_path, "--judge", judge)
    assert (code, printed) == (2, "")
    (line,) = errors.splitlines()
    assert "the file model.json of the embedded judge cannot be read" in line


@pytest.mark.parametrize(
    "program",
    [
        "import hallumeter",
        "import hallumeter.claims.judges.by_name",
        "from hallumeter.cli.main import main; main(['--help'], standalone_mode=False)",
        "from hallumeter.cli.main import main; main(['audit', '--help'], standalone_mode=False)",
        "from hallumeter.claims.judges.rules.judge import RulesJudge; RulesJudge()",
        "from hallumeter.claims.judges.embedded.judge import EmbeddedJudge; EmbeddedJudge().spec",
    ],
    ids=["package", "judges", "help", "help of audit", "rules", "embedded without a task"],
)
def test_who_does_not_judge_by_the_model_imports_no_runtime(program: str) -> None:
    assert modules_after(program) == []


def test_the_import_of_the_runtime_would_be_seen() -> None:
    assert modules_after("import onnxruntime") == ["onnxruntime"]


def modules_after(program: str) -> list[str]:
    seen = "import sys; print('loaded', sorted({'onnxruntime', 'tokenizers'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{seen}"],
        env=dict(os.environ),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=True,
    )
    loaded: list[str] = json.loads(done.stdout.splitlines()[-1].removeprefix("loaded ").replace("'", '"'))
    return loaded
