"""What the workers of a run share while it goes on: who works inside `sharing` spends and paces with all others."""

from __future__ import annotations

import hashlib
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from hallumeter.errors import MissingExtraError
from hallumeter.models.prices import BudgetReached, Spending
from hallumeter.models.protocol import ProviderSpec, Reply, Request

if TYPE_CHECKING:
    from .ledger import Lease, Ledger, LedgerAddress

_MICRO = 1_000_000
_REQUESTS = msgspec.json.Encoder(order="deterministic")
_REPLIES = msgspec.msgpack.Decoder(Reply)


def opened_ledger(place: LedgerAddress | Path) -> Ledger:
    """The ledger at an address, or in a folder of this machine."""
    if isinstance(place, Path):
        from .ledger import SqliteLedger

        return SqliteLedger(place)
    try:
        from .postgres_ledger import PostgresLedger
    except ImportError:
        raise MissingExtraError("cluster", "a ledger in PostgreSQL") from None
    return PostgresLedger(place)


class Shared:
    """The ledger of a run, opened when something is asked of it, and who in the run is at work."""

    def __init__(self, place: LedgerAddress | Path, run: str, scope: str | None) -> None:
        self.run, self.scope = run, scope
        self._place = place
        self._ledger: Ledger | None = None
        self._lock = threading.Lock()

    @property
    def ledger(self) -> Ledger:
        """The ledger, which nothing but language models needs."""
        with self._lock:
            if self._ledger is None:
                self._ledger = opened_ledger(self._place)
            return self._ledger

    def close(self) -> None:
        """Let go of the ledger."""
        if self._ledger is not None:
            self._ledger.close()


_CURRENT: ContextVar[Shared | None] = ContextVar("shared", default=None)


@contextmanager
def sharing(place: LedgerAddress | Path, *, run: str, scope: str | None = None) -> Iterator[Shared]:
    """Let all models that are made in this block spend, pace and remember with all other workers of the run.

    Args:
        place: Where the ledger is.
        run: The name under which the workers of a run know each other.
        scope: The name of a part of the work that may be done again from its beginning, such as a shard: its replies
            are found again. None for work that is resumed from a journal, which has them already.
    """
    shared = Shared(place, run, scope)
    token = _CURRENT.set(shared)
    try:
        yield shared
    finally:
        _CURRENT.reset(token)
        shared.close()


def run_secret() -> bytes | None:
    """What all workers of a run know and nobody who wrote its input could; None outside of shards."""
    current = _CURRENT.get()
    if current is None or current.scope is None:
        return None
    return hashlib.blake2b(current.run.encode(), digest_size=32).digest()


def is_sharing() -> bool:
    """Whether this is called inside `sharing`: budget and pace are then those of all workers."""
    return _CURRENT.get() is not None


class SharedReplies:
    """The replies of a ledger as a verdict cache, whose end leaves the ledger open for its other users."""

    def __init__(self, ledger: Ledger) -> None:
        self.get_many, self.put_many = ledger.get_many, ledger.put_many
        self._ledger = ledger

    @property
    def trouble(self) -> str | None:
        """One line for the user about what went wrong; None when all is well."""
        return self._ledger.trouble

    def __enter__(self) -> SharedReplies:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Leave the ledger to who opened it."""


def shared_replies() -> SharedReplies | None:
    """The replies of the ledger in whose block this is called; None outside of one."""
    current = _CURRENT.get()
    return None if current is None else SharedReplies(current.ledger)


@contextmanager
def run_spending(budget_usd: float | None) -> Iterator[Spending]:
    """What the models of a run count their calls with; inside `sharing` the budget is that of all workers."""
    current = _CURRENT.get()
    if current is None:
        yield Spending(budget_usd)
        return
    calls = WorkerCalls(current, budget_usd)
    try:
        yield Spending(budget_usd, shared=calls)
    finally:
        calls.close()


def set_budget(place: LedgerAddress | Path, run: str, budget_usd: float) -> None:
    """Say what all workers of a run may spend together, also in place of what was said before."""
    with opened_ledger(place) as ledger:
        ledger.open_purse(run, micro_usd=micro_usd(budget_usd), replace=True)


def micro_usd(dollars: float) -> int:
    """Whole millionths of a dollar that a budget allows.

    >>> micro_usd(0.1)
    100000
    """
    return math.floor(dollars * _MICRO + 1e-6)


class Hold(NamedTuple):
    """A call that was begun: of which lease, and what is held for it."""

    lease: str
    micro_usd: int


class LeasedPurse:
    """Spends leases of one run, call by call; shared by all threads of a worker."""

    def __init__(self, ledger: Ledger, run: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._ledger, self._run, self._clock = ledger, run, clock
        self._lease: Lease | None = None
        self._over_at = 0.0
        self._begun = self._reported = 0
        self._paid = self._held = self._dearest = 0
        self._lock = threading.Lock()

    def take(self, expected_usd: float) -> Hold:
        """Begin a call that may cost so much.

        Raises:
            BudgetReached: There is not so much left for the run.
        """
        expected = math.ceil(expected_usd * _MICRO)
        with self._lock:
            if self._lease is None or not self._has_room(self._lease, expected):
                self._renew(expected)
            assert self._lease is not None
            self._begun += 1
            self._held += expected
            self._dearest = max(self._dearest, expected)
            return Hold(self._lease.id, expected)

    def give_back(self, hold: Hold, paid_usd: float) -> None:
        """End a call: it has cost so much."""
        paid = math.ceil(paid_usd * _MICRO)
        with self._lock:
            if self._lease is not None and self._lease.id == hold.lease:
                self._held -= hold.micro_usd
                self._paid += paid
            elif paid != hold.micro_usd:  # its lease was charged with what was held
                self._ledger.charge(self._run, micro_usd=paid - hold.micro_usd)

    def close(self) -> None:
        """Account for the lease and give the rest back."""
        with self._lock:
            self._settle()

    def _has_room(self, lease: Lease, expected: int) -> bool:
        """Whether a call fits into the lease; every few calls, and in good time, what was begun is reported."""
        if self._begun >= lease.calls or self._paid + self._held + expected > lease.micro_usd:
            return False
        now = self._clock()
        if self._begun - self._reported < self._ledger.at_once and now < self._over_at - lease.seconds / 2:
            return True
        spent = self._paid + self._held
        if not self._ledger.report(lease, micro_usd=spent, calls=self._begun, dearest=max(self._dearest, expected)):
            return False  # it was taken back: this process was asleep for too long
        self._reported, self._over_at = self._begun, now + lease.seconds
        return True

    def _renew(self, expected: int) -> None:
        self._settle()
        now, each = self._clock(), self._ledger.lease_calls
        lease = self._ledger.lease(self._run, micro_usd=each * expected, calls=each, least_micro_usd=expected)
        if lease is None:
            raise BudgetReached("the budget that all workers share is spent")
        self._lease, self._over_at = lease, now + lease.seconds

    def _settle(self) -> None:
        """Give the lease back; calls under way are charged with what is held for them."""
        if self._lease is not None:
            self._ledger.settle(self._lease, micro_usd=self._paid + self._held, calls=self._begun)
        self._lease, self._begun, self._reported, self._paid, self._held = None, 0, 0, 0, 0


class SharedMeter:
    """So many units a minute for all workers together."""

    def __init__(self, ledger: Ledger, name: str, per_minute: float) -> None:
        self._ledger, self._name, self._seconds_each = ledger, name, 60.0 / per_minute
        self._uncounted = 0.0

    def reserve(self, amount: float, now: float) -> float:
        """The moment from which this amount may go; everything later, of any worker, comes after it."""
        amount, self._uncounted = amount + self._uncounted, 0.0
        return now + self._ledger.reserve(self._name, amount, seconds_each=self._seconds_each)

    def correct(self, amount: float) -> None:
        """Count so many more (or fewer) than were reserved, with the next that are reserved."""
        self._uncounted += amount


class WorkerCalls:
    """A worker's calls: what it takes from the purse, its place on the meters, the replies of its shard."""

    def __init__(self, shared: Shared, budget_usd: float | None) -> None:
        self._shared, self._budget = shared, budget_usd
        self._purse: LeasedPurse | None = None
        self._asked: Counter[bytes] = Counter()
        self._lock = threading.Lock()

    def take(self, expected_usd: float) -> object:
        """Begin a call that may cost so much."""
        if self._budget is None:
            return None
        with self._lock:
            if self._purse is None:
                self._shared.ledger.open_purse(self._shared.run, micro_usd=micro_usd(self._budget))
                self._purse = LeasedPurse(self._shared.ledger, self._shared.run)
        return self._purse.take(expected_usd)

    def give_back(self, held: object, paid_usd: float) -> None:
        """End a call, which has cost so much."""
        if self._purse is not None:
            assert isinstance(held, Hold)
            self._purse.give_back(held, paid_usd)

    def close(self) -> None:
        """Account for what was leased."""
        if self._purse is not None:
            self._purse.close()

    def meter(self, name: str, per_minute: float) -> SharedMeter:
        """So many units a minute for all workers of all runs that name the model alike."""
        return SharedMeter(self._shared.ledger, name, per_minute)

    def recall(self, spec: ProviderSpec, request: Request) -> tuple[bytes, Reply | None]:
        """The reply that an earlier attempt at this shard has paid for, and the key under which one is kept.

        A model may be asked the same several times and reply differently: the second time finds the second reply.
        """
        key = hashlib.blake2b(
            _REQUESTS.encode((self._shared.run, self._shared.scope, spec.name, spec.settings, request)), digest_size=16
        ).digest()
        with self._lock:
            number = self._asked[key]
            self._asked[key] += 1
        own = hashlib.blake2b(key + number.to_bytes(4), digest_size=16).digest()
        body = None if self._shared.scope is None else self._shared.ledger.get_many([own]).get(own)
        try:
            return own, None if body is None else _REPLIES.decode(body)
        except msgspec.DecodeError:
            return own, None

    def keep(self, key: bytes, reply: Reply) -> None:
        """Keep a reply for another attempt at this shard."""
        if self._shared.scope is not None:
            self._shared.ledger.put_many([(key, msgspec.msgpack.encode(reply))])
