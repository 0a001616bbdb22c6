"""Judges by what a user types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hallumeter.claims.judges.by_name import JUDGE_FORMS, has_threshold, judge_named
from hallumeter.claims.judges.embedded.judge import EmbeddedJudge
from hallumeter.claims.judges.function import FunctionJudge
from hallumeter.claims.judges.language_model import LanguageModelJudge
from hallumeter.claims.judges.recorded import RecordedJudge
from hallumeter.claims.judges.rules.judge import RulesJudge
from hallumeter.claims.settings import DEFAULT_JUDGE, LanguageModelSettings
from hallumeter.errors import InputError, SettingsError
from hallumeter.models.scripted import ScriptedProvider
from hallumeter.records.judging import Judge, JudgeSpec


def chosen(text: str) -> Judge:
    return judge_named(text, provider_of=lambda name: ScriptedProvider([], name=name), settings=LanguageModelSettings())


def test_the_default_is_the_whole_model_inside_the_package() -> None:
    judge = chosen(DEFAULT_JUDGE)
    assert isinstance(judge, EmbeddedJudge)
    assert judge.spec.name == "embedded:full@3"


@pytest.mark.parametrize(
    ("text", "name"),
    [("embedded", "embedded:full@3"), ("embedded:full", "embedded:full@3"), ("embedded:fast", "embedded:fast@3")],
)
def test_the_model_inside_the_package_is_chosen_by_its_tier(text: str, name: str) -> None:
    assert chosen(text).spec.name == name


def test_a_tier_that_the_model_does_not_have_is_refused_with_those_it_has() -> None:
    with pytest.raises(SettingsError, match=r"no tier 'quick'; expected embedded or embedded:fast"):
        chosen("embedded:quick")


@pytest.mark.parametrize("text", ["embedded", "embedded:fast"])
def test_a_preset_or_a_threshold_is_a_part_of_the_embedded_judge(text: str) -> None:
    def made(**chosen: Any) -> JudgeSpec:
        return judge_named(text, provider_of=lambda name: ScriptedProvider([], name=name), **chosen).spec

    assert made() == made(preset="balanced") != made(preset="precise")
    assert ("preset", "precise") in made(preset="precise").settings
    assert ("threshold", "0.4") in made(threshold=0.4).settings
    with pytest.raises(SettingsError, match="no preset 'exact'"):
        made(preset="exact")


@pytest.mark.parametrize("text", ["rules", "python:os.path.commonprefix", "openai:gpt-4o-mini"])
def test_judges_without_a_threshold_are_what_they_are_with_one(text: str) -> None:
    assert not has_threshold(text)
    with_one = judge_named(text, provider_of=lambda name: ScriptedProvider([], name=name), threshold=0.4)
    assert with_one.spec == chosen(text).spec


def test_the_judge_by_rules_is_called_rules() -> None:
    assert isinstance(chosen("rules"), RulesJudge)


@pytest.mark.parametrize(
    "text", ["openai:gpt-4o-mini", "anthropic:claude", "http://127.0.0.1:8080/v1#qwen", "https://h/v1#m"]
)
def test_models_are_made_by_whoever_knows_their_pace(text: str) -> None:
    judge = chosen(text)
    assert isinstance(judge, LanguageModelJudge)
    assert judge.spec.name == text


def test_a_function_is_called_as_it_was_typed() -> None:
    judge = chosen("python:os.path.commonprefix")
    assert isinstance(judge, FunctionJudge)
    assert judge.spec.name == "python:os.path.commonprefix"


def test_recorded_verdicts_are_read_from_their_file(tmp_path: Path) -> None:
    row = '{"record_id": "r", "claim_id": "c", "label": "SUPPORTED", "judge": "%s"}\n'
    path = tmp_path / "verdicts#1.jsonl"
    path.write_text(row % "Ada" + row % "Ben", encoding="utf-8")
    judge = chosen(f"recorded:{path}#Ben")
    assert isinstance(judge, RecordedJudge)
    assert judge.spec.name == "Ben"
    path.write_text(row % "Ada", encoding="utf-8")
    assert chosen(f"recorded:{path}").spec.name == "Ada"


@pytest.mark.parametrize("text", ["", "rule", "embeded", "gpt-4o", "rules:strict", "nobody:model"])
def test_a_name_that_nobody_has_is_refused_with_all_that_there_are(text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        chosen(text)
    assert f"no judge is called {text!r}" in str(caught.value)
    assert all(form in str(caught.value) for form in JUDGE_FORMS)


@pytest.mark.parametrize("text", ["recorded:", "python:", "python:function"])
def test_a_form_without_its_argument_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="expected"):
        chosen(text)


def test_a_file_that_is_not_there_is_an_error_of_the_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        chosen(f"recorded:{tmp_path / 'absent.jsonl'}")
