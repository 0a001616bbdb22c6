"""What every command prints fits into 80 and into 120 columns, in a pipe, and cuts nothing."""

from __future__ import annotations

import re
import shlex
import shutil
from importlib import resources
from pathlib import Path

import click
import pytest
from rich.cells import cell_len

from offline_commands import Command
from sharing import made_once

RESULTS = Path(__file__).parents[1] / "ingest" / "results"
WIDTHS = (80, 120)
POLICY = """name = "width"
[[bounds]]
metric = "mihr"
at_most = 0.01
[[bounds]]
metric = "mahr"
at_most = 0.9
each = ["model"]
"""
EXPERIMENT = """seed: 0
systems:
  - {mode: llm, model: offline}
multiturn_scripts:
  path: demo-run/dialogues/scripts.jsonl
"""
COMMANDS = (
    "audit rag_answers.jsonl --judge rules --workers 1 --by model",
    "audit rag_answers.jsonl --judge rules --judge embedded:fast --workers 1 --verbose --by model",
    "audit rag_answers.jsonl --judge rules --workers 1 --policy risks.toml",
    "audit rag_answers.jsonl --judge openai:gpt-4o-mini --dry-run",
    "measure rag_answers.jsonl panel.jsonl --by model",
    "measure rag_answers.jsonl panel.jsonl --by model --verbose",
    "measure triplets.jsonl --by model --model-consensus",
    "measure answers.jsonl --by popularity",
    "measure biographies.jsonl --by model --verbose",
    *(f"ingest {name} --out {name}.run" for name in ("ragas.csv", "deepeval.json", "inspect.json", "trulens.json")),
    "ingest promptfoo.json --by case --out promptfoo.run --verbose",
    "transcripts newspapers/truth newspapers/newspaper-ocr newspapers/smollm2 --workers 1",
    "transcripts newspapers/truth newspapers/smollm2 --workers 1 --verbose",
    "dialogue measure demo-run/dialogues/events.jsonl --workers 1 --verbose",
    "dialogue lint",
    "dialogue config",
    "dialogue script --fhir-dir patients --output-path scripts.jsonl --max-patients 2",
    "dialogue run --config experiment.yaml --max-patients 1 --out runs",
    "aspects run --config aspects.yaml --max-sentences 3 --out runs",
    "aspects score demo-run/reviews-english/outputs.jsonl --out cards.jsonl --workers 1",
    "aspects aggregate demo-run/reviews-english/scorecards.jsonl --workers 1 --verbose",
    "aspects replay demo-run/reviews-english --set enable_debate=false --out replayed",
    "verify demo-run/answers",
    "compare demo-run/answers other --by model",
    "compare demo-run/answers other --by model --verbose --gate-slices",
    "compare demo-run/answers other again",
    "gate demo-run/answers --policy policy.toml",
    "gate demo-run/answers --policy policy.toml --threshold 0.3",
    "ci --run demo-run/answers --policy policy.toml --baseline other",
    "baselines demo-run/answers --reference human --judge embedded:full@3 --limit 3 --workers 1 --no-keep",
    "correct demo-run/answers --reference human --judge embedded:full@3 --by model",
    "calibrate demo-run/answers --reference human --judge embedded:full@3 --by model",
    "label demo-run/answers --annotator kim --limit 2",
    "stress rag_answers.jsonl --judge rules --limit 5 --workers 1",
    "integrity --judge rules --case empty_response --case number_changed",
    "metrics",
    "metrics mihr",
    "metrics aspect_hallucination_rate",
    "report other",
    "cache",
)
"""On bundled samples and on the runs of the demo; every command that prints is among them."""
ELSEWHERE = {"view", "demo", "check", "mcp", "export"}
"""Commands that serve until they are stopped, that are run once for all tests, or that have a test of their own."""


@pytest.fixture(scope="module")
def workplace(finished_demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The samples, the runs of the demo and two more runs, files of other tools, policies and experiments."""

    def make(folder: Path) -> None:
        with resources.as_file(resources.files("hallumeter") / "samples") as samples:
            shutil.copytree(samples, folder, dirs_exist_ok=True)
        shutil.copytree(finished_demo, folder / "demo-run")
        for name in ("ragas.csv", "deepeval.json", "inspect.json", "trulens.json", "promptfoo.json"):
            shutil.copy(RESULTS / name, folder)
        (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
        risks = '[[rules]]\nmetric = "mihr"\ngood = 0.05\nbad = 0.2\n'
        (folder / "risks.toml").write_text(f'name = "risks"\n{risks}', encoding="utf-8")
        (folder / "experiment.yaml").write_text(EXPERIMENT, encoding="utf-8")
        reviews = "model: offline\ndata:\n  input: reviews/mams_en.jsonl\nseeds: [0]\n"
        (folder / "aspects.yaml").write_text(reviews, encoding="utf-8")
        from hallumeter.claims.audit.commands import audit

        for name in ("other", "again"):
            audit(folder / "rag_answers.jsonl", judge="rules", out=folder / name)

    return made_once(tmp_path_factory, "workplace-of-widths", make)


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("words", COMMANDS)
def test_no_line_is_wider_than_the_terminal_and_no_word_is_cut(
    words: str,
    columns: int,
    workplace: Path,
    offline_command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("HALLUMETER_CACHE", "cache")  # its path is printed whole, and those of tests may be long
    shutil.copytree(workplace, tmp_path, dirs_exist_ok=True, copy_function=_link)
    result = offline_command(shlex.split(words), tmp_path, b"s\nr\nq\n")
    assert result.exit_code in (0, 1, 3), result.stderr
    assert result.stdout or "scripts:" in result.stderr or "scorecards" in result.stderr
    too_wide = [line for line in result.stdout.splitlines() if cell_len(line) > columns]
    assert not too_wide, result.stdout
    # Only quotations from the evidence may be shortened.
    assert "…" not in re.sub("“[^”]*”", "", result.stdout), result.stdout


def _link(source: str, target: str) -> None:
    """A second name for a file that no command writes to; what is kept beside a run is a file of its own."""
    Path(target).hardlink_to(source)


def test_every_command_is_run_at_both_widths(cli_commands: dict[str, click.Command]) -> None:
    missing = [name for name in cli_commands if not any(words.startswith(name) for words in COMMANDS)]
    assert set(missing) <= ELSEWHERE


@pytest.mark.parametrize("columns", WIDTHS)
def test_no_line_of_a_help_page_is_wider_than_the_terminal(
    columns: int, cli_commands: dict[str, click.Command], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    for name, command in cli_commands.items():
        context = click.Context(command, info_name=name, max_content_width=100, help_option_names=["-h", "--help"])
        too_wide = [line for line in command.get_help(context).splitlines() if cell_len(line) > columns]
        assert not too_wide, f"{name}: {too_wide}"


def test_the_demo_fits_into_a_pipe_of_eighty_columns(finished_demo: Path) -> None:
    printed = (finished_demo.parent / "printed.txt").read_text(encoding="utf-8")
    assert not [line for line in printed.splitlines() if cell_len(line) > 80]
