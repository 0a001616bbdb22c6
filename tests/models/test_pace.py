"""How fast a model is asked, on a clock that the test turns."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from hallumeter.errors import SettingsError
from hallumeter.models.pace import Interrupted, Pace, PaceSettings, Waiting
from hallumeter.models.protocol import Completion, Message, RateLimits, Reply, Request, Usage
from hallumeter.models.retry import PacedProvider
from hallumeter.models.scripted import ScriptedProvider


class TurnedClock:
    """Time that passes only by waiting."""

    def __init__(self) -> None:
        self.seconds = 1000.0
        self.waits: list[float] = []

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.seconds += seconds


@pytest.fixture
def clock() -> TurnedClock:
    return TurnedClock()


@pytest.fixture
def waiting(clock: TurnedClock) -> Waiting:
    return Waiting(clock=clock.now, sleep=clock.sleep)


def request_of(characters: int) -> Request:
    return Request(messages=(Message("user", "x" * characters),))


def test_requests_come_evenly_spaced(clock: TurnedClock, waiting: Waiting) -> None:
    moments: list[float] = []

    def answer(request: Request) -> str:
        moments.append(clock.now() - 1000)
        return "yes"

    provider = PacedProvider(ScriptedProvider(answer), pace=PaceSettings(requests_per_minute=30), waiting=waiting)
    for _ in range(4):
        provider.complete(request_of(4))
    assert moments == pytest.approx([0, 2, 4, 6])  # 30 a minute is one in 2 seconds


def test_time_that_passed_without_calls_is_not_waited_for_again(clock: TurnedClock, waiting: Waiting) -> None:
    provider = PacedProvider(ScriptedProvider(["a", "b"]), pace=PaceSettings(requests_per_minute=30), waiting=waiting)
    provider.complete(request_of(4))
    clock.seconds += 60
    provider.complete(request_of(4))
    assert clock.waits == []


def test_tokens_are_estimated_before_and_corrected_after(clock: TurnedClock, waiting: Waiting) -> None:
    reply = Reply((Completion("yes"),), usage=Usage(100, 200))
    provider = PacedProvider(
        ScriptedProvider([reply, reply, reply]), pace=PaceSettings(tokens_per_minute=600), waiting=waiting
    )
    provider.complete(request_of(400))  # estimated at 100 tokens, which is 10 s; 300 were used, which is 30 s
    provider.complete(request_of(400))
    assert clock.waits == pytest.approx([30])
    provider.complete(request_of(400))
    assert clock.waits == pytest.approx([30, 30])


def test_an_estimate_stands_when_the_provider_counts_no_tokens(clock: TurnedClock, waiting: Waiting) -> None:
    provider = PacedProvider(ScriptedProvider(["a", "b"]), pace=PaceSettings(tokens_per_minute=600), waiting=waiting)
    provider.complete(request_of(400))
    provider.complete(request_of(400))
    assert clock.waits == pytest.approx([10])


@pytest.mark.parametrize(
    ("limits", "waits"),
    [
        (RateLimits(0, 3.0, None, None), [3.0]),
        (RateLimits(5, 9.0, 0, 4.0), [4.0]),
        (RateLimits(0, 7200.0, None, None), [60.0]),
        (RateLimits(1, 3.0, 1, 3.0), []),
        (RateLimits(0, None, None, None), []),
    ],
)
def test_nothing_is_asked_when_the_provider_says_that_nothing_is_left(
    clock: TurnedClock, waiting: Waiting, limits: RateLimits, waits: list[float]
) -> None:
    provider = PacedProvider(ScriptedProvider([Reply((Completion("a"),), limits=limits), "b"]), waiting=waiting)
    provider.complete(request_of(4))
    provider.complete(request_of(4))
    assert clock.waits == pytest.approx(waits)


def replies_until(pace: Pace, at_once: float) -> int:
    """How many replies it takes until so many calls may be under way."""
    count = 0
    while (pace.at_once or 0) < at_once:
        pace.speed_up()
        count += 1
    return count


def test_a_model_that_asks_to_slow_down_is_asked_half_as_much_and_then_more_again(waiting: Waiting) -> None:
    pace = Pace(PaceSettings(), waiting)
    assert pace.at_once is None
    turns = [pace.turn(0) for _ in range(16)]
    began = [turn.__enter__() for turn in turns]
    pace.slow_down(began[0])
    assert replies_until(pace, 8) == 0
    for turn in turns:
        turn.__exit__(None, None, None)
    # One more in each round takes 8 replies at 8, and so on; where it was refused, at 15 to 16, four times as many.
    assert replies_until(pace, 9) == pytest.approx(8, abs=1)
    assert replies_until(pace, 15) == pytest.approx(9 + 10 + 11 + 12 + 13 + 14, abs=4)
    assert replies_until(pace, 16) == pytest.approx(4 * 15.5, abs=4)
    assert replies_until(pace, 17) == pytest.approx(16.5, abs=4)


def test_refusals_of_calls_from_before_the_slow_down_do_not_slow_down_again(
    clock: TurnedClock, waiting: Waiting
) -> None:
    pace = Pace(PaceSettings(), waiting)
    turns = [pace.turn(0) for _ in range(16)]
    began = [turn.__enter__() for turn in turns]
    clock.seconds += 1
    for moment in began:
        pace.slow_down(moment)
    assert pace.at_once == 8
    clock.seconds += 1
    pace.slow_down(clock.now())
    assert pace.at_once == 4


def test_no_more_calls_are_under_way_than_the_model_was_slowed_down_to() -> None:
    pace = Pace(PaceSettings(), Waiting())
    with pace.turn(0) as began, pace.turn(0), pace.turn(0), pace.turn(0):
        pace.slow_down(began)  # from 4 to 2
    under_way, most, lock, two = 0, 0, threading.Lock(), threading.Barrier(2)

    def call(_: int) -> None:
        nonlocal under_way, most
        with pace.turn(0):
            with lock:
                under_way += 1
                most = max(most, under_way)
            two.wait(30)  # one alone would wait in vain
            with lock:
                under_way -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(call, range(40)))
    assert most == 2


def test_a_stop_ends_the_wait_for_a_place_that_never_comes() -> None:
    stop = threading.Event()
    pace = Pace(PaceSettings(), Waiting(stop))
    with pace.turn(0) as began:
        pace.slow_down(began)
        threading.Timer(0.1, stop.set).start()
        with pytest.raises(Interrupted), pace.turn(0):
            pytest.fail("there is place for one only")


@pytest.mark.parametrize("field", ["requests_per_minute", "tokens_per_minute", "most_attempts", "timeout_seconds"])
def test_a_pace_of_nothing_is_refused(field: str) -> None:
    with pytest.raises(SettingsError, match=f"{field} is 0; expected a number above 0"):
        PaceSettings(**{field: 0})
