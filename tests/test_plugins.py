"""What other packages bring, by a real package with entry points."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from hallumeter import plugins
from hallumeter.claims.extractors.by_name import extractor_named
from hallumeter.claims.extractors.statements import SentenceExtractor
from hallumeter.claims.judges.by_name import judge_named
from hallumeter.errors import SettingsError
from hallumeter.models.by_name import provider_named
from hallumeter.models.protocol import Provider
from hallumeter.models.scripted import ScriptedProvider
from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.judging import JudgeTask
from hallumeter.records.response import Response

MODULE = """
from hallumeter.models.scripted import ScriptedProvider
from hallumeter.records.claim import Claim
from hallumeter.testing import judge_that_says

NUMBER = 3

def strict(argument="usual"):
    return judge_that_says({"x": "REFUTED"}, name=f"strict-{argument}")

def no_judge():
    return 3

class Words:
    is_remote = False

    def __init__(self, argument="usual"):
        self.name = f"words-{argument}"

    def extract(self, response):
        return [Claim(response.record_id, f"{response.record_id}#0", text=response.response)]

def model(name, *, timeout_seconds, connections):
    return ScriptedProvider(["hello"], name=f"tiny:{name}")
"""
ENTRY_POINTS = """
[hallumeter.judges]
strict = tiny_plugin:strict
rules = tiny_plugin:strict
broken = tiny_plugin_that_is_absent:make
number = tiny_plugin:NUMBER
wrong = tiny_plugin:no_judge
[hallumeter.extractors]
words = tiny_plugin:Words
sentences = tiny_plugin:Words
wrong = tiny_plugin:no_judge
[hallumeter.providers]
tiny = tiny_plugin:model
"""


def install(folder: Path, name: str, entries: str) -> None:
    """What an installer leaves behind."""
    information = folder / f"{name}-1.2.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n", encoding="utf-8")
    (information / "entry_points.txt").write_text(entries, encoding="utf-8")


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tiny_plugin.py").write_text(MODULE, encoding="utf-8")
    install(tmp_path, "tiny-plugin", ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "tiny_plugin", raising=False)
    assert entry_points(group="hallumeter.judges"), "the package is not seen"
    return tmp_path


def no_provider(name: str) -> Provider:
    raise AssertionError(name)


def test_a_judge_of_another_package_is_found_by_name_with_and_without_an_argument() -> None:
    judge = judge_named("strict", provider_of=no_provider)
    assert judge.spec.name == "strict-usual"
    (verdict,) = judge.judge(JudgeTask(Response("r"), (Claim("r", "c", text="x"),)))
    assert isinstance(verdict, Verdict)
    assert verdict.label is Label.REFUTED
    assert judge_named("strict:very", provider_of=no_provider).spec.name == "strict-very"


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    assert {"strict", "broken"} <= plugins.found("hallumeter.judges").keys()
    assert "tiny_plugin" not in sys.modules


def test_names_of_our_own_cannot_be_taken_over() -> None:
    assert judge_named("rules", provider_of=no_provider).spec.name.startswith("rules")
    assert "rules" not in plugins.found("hallumeter.judges", ours=["rules"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "broken",
            r"the plugin 'broken' \(tiny_plugin_that_is_absent:make, group hallumeter.judges\) of tiny-plugin 1.2",
        ),
        ("number", "is int; expected a function or a class"),
        ("wrong", "the plugin 'wrong' of tiny-plugin 1.2 made no judge"),
    ],
)
def test_a_broken_plugin_is_an_error_only_for_those_who_ask_for_it(name: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        judge_named(name, provider_of=no_provider)
    assert judge_named("strict", provider_of=no_provider).spec.name == "strict-usual"


def test_a_name_that_two_packages_bring_is_refused_when_it_is_asked_for(installed: Path) -> None:
    install(installed, "other-plugin", "[hallumeter.judges]\nstrict = elsewhere:make\n")
    found = plugins.found("hallumeter.judges")
    with pytest.raises(SettingsError, match=r"both bring 'strict' to hallumeter\.judges; uninstall one of them"):
        found["strict"]()


def test_an_extractor_of_another_package_is_found_by_name_with_and_without_an_argument() -> None:
    extractor = extractor_named("words")
    assert extractor.name == "words-usual"
    assert [claim.text for claim in extractor.extract(Response("r", response="Paris is large."))] == ["Paris is large."]
    assert extractor_named("words:short").name == "words-short"
    assert isinstance(extractor_named("sentences"), SentenceExtractor), "our own names cannot be taken over"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "wrong",
            r"the plugin 'wrong' of tiny-plugin 1\.2 made no extractor; it needs extract\(\), name and is_remote",
        ),
        ("letters", "there is no extractor 'letters'; choose from sentences, clauses, llm, words, wrong"),
        ("sentences:x", "there is no extractor 'sentences:x'"),
    ],
)
def test_a_name_that_is_no_extractor_is_refused(name: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        extractor_named(name)


def test_a_language_model_of_another_package_can_be_a_judge() -> None:
    assert provider_named("tiny:one").spec.name == "tiny:one"
    judge = judge_named("tiny:one", provider_of=lambda name: ScriptedProvider([], name=name))
    assert judge.spec.name == "tiny:one"


def test_names_that_nobody_has_list_those_of_plugins_as_well() -> None:
    with pytest.raises(SettingsError, match="strict"):
        judge_named("lenient", provider_of=no_provider)


def test_a_group_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"no group of plugins called 'hallumeter\.metrics'"):
        plugins.found("hallumeter.metrics")
