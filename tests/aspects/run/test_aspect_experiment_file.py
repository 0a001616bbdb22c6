"""What an experiment may say, and what it is told when it says something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hallumeter.aspects.run.experiment import document_of, experiment_of, read_experiment
from hallumeter.errors import InputError, SettingsError

WHOLE = """
run_id: pilot
run_mode: bl1
run_purpose: smoke
output: out
model: openai:gpt-4o-mini
agents: {ate: offline}
pipeline:
  temperature: 0.5
  max_tokens: 300
  enable_debate: false
  leakage_guard: false
  debate_override: {profile: t1, min_total: 1.2, l3_conservative: false}
  debate_thresholds: mine.json
  patterns: {ko: words.json}
  prompts: prompts
  aux_hf_enabled: true
  aux_hf_checkpoint: lexicon
  aux_hf_id2label: {"0": negative}
data:
  dataset_root: corpus
  valid_file: valid.csv
  train_file: train.jsonl
  text_column: sentence
  id_column: number
  language: ko
  domain: phones
  input_format: csv
  max_length: 192
  max_sentences: 10
eval: {gold_valid_jsonl: gold.jsonl}
demo: {k: 2, seed: 7, hash_filter: true}
data_roles: {demo_pool: [train]}
experiment: {repeat: {mode: seed, seeds: [1, 2, 3], concurrency: 4}}
timeout: 10
retries: 1
budget: 2.5
prices: {"openai:gpt-4o-mini": 0.15/0.60}
requests_per_minute: 60
"""


def given(**settings: Any) -> dict[str, Any]:
    return {"data": {"input": "reviews.csv"}, **settings}


def written(folder: Path, text: str) -> Path:
    path = folder / "experiment.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_everything_that_can_be_said_is_read(tmp_path: Path) -> None:
    found = read_experiment(written(tmp_path, WHOLE))
    assert (found.run_id, found.mode, found.profile, found.output) == ("pilot", "bl1", "smoke", Path("out"))
    assert found.models["ate"] == "offline"
    assert found.models["cj"] == "openai:gpt-4o-mini"
    assert found.data.input == Path("corpus/valid.csv")
    assert found.data.train_file == Path("corpus/train.jsonl")
    assert found.gold == Path("gold.jsonl")
    assert (found.seeds, found.concurrency) == ((1, 2, 3), 4)
    assert (found.demo.k, found.demo.seed) == (2, 7)
    assert found.pipeline.debate_override.profile == "t1"
    assert found.pipeline.debate_override.min_margin is None
    assert found.pipeline.aux_hf_id2label == {"0": "negative"}


def test_what_was_resolved_is_an_experiment_again(tmp_path: Path) -> None:
    found = read_experiment(written(tmp_path, WHOLE))
    assert experiment_of(document_of(found)) == found
    plain = experiment_of(given())
    assert experiment_of(document_of(plain)) == plain


def test_a_temperature_can_be_left_to_the_provider() -> None:
    found = experiment_of(given(pipeline={"temperature": None}))
    assert found.pipeline.temperature is None
    assert experiment_of(document_of(found)) == found


@pytest.mark.parametrize(
    ("backbone", "expected"),
    [
        ({"provider": "mock"}, "offline"),
        ({"provider": "offline", "model": "any"}, "offline"),
        ({"provider": "openai", "model": "m"}, "openai:m"),
        ({"provider": "anthropic", "model": "m"}, "anthropic:m"),
    ],
)
def test_a_backbone_names_the_model(backbone: dict[str, str], expected: str) -> None:
    assert experiment_of(given(backbone=backbone)).model == expected


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"data": {}}, "names no input"),
        ({"data": "reviews.csv"}, "expected a mapping"),
        ({"data": {"input": "a", "valid_file": "b"}}, "mean the same"),
        ({"data": {"input": 3}}, "expected text"),
        ({"data": {"input": "a.csv", "language": "fr"}}, "one of 'ko', 'en'"),
        ({"data": {"input": "a.csv", "train_file": "a.csv"}}, "the same file"),
        ({"profile": "smoke", "run_purpose": "smoke"}, "mean the same"),
        ({"profile": "large"}, "one of 'smoke'"),
        ({"model": "gpt"}, "names no model"),
        ({"model": "http://host"}, "names no model"),
        ({"model": "offline", "backbone": {"provider": "mock"}}, "give one of them"),
        ({"backbone": {"provider": "google", "model": "g"}}, "the address of a server"),
        ({"backbone": {"provider": "openai"}}, "lacks 'model'"),
        ({"agents": {"judge": "offline"}}, "unknown key"),
        ({"seeds": []}, "at least one seed"),
        ({"seeds": [1, 1]}, "stands twice"),
        ({"seeds": 3}, "expected a list"),
        ({"seeds": [0], "experiment": {"repeat": {"seeds": [1]}}}, "give them once"),
        ({"experiment": {"repeat": {"mode": "days"}}}, "one of 'seed'"),
        ({"eval": {"gold": "a", "gold_valid_jsonl": "b"}}, "mean the same"),
        ({"demo": {"k": 2}}, "needs data.train_file"),
        ({"data_roles": {"demo_pool": ["train", "valid"]}}, "training file alone"),
        ({"data_roles": {"demo_pool": ["valid"]}}, "training file alone"),
        ({"pipeline": {"enable_debate": "yes"}}, "one of true, false"),
        ({"pipeline": {"enable_stage3": True}}, "did you mean 'enable_stage2'"),
        ({"pipeline": {"debate_override": {"profile": "t9"}}}, "one of 't0', 't1', 't2'"),
        ({"pipeline": {"aux_hf_enabled": True}}, "needs aux_hf_checkpoint"),
        ({"pipeline": {"aux_hf_checkpoint": "llm:gpt"}}, "language model cannot be"),
        ({"pipeline": {"patterns": {"fr": "fr.json"}}}, "unknown key"),
        ({"run_id": "../up"}, "name of a folder"),
        ({"budget": 0}, "above 0"),
        ({"concurrency": 0}, "from 1"),
        ({"prices": {"m": "dear"}}, "dear"),
    ],
)
def test_what_is_wrong_is_said(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        experiment_of(given(**settings))


def test_every_fault_is_named_with_its_place(tmp_path: Path) -> None:
    path = written(tmp_path, "data:\n  input: a.csv\n  language: fr\npipeline:\n  max_tokens: 0\nseed: [1]\n")
    with pytest.raises(SettingsError) as caught:
        read_experiment(path)
    faults = str(caught.value).split(";\n")
    assert [fault.partition(" ")[0] for fault in faults] == [
        "experiment.yaml:3:13:",
        "experiment.yaml:5:15:",
        "experiment.yaml:6:1:",
    ]
    assert "did you mean 'seeds'?" in faults[2]


def test_data_are_needed() -> None:
    with pytest.raises(SettingsError, match="lacks 'data'"):
        experiment_of({"model": "offline"})


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.yaml"):
        read_experiment(tmp_path / "nowhere.yaml")
