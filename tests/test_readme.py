"""The first ten minutes: what README.md says to type works, in order, in an empty folder and with a fresh home."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest

from test_documentation import FENCE, SHELLS, STATED_EXIT_CODE, Block, blocks_of, plain

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
CARD = ROOT / "docs" / "explanation" / "embedded-judge.md"
MOST_LINES = 150
INSTALLS = re.compile(r"^pip install '?\.(?:\[(?P<extra>\w+)\])?'?(?: +#.*)?$")
DEMO = "hallumeter demo"
RUN = SHELLS | {"python"}


@pytest.fixture(scope="module")
def blocks() -> list[Block]:
    return [block for block in blocks_of(README.read_text(encoding="utf-8")) if block.language in RUN | {"text"}]


def commands_of(block: Block) -> list[str]:
    return [line for line in block.code.splitlines() if line.strip()]


def is_installation(block: Block) -> bool:
    return all(line.startswith("pip install") for line in commands_of(block))


def test_the_first_ten_minutes_work_in_an_empty_folder_with_a_fresh_home(
    blocks: list[Block], offline_environment: dict[str, str], finished_demo: Path, tmp_path: Path
) -> None:
    """Every block that is not marked .no-run goes to the shell or to Python as it stands, and must do what is said.

    A block of text shows what the block above it prints; three dots stand for lines that are left out.
    """
    folder, home = tmp_path / "empty", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    environment = fresh(offline_environment, home)
    printed = ""
    for block in blocks:
        where = f"README.md:{block.line}"
        if block.language == "text":
            gone = [line for line in map(plain, block.code.splitlines()) if line != "..." and line not in printed]
            assert not gone, f"{where} is no longer printed: {gone}"
        elif commands_of(block) == [DEMO]:
            # All tests share one demo, which was run by the same command.
            shutil.copytree(finished_demo, folder / finished_demo.name)
        elif not is_installation(block):
            done = given_to_its_program(block, folder, environment)
            stated = STATED_EXIT_CODE.search(commands_of(block)[-1])
            assert done.returncode == (int(stated[1]) if stated else 0), f"{where}\n{done.stdout}{done.stderr}"
            printed = plain(done.stdout)
    missing = [name for name in reports_named() if not (folder / name).is_file()]
    assert not missing, f"README.md speaks of reports that its commands do not write: {missing}"


def fresh(environment: dict[str, str], home: Path) -> dict[str, str]:
    """The environment of somebody who has just installed the package and has no files of it yet."""
    program = Path(sys.executable).with_name("hallumeter")
    assert program.exists(), "the package is not installed beside this Python"
    left = {name: value for name, value in environment.items() if name not in {"HALLUMETER_CACHE", "XDG_CACHE_HOME"}}
    return left | {"HOME": str(home), "PATH": f"{program.parent}:{environment['PATH']}"}


def given_to_its_program(block: Block, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    program = [sys.executable, "-c"] if block.language == "python" else ["sh", "-e", "-c"]
    return subprocess.run(
        [*program, block.code],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def reports_named() -> list[str]:
    return re.findall(r"`(\S+/report\.html)`", README.read_text(encoding="utf-8"))


def test_the_installation_names_this_folder_and_extras_that_exist(blocks: list[Block]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (block,) = (block for block in blocks if block.language in RUN and is_installation(block))
    lines = [INSTALLS.match(line) for line in commands_of(block)]
    assert all(lines), block.code
    extras = {line["extra"] for line in lines if line and line["extra"]}
    assert extras <= set(project["optional-dependencies"])


def test_it_shows_a_shell_python_and_the_demo(blocks: list[Block]) -> None:
    typed = "\n".join(block.code for block in blocks)
    assert "hallumeter audit " in typed
    assert "import hallumeter" in typed
    assert DEMO in typed


def test_every_command_that_its_prose_names_exists(cli_commands: dict[str, click.Command]) -> None:
    prose = FENCE.sub("", README.read_text(encoding="utf-8"))
    named = set(re.findall(r"`hallumeter (\w+)", prose))
    assert named
    assert named <= {words.split()[0] for words in cli_commands}


def test_it_is_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) < MOST_LINES


def test_its_figures_about_the_judge_stand_on_the_model_card() -> None:
    limits = README.read_text(encoding="utf-8").partition("\n## Limits\n")[2].partition("\n## ")[0]
    shares = [f"0.{whole}{tenth}" for whole, tenth in re.findall(r"\b(\d\d)\.(\d) %", limits)]
    figures = [*re.findall(r"\b0\.\d{3}\b", limits), *shares]
    assert figures, "the limits name no figure"
    card = CARD.read_text(encoding="utf-8")
    strangers = [figure for figure in figures if figure not in card]
    assert not strangers, f"docs/explanation/embedded-judge.md does not have {strangers}"
