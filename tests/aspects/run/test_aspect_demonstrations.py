"""Demonstrations: drawn from the training file alone, by a seed, the same for all agents of a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aspect_runs import answers_by_rule, document, lines, outputs, run, sentence, write_rows, written

from hallumeter.errors import InputError
from misbehaving_server import server_in_thread


def trained(folder: Path, texts: int = 12) -> dict[str, Any]:
    """An experiment with a pool of examples of its own."""
    rows = [{**sentence(100 + number), "text_id": f"t{number}"} for number in range(texts)]
    write_rows(folder / "train.jsonl", rows)
    return {"data": {"train_file": str(folder / "train.jsonl")}, "demo": {"k": 3}}


def test_agents_are_shown_examples_and_outputs_name_them(tmp_path: Path) -> None:
    written(tmp_path, 2)
    with server_in_thread(answers_by_rule) as server:
        given = document(tmp_path, model=f"{server.openai}#m", concurrency=1, **trained(tmp_path))
        folder = run(given).folder
        asked = [json.loads(call.body["messages"][1]["content"]) for call in server.seen()]
    found = outputs(folder)
    assert all(len(each["meta"]["demo_ids"]) == 3 for each in found)
    assert found[0]["meta"]["demo_ids"] != found[1]["meta"]["demo_ids"]
    known = {demo["demo_id"]: demo["text"] for demo in lines(folder / "demos.jsonl")}
    for output in found:
        own = [each for each in asked if each.get("text") == output["input_text"] and "demos" in each]
        shown = [[demo["text"] for demo in each["demos"]] for each in own]
        assert shown == [[known[name] for name in output["meta"]["demo_ids"]]] * 3


def test_the_same_seed_draws_the_same_and_another_draws_others(tmp_path: Path) -> None:
    written(tmp_path, 3)
    settings = trained(tmp_path)

    def drawn(run_id: str, **more: Any) -> list[list[str]]:
        folder = run(document(tmp_path, **{**settings, "run_id": run_id, **more})).folder
        return [each["meta"]["demo_ids"] for each in outputs(folder)]

    first = drawn("a")
    assert drawn("b") == first
    assert drawn("c", seeds=[1]) != first
    fixed = {"demo": {"k": 3, "seed": 5}}
    both = drawn("d", seeds=[0, 1], **fixed)
    assert both[:3] == both[3:]


def test_an_example_whose_text_is_read_is_never_shown(tmp_path: Path) -> None:
    written(tmp_path, 4)
    rows = [{**sentence(number), "text": sentence(number)["text"].upper() + " "} for number in range(3)]
    write_rows(tmp_path / "train.jsonl", [*rows, {**sentence(50), "text_id": "other"}])
    settings = {"data": {"train_file": str(tmp_path / "train.jsonl")}, "demo": {"k": 4}}
    outcome = run(document(tmp_path, **settings))
    assert {name for each in outputs(outcome.folder) for name in each["meta"]["demo_ids"]} == {"other"}
    assert any("3 demonstrations were left out" in notice for notice in outcome.notices)
    assert any("the pool has fewer: en 1" in notice for notice in outcome.notices)


def test_a_language_without_examples_is_named_and_a_pool_without_any_is_refused(tmp_path: Path) -> None:
    written(tmp_path, 1)
    korean = {"text_id": "k", "text": "화면이 좋아요", "gold_tuples": [{"aspect_term": "화면", "polarity": "positive"}]}
    write_rows(tmp_path / "train.jsonl", [korean])
    settings = {"data": {"train_file": str(tmp_path / "train.jsonl")}, "demo": {"k": 1}}
    assert any("the pool has fewer: en 0" in notice for notice in run(document(tmp_path, **settings)).notices)
    write_rows(tmp_path / "train.jsonl", [{"text": "no gold"}])
    with pytest.raises(InputError, match="no demonstration can be drawn"):
        run(document(tmp_path, **{**settings, "run_id": "other"}))


def test_examples_are_in_the_language_of_the_sentence(tmp_path: Path) -> None:
    written(tmp_path, 1)
    korean = {"text_id": "k", "text": "화면이 좋아요", "gold_tuples": [{"aspect_term": "화면", "polarity": "positive"}]}
    write_rows(tmp_path / "train.jsonl", [korean, {"text": "no gold"}, {**sentence(9), "text_id": "e"}])
    settings = {"data": {"train_file": str(tmp_path / "train.jsonl")}, "demo": {"k": 2}}
    outcome = run(document(tmp_path, **settings))
    assert outputs(outcome.folder)[0]["meta"]["demo_ids"] == ["e"]
    [failure] = lines(outcome.folder / "failures.jsonl")
    assert failure["message"].startswith("train.jsonl:2: expected a text and gold_tuples")


def test_without_the_filter_a_sentence_may_be_shown_and_that_is_said(tmp_path: Path) -> None:
    written(tmp_path, 1)
    write_rows(tmp_path / "train.jsonl", [{**sentence(0), "text_id": "same"}])
    settings = {"data": {"train_file": str(tmp_path / "train.jsonl")}, "demo": {"k": 1, "hash_filter": False}}
    outcome = run(document(tmp_path, **settings))
    assert outputs(outcome.folder)[0]["meta"]["demo_ids"] == ["same"]
    assert any("hash_filter is off" in notice for notice in outcome.notices)
