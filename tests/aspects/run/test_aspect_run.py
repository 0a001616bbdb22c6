"""A whole run: its files, its order, what it says of itself, and what makes two runs the same."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from aspect_runs import (
    ROLES,
    all_files,
    answers_by_rule,
    document,
    lines,
    outputs,
    run,
    sentence,
    timeless_files,
    write_rows,
    written,
)

from hallumeter.aspects.agents.protocol import AgentTask
from hallumeter.aspects.run import sentence as conducting
from hallumeter.aspects.run.asking import OUTPUTS, ReadingProcess
from hallumeter.aspects.run.experiment import experiment_of, read_experiment
from hallumeter.aspects.run.pipeline import prepared
from hallumeter.aspects.run.plan import plan_experiment
from hallumeter.aspects.run.trace import ROLES as ROLE_NAMES
from hallumeter.aspects.stages.sequence import processed
from hallumeter.errors import InputError, SettingsError
from hallumeter.run.stopping import stopping_on_signals
from misbehaving_server import server_in_thread

FILES = {
    *("experiment.json", "failures.jsonl", "manifest.json", "outputs.jsonl", "traces.jsonl", "report.html"),
    *("scorecards.jsonl", "structural_metrics.csv", "summary.json", "blame.jsonl"),
}


class StopAfter:
    """Wants to stop after so many sentences, as a user who presses Ctrl-C just then."""

    def __init__(self, sentences: int) -> None:
        self._left = sentences
        self.begun: list[tuple[str, int, int]] = []

    def begin(self, what: str, *, total: int, done: int = 0, spent: object = None) -> None:
        self.begun.append((what, total, done))

    def done(self, more: int, *, failures: int = 0, cached: int = 0) -> None:
        self._left -= more
        if self._left <= 0:
            with stopping_on_signals() as stop:
                stop.set()


def test_an_offline_run_writes_outputs_traces_and_what_it_was_made_of(tmp_path: Path) -> None:
    written(tmp_path, 5)
    outcome = run(document(tmp_path))
    assert outcome.finished is not None
    assert (outcome.finished.sentences, outcome.finished.failed) == (5, 0)
    assert {path.name for path in outcome.folder.iterdir()} >= FILES
    found = outputs(outcome.folder)
    assert [each["text_id"] for each in found] == [f"s{number}" for number in range(5)]
    assert all(each["final_result"] is not None and each["failed"] is None for each in found)
    assert found[0]["gold_tuples"][1]["aspect_term"] == "screen"
    assert found[0]["usage"]["latency_ms"] is None
    assert found[0]["meta"]["run_id"] == "run"
    traces = lines(outcome.folder / "traces.jsonl")
    assert [(each["text_id"], each["role"]) for each in traces] == [
        (f"s{number}", role) for number in range(5) for role in ROLE_NAMES
    ]
    assert {each["stage_status"] for each in traces} == {"ok"}
    assert {each["prompt_hash"] for each in traces} == {None}
    assert not lines(outcome.folder / "failures.jsonl")


def test_the_manifest_names_inputs_agents_readers_and_thresholds(tmp_path: Path) -> None:
    written(tmp_path, 2)
    manifest = json.loads((run(document(tmp_path, seeds=[3, 4])).folder / "manifest.json").read_bytes())
    assert manifest["instrument"] == "aspects run"
    assert manifest["inputs"][0]["records"] == 2
    settings = manifest["settings"]
    assert settings["seeds"] == ["3", "4"]
    assert settings["agents"][0].startswith("ate=offline")
    assert "enable_debate=True" in settings["switches"]
    assert any(each.startswith("min_total=") for each in settings["override"])
    assert [each.partition("=")[0] for each in settings["patterns"]] == ["en", "ko"]
    assert settings["readers"][0].startswith("en=")


def test_language_models_prompts_are_named_by_their_hashes(tmp_path: Path) -> None:
    written(tmp_path, 1)
    with server_in_thread(answers_by_rule) as server:
        folder = run(document(tmp_path, model=f"{server.openai}#m")).folder
    manifest = json.loads((folder / "manifest.json").read_bytes())
    assert any(each.startswith("en/ate.txt=") for each in manifest["settings"]["prompts"])
    traces = lines(folder / "traces.jsonl")
    assert len({each["prompt_hash"] for each in traces}) == ROLES
    assert all(json.loads(each["raw"]) for each in traces)
    assert traces[0]["usage"]["calls"] == 1
    assert outputs(folder)[0]["usage"]["calls"] == ROLES


def test_keys_of_replies_that_nobody_reads_are_named_in_a_notice(tmp_path: Path) -> None:
    def with_a_key(body: dict[str, Any]) -> str:
        return json.dumps({**json.loads(answers_by_rule(body)), "mood": "good"})

    written(tmp_path, 2)
    with server_in_thread(with_a_key) as server:
        outcome = run(document(tmp_path, model=f"{server.openai}#m"))
    assert "a key in replies that nobody reads: ate: 'mood' (2)" in outcome.notices
    assert "ate: unknown_key:'mood'" in outputs(outcome.folder)[0]["notes"]


def test_every_seed_reads_every_sentence_and_seeds_come_first(tmp_path: Path) -> None:
    written(tmp_path, 3)
    folder = run(document(tmp_path, seeds=[7, 1])).folder
    found = [(each["meta"].get("seed"), each["text_id"]) for each in outputs(folder)]
    assert found == [(seed, f"s{number}") for seed in (7, 1) for number in range(3)]


def test_two_runs_of_the_same_experiment_are_equal_but_for_times(tmp_path: Path) -> None:
    for folder in (tmp_path / "a", tmp_path / "b"):
        folder.mkdir()
        written(folder, 70)  # enough for processes of their own
        run(document(folder, concurrency=1 if folder.name == "a" else 2))
    first, second = (all_files(tmp_path / name / "runs" / "run") for name in ("a", "b"))
    assert first == second
    assert {"scorecards.jsonl", "structural_metrics.csv", "blame.csv", "summary.json"} < first.keys()


def test_an_offline_reader_can_be_sent_to_another_process(tmp_path: Path) -> None:
    written(tmp_path, 2)
    ready = prepared(experiment_of(document(tmp_path)))
    here = ReadingProcess(ready.setup(ready.roles))
    there = pickle.loads(pickle.dumps(here))
    assert there([0, 1]) == here([0, 1])
    assert sum(entry.step == OUTPUTS for entry in here([0, 1])[0]) == 2


def test_what_a_run_is_called_by_default_is_made_of_what_is_asked(tmp_path: Path) -> None:
    written(tmp_path, 2)
    given = {key: value for key, value in document(tmp_path).items() if key != "run_id"}
    first = run(given)
    assert first.folder.name.startswith("run-")
    assert run({**given, "budget": 5.0, "timeout": 9}).folder == first.folder
    others: list[dict[str, Any]] = [
        {"seeds": [1]},
        {"profile": "smoke"},
        {"pipeline": {"enable_debate": False}},
        {"pipeline": {"debate_override": {"min_total": 3}}},
        {"data": {**given["data"], "max_sentences": 1}},
    ]
    assert len({run({**given, **other}).folder for other in others} | {first.folder}) == 6


def test_the_same_again_does_nothing_and_another_experiment_is_refused(tmp_path: Path) -> None:
    written(tmp_path, 2)
    first = run(document(tmp_path))
    before = (first.folder / "outputs.jsonl").read_bytes()
    again = run(document(tmp_path))
    assert again.was_finished
    assert again.finished is not None
    assert again.finished.sentences == 2
    assert (first.folder / "outputs.jsonl").read_bytes() == before
    with pytest.raises(SettingsError, match="another experiment; choose another run_id"):
        run(document(tmp_path, seeds=[4]))


def test_a_damaged_run_is_refused(tmp_path: Path) -> None:
    written(tmp_path, 2)
    folder = run(document(tmp_path)).folder
    (folder / "outputs.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="damaged"):
        run(document(tmp_path))


def test_the_resolved_settings_are_an_experiment_again(tmp_path: Path) -> None:
    written(tmp_path, 1)
    given = document(tmp_path, seeds=[2], pipeline={"enable_moderator": False})
    assert read_experiment(run(given).folder / "experiment.json") == experiment_of(given)


def test_a_run_that_was_stopped_goes_on_and_says_what_was_done(tmp_path: Path) -> None:
    written(tmp_path, 40)
    clean = timeless_files(run(document(tmp_path, run_id="clean")).folder)
    progress = StopAfter(16)
    first = run(document(tmp_path), progress=progress)
    assert (first.stopped, first.finished) == ("interrupted", None)
    assert progress.begun == [("reading by offline", 40, 0)]
    progress = StopAfter(1000)
    second = run(document(tmp_path), progress=progress)
    assert progress.begun == [("reading by offline", 40, 16)]
    assert second.finished is not None
    assert second.finished.sentences == 40
    expected = json.loads(json.dumps(clean["outputs.jsonl"]).replace('"run_id": "clean"', '"run_id": "run"'))
    assert timeless_files(second.folder)["outputs.jsonl"] == expected


def test_a_begun_run_is_not_gone_on_with_by_another_experiment(tmp_path: Path) -> None:
    written(tmp_path, 40)
    run(document(tmp_path), progress=StopAfter(16))
    with pytest.raises(SettingsError, match=r"begun with seeds \(0,\) \(now \(1,\)\)"):
        run(document(tmp_path, seeds=[1]))


def test_switches_leave_agents_out(tmp_path: Path) -> None:
    written(tmp_path, 1)
    off = {"enable_validator": False, "enable_debate": False, "enable_stage2": False}
    folder = run(document(tmp_path, pipeline=off)).folder
    assert [each["role"] for each in lines(folder / "traces.jsonl")] == ["ate", "atsa"]
    [output] = outputs(folder)
    assert output["stage2"] is None
    assert output["debate"] is None


def test_thresholds_and_patterns_of_the_users_own_are_read(tmp_path: Path) -> None:
    written(tmp_path, 1)
    thresholds = {"default": "mine", "profiles": {"mine": {"min_total": 9, "min_margin": 9, "min_target_conf": 0.9}}}
    (tmp_path / "t.json").write_text(json.dumps(thresholds), encoding="utf-8")
    (tmp_path / "p.json").write_text('{"synonyms": {"screen": ["display"]}}', encoding="utf-8")
    own = {"debate_override_thresholds": str(tmp_path / "t.json"), "patterns": {"en": str(tmp_path / "p.json")}}
    manifest = json.loads((run(document(tmp_path, pipeline=own)).folder / "manifest.json").read_bytes())
    assert "min_total=9.0" in manifest["settings"]["override"]
    with pytest.raises(SettingsError, match=r"no profile 't1'; the file of thresholds has mine"):
        run(document(tmp_path, pipeline={**own, "debate_override": {"profile": "t1"}}, run_id="other"))


def test_a_classifier_is_asked_after_everything_else(tmp_path: Path) -> None:
    written(tmp_path, 2)
    plain = outputs(run(document(tmp_path, run_id="plain")).folder)
    auxiliary = {"aux_hf_enabled": True, "aux_hf_checkpoint": "lexicon"}
    found = outputs(run(document(tmp_path, pipeline=auxiliary)).folder)
    assert found[0]["aux_signals"]["hf"]["label"] in ("pos", "neg", "neu")
    assert [each["final_result"] for each in found] == [each["final_result"] for each in plain]


def broken_reader(task: AgentTask) -> object:
    """An agent of the user's own, that cannot read one sentence."""
    if "Order 1:" in task.text:
        raise ValueError("too hard")
    return json.loads(answers_by_rule({"messages": [{"role": "user", "content": _asked(task)}]}))


def _asked(task: AgentTask) -> str:
    return json.dumps({"task": task.role, "text": task.text})


def test_a_function_of_the_users_own_may_be_an_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    written(tmp_path, 3)
    outcome = run(document(tmp_path, model="python:test_aspect_run:broken_reader"))
    assert outcome.finished is not None
    assert (outcome.finished.sentences, outcome.finished.failed) == (2, 1)
    [failure] = lines(outcome.folder / "failures.jsonl")
    assert (failure["record_id"], failure["step"], failure["code"]) == ("s1", "ate", "agent_error")
    assert "ValueError: too hard" in failure["message"]
    failed = outputs(outcome.folder)[1]
    assert failed["final_result"] is None
    assert failed["failed"].startswith("ate: agent_error")


def test_a_sentence_on_which_code_breaks_has_failed_and_the_others_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(given: Any, *arguments: Any, **options: Any) -> Any:
        if given.text_id == "s1":
            raise RuntimeError("a fault of the code")
        return processed(given, *arguments, **options)

    monkeypatch.setattr(conducting, "processed", broken)
    written(tmp_path, 3)
    outcome = run(document(tmp_path))
    [failure] = lines(outcome.folder / "failures.jsonl")
    assert (failure["step"], failure["code"]) == ("pipeline", "pipeline_error")
    assert "RuntimeError: a fault of the code" in failure["message"]
    with pytest.raises(RuntimeError):
        run(document(tmp_path, run_id="strict"), is_strict=True)


def test_a_plan_says_what_it_would_take_without_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    written(tmp_path, 100)
    models = {"model": "openai:m", "agents": {"ate": "offline"}, "prices": {"openai:m": "1/2"}}
    plan = plan_experiment(experiment_of(document(tmp_path, seeds=[0, 1], **models)))
    offline, model = sorted(plan.parts, key=lambda each: each.name)
    assert plan.heading == "run: 100 sentences, 2 seeds"
    assert (offline.calls, offline.cost_usd) == (200, 0.0)
    assert model.calls == 200 * (ROLES - 1)
    assert model.input_tokens is not None
    assert model.input_tokens > 200 * 9 * 100
    assert plan.cost_usd == pytest.approx(model.cost_usd)
    assert not (tmp_path / "runs").exists()
    with pytest.raises(SettingsError, match="OPENAI_API_KEY"):
        run(document(tmp_path, **models))


def test_a_plan_counts_what_was_answered_before(tmp_path: Path) -> None:
    written(tmp_path, 40)
    run(document(tmp_path), progress=StopAfter(16))
    [offline] = plan_experiment(experiment_of(document(tmp_path))).parts
    assert (offline.calls, offline.answered) == (24 * ROLES, 16 * ROLES)
    run(document(tmp_path))
    [offline] = plan_experiment(experiment_of(document(tmp_path))).parts
    assert (offline.calls, offline.answered) == (0, 40 * ROLES)


def test_korean_and_english_are_read_in_one_run(tmp_path: Path) -> None:
    korean = {"text_id": "k", "text": "배터리는 좋지만 화면이 별로예요."}
    write_rows(tmp_path / "reviews.jsonl", [sentence(0), korean])
    found = outputs(run(document(tmp_path)).folder)
    assert [each["meta"]["language_code"] for each in found] == ["en", "ko"]
    terms = [each["term"] for each in found[1]["stage1"]["ate"]["aspects"]]
    assert "배터리" in terms
