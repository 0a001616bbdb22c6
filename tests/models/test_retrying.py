"""Asking again: when, how often, after how long, and what is counted meanwhile."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from hallumeter.models.openai_compatible import OpenAICompatibleProvider
from hallumeter.models.pace import Interrupted, PaceSettings, Waiting
from hallumeter.models.prices import BudgetReached, Price, Spending
from hallumeter.models.protocol import Completion, Message, ProviderFault, ProviderSpec, Reply, Request, Usage
from hallumeter.models.retry import PacedProvider
from hallumeter.models.scripted import ScriptedProvider
from misbehaving_server import MisbehavingServer, _misbehaving_process, misbehaving_server

__all__ = ["_misbehaving_process", "misbehaving_server"]

REQUEST = Request(messages=(Message("user", "hello"),))
SLOW_DOWN = ProviderFault("rate_limited", "slow down", is_retryable=True)
BROKEN = ProviderFault("server_error", "broken", is_retryable=True)
REFUSED = ProviderFault("refused_request", "no")
PAID = Reply((Completion("yes"),), usage=Usage(1000, 500))


def slow_down_for(seconds: float) -> ProviderFault:
    return ProviderFault("rate_limited", "slow down", is_retryable=True, retry_after=seconds)


class TurnedClock:
    """Time that passes only by waiting."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.waits: list[float] = []
        self.waiting = Waiting(clock=lambda: self.seconds, sleep=self.sleep)

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.seconds += seconds


@pytest.fixture
def clock() -> TurnedClock:
    return TurnedClock()


def test_faults_that_may_pass_are_asked_again_and_others_are_not(clock: TurnedClock) -> None:
    spending = Spending()
    provider = PacedProvider(ScriptedProvider([BROKEN, BROKEN, "yes"]), spending=spending, waiting=clock.waiting)
    assert provider.complete(REQUEST).completions[0].text == "yes"
    assert (spending.calls, spending.retries) == (3, 2)
    with pytest.raises(ProviderFault) as caught:
        PacedProvider(ScriptedProvider([REFUSED, "yes"]), waiting=clock.waiting).complete(REQUEST)
    assert (caught.value.code, caught.value.attempts) == ("refused_request", 1)


def test_the_last_attempt_tells_how_many_there_were(clock: TurnedClock) -> None:
    model = ScriptedProvider(lambda request: BROKEN)
    with pytest.raises(ProviderFault) as caught:
        PacedProvider(model, pace=PaceSettings(most_attempts=3), waiting=clock.waiting).complete(REQUEST)
    assert caught.value.attempts == len(model.requests) == 3


def test_waits_are_drawn_below_a_bound_that_doubles(clock: TurnedClock) -> None:
    class Highest(random.Random):
        def uniform(self, a: float, b: float) -> float:
            return b

    model = ScriptedProvider(lambda request: BROKEN)
    provider = PacedProvider(model, pace=PaceSettings(most_attempts=9), rng=Highest(), waiting=clock.waiting)
    with pytest.raises(ProviderFault):
        provider.complete(REQUEST)
    assert clock.waits == [0.5, 1, 2, 4, 8, 16, 30, 30]


def test_the_wait_that_the_provider_asks_for_is_kept_exactly(clock: TurnedClock) -> None:
    PacedProvider(ScriptedProvider([slow_down_for(7.5), "yes"]), waiting=clock.waiting).complete(REQUEST)
    assert clock.waits == [7.5]


def test_a_wait_longer_than_allowed_is_a_failure_at_once(clock: TurnedClock) -> None:
    provider = PacedProvider(ScriptedProvider([slow_down_for(3600), "yes"]), waiting=clock.waiting)
    with pytest.raises(ProviderFault):
        provider.complete(REQUEST)
    assert clock.waits == []


def test_one_refusal_for_haste_holds_back_all_threads(misbehaving_server: MisbehavingServer) -> None:
    misbehaving_server.play(first=["rate_limited_with_wait"], retry_after="0.6")
    moments: list[float] = []
    inner = OpenAICompatibleProvider(ProviderSpec(name="x", model="m"), misbehaving_server.openai)
    refused = threading.Event()

    def sleep(seconds: float) -> None:
        refused.set()  # the first who waits is the one who was refused
        time.sleep(seconds)

    provider = PacedProvider(inner, waiting=Waiting(sleep=sleep))

    def first() -> None:
        provider.complete(REQUEST)

    def later(_: int) -> None:
        assert refused.wait(30)
        provider.complete(REQUEST)
        moments.append(time.monotonic())

    began = time.monotonic()
    with ThreadPoolExecutor(9) as pool:
        asked = pool.submit(first)
        list(pool.map(later, range(8)))
        asked.result()
    assert min(moments) - began >= 0.55
    assert len(misbehaving_server.log()) == 10


def test_costs_are_added_up_and_the_budget_stops_the_next_call() -> None:
    spending = Spending(budget_usd=0.005)
    provider = PacedProvider(ScriptedProvider(lambda request: PAID), spending=spending, price=Price(1.0, 2.0))
    assert provider.cost_of(PAID) == pytest.approx(0.002)  # (1000 x $1 + 500 x $2) / 1,000,000
    for _ in range(3):
        provider.complete(REQUEST)
    assert spending.spent_usd == pytest.approx(0.006)
    with pytest.raises(BudgetReached, match=r"spent \$0.0060 of a budget of \$0.0050"):
        provider.complete(REQUEST)
    assert (spending.calls, spending.input_tokens, spending.output_tokens) == (3, 3000, 1500)


def test_unknown_costs_are_counted_and_never_taken_for_nothing() -> None:
    spending = Spending(budget_usd=1)
    without_price = PacedProvider(ScriptedProvider([PAID]), spending=spending, price=None)
    without_tokens = PacedProvider(ScriptedProvider(["yes"]), spending=spending, price=Price(1, 1))
    assert without_price.cost_of(without_price.complete(REQUEST)) is None
    assert without_tokens.cost_of(without_tokens.complete(REQUEST)) is None
    assert (spending.calls_without_price, spending.spent_usd) == (2, 0.0)
    assert spending.calls_estimated == 1


@pytest.mark.parametrize(
    ("usage", "each_usd"),
    [
        (Usage(), 0.00062),  # 400 characters in: (100 x $1 + 260 x $2) / 1,000,000
        (Usage(input_tokens=50), 0.00057),  # (50 x $1 + 260 x $2) / 1,000,000
        (Usage(output_tokens=10), 0.00012),  # (100 x $1 + 10 x $2) / 1,000,000
    ],
)
def test_tokens_that_the_server_does_not_count_are_estimated_and_the_budget_holds(
    usage: Usage, each_usd: float
) -> None:
    reply = Reply((Completion("y" * 80), Completion("가" * 360)), usage=usage)  # 80 / 4 + 360 / 1.5 = 260 tokens
    request = Request(messages=(Message("system", "x" * 100), Message("user", "x" * 300)))
    spending = Spending(budget_usd=2.5 * each_usd)
    provider = PacedProvider(ScriptedProvider(lambda _: reply), spending=spending, price=Price(1.0, 2.0))
    for _ in range(3):
        assert provider.cost_of(provider.complete(request)) is None
    with pytest.raises(BudgetReached, match=rf"spent \${3 * each_usd:.4f} \(\${3 * each_usd:.4f} of it estimated\)"):
        provider.complete(request)
    assert spending.charged_usd == spending.estimated_usd == pytest.approx(3 * each_usd)
    assert (spending.spent_usd, spending.calls_estimated, spending.calls_without_price) == (0.0, 3, 3)


def test_an_empty_reply_without_counted_tokens_costs_at_least_its_prompt() -> None:
    fault = ProviderFault("empty_reply", "nothing")
    fault.usage = Usage()
    spending = Spending()
    with pytest.raises(ProviderFault):
        PacedProvider(ScriptedProvider([fault]), spending=spending, price=Price(1, 2)).complete(REQUEST)
    assert spending.estimated_usd == pytest.approx(2e-6)  # "hello" is two tokens


def test_a_run_that_goes_on_has_spent_what_it_spent_before() -> None:
    before, after = Spending(), Spending(budget_usd=0.003)
    before.begin(is_retry=True)
    before.add(Usage(1000, 500), 0.002)
    before.add(Usage(), None, estimated_usd=0.001)
    after.restore(before.counted())
    assert after.counted() == before.counted()
    with pytest.raises(BudgetReached):
        after.begin()


def test_settings_that_a_model_does_not_take_are_told_once_for_all_calls() -> None:
    replies = [Reply((Completion("yes"),), left_out=names) for names in ((), ("temperature",), ("seed", "temperature"))]
    provider = PacedProvider(ScriptedProvider(replies))
    told = []
    for _ in replies:
        provider.complete(REQUEST)
        told.append(provider.left_out)
    assert told == [(), ("temperature",), ("seed", "temperature")]


def test_what_a_refused_answer_cost_is_counted_too() -> None:
    fault = ProviderFault("content_filter", "declined")
    fault.usage = Usage(1000, 500)
    spending = Spending()
    with pytest.raises(ProviderFault):
        PacedProvider(ScriptedProvider([fault]), spending=spending, price=Price(1, 2)).complete(REQUEST)
    assert spending.spent_usd == pytest.approx(0.002)


def test_input_from_a_cache_has_its_own_price_where_there_is_one() -> None:
    reply = Reply((Completion("yes"),), usage=Usage(1000, 0, 400))
    model = ScriptedProvider([])
    assert PacedProvider(model, price=Price(1.0, 1.0, 0.5)).cost_of(reply) == pytest.approx(0.0008)
    assert PacedProvider(model, price=Price(1.0, 1.0)).cost_of(reply) == pytest.approx(0.001)


def test_a_stop_cuts_a_long_wait_short() -> None:
    stop = threading.Event()
    provider = PacedProvider(ScriptedProvider([slow_down_for(60), "yes"]), waiting=Waiting(stop))
    threading.Timer(0.1, stop.set).start()
    began = time.monotonic()
    with pytest.raises(Interrupted):
        provider.complete(REQUEST)
    assert time.monotonic() - began < 5


def test_a_jump_of_the_time_of_day_changes_no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    hours = iter(range(600))
    monkeypatch.setattr(time, "time", lambda: 3600.0 * next(hours))
    provider = PacedProvider(
        ScriptedProvider([slow_down_for(0.05), "yes", "yes"]),
        pace=PaceSettings(requests_per_minute=6000),
        waiting=Waiting(sleep=lambda seconds: waits.append(seconds) or time.sleep(seconds)),  # type: ignore[func-returns-value]
    )
    provider.complete(REQUEST)
    provider.complete(REQUEST)
    assert all(wait <= 0.05 for wait in waits)


def test_with_a_fifth_of_all_calls_failing_every_call_ends_in_a_reply_or_a_fault(
    misbehaving_server: MisbehavingServer,
) -> None:
    faults = (
        "rate_limited",
        "rate_limited_with_wait",
        "server_error",
        "reset",
        "truncated",
        "cut_off",
        "stall",
        "empty",
    )
    misbehaving_server.play(shares=dict.fromkeys(faults, 0.025), stall_seconds=2, retry_after="0.02", latency_ms=2)
    spec = ProviderSpec(name="x", model="m")
    inner = OpenAICompatibleProvider(spec, misbehaving_server.openai, timeout_seconds=1, connections=32)
    spending = Spending()
    quick = Waiting(sleep=lambda seconds: time.sleep(min(seconds, 0.02)))
    provider = PacedProvider(inner, spending=spending, rng=random.Random(1), waiting=quick)

    def ask(number: int) -> str:
        try:
            return provider.complete(Request(messages=(Message("user", str(number)),))).completions[0].text
        except ProviderFault as fault:
            return fault.code

    with ThreadPoolExecutor(32) as pool:
        outcomes = list(pool.map(ask, range(600)))
    failures = Counter(text for number, text in enumerate(outcomes) if text != f'{{"echo":"{number}"}}')
    # Only empty replies are not asked again: one call in 40. That another fault comes 5 times has odds of 1 in 6,000.
    assert set(failures) <= {"empty_reply", "rate_limited", "server_error", "connection", "truncated_reply", "timeout"}
    assert 5 <= failures["empty_reply"] <= 35
    assert failures.total() - failures["empty_reply"] <= 3
    good = Counter(call.digest for call in misbehaving_server.log() if call.is_answered)
    assert set(good.values()) == {1}, "a call with a good reply was made again"
    assert len(good) == 600 - failures.total()
    assert spending.calls == 600 + spending.retries


def test_a_model_that_takes_few_calls_at_once_is_found_out_and_all_calls_succeed(
    misbehaving_server: MisbehavingServer,
) -> None:
    misbehaving_server.play(most_at_once=4, latency_ms=10)
    inner = OpenAICompatibleProvider(ProviderSpec(name="x", model="m"), misbehaving_server.openai, connections=32)
    quick = Waiting(sleep=lambda seconds: time.sleep(min(seconds, 0.05)))
    provider = PacedProvider(inner, pace=PaceSettings(most_attempts=20), rng=random.Random(1), waiting=quick)
    with ThreadPoolExecutor(32) as pool:
        replies = list(pool.map(lambda number: provider.complete(REQUEST), range(150)))
    assert len(replies) == 150
    refused = sum(call.behaviour == "rate_limited" for call in misbehaving_server.log())
    assert refused < 75, "32 threads at 4 places would meet far more refusals without slowing down"
