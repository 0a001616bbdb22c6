"""`hallumeter aspects score` at the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from command_line import refused, run, succeed, write

from aspect_outputs import TEXT, aspect, only_stage1, output


def plain(*outputs: object) -> list[Any]:
    return [msgspec.json.decode(msgspec.json.encode(each)) for each in outputs]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "outputs.jsonl", plain(output("a"), only_stage1(aspect("가"), text_id="b")))


def cards(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_scorecards_are_written_beside_the_outputs_and_never_over_a_file(path: Path) -> None:
    result = succeed("aspects", "score", path)
    target = path.parent / "scorecards.jsonl"
    assert result.stderr == f"2 scorecards: {target}\n"
    assert result.stdout == ""
    found = cards(target.read_text(encoding="utf-8"))
    assert [card["meta"]["text_id"] for card in found] == ["a", "b"]
    assert f"{target}: exists already" in refused("aspects", "score", path)
    assert cards(target.read_text(encoding="utf-8")) == found
    assert {each.name for each in path.parent.iterdir()} == {"outputs.jsonl", "scorecards.jsonl"}


def test_a_name_that_was_taken_meanwhile_is_not_written_over(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = path.parent / "scorecards.jsonl"
    monkeypatch.setattr("os.path.lexists", lambda _: False)
    target.write_text("kept", encoding="utf-8")
    assert "exists already" in refused("aspects", "score", path)
    assert target.read_text(encoding="utf-8") == "kept"


def test_a_file_system_without_links_will_do(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr("os.link", refuse)
    succeed("aspects", "score", path)
    assert (path.parent / "scorecards.jsonl").is_file()


def test_a_dash_pipes_them_on(path: Path) -> None:
    printed = succeed("aspects", "score", path, "--out", "-").stdout
    assert len(cards(printed)) == 2
    assert not (path.parent / "scorecards.jsonl").exists()
    piped = succeed("aspects", "score", "-", "--quiet", given=path.read_bytes())
    assert piped.stdout == printed
    assert piped.stderr == ""


def test_an_allowlist_and_a_profile_are_taken(path: Path, tmp_path: Path) -> None:
    (tmp_path / "targets.txt").write_text("가\n", encoding="utf-8")
    options = ("--allowlist", tmp_path / "targets.txt", "--profile", "smoke", "--workers", 1)
    found = cards(succeed("aspects", "score", path, *options, "--out", "-").stdout)
    assert [card["ate"]["hallucination_flag"] for card in found] == [False, False]
    assert {card["profile"] for card in found} == {"smoke"}


def test_gold_is_joined_and_its_faults_are_said(path: Path, tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.jsonl", [
        {"uid": "b", "gold_tuples": [{"aspect_term": "뷰", "polarity": "negative"}]},
        {"text_id": "z", "gold_triplets": [{"opinion_term": {"term": "뷰"}, "polarity": "neg"}]},
        {"uid": "y"},
    ])  # fmt: skip
    result = succeed("aspects", "score", path, "--gold", gold, "--out", tmp_path / "cards.jsonl")
    found = cards((tmp_path / "cards.jsonl").read_text(encoding="utf-8"))
    assert found[1]["ate"]["missing_aspects"] == ["뷰"]
    assert "gold.jsonl:3" in result.stderr
    assert "gold of sentences that no output is about: 1" in result.stderr
    assert "gold.jsonl:3" in refused(
        "aspects", "score", path, "--gold", gold, "--strict", "--out", tmp_path / "x.jsonl"
    )
    assert not (tmp_path / "x.jsonl").exists()


def test_bad_lines_are_named_and_counted(path: Path) -> None:
    path.write_text(path.read_text(encoding="utf-8") + "{oops\n", encoding="utf-8")
    result = succeed("aspects", "score", path)
    assert "outputs.jsonl:3: " in result.stderr
    assert "2 scorecards, 1 lines could not be used" in result.stderr
    (path.parent / "scorecards.jsonl").unlink()
    assert refused("aspects", "score", path, "--strict").startswith("outputs.jsonl:3: ")
    assert not (path.parent / "scorecards.jsonl").exists()


def test_what_cannot_be_scored_is_refused_in_one_line(tmp_path: Path) -> None:
    assert "no such file" in refused("aspects", "score", tmp_path / "missing.jsonl")
    empty = write(tmp_path / "o.jsonl", [{"text": TEXT}])
    assert "no output could be scored" in refused("aspects", "score", empty)
    assert "cannot be read" in refused("aspects", "score", empty, "--allowlist", tmp_path / "missing.txt")
    assert {each.name for each in tmp_path.iterdir()} == {"o.jsonl"}


def test_the_help_page_has_examples() -> None:
    printed = run("aspects", "score", "--help").stdout
    assert "hallumeter aspects score runs/demo/outputs.jsonl" in printed
    assert "Existing files are never overwritten." in printed
