"""Patterns and thresholds: what ships, and what users give instead."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from hallumeter.aspects.resource_files import (
    LANGUAGES,
    load_mapping_thresholds,
    load_override_profiles,
    load_patterns,
    parse_json,
    shipped_patterns,
    shipped_resource,
)
from hallumeter.aspects.settings import MappingThresholds, OverrideThresholds
from hallumeter.errors import InputError, SettingsError


def written(folder: Path, content: object) -> Path:
    path = folder / "mine.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def test_both_languages_have_all_patterns() -> None:
    patterns = shipped_patterns()
    assert tuple(patterns) == LANGUAGES
    for language in LANGUAGES:
        assert all(getattr(patterns[language], name) for name in patterns[language].__struct_fields__), language
    assert patterns["ko"].synonyms["가격"] == ("가격", "비용", "가성비", "금액")
    assert patterns["ko"].allowlist == ("뷰", "AS", "as", "ui", "UI", "앱", "app")


def test_the_shipped_thresholds_are_those_of_the_korean_absa_agents() -> None:
    profiles = load_override_profiles()
    assert profiles.default == "t0"
    assert profiles.named() == profiles.profiles["t0"] == OverrideThresholds(l3_conservative=True)
    assert profiles.named("t2") == OverrideThresholds(min_total=0.6, min_margin=0.3, min_target_conf=0.55)
    assert profiles.named("t3") is None
    assert load_mapping_thresholds() == MappingThresholds()
    assert b"profiles" in shipped_resource("debate_override_thresholds.json")


def test_a_file_of_patterns_replaces_what_it_names(tmp_path: Path) -> None:
    path = written(tmp_path, {"synonyms": {"방": ["방", "객실"]}, "allowlist": ["뷰"]})
    patterns = load_patterns("ko", path)
    assert patterns.synonyms == {"방": ("방", "객실")}
    assert patterns.allowlist == ("뷰",)
    assert patterns.stop_terms == shipped_patterns()["ko"].stop_terms
    assert load_patterns("fr", path).stop_terms == ()
    assert load_patterns("ko", written(tmp_path, {})) == shipped_patterns()["ko"]


def test_thresholds_of_a_file_replace_those_that_it_names(tmp_path: Path) -> None:
    assert load_mapping_thresholds(written(tmp_path, {"coverage_warn": 0.9})) == MappingThresholds(coverage_warn=0.9)
    mine = {"default": "soft", "profiles": {"soft": {"min_total": 0, "min_margin": 2, "min_target_conf": 1}}}
    profiles = load_override_profiles(written(tmp_path, mine))
    assert profiles.named() == OverrideThresholds(min_total=0.0, min_margin=2.0, min_target_conf=1.0)


def test_thresholds_as_the_korean_absa_agents_write_them_are_read(tmp_path: Path) -> None:
    alone = {"min_total": 1.0, "min_margin": 0.5, "min_target_conf": 0.6}
    expected = OverrideThresholds(min_total=1.0, min_margin=0.5, min_target_conf=0.6)
    profiles = load_override_profiles(written(tmp_path, alone))
    assert (profiles.default, profiles.profiles) == ("t0", {"t0": expected})
    conservative = load_override_profiles(written(tmp_path, alone | {"l3_conservative": True, "ev_threshold": 0.5}))
    assert conservative.named("t0") == replace(expected, l3_conservative=True)
    several = {"default": "t1", "profiles": {"t1": alone | {"ev_threshold": 0.5}}}
    assert load_override_profiles(written(tmp_path, several)).named() == expected


def test_every_fault_of_a_file_of_patterns_is_named_with_its_place(tmp_path: Path) -> None:
    path = written(tmp_path, '{\n  "stopterms": [],\n  "allowlist": "뷰",\n  "synonyms": {"맛": [1]}\n}')
    with pytest.raises(SettingsError) as caught:
        load_patterns("ko", path)
    told = str(caught.value)
    assert "mine.json:2:3: stopterms: unknown key; did you mean 'stop_terms'?" in told
    assert "mine.json:3:16: allowlist: expected a list, found '뷰'" in told
    assert "synonyms.맛.0: expected text, found 1" in told


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"coverage_warm": 0.4}, "did you mean 'coverage_warn'?"),
        ({"coverage_warn": 4}, "coverage_warn: expected a number from 0 to 1, found 4"),
        ({"coverage_warn": True}, "expected a number from 0 to 1, found true"),
        ([], "expected a mapping, found a list"),
        ("{", "not valid JSON"),
        ("", "not valid JSON"),
        ('{"coverage_warn": 0.1, "coverage_warn": 0.2}', "the key stands twice"),
    ],
)
def test_faults_of_warning_thresholds_are_named(tmp_path: Path, content: object, told: str) -> None:
    with pytest.raises(SettingsError, match=r"mine\.json") as caught:
        load_mapping_thresholds(written(tmp_path, content))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"profiles": {}}, "lacks 'default'"),
        ({"default": "t9", "profiles": {"t1": {}}}, "default: expected one of 't1', found 't9'"),
        ({"default": "t1", "profiles": {"t1": {}}}, "profiles.t1: lacks 'min_total'"),
        ({"default": "t1", "profiles": {"t1": {"min_total": "1"}}}, "min_total: expected a number from 0, found '1'"),
        ({"default": "t1", "profiles": {"t1": {"min_margin": -1}}}, "min_margin: expected a number from 0, found -1"),
        ({"default": "t1", "profiles": {"t1": {"l3_conservative": 1}}}, "expected one of true, false, found 1"),
        ({"default": "t1", "profiles": {"t1": {"ev_threshold": "x"}}}, "expected a number from 0 to 1, found 'x'"),
        ({"default": "t1", "profiles": {"t1": {"ev_treshold": 0.5}}}, "did you mean 'ev_threshold'?"),
        ({"min_total": 1, "min_margin": 0.5}, "lacks 'min_target_conf'"),
        ({"min_total": 1, "min_margin": 0.5, "min_target_conf": 0.6, "default": "t0"}, "default: unknown key"),
        ({"default": "t1", "profiles": []}, "profiles: expected a mapping, found a list"),
    ],
)
def test_faults_of_override_profiles_are_named(tmp_path: Path, content: object, told: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_override_profiles(written(tmp_path, content))
    assert told in str(caught.value)


def test_a_file_that_is_not_there_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be opened"):
        load_patterns("ko", tmp_path / "none.json")


def test_json_that_is_no_yaml_is_read_too() -> None:
    content = b'\xef\xbb\xbf{"a":\t"\\ud83d\\ude00"}'
    root = parse_json(content, "mine.json").root
    assert root is not None
    assert root.plain == {"a": "\U0001f600"}


def test_bytes_that_are_no_text_are_refused() -> None:
    assert parse_json(b'{"a": "\xff"}', "mine.json").faults
