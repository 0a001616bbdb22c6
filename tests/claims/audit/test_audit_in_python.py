"""`hallumeter.audit` as it is called from Python: what it takes, where it may run, and what it leaves behind."""

from __future__ import annotations

import asyncio
import gc
import json
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec import structs

import hallumeter
from hallumeter import testing
from hallumeter.claims.extractors.atomic_facts import FactExtractor
from hallumeter.claims.extractors.statements import ClauseExtractor
from hallumeter.claims.judges.function import FunctionJudge
from hallumeter.claims.judges.language_model import LanguageModelJudge
from hallumeter.claims.judges.recorded import RecordedJudge
from hallumeter.claims.profiles import Policy, Rule
from hallumeter.claims.settings import LanguageModelSettings, MeasureSettings
from hallumeter.cli.main import main
from hallumeter.errors import InputError, RecordError, SettingsError
from hallumeter.models.protocol import ProviderFault, Request
from hallumeter.records.claim import Claim, Failure, Finding, Label, Verdict
from hallumeter.records.judging import JudgeSpec, JudgeTask
from hallumeter.records.response import Passage, Quote, Response
from hallumeter.run.verdict_cache import cache_folder
from misbehaving_server import judge_by_rule

ROWS: list[dict[str, object]] = [
    {"id": "en", "model": "m", "response": "The tower is 999 m high.", "evidence": "The tower is 330 m high."},
    {
        "id": "fr",
        "model": "n",
        "response": "La tour fut achevée en 1889.",
        "evidence": ["La tour fut achevée en 1889."],
    },
    {"id": "ko", "model": "n", "response": "수도는 서울이다.", "evidence": "수도는 서울이다."},
]
NO_RESPONSE: dict[str, object] = {"id": "none"}
LABELS = {"en": "REFUTED", "fr": "SUPPORTED", "ko": "SUPPORTED"}
WORD_FOR_WORD = LABELS | {"en": "NOT_ENOUGH_INFO"}
"""What a model says that supports only what stands in the evidence word for word."""


def labels(run: hallumeter.Run) -> dict[str, str]:
    """The label of the only claim of each record, by the only judge."""
    return {finding.claim.record_id: finding.verdicts[0].label.value for finding in run.findings()}


def written(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return path


class Counting:
    """A judge of a user's own that supports everything, and counts how often it is asked.

    It forgets its own name in its verdicts; the run knows it by its spec.
    """

    spec = JudgeSpec("counting")

    def __init__(self) -> None:
        self.asked = 0

    def judge(self, task: JudgeTask) -> list[Verdict | Failure]:
        self.asked += len(task.claims)
        return [Verdict(claim.record_id, claim.claim_id, "me", Label.SUPPORTED) for claim in task.claims]


def test_dicts_are_audited() -> None:
    run = hallumeter.audit(ROWS, judge="rules")
    assert labels(run) == LABELS
    assert run.summary.counts.records == 3
    [wrong] = [finding for finding in run.findings() if finding.claim.record_id == "en"]
    assert "330 m" in (wrong.verdicts[0].note or "")


def test_who_names_no_judge_gets_the_model_inside_the_package() -> None:
    run = hallumeter.audit(ROWS)
    verdicts = [verdict for finding in run.findings() for verdict in finding.verdicts]
    assert [(verdict.record_id, verdict.judge) for verdict in verdicts] == [
        (str(row["id"]), "embedded:full@3") for row in ROWS
    ]
    assert run.failures == ()
    assert run.summary.counts.judges == 1
    english, *others = verdicts
    assert english.unsupported_probability is not None
    assert 0 < english.unsupported_probability < 1
    # Of languages that it was not trained on it says what the rules say, and that these said it.
    assert [verdict.label.value for verdict in others] == [LABELS["fr"], LABELS["ko"]]
    assert all("judged by rules" in (verdict.note or "") for verdict in others)


def test_responses_are_audited() -> None:
    texts = {str(row["id"]): str(row["response"]) for row in ROWS}
    responses = [
        Response(name, response=text, evidence=(Passage("e", text.replace("999", "330")),))
        for name, text in texts.items()
    ]
    assert labels(hallumeter.audit(responses, judge="rules")) == LABELS
    iterator = (response for response in responses)
    assert labels(hallumeter.audit(iterator, judge="rules")) == LABELS, "an iterator will do"


def test_files_are_audited_by_path_or_name(tmp_path: Path) -> None:
    whole = written(tmp_path / "réponses.jsonl", ROWS)
    for given in (whole, str(whole)):
        assert labels(hallumeter.audit(given, judge="rules")) == LABELS
    parts = [written(tmp_path / f"{row['id']}.jsonl", [row]) for row in ROWS]
    run = hallumeter.audit(parts, judge="rules")
    assert labels(run) == LABELS
    assert [(file.name, file.records) for file in run.manifest.inputs] == [(part.name, 1) for part in parts]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], "nothing given"),
        (3, "records:1: expected a mapping, a response or an object with fields, found int"),
        ([*ROWS, "answers.jsonl"], "mixed"),
        ([{"id": "r", "response": "a \ud800"}], "records:1: .*half of a character"),
        ([{"id": "r", "response": "a", "evidence": object()}], "records:1: "),
    ],
    ids=["empty", "number", "mixed", "surrogate", "object"],
)
def test_what_has_no_response_that_could_be_used_is_refused(given: object, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=words):
        hallumeter.audit(given, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_single_response_is_a_list_of_one() -> None:
    assert labels(hallumeter.audit(ROWS[0], judge="rules")) == {"en": "REFUTED"}
    alone = Response("r", response="The tower is 999 m high.", evidence=(Passage("e", "The tower is 330 m high."),))
    assert labels(hallumeter.audit(alone, judge="rules")) == {"r": "REFUTED"}


def test_rows_that_cannot_be_used_are_failures_of_the_run_and_the_rest_goes_on() -> None:
    bad: list[object] = [3, {"id": "x", "response": "a \ud800"}, {"id": "y", "response": "a", "evidence": object()}]
    run = hallumeter.audit([bad[0], *ROWS, *bad[1:], {"id": "z", "response": 5}], judge="rules")
    assert labels(run) == LABELS
    assert [(failure.code, failure.message.partition(": ")[0]) for failure in run.failures] == [
        ("wrong_type", "records:1"),
        ("bad_encoding", "records:5"),
        ("wrong_type", "records:6"),
        ("wrong_type", "records:7"),
    ]
    assert run.summary.counts.failures == 4
    strict = hallumeter.AuditSettings(measure=MeasureSettings(is_strict=True))
    with pytest.raises(RecordError, match="records:1: expected a mapping"):
        hallumeter.audit([*bad, *ROWS], settings=strict)


def test_rows_without_a_response_are_failures_and_none_that_has_one_is_refused(tmp_path: Path) -> None:
    run = hallumeter.audit([*ROWS, NO_RESPONSE])
    assert [(failure.record_id, failure.code) for failure in run.failures] == [("none", "missing_field")]
    with pytest.raises(InputError, match="no row has a response; fields found: record_id"):
        hallumeter.audit([NO_RESPONSE], out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_judges_are_given_as_names_or_as_themselves_one_or_several() -> None:
    own = Counting()
    assert set(labels(hallumeter.audit(ROWS, judge=own)).values()) == {"SUPPORTED"}
    assert own.asked == 3
    run = hallumeter.audit(ROWS, judge=["rules", own, FunctionJudge(lambda claim, _: "999" not in claim, "no-999")])
    first: Finding = next(run.findings())
    assert [verdict.judge for verdict in first.verdicts] == ["rules@2", "counting", "no-999"]
    assert [verdict.label.value for verdict in first.verdicts] == ["REFUTED", "SUPPORTED", "NOT_ENOUGH_INFO"]
    assert run.summary.counts.judges == 3
    with pytest.raises(SettingsError, match="two judges are called"):
        hallumeter.audit(ROWS, judge=[own, Counting()])


def test_a_judge_may_see_the_record_and_its_failures_are_no_verdicts() -> None:
    def own(claim: str, evidence: list[str], record: Response) -> str:
        if record.record_id == "fr":
            raise ValueError("je ne sais pas")
        return "SUPPORTED" if claim in evidence else "REFUTED"

    run = hallumeter.audit(ROWS, judge=FunctionJudge(own, name="own"))
    assert [(failure.record_id, failure.message) for failure in run.failures] == [("fr", "ValueError: je ne sais pas")]
    [mihr] = [row for row in run.summary.metrics if row.metric == "mihr"]
    assert (mihr.count, mihr.total, mihr.failed) == (1, 2, 1)


class Words:
    """An extractor of a user's own: every word is a claim."""

    name = "words"
    is_remote = False

    def extract(self, response: Response) -> list[Claim]:
        text, claims, start = response.response or "", [], 0
        for number, word in enumerate(text.split()):
            start = text.index(word, start)
            claims.append(Claim(response.record_id, f"w{number}", text=word, start=start, end=start + len(word)))
        return claims


def test_extractors_are_given_by_name_or_as_themselves() -> None:
    text = "The tower is 330 m high, and it was finished in 1889."
    rows = [{"id": "r", "response": text, "evidence": text}]
    sizes = {
        extractor if isinstance(extractor, str) else extractor.name: hallumeter.audit(
            rows, extractor=extractor
        ).summary.counts.claims
        for extractor in ("sentences", ClauseExtractor(), Words())
    }
    assert sizes == {"sentences": 1, "clauses": 2, "words": 12}
    with pytest.raises(SettingsError, match="there is no extractor 'letters'"):
        hallumeter.audit(rows, extractor="letters")


def test_groups_are_named_by_one_field_or_several() -> None:
    for by in ("model", ["model"], ("model",)):
        summary = hallumeter.audit(ROWS, judge="rules", by=by).summary
        rows = [row for row in summary.metrics if row.metric == "mihr"]
        assert {row.by.get("model"): (row.count, row.total) for row in rows} == {None: (1, 3), "m": (1, 1), "n": (0, 2)}


def test_a_finished_run_is_handed_back_to_who_asks_for_the_same_again(tmp_path: Path) -> None:
    judge = Counting()
    first = hallumeter.audit(ROWS, judge=judge, out=tmp_path / "run")
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "run").iterdir()}
    again = hallumeter.audit(ROWS, judge=judge, out=tmp_path / "run")
    assert judge.asked == 3, "nothing is judged twice"
    assert (again.path, again.summary) == (first.path, first.summary)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "run").iterdir()} == files


@pytest.mark.parametrize(
    ("again", "words"),
    [
        (lambda out: hallumeter.audit(ROWS[:2], out=out), "inputs records "),
        (lambda out: hallumeter.audit(ROWS, judge=Counting(), out=out), "judges embedded:full@3.*, now it is counting"),
        (lambda out: hallumeter.audit(ROWS, extractor="clauses", out=out), "extractor sentences, now it is clauses"),
        (lambda out: hallumeter.audit(ROWS, by="model", out=out), "by none, now it is model"),
        (
            lambda out: hallumeter.audit(ROWS, out=out, settings=hallumeter.AuditSettings(limit=1)),
            "limit None, now it is 1",
        ),
    ],
    ids=["other records", "other judge", "other extractor", "other groups", "other limit"],
)
def test_a_finished_run_of_something_else_is_neither_handed_back_nor_written_over(
    again: Callable[[Path], object], words: str, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    first = hallumeter.audit(ROWS, out=out).summary
    with pytest.raises(SettingsError, match=words):
        again(out)
    assert hallumeter.load(out).summary == first


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("à garder")
    with pytest.raises(InputError, match="exists already"):
        hallumeter.audit(ROWS, out=tmp_path)
    verdicts = written(tmp_path / "verdicts.jsonl", [{"record_id": "r", "claim_id": "c", "label": "SUPPORTED"}])
    other = tmp_path / "measured"
    assert CliRunner().invoke(main, ["measure", str(verdicts), "--out", str(other)]).exit_code == 0
    with pytest.raises(InputError, match="exists already"):
        hallumeter.audit(ROWS, out=other)


def test_it_runs_inside_a_running_event_loop() -> None:
    async def main() -> dict[str, str]:
        return labels(hallumeter.audit(ROWS, judge="rules"))

    assert asyncio.run(main()) == LABELS


def test_it_runs_in_a_thread_beside_a_running_event_loop() -> None:
    async def main() -> list[dict[str, str]]:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        runs = await asyncio.gather(*(asyncio.to_thread(hallumeter.audit, ROWS, judge="rules") for _ in range(2)))
        ticking.cancel()
        assert ticks > 1, "the loop went on meanwhile"
        return [labels(run) for run in runs]

    assert asyncio.run(main()) == [LABELS] * 2


def test_it_runs_in_a_thread_that_has_a_loop_of_its_own() -> None:
    """As a notebook does, whose cells run inside the loop of a kernel."""
    found: list[dict[str, str]] = []

    async def cell() -> None:
        found.append(labels(hallumeter.audit(ROWS, judge=scripted_judge())))

    thread = threading.Thread(target=lambda: asyncio.run(cell()))
    thread.start()
    thread.join()
    assert found == [WORD_FOR_WORD]


@pytest.mark.parametrize("judge", ["rules", "embedded"])
def test_several_threads_audit_at_once(judge: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda _: hallumeter.audit(ROWS, judge=judge), range(8)))
    assert [labels(run) for run in runs] == [labels(hallumeter.audit(ROWS, judge=judge))] * 8
    assert len({run.path for run in runs}) == 8


def test_the_folder_of_a_run_that_nobody_named_goes_with_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run = hallumeter.audit(ROWS)
    findings = run.findings()
    assert run.path.is_dir()
    del run
    gc.collect()
    assert len(list(findings)) == 3, "what is being read keeps the run"
    del findings
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_an_audit_that_fails_leaves_no_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(SettingsError):
        hallumeter.audit(ROWS, by="no such field")
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_cached_unless_a_place_is_given() -> None:
    hallumeter.audit(ROWS, judge=scripted_judge())
    assert not cache_folder().exists()


def reply(request: Request) -> str:
    """What the misbehaving server would say when it behaves."""
    return judge_by_rule({"messages": [{"role": each.role, "content": each.content} for each in request.messages]})


def scripted_judge(provider: testing.ScriptedProvider | None = None) -> LanguageModelJudge:
    return LanguageModelJudge(provider or testing.ScriptedProvider(reply), LanguageModelSettings())


def test_a_scripted_model_stands_in_for_a_real_one_in_a_whole_audit(tmp_path: Path) -> None:
    provider = testing.ScriptedProvider(reply)
    settings = hallumeter.AuditSettings(cache=tmp_path / "cache")
    run = hallumeter.audit(ROWS, judge=scripted_judge(provider), settings=settings)
    assert run.failures == ()
    assert len(provider.requests) == 3
    assert sum("999" in str(request.messages) for request in provider.requests) == 1
    again = hallumeter.audit(ROWS, judge=scripted_judge(provider), settings=settings)
    assert len(provider.requests) == 3, "every verdict was remembered"
    assert labels(again) == labels(run) == WORD_FOR_WORD


class Odd:
    """A judge that says of every claim what it was made with."""

    spec = JudgeSpec("odd")

    def __init__(self, say: Callable[[Claim], Verdict | Failure]) -> None:
        self._say = say

    def judge(self, task: JudgeTask) -> list[Verdict | Failure]:
        return [self._say(claim) for claim in task.claims]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"start": 3, "end": 99}, "the place that the judge gives in the response for claim 'en#0' ends at 99"),
        ({"evidence": (Quote("e1", 20, 50),)}, "the quotation from 'e1' for claim 'en#0' ends at 50, but its text has"),
    ],
)
def test_a_verdict_that_points_outside_the_texts_is_a_failure(fields: dict[str, Any], words: str) -> None:
    row = {**ROWS[0], "evidence": [{"id": "e1", "text": "The tower is 330 m high."}]}
    odd = Odd(lambda claim: Verdict(claim.record_id, claim.claim_id, "odd", Label.REFUTED, **fields))
    run = hallumeter.audit([row], judge=odd)
    [failure] = run.failures
    assert (failure.code, failure.claim_id) == ("judge_error", "en#0")
    assert words in failure.message


def test_a_failure_of_a_whole_task_is_one_of_each_of_its_claims() -> None:
    row = {**ROWS[0], "response": "The tower is 999 m high. It is blue."}
    odd = Odd(lambda _: Failure("en", None, "judge", "odd", "timeout", "no reply", attempts=5))
    run = hallumeter.audit([row], judge=odd)
    told = [(each.claim_id, each.code, each.message, each.attempts) for each in run.failures]
    assert told == [(f"en#{number}", "timeout", "no reply", 5) for number in range(2)]


def test_a_judge_whose_votes_are_missing_is_named() -> None:
    def broken(claim: str, evidence: list[str]) -> str:
        raise ValueError("non")

    run = hallumeter.audit(ROWS, judge=["rules", FunctionJudge(broken, name="broken")])
    assert "broken gave no verdict on 3 of 3 claims" in run.summary.notices
    assert not any(notice.startswith("rules@2 gave") for notice in run.summary.notices)


def test_any_mapping_is_a_record_and_any_iterable_of_judges_a_panel() -> None:
    rows = [MappingProxyType(row) for row in ROWS]
    assert labels(hallumeter.audit(rows, judge="rules")) == LABELS
    run = hallumeter.audit(rows, judge=(judge for judge in ("rules", Counting())), by=iter(["model"]))
    assert run.summary.counts.judges == 2
    for wrong in (3, ["rules", 3]):
        with pytest.raises(SettingsError, match="expected a name, a judge, a function, or several of them, found int"):
            hallumeter.audit(rows, judge=wrong)  # type: ignore[arg-type]


def test_another_policy_under_the_same_name_is_another_audit(tmp_path: Path) -> None:
    for good, is_refused in ((0.1, False), (0.1, False), (0.2, True)):
        measure = MeasureSettings(policies=(Policy("mine", (Rule("mihr", good=good, bad=0.3),)),))
        settings = hallumeter.AuditSettings(measure=measure)
        expected = pytest.raises(SettingsError, match="policies mine-") if is_refused else nullcontext()
        with expected:
            hallumeter.audit(ROWS, out=tmp_path / "run", settings=settings)
    assert hallumeter.audit(ROWS).manifest.settings["policies"] == ["hallumeter", "judge-auditor"]


def test_work_that_was_refused_is_kept_and_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    fault = ProviderFault("bad_key", "the key is wrong", is_fatal=True)
    with pytest.raises(SettingsError, match=r"the key is wrong; what was done is kept in .*out=") as caught:
        hallumeter.audit(ROWS, judge=["rules", scripted_judge(testing.ScriptedProvider(lambda _: fault))])
    kept = str(caught.value).partition("out='")[2].partition("'")[0]
    assert kept in str(caught.value.__notes__)
    run = hallumeter.audit(ROWS, judge=["rules", scripted_judge()], out=kept)
    assert run.summary.counts.judges == 2


def test_claims_and_verdicts_from_elsewhere_are_not_taken_for_the_same() -> None:
    names = []
    for address in ("http://a/v1", "http://b/v1"):
        provider = testing.ScriptedProvider(reply)
        spec = structs.replace(provider.spec, settings={"address": address})
        monkeyed = SimpleNamespace(spec=spec, complete=provider.complete)
        names.append(FactExtractor(monkeyed).name)
    assert names[0] != names[1]
    row: dict[str, object] = {"record_id": "r", "claim_id": "c", "label": "REFUTED"}
    rows = [row, {**row, "text": "It is."}, {**row, "text": "It was."}, {**row, "text": "It is.", "start": 0, "end": 6}]
    assert len({RecordedJudge([each]).spec.digest for each in rows}) == 4


def test_a_function_is_a_judge() -> None:
    run = hallumeter.audit(ROWS, judge=[lambda claim, evidence: claim in evidence[0], "rules"])
    assert run.summary.counts.judges == 2
    assert not run.failures


@pytest.mark.parametrize("judge", ["rules", "openai:gpt-4o-mini"])
def test_records_without_a_field_for_evidence_are_refused_and_the_fields_named(
    judge: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    with pytest.raises(InputError, match="no record has evidence; fields found: paragraphs, response"):
        hallumeter.audit([{"response": "Paris is big.", "paragraphs": "Paris is big."}], judge=judge)
    assert hallumeter.audit([{"response": "Paris is big."}], judge=lambda claim, evidence: True).summary.metrics


def test_a_headline_by_nobody_is_refused_before_anything_is_judged(tmp_path: Path) -> None:
    settings = hallumeter.AuditSettings(measure=MeasureSettings(headline="humn"))
    with pytest.raises(SettingsError, match="no judge is called 'humn'; judges: embedded:full@3"):
        hallumeter.audit(ROWS, out=tmp_path / "run", settings=settings)
    assert not (tmp_path / "run").exists()
