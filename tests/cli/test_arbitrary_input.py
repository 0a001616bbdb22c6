"""Whatever a file holds, the command line measures it or refuses it; it never breaks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

pytestmark = pytest.mark.long

NAMES = ["record_id", "id", "claim_id", "label", "judge", "model", "text", "claim", "response", "answer", "question"]
NAMES += ["confidence", "unsupported_probability", "probabilities", "inference_samples", "answerable", "is_nonexistent"]
NAMES += ["evidence", "start", "end", "weight", "cost_usd", "samples", "reason", "note", "task", "", "a b", "è"]
WORDS = [
    "SUPPORTED",
    "REFUTED",
    "NOT_ENOUGH_INFO",
    "UNDECIDED",
    "r1",
    "r2",
    "c1",
    "true",
    "0.5",
    "[0.5, 0.5]",
    "nan",
    "",
]
QUICK = ("--resamples", "100", "--format", "json")

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text
values = st.sampled_from([*WORDS, 1, 0.5, [0.5, 0.5], [[1, 0], [0, 1]], {"SUPPORTED": 1}]) | st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
)
objects = st.dictionaries(st.sampled_from(NAMES), values, max_size=7)
verdicts = st.fixed_dictionaries(
    {
        "record_id": st.sampled_from(["r1", "r2", 3]),
        "claim_id": st.sampled_from(["c1", "c2", 3]),
        "label": st.sampled_from(WORDS[:5]),
    },
    optional={name: values for name in NAMES if name not in ("record_id", "claim_id", "label", "judge", "")},
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("arbitrary")


def measured(path: Path, *options: str) -> None:
    """Measure a file and look at what was said: numbers in JSON, or one line."""
    result = run("measure", path, *QUICK, *options)
    if result.exit_code == 0:
        json.loads(result.stdout, parse_constant=lambda name: pytest.fail(f"printed {name}"))
    else:
        assert result.exit_code == 2
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 1


@examples(max_examples=500)
@given(st.binary(max_size=200))
def test_any_bytes_as_json_lines(folder: Path, content: bytes) -> None:
    (folder / "any.jsonl").write_bytes(content)
    measured(folder / "any.jsonl")


@examples(max_examples=500)
@given(st.binary(max_size=200))
def test_any_bytes_below_a_header_as_a_table(folder: Path, content: bytes) -> None:
    (folder / "any.csv").write_bytes(b"record_id,claim_id,label,confidence,probabilities\n" + content)
    measured(folder / "any.csv")


@examples(max_examples=200)
@given(st.lists(st.text('abc,;\r\n{}[]0.1é"', max_size=30), min_size=1, max_size=6))
def test_any_text_as_a_table(folder: Path, lines: list[str]) -> None:
    head = "record_id,claim_id,label,confidence,text\n"
    (folder / "text.csv").write_text(head + "\n".join(lines), encoding="utf-8", newline="")
    measured(folder / "text.csv")


@examples(max_examples=200)
@given(st.binary(max_size=300))
def test_any_bytes_as_parquet(folder: Path, content: bytes) -> None:
    (folder / "any.parquet").write_bytes(content or b"\n")
    measured(folder / "any.parquet")


@examples(max_examples=400)
@given(st.lists(objects | values, max_size=6))
def test_any_json_values_as_rows(folder: Path, rows: list[object]) -> None:
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    measured(folder / "rows.jsonl")


@examples(max_examples=250)
@given(st.lists(verdicts, min_size=1, max_size=5), st.sampled_from(["model", "answerable", "text", "start"]))
def test_any_verdicts_grouped_by_any_field(folder: Path, rows: list[dict[str, object]], field: str) -> None:
    (folder / "by.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    measured(folder / "by.jsonl", "--by", field)


@examples(max_examples=80)
@given(rows=st.lists(verdicts, min_size=1, max_size=5))
def test_any_verdicts_make_a_run_folder_that_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, object]]
) -> None:
    place = tmp_path_factory.mktemp("run")
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    measured(place / "rows.jsonl", "--out", str(place / "run"))
    if (place / "run").exists():
        assert run("report", place / "run").exit_code == 0
    assert {entry.name for entry in place.iterdir()} <= {"rows.jsonl", "run"}
