"""Pages that docs/generate.py writes are current."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import hallumeter
from hallumeter.records.metric import Metric

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    """The script as a module; it stands outside the package, so it is loaded by its path."""
    specification = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages(generator: ModuleType) -> dict[Path, str]:
    found: dict[Path, str] = generator.pages()
    return found


def test_generated_pages_are_current(pages: dict[Path, str]) -> None:
    stale = [
        str(place)
        for place, text in pages.items()
        if not (DOCS / place).exists() or (DOCS / place).read_text(encoding="utf-8") != text
    ]
    assert not stale, f"run `python docs/generate.py`; not current: {', '.join(stale)}"


def test_every_metric_belongs_to_one_family_of_the_index(generator: ModuleType) -> None:
    listed = [metric.id for _, metrics in generator.FAMILIES.values() for metric in metrics]
    assert sorted(listed) == sorted(metric.id for metric in hallumeter.METRICS)


@pytest.mark.parametrize("metric", hallumeter.METRICS, ids=lambda metric: metric.id)
def test_a_page_shows_what_the_catalog_knows_and_a_value_that_was_measured(
    pages: dict[Path, str], metric: Metric
) -> None:
    page = pages[Path(f"metrics/{metric.id}.md")]
    for title in ("Question", "Formula", "Range", "Undefined", "Example by hand", "What it does not tell", "Source"):
        assert f"## {title}\n" in page
    is_measured = re.search(r"^\| .+ \| -?\d\.\d{3} \|", page, re.M)
    is_in_python = ">>> " in page
    assert is_measured or is_in_python, f"{metric.id} is shown neither by a command nor in Python"


def test_values_on_the_pages_are_those_counted_by_hand_in_the_samples(pages: dict[Path, str]) -> None:
    # The counts are in the table of src/hallumeter/samples/README.md: 434 supported, 5 refuted, 42 not enough info.
    assert "| human | 0.098 | 47 / 481 |" in pages[Path("metrics/mihr.md")]
    assert "| human | 0.010 | 5 / 481 |" in pages[Path("metrics/mihr_refuted.md")]
    assert "| human | 0.902 | 434 / 481 |" in pages[Path("metrics/factscore.md")]
    # One of the two questions without an answer is answered, one of the three others is refused.
    assert "| – | 0.500 | 1 / 2 |" in pages[Path("metrics/far.md")]
    assert "| – | 0.333 | 1 / 3 |" in pages[Path("metrics/over_refusal_rate.md")]


@pytest.mark.parametrize(
    "metric", [metric for metric in hallumeter.METRICS if metric.reads == "pages"], ids=lambda metric: metric.id
)
def test_the_value_computed_from_transcripts_is_the_one_worked_by_hand(pages: dict[Path, str], metric: Metric) -> None:
    shown = re.search(r"^>>> round\(values\[.*\n(?P<value>\S+)$", pages[Path(f"metrics/{metric.id}.md")], re.M)
    assert shown is not None
    results = [float(number) for number in re.findall(r"[=:] (\d+(?:\.\d+)?)(?=[., ])", metric.example)]
    assert float(shown["value"]) in results, f"{metric.id}: {shown['value']} is not in {metric.example!r}"


def test_metrics_named_in_a_text_lead_to_their_pages(generator: ModuleType) -> None:
    linked = generator._linked("How far is it? See mihr_mean, not mihr.", "mihr")
    assert linked == "How far is it? See [mihr_mean](mihr_mean.md), not mihr."


def test_help_pages_keep_each_example_on_a_line_of_its_own(pages: dict[Path, str]) -> None:
    text = pages[Path("reference/commands.md")]
    assert "\n  Examples:\n    hallumeter demo" in text
    assert "\\b" not in text


def test_a_public_name_is_shown_with_types_defaults_and_the_text_under_its_fields(pages: dict[Path, str]) -> None:
    text = pages[Path("reference/python.md")]
    assert (
        "    map: Mapping[str, str] | None = None,\n    settings: MeasureSettings | None = None,\n) -> Summary\n"
        in text
    )
    assert "| `start` | `int \\| None = None` | First character of the claim in the response; None when" in text
    assert (
        "| `to_html(path: str \\| Path, *, language: str = 'en')` | `None` | Write the report as one self-con" in text
    )
    assert "| `REFUTED` | `'REFUTED'` | The evidence says otherwise. |" in text
    assert "    settings: TranscriptSettings | None = None,\n    out: str | Path | None = None,\n) -> Run\n" in text
    for name in ("transcripts", "TranscriptSettings", "Transcript", "PageRow"):
        assert f"\n### {name}\n" in text


@pytest.mark.parametrize("is_stale", [False, True])
def test_a_check_writes_nothing_and_ends_with_one_when_a_page_is_not_current(
    generator: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_stale: bool
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "page.md").write_text("old" if is_stale else "new", encoding="utf-8")
    monkeypatch.setattr(generator, "DOCS", folder)
    monkeypatch.setattr(generator, "pages", lambda: {Path("page.md"): "new"})
    monkeypatch.setattr(sys, "argv", ["generate.py", "--check"])
    assert generator.main() == is_stale
    assert (folder / "page.md").read_text(encoding="utf-8") == ("old" if is_stale else "new")
    monkeypatch.setattr(sys, "argv", ["generate.py"])
    assert generator.main() == 0
    assert (folder / "page.md").read_text(encoding="utf-8") == "new"
