"""A language model asked at its pace, and again after faults that may pass."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence

import msgspec

from .pace import Pace, PaceSettings, Waiting
from .prices import Price, Spending, estimated_tokens
from .protocol import Completion, Provider, ProviderFault, ProviderSpec, Reply, Request, Usage

_LONGEST_DELAY = 30.0
"""Seconds, before chance takes a share of them."""


class PacedProvider:
    """A provider around a provider: pace, retries and spending. It may be called from several threads at once."""

    def __init__(
        self,
        provider: Provider,
        *,
        pace: PaceSettings | None = None,
        spending: Spending | None = None,
        price: Price | None = None,
        rng: random.Random | None = None,
        waiting: Waiting | None = None,
    ) -> None:
        """Share `spending` among all providers of a run; `waiting` holds the event that stops it."""
        self._provider = provider
        self._settings = PaceSettings() if pace is None else pace
        self._spending = Spending() if spending is None else spending
        self._price = price
        self._rng = random.Random() if rng is None else rng  # noqa: S311 (spreads retries, guards nothing)
        self._waiting = Waiting() if waiting is None else waiting
        shared = self._spending.shared
        meter_of = None if shared is None else lambda unit, rate: shared.meter(f"{self.spec.name} {unit}", rate)
        self._pace = Pace(self._settings, self._waiting, meter_of)
        self._left_out: set[str] = set()
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._provider!r})"

    @property
    def spec(self) -> ProviderSpec:
        """Which model this is."""
        return self._provider.spec

    @property
    def left_out(self) -> tuple[str, ...]:
        """Settings of the requests so far that the model does not take, such as ``temperature``; sorted."""
        with self._lock:
            return tuple(sorted(self._left_out))

    def complete(self, request: Request) -> Reply:
        """Ask until there is a reply, a fault that will not pass, or no attempt left.

        Raises:
            ProviderFault: There is no usable reply; `attempts` tells how often it was asked.
            BudgetReached: The budget was spent before this call, or before it could be made again.
            Interrupted: The run was stopped while this call waited.
        """
        shared = self._spending.shared
        if shared is None:
            return self._replied(request)
        key, reply = shared.recall(self.spec, request)
        if reply is None:
            reply = self._replied(request)
            shared.keep(key, reply)  # before anything is made of it: it is paid for
        return reply

    def _replied(self, request: Request) -> Reply:
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._ask(request, is_retry=attempt > 1)
            except ProviderFault as fault:
                fault.attempts = attempt
                if not self._may_pass(fault):
                    raise
                delay = self._delay_after(fault)
                if fault.code == "rate_limited" or fault.retry_after is not None:
                    # The others would only hear the same; but how often this one was refused is no matter of theirs.
                    self._pace.pause(
                        delay if fault.retry_after is not None else min(delay, self._settings.first_delay_seconds)
                    )
            self._waiting.wait(delay)

    def cost_of(self, reply: Reply) -> float | None:
        """What a reply cost in dollars; None when the price or the number of tokens is unknown."""
        return cost_usd(reply.usage, self._price)

    def _ask(self, request: Request, *, is_retry: bool) -> Reply:
        estimate = sum(estimated_tokens(message.content) for message in request.messages)
        with self._pace.turn(estimate) as began:
            expected = cost_usd(Usage(estimate, request.max_tokens * request.samples), self._price) or 0.0
            held = self._spending.begin(is_retry=is_retry, expected_usd=expected)
            paid = 0.0
            try:
                reply = self._provider.complete(request)
                paid = self._count(reply.usage, reply.completions, estimate)
            except ProviderFault as fault:
                if fault.usage is not None:
                    paid = self._count(fault.usage, (), estimate)
                if fault.code == "rate_limited" and fault.retry_after is None:
                    self._pace.slow_down(began)
                raise
            finally:
                self._spending.end(held, paid)
            with self._lock:
                self._left_out.update(reply.left_out)
            self._pace.heed(reply.limits)
            self._pace.speed_up()
            return reply

    def _count(self, usage: Usage, completions: Sequence[Completion], estimate: int) -> float:
        """Count what a call has cost; gives the dollars that are charged for it."""
        cost = cost_usd(usage, self._price)
        estimated = None if cost is not None else cost_usd(_filled(usage, completions, estimate), self._price)
        self._spending.add(usage, cost, estimated_usd=estimated)
        known = [count for count in (usage.input_tokens, usage.output_tokens) if count is not None]
        self._pace.used(estimate, sum(known) if known else None)
        return cost or estimated or 0.0

    def _may_pass(self, fault: ProviderFault) -> bool:
        is_soon = fault.retry_after is None or fault.retry_after <= self._settings.longest_wait_seconds
        return fault.is_retryable and fault.attempts < self._settings.most_attempts and is_soon

    def _delay_after(self, fault: ProviderFault) -> float:
        """As long as the provider asks; else any time up to a bound that doubles, so that threads part ways."""
        if fault.retry_after is not None:
            return fault.retry_after
        bound = self._settings.first_delay_seconds * 2 ** (fault.attempts - 1)
        return self._rng.uniform(0.0, min(_LONGEST_DELAY, bound))


def _filled(usage: Usage, completions: Sequence[Completion], prompt_tokens: int) -> Usage:
    """The same usage, with estimates for what the provider did not count."""
    written = sum(estimated_tokens(completion.text) for completion in completions)
    return msgspec.structs.replace(
        usage,
        input_tokens=prompt_tokens if usage.input_tokens is None else usage.input_tokens,
        output_tokens=written if usage.output_tokens is None else usage.output_tokens,
    )


def cost_usd(usage: Usage, price: Price | None) -> float | None:
    """Dollars for so many tokens; None when the price or one of the counts is unknown.

    >>> cost_usd(Usage(1_000_000, 500_000, 400_000), Price(1.0, 2.0, 0.5))
    1.8
    """
    if price is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached = usage.cached_input_tokens or 0
    cached_price = price.cached_input_usd_per_million
    dollars = (
        (usage.input_tokens - cached) * price.input_usd_per_million
        + cached * (price.input_usd_per_million if cached_price is None else cached_price)
        + usage.output_tokens * price.output_usd_per_million
    )
    return dollars / 1_000_000
