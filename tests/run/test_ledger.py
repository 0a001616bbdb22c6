"""The ledger: workers share replies, a budget and a pace, and no death of a worker or a server loses or overspends."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hallumeter.claims.audit.commands import run_audit
from hallumeter.claims.audit.inputs import RecordInputs
from hallumeter.claims.settings import AuditSettings
from hallumeter.errors import InputError, SettingsError
from hallumeter.models.pace import PaceSettings
from hallumeter.models.prices import BudgetReached, Price
from hallumeter.models.protocol import Completion, Message, Reply, Request, Usage
from hallumeter.models.retry import PacedProvider
from hallumeter.models.scripted import ScriptedProvider
from hallumeter.run.ledger import Balance, Ledger, LedgerAddress, SqliteLedger
from hallumeter.run.postgres_ledger import PostgresLedger
from hallumeter.run.progress import NoProgress
from hallumeter.run.sharing import LeasedPurse, run_spending, sharing
from misbehaving_server import MisbehavingServer
from postgres_server import PASSWORD, QUOTED, PostgresServer

RUN = "run"
SPAWN = multiprocessing.get_context("spawn")


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> LedgerAddress | Path:
    """Where a fresh ledger is, of either kind."""
    if request.param == "sqlite":
        return tmp_path / "ledger"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return fresh(server)


def fresh(server: PostgresServer) -> LedgerAddress:
    import psycopg

    with psycopg.connect(server.url(), autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    return LedgerAddress(server.url())


def opened(place: LedgerAddress | Path, *, lease_seconds: float = 60.0) -> Ledger:
    if isinstance(place, Path):
        return SqliteLedger(place, lease_seconds=lease_seconds)
    return PostgresLedger(place, lease_seconds=lease_seconds, patience_seconds=20)


@pytest.fixture
def ledger(place: LedgerAddress | Path) -> Iterator[Ledger]:
    with opened(place) as ledger:
        yield ledger


def test_replies_are_found_and_a_later_one_replaces_an_earlier_one(ledger: Ledger) -> None:
    ledger.put_many([])
    ledger.put_many((b"%d" % number, b"body %d" % number) for number in range(600))
    ledger.put_many([(b"3", b"first"), (b"3", b"second")])
    assert ledger.get_many([]) == {}
    assert ledger.get_many([b"3", b"4", b"4", b"none"]) == {b"3": b"second", b"4": b"body 4"}
    assert ledger.trouble is None


def test_a_lease_takes_from_the_purse_and_what_is_unspent_comes_back(ledger: Ledger) -> None:
    ledger.open_purse(RUN, micro_usd=8_000, calls=400)
    lease = ledger.lease(RUN, micro_usd=500, calls=50)
    assert lease is not None
    assert (lease.micro_usd, lease.calls) == (500, 50)
    assert ledger.balance(RUN) == Balance(0, 0, 500, 50)
    ledger.settle(lease, micro_usd=120, calls=7)
    ledger.settle(lease, micro_usd=120, calls=7)  # as after an answer that was lost
    assert ledger.balance(RUN) == Balance(120, 7, 0, 0)


def test_leases_shrink_as_the_purse_empties_and_end_with_it(ledger: Ledger) -> None:
    ledger.open_purse(RUN, micro_usd=None, calls=100)
    sizes = []
    while (lease := ledger.lease(RUN, micro_usd=0, calls=50)) is not None:
        sizes.append(lease.calls)
    assert sum(sizes) == 100
    assert sizes[0] == 12
    assert sizes[-1] == 1


def test_a_lease_is_at_least_one_call_or_none(ledger: Ledger) -> None:
    ledger.open_purse(RUN, micro_usd=1_000)
    first = ledger.lease(RUN, micro_usd=50_000, calls=50, least_micro_usd=600)
    assert first is not None
    assert first.micro_usd == 600
    assert ledger.lease(RUN, micro_usd=50_000, calls=50, least_micro_usd=600) is None


def test_a_purse_keeps_its_limits_until_it_is_opened_with_others(ledger: Ledger) -> None:
    ledger.open_purse(RUN, micro_usd=None, calls=1)
    ledger.open_purse(RUN, micro_usd=None, calls=500)
    assert ledger.lease(RUN, micro_usd=0, calls=50) is not None
    assert ledger.lease(RUN, micro_usd=0, calls=50) is None
    ledger.open_purse(RUN, micro_usd=None, calls=500, replace=True)
    lease = ledger.lease(RUN, micro_usd=0, calls=50)
    assert lease is not None
    assert lease.calls == 50


def test_a_run_without_a_purse_is_an_error(ledger: Ledger) -> None:
    with pytest.raises(SettingsError, match="no budget for the run other"):
        ledger.lease("other", micro_usd=1, calls=1)
    assert ledger.balance("other") == Balance(0, 0, 0, 0)


def test_a_lease_that_is_over_is_charged_what_was_reported_and_what_may_have_been_begun(
    place: LedgerAddress | Path,
) -> None:
    with opened(place, lease_seconds=0.05) as ledger:
        ledger.open_purse(RUN, micro_usd=100_000, calls=400)
        lease = ledger.lease(RUN, micro_usd=1_000, calls=50, at_once=4)
        assert lease is not None
        assert ledger.report(lease, micro_usd=100, calls=10, dearest=10)
        time.sleep(0.1)
        assert ledger.balance(RUN) == Balance(140, 14, 0, 0)
        assert not ledger.report(lease, micro_usd=110, calls=11)
        ledger.settle(lease, micro_usd=190, calls=15)  # it was asleep, not dead
        assert ledger.balance(RUN) == Balance(190, 15, 0, 0)


def spend_all(place: LedgerAddress | Path, counts: Any, number: int) -> None:
    """Make as many calls as the purse allows."""
    with opened(place, lease_seconds=5) as ledger:
        purse = LeasedPurse(ledger, RUN)
        try:
            while True:
                hold = purse.take(0.0)
                counts[number] += 1
                purse.give_back(hold, 0.0)
        except BudgetReached:
            purse.close()


def start(target: Callable[..., None], *arguments: object) -> multiprocessing.process.BaseProcess:
    process = SPAWN.Process(target=target, args=arguments, daemon=True)
    process.start()
    return process


def test_four_processes_share_two_thousand_calls_and_make_no_more(place: LedgerAddress | Path) -> None:
    with opened(place) as ledger:
        ledger.open_purse(RUN, micro_usd=None, calls=2_000)
        counts = SPAWN.Array("i", 4)
        processes = [start(spend_all, place, counts, number) for number in range(4)]
        for process in processes:
            process.join(60)
            assert process.exitcode == 0
        assert sum(counts[:]) == 2_000
        assert ledger.balance(RUN) == Balance(0, 2_000, 0, 0)


def spend_slowly(place: LedgerAddress | Path, counts: Any, number: int) -> None:
    with opened(place, lease_seconds=0.5) as ledger:
        purse = LeasedPurse(ledger, RUN)
        while True:
            hold = purse.take(0.0)
            counts[number] += 1
            time.sleep(0.005)
            purse.give_back(hold, 0.0)


def test_the_calls_of_a_killed_process_come_back_but_for_those_it_may_have_begun(place: LedgerAddress | Path) -> None:
    with opened(place, lease_seconds=0.5) as ledger:
        ledger.open_purse(RUN, micro_usd=None, calls=400)
        counts = SPAWN.Array("i", 2)
        process = start(spend_slowly, place, counts, 0)
        deadline = time.monotonic() + 30
        while counts[0] < 60 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join(10)
        time.sleep(0.7)
        begun = counts[0]
        charged = ledger.balance(RUN)
        assert charged.leased_calls == 0
        assert begun <= charged.spent_calls <= begun + 8
        spend_all(place, counts, 1)
        assert 400 - 8 <= sum(counts[:]) <= 400


def test_a_server_that_is_started_again_loses_nothing_and_is_spoken_of_in_one_line(
    postgres_server: PostgresServer,
) -> None:
    address = fresh(postgres_server)
    with PostgresLedger(address, patience_seconds=30) as ledger:
        ledger.open_purse(RUN, micro_usd=None, calls=10_000)
        purse, kept, stop = LeasedPurse(ledger, RUN), [0], threading.Event()

        def work() -> None:
            while not stop.is_set():
                hold = purse.take(0.0)
                ledger.put_many([(b"%d" % kept[0], b"reply")])
                kept[0] += 1
                purse.give_back(hold, 0.0)

        worker = threading.Thread(target=work)
        worker.start()
        time.sleep(0.3)
        postgres_server.stop()  # at once, as when its machine dies
        before = kept[0]
        postgres_server.start()
        time.sleep(0.7)
        stop.set()
        worker.join(30)
        purse.close()
        assert kept[0] > before > 0
        assert len(ledger.get_many([b"%d" % number for number in range(kept[0])])) == kept[0]
        assert ledger.balance(RUN) == Balance(0, kept[0], 0, 0)
        assert ledger.trouble == f"the ledger {address} was away for a while; nothing was lost"


def test_a_server_that_stays_away_ends_the_work_with_one_line(postgres_server: PostgresServer) -> None:
    ledger = PostgresLedger(LedgerAddress(f"postgresql://ann:{QUOTED}@127.0.0.1:1/runs"), patience_seconds=0.3)
    with pytest.raises(InputError, match=r"cannot be used: .*what was done is kept") as caught:
        ledger.get_many([b"key"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("secret", ["wr0ng-s3cret", "p%40ss%20w%2Frd%21"])
def test_the_password_is_in_no_message(postgres_server: PostgresServer, secret: str) -> None:
    address = LedgerAddress(postgres_server.url(password=secret))
    with pytest.raises(InputError) as caught:
        PostgresLedger(address).get_many([b"key"])
    said = f"{caught.value!r} {caught.value} {caught.value.__cause__} {address} {address!r}"
    assert "authentication failed" in said
    assert secret not in said
    assert PASSWORD not in said
    with pytest.raises(TypeError):
        msgspec.json.encode(address)
    assert pickle.loads(pickle.dumps(address)).url == address.url


@pytest.mark.parametrize(
    "url", ["mysql://ann:secret@db/runs", "postgresql://ann:secret@db:port/runs", "secret", "host=db password=secret"]
)
def test_what_is_no_address_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(SettingsError, match="expected a URL such as postgresql://") as caught:
        LedgerAddress(url)
    assert "secret" not in str(caught.value)


def test_workers_together_keep_to_a_rate(ledger: Ledger) -> None:
    waits = [ledger.reserve("model requests", 1.0, seconds_each=10.0) for _ in range(4)]
    assert waits == pytest.approx([0, 10, 20, 30], abs=1)
    assert ledger.reserve("another", 1.0, seconds_each=10.0) == pytest.approx(0, abs=0.1)


REQUEST = Request(messages=(Message("user", "how high is the tower?"),), max_tokens=100)
PAID = Reply((Completion("330 m"),), usage=Usage(1_000, 100))


def test_a_second_attempt_at_a_shard_finds_what_the_first_has_paid_for(place: LedgerAddress | Path) -> None:
    texts = iter(["first", "second", "third"])
    model = ScriptedProvider(lambda _: Reply((Completion(next(texts)),), usage=Usage(1, 1)))
    for _ in range(2):
        with sharing(place, run=RUN, scope="shard 3"), run_spending(None) as spending:
            provider = PacedProvider(model, spending=spending)
            said = [provider.complete(REQUEST).completions[0].text for _ in range(2)]
            assert said == ["first", "second"]
    assert spending.calls == 0
    with sharing(place, run=RUN, scope="shard 4"), run_spending(None) as spending:
        assert PacedProvider(model, spending=spending).complete(REQUEST).completions[0].text == "third"


def test_workers_spend_one_budget_and_no_more(place: LedgerAddress | Path) -> None:
    calls = 0
    for worker in range(3):
        model = ScriptedProvider(lambda _: PAID)
        with sharing(place, run=RUN, scope=f"shard {worker}"), run_spending(0.05) as spending:
            provider = PacedProvider(model, spending=spending, price=Price(1.0, 10.0))  # 0.002 dollars a call
            for _ in range(10):
                try:
                    provider.complete(REQUEST)
                except BudgetReached:
                    break
            calls += spending.calls
    with opened(place) as ledger:
        balance = ledger.balance(RUN)
    assert balance == Balance(calls * 2_000, calls, 0, 0)
    assert 24 <= calls <= 25


def test_the_pace_of_a_model_is_that_of_all_workers(place: LedgerAddress | Path) -> None:
    started = time.monotonic()
    for worker in range(3):
        with sharing(place, run=RUN, scope=f"shard {worker}"), run_spending(None) as spending:
            pace = PaceSettings(requests_per_minute=600, tokens_per_minute=1_000_000)
            provider = PacedProvider(ScriptedProvider(["a", "b"]), pace=pace, spending=spending)
            provider.complete(REQUEST)
            provider.complete(REQUEST)
    assert time.monotonic() - started >= 0.45  # six calls, a tenth of a second apart


def test_a_folder_that_cannot_be_used_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="the ledger cannot be opened"):
        SqliteLedger(tmp_path / "file" / "folder")


def test_an_audit_that_is_done_again_from_its_beginning_asks_nobody_again(
    place: LedgerAddress | Path, misbehaving_server: MisbehavingServer, tmp_path: Path
) -> None:
    rows = [{"id": f"r{n}", "response": f"Town {n} has a tower.", "evidence": [f"Town {n}."]} for n in range(6)]
    settings = AuditSettings(judges=(f"{misbehaving_server.openai}#tiny",))
    said = []
    for attempt in ("first", "second"):
        with sharing(place, run=RUN, scope="shard 0"):
            outcome = run_audit(RecordInputs(rows), tmp_path / attempt, settings=settings, progress=NoProgress())
        said.append((outcome.spending.calls, (tmp_path / attempt / "verdicts.jsonl").read_bytes()))
    assert [calls for calls, _ in said] == [6, 0]
    assert said[0][1] == said[1][1]
    assert len(misbehaving_server.log()) == 6
