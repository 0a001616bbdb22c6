"""What an audit costs: told before, limited while it goes on, and gone on with when there is more to spend."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec import structs

from audit_runs import (
    audited,
    check_every_claim_once,
    claim,
    failure_codes,
    lines,
    record,
    run_files,
    settings_for,
    write_rows,
    written,
)
from hallumeter.claims.audit.entries import READ, ReadRecord
from hallumeter.claims.audit.plan import plan_audit
from hallumeter.claims.audit.prepare import Preparation, prepare_records, read_samples
from hallumeter.claims.measure.response_names import ResponseNames
from hallumeter.claims.samples import JudgeEquivalence, SampleReader
from hallumeter.claims.settings import AuditSettings, LanguageModelSettings
from hallumeter.cli.main import main
from hallumeter.errors import SettingsError
from hallumeter.models.prices import Price, Spending
from hallumeter.models.protocol import Usage
from hallumeter.models.retry import PacedProvider
from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.judging import JudgeSpec, JudgeTask
from hallumeter.records.response import Response
from hallumeter.run.context import RunContext
from hallumeter.run.journal import Journal, entry_of
from hallumeter.run.progress import NoProgress
from misbehaving_server import MisbehavingServer

PRICE = Price(1000.0, 1000.0)
"""A dollar for a thousand tokens."""


def priced(server: MisbehavingServer, budget: float | None = None, **changes: object) -> AuditSettings:
    name = f"{server.openai}#judge"
    return settings_for(server, budget_usd=budget, prices={name: PRICE}, concurrency=1, **changes)


def command(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["audit", *map(str, arguments)])


def test_at_its_budget_an_audit_stops_counts_the_rest_and_goes_on_with_a_larger_one(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    source = written(tmp_path / "answers.jsonl", 4)
    whole = audited(source, tmp_path / "whole", priced(misbehaving_server))
    misbehaving_server.play()
    half = whole.spending.spent_usd / 2
    outcome = audited(source, tmp_path / "run", priced(misbehaving_server, half))
    first = misbehaving_server.log()
    assert outcome.stopped == "budget"
    assert half <= outcome.spending.spent_usd < whole.spending.spent_usd
    assert 0 < len(first) < 8
    check_every_claim_once(tmp_path / "run")
    verdicts = len(lines(tmp_path / "run" / "verdicts.jsonl"))
    assert 0 < verdicts < 12
    assert failure_codes(tmp_path / "run") == {"budget_reached": 12 - verdicts}
    assert outcome.summary is not None
    assert outcome.summary.counts.claims == 12
    assert f"{12 - verdicts} failures: budget_reached" in outcome.summary.notices
    # the same budget is spent already: a budget is of the run and not of the process
    again = audited(source, tmp_path / "run", priced(misbehaving_server, half), is_resumed=True)
    assert again.stopped == "budget"
    assert len(misbehaving_server.log()) == len(first)
    outcome = audited(source, tmp_path / "run", priced(misbehaving_server, 2 * half + 1), is_resumed=True)
    assert outcome.stopped is None
    assert outcome.spending.spent_usd == pytest.approx(whole.spending.spent_usd)
    assert outcome.spending.calls == len(misbehaving_server.log()) == 8
    files, expected = run_files(tmp_path / "run"), run_files(tmp_path / "whole")
    assert {name for name in files if files[name] != expected.get(name)} == {"report.html"}, "it states the budget"


def test_the_command_says_that_the_budget_was_reached_and_ends_with_code_3(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    source = written(tmp_path / "answers.jsonl", 4)
    judge = f"{misbehaving_server.openai}#judge"
    options = ("--judge", judge, "--price", f"{judge}=1000/1000", "--no-cache", "--concurrency", 1)
    result = command(source, *options, "--budget", "0.5", "--out", tmp_path / "run")
    assert result.exit_code == 3
    assert "--resume and a larger --budget" in result.stderr
    assert {path.name for path in (tmp_path / "run").iterdir()} > {"manifest.json", "report.html", "journal.sqlite"}
    result = command(source, *options, "--budget", "100", "--out", tmp_path / "run", "--resume")
    assert result.exit_code == 0, result.stderr
    assert failure_codes(tmp_path / "run") == {}


def test_a_budget_without_a_known_price_is_refused(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    source = written(tmp_path / "answers.jsonl", 1)
    with pytest.raises(SettingsError, match=r"price of .*#judge is not known.*--price"):
        audited(source, tmp_path / "run", settings_for(misbehaving_server, budget_usd=1.0))
    assert misbehaving_server.log() == []
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("budget", [0.0, -1.0, float("nan")])
def test_a_budget_of_nothing_is_refused(budget: float) -> None:
    with pytest.raises(SettingsError, match="budget"):
        AuditSettings(budget_usd=budget)


def test_a_plan_asks_nobody_and_counts_the_calls_that_an_audit_makes(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    long = " ".join(claim(9, number) for number in range(40))
    source = write_rows(
        tmp_path / "answers.jsonl",
        [
            {"id": "no evidence", "response": claim(0, 0)},
            {"id": "windows", "response": claim(9, 5), "evidence": long},
            {"id": "several calls", "response": long, "evidence": claim(9, 3)},
            {"id": "empty", "response": "", "evidence": long},
        ],
    )
    language_model = LanguageModelSettings(claims_per_call=8, window_characters=600)
    settings = settings_for(misbehaving_server, language_model=language_model)
    plan = plan_audit([source], settings=settings)
    assert misbehaving_server.log() == []
    [part] = plan.parts
    assert plan.heading == "4 records, 42 claims"
    assert part.cost_usd is None
    audited(source, tmp_path / "run", settings)
    assert part.calls == len(misbehaving_server.log()) > 5 + 2


def test_a_plan_looks_up_evidence_as_the_audit_does(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    (base / "towns.txt").write_text(" ".join(claim(0, number) for number in range(3)), encoding="utf-8")
    source = write_rows(tmp_path / "answers.jsonl", [{"id": "r", "response": claim(0, 1)}])
    settings = settings_for(misbehaving_server, knowledge_base=base, cache=tmp_path / "cache")
    [part] = plan_audit([source], settings=settings).parts
    audited(source, tmp_path / "run", settings)
    assert part.calls == len(misbehaving_server.log()) == 1
    assert [row["label"] for row in lines(tmp_path / "run" / "verdicts.jsonl")] == ["SUPPORTED"]


def test_a_plan_counts_what_comparing_samples_would_take(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    row = {"id": "r", "response": claim(0, 0), "evidence": claim(0, 0), "samples": [claim(0, 1), claim(0, 2)]}
    source = write_rows(tmp_path / "answers.jsonl", [row])
    judge = f"{misbehaving_server.openai}#judge"
    settings = settings_for(misbehaving_server, samples=judge)
    judged, compared = plan_audit([source], settings=settings).parts
    audited(source, tmp_path / "run", settings)
    # three answers of which no two are the same: each is compared with those before it, in one direction
    assert (judged.calls, compared.calls) == (1, 3)
    assert len(misbehaving_server.log()) == 4


def test_a_plan_leaves_out_what_the_cache_knows(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    source = written(tmp_path / "answers.jsonl", 3)
    settings = settings_for(misbehaving_server, cache=tmp_path / "cache")
    audited(source, tmp_path / "run", settings)
    more = written(tmp_path / "more.jsonl", 4)
    [part] = plan_audit([more], settings=settings).parts
    assert (part.done, part.answered, part.calls) == ("9 of 12 claims are in the cache", 9, 2)


def test_a_plan_does_not_take_the_verdicts_of_one_judge_for_those_of_another(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    source = written(tmp_path / "answers.jsonl", 3)
    settings = settings_for(misbehaving_server, cache=tmp_path / "cache")
    audited(source, tmp_path / "run", settings)
    judges = ("rules", *settings.judges, f"{misbehaving_server.openai}#other")
    first, second = plan_audit([source], settings=structs.replace(settings, judges=judges)).parts
    assert (first.answered, first.calls) == (9, 0)
    assert (second.answered, second.calls) == (0, 6)


def test_at_the_budget_what_costs_nothing_is_done_all_the_same(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    rows = [{**record(number), "token_logprobs": [-0.5, -1.5]} for number in range(3)]
    rows[0]["claims"] = [claim(0, 0), claim(0, 1)]
    source = write_rows(tmp_path / "answers.jsonl", rows)
    judges = ("rules", f"{misbehaving_server.openai}#judge")
    outcome = audited(source, tmp_path / "run", priced(misbehaving_server, 0.01, extractor="llm", judges=judges))
    assert outcome.stopped == "budget"
    said = [(row["record_id"], row["judge"]) for row in lines(tmp_path / "run" / "verdicts.jsonl")]
    assert said == [("r0", "rules@2")] * 2, "claims that are there are judged by who asks for no money"
    # two records without claims, and two claims without the verdict of the model
    assert failure_codes(tmp_path / "run") == {"budget_reached": 4}
    assert outcome.summary is not None
    [surprisal] = [row for row in outcome.summary.metrics if row.metric == "token_surprisal"]
    assert (surprisal.value, surprisal.total) == (1.0, 6), "by hand: a mean of 0.5 and 1.5, of three records"


def test_at_the_budget_samples_are_compared_by_vectors_and_verdicts_taken_from_the_cache(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    rows = [{**record(number), "samples": [record(number)["response"]]} for number in range(3)]
    known = write_rows(tmp_path / "known.jsonl", rows[1:])
    audited(known, tmp_path / "first", priced(misbehaving_server, cache=tmp_path / "cache"))
    source = write_rows(tmp_path / "answers.jsonl", rows)
    settings = priced(misbehaving_server, 0.01, cache=tmp_path / "cache", samples="vectors")
    outcome = audited(source, tmp_path / "run", settings)
    assert outcome.stopped == "budget"
    by_record = Counter(row["record_id"] for row in lines(tmp_path / "run" / "verdicts.jsonl"))
    assert (by_record["r1"], by_record["r2"]) == (3, 3)
    assert outcome.summary is not None
    [consistency] = [row for row in outcome.summary.metrics if row.metric == "sample_consistency"]
    assert (consistency.count, consistency.total) == (3, 3)


class Paid:
    """Finds claims, and judges them, for a dollar each time."""

    name = "paid"
    is_remote = True
    spec = JudgeSpec("paid", is_remote=True)

    def __init__(self, spending: Spending) -> None:
        self._spending = spending

    def extract(self, response: Response) -> list[Claim]:
        self._spending.add(Usage(1, 1), 1.0)
        return []

    def judge(self, task: JudgeTask) -> list[Verdict | Failure]:
        self._spending.add(Usage(1, 1), 1.0)
        return [Verdict("r", claim.claim_id, "paid", Label.REFUTED) for claim in task.claims]


def test_what_was_spent_is_noted_with_every_group_of_results_and_not_only_at_the_end(tmp_path: Path) -> None:
    spending = Spending()
    response = Response("r", response="One.", samples=("Two.",))
    with Journal.create(tmp_path / "journal", settings=b"") as journal:
        journal.add([entry_of(READ, 0, ReadRecord(response))])
        context = RunContext(journal, threading.Event(), NoProgress(), spending)
        prepare_records(context, Preparation(Paid(spending)), records=1, workers=1)
        after = Spending()
        RunContext(journal, context.stop, context.progress, after).resume_spending()
        assert after.spent_usd == 1.0
        reader = SampleReader(JudgeEquivalence(Paid(spending)))
        read_samples(context, reader, ResponseNames(), concurrency=1)
        RunContext(journal, context.stop, context.progress, after).resume_spending()
        assert after.spent_usd == 2.0


def test_a_dry_run_needs_no_key_and_prints_calls_tokens_and_cost(
    misbehaving_server: MisbehavingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", misbehaving_server.openai)
    monkeypatch.setenv("HALLUMETER_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    source = written(tmp_path / "answers.jsonl", 3)
    result = command(source, "--judge", "openai:gpt-4o-mini", "--price", "openai:gpt-4o-mini=10/20", "--dry-run")
    assert result.exit_code == 0, result.stderr
    assert "3 records, 9 claims" in result.stdout
    printed = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines() if line.startswith("  ")}
    assert printed["calls"][0] == "3"
    tokens = {line.split()[1]: int(line.split()[2].replace(",", "")) for line in result.stdout.splitlines()[3:5]}
    cost = (tokens["in"] * 10 + tokens["out"] * 20) / 1e6
    assert printed["cost"][0] == f"${cost:,.4f}"
    assert misbehaving_server.log() == []
    assert not (tmp_path / "answers-audit").exists()


def test_extraction_by_a_model_counts_against_the_budget(misbehaving_server: MisbehavingServer, tmp_path: Path) -> None:
    source = written(tmp_path / "answers.jsonl", 3)
    settings = priced(misbehaving_server, 0.01, extractor="llm")
    outcome = audited(source, tmp_path / "run", settings)
    assert outcome.stopped == "budget"
    assert len(misbehaving_server.log()) == 1
    assert failure_codes(tmp_path / "run") == {"budget_reached": 3}
    assert [row["id"] for row in lines(source)] == [
        row["record_id"] for row in lines(tmp_path / "run" / "records.jsonl")
    ]
    assert lines(tmp_path / "run" / "verdicts.jsonl") == []


def test_a_plan_tells_apart_finding_claims_and_judging_them(
    misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    source = written(tmp_path / "answers.jsonl", 3)
    extraction, judging = plan_audit([source], settings=priced(misbehaving_server, extractor="llm")).parts
    assert (extraction.calls, judging.calls) == (3, 6)
    assert extraction.name == f"extracting by {misbehaving_server.openai}#judge"
    for part in (extraction, judging):
        assert part.cost_usd == pytest.approx(((part.input_tokens or 0) + (part.output_tokens or 0)) / 1000)
    assert misbehaving_server.log() == []
    with pytest.raises(SettingsError, match="no judge is a language model"):
        plan_audit([source], settings=AuditSettings(extractor="llm"))
    assert plan_audit([source], settings=AuditSettings(samples="vectors")).parts == ()


def test_settings_that_a_model_does_not_take_are_told(
    misbehaving_server: MisbehavingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PacedProvider, "left_out", ("seed", "temperature"))
    outcome = audited(written(tmp_path / "answers.jsonl", 1), tmp_path / "run", settings_for(misbehaving_server))
    assert outcome.notices == (f"{misbehaving_server.openai}#judge does not take seed, temperature",)
