"""The ledger: replies that were paid for, what may still be spent and how fast, shared by all workers of a run.

By default it is SQLite in a folder of this machine. Workers on several machines share one in PostgreSQL
(`postgres_ledger.py`). The SQL of purses, leases and meters is the same for both.
"""

from __future__ import annotations

import re
import sqlite3
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from hallumeter.errors import InputError, SettingsError

from .database import migrate, schema_named, transaction
from .verdict_cache import VerdictCache, cache_folder, use_log

_Result = TypeVar("_Result")
Rows = list[tuple[Any, ...]]
Execute = Callable[[str, Sequence[object]], Rows]
"""Runs a statement with question marks inside a transaction and gives its rows."""

FILE_NAME = "ledger.sqlite"
LEASE_SECONDS = 120.0
"""How long a worker that says nothing keeps its share of the budget."""
LEASE_CALLS = 50
"""Calls that a worker leases at a time: single calls would make the purse the slowest part of a run."""
AT_ONCE = 8
"""Calls that a worker may have begun since it last reported: so many are charged for a worker that was killed."""
_SHARES = 8
"""A lease takes at most an eighth of what is left, so that the last dollars do not lie idle with one worker."""
_LOCK_SECONDS = 30.0


class Lease(Struct, frozen=True):
    """A worker's share of what a run may still spend."""

    id: str
    run: str
    micro_usd: int
    calls: int
    seconds: float
    """It is over so many seconds after it was granted or renewed."""


class Balance(Struct, frozen=True):
    """What a run has spent, and what its workers have leased and not accounted for yet."""

    spent_micro_usd: int
    spent_calls: int
    leased_micro_usd: int
    leased_calls: int


class LedgerAddress:
    """Where a shared ledger is. Its text has no password, and no encoder of records takes it: it reaches no file."""

    __slots__ = ("url",)

    def __init__(self, url: str) -> None:
        """Take a URL such as ``postgresql://user@host:5432/database``.

        Raises:
            SettingsError: It is something else.
        """
        parts = urlsplit(url)
        try:
            is_whole = parts.scheme in ("postgresql", "postgres") and (parts.port is None or parts.port > 0)
        except ValueError:
            is_whole = False
        if not is_whole:
            # What was given is not repeated: there may be a password anywhere in it.
            raise SettingsError("no address of a ledger; expected a URL such as postgresql://user@host:5432/database")
        self.url = url

    def __str__(self) -> str:
        """The URL without password and options.

        >>> str(LedgerAddress("postgresql://ann:secret@db:5432/runs?sslmode=require"))
        'postgresql://ann@db:5432/runs'
        """
        parts = urlsplit(self.url)
        user = f"{parts.username}@" if parts.username else ""
        host = parts.hostname or ""
        return f"postgresql://{user}{host}{f':{parts.port}' if parts.port else ''}{parts.path}"

    def __repr__(self) -> str:
        return f"LedgerAddress({str(self)!r})"

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return LedgerAddress, (self.url,)  # workers need it whole


def without_password(text: str, url: str) -> str:
    """A message about a connection, without the password of its URL.

    >>> without_password('bad URL "postgresql://ann:s%20t@db/runs"', "postgresql://ann:s%20t@db/runs")
    'bad URL "postgresql://ann:***@db/runs"'
    """
    found = {*re.findall(r"//[^/@:]*:([^/]*)@", url), *re.findall(r"[?&](?:ssl)?password=([^&]*)", url)}
    for secret in sorted({*found, *map(unquote, found)} - {""}, key=len, reverse=True):
        text = text.replace(secret, "***")
    return text


class Ledger(ABC):
    """Replies, purses and meters of many runs, for many processes at once; each may use it from several threads."""

    lease_seconds: float = LEASE_SECONDS
    lease_calls = LEASE_CALLS
    at_once = AT_ONCE

    @property
    @abstractmethod
    def trouble(self) -> str | None:
        """One line for the user about what went wrong; None when all is well."""

    @abstractmethod
    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The replies that are known, by key."""

    @abstractmethod
    def put_many(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep replies by key; they are kept when this returns."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    @abstractmethod
    def _work(self, steps: Callable[[Execute, float], _Result], *, is_lasting: bool = True) -> _Result:
        """Do steps in one transaction, given how to run a statement and what time it is for all workers.

        What is not lasting may be lost when the database's machine dies.
        """

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open_purse(self, run: str, *, micro_usd: int | None, calls: int | None = None, replace: bool = False) -> None:
        """Say what a run may spend, None for no limit; a purse that is there keeps its limits unless replaced."""
        change = "micro_usd = excluded.micro_usd, calls = excluded.calls" if replace else "run = excluded.run"
        self._work(
            lambda execute, _: execute(
                f"INSERT INTO hallumeter_purse VALUES (?, ?, ?, 0, 0) "  # noqa: S608 (one of two constants)
                f"ON CONFLICT (run) DO UPDATE SET {change} RETURNING run",
                (run, micro_usd, calls),
            )
        )

    def lease(
        self, run: str, *, micro_usd: int, calls: int, least_micro_usd: int = 1, at_once: int = AT_ONCE
    ) -> Lease | None:
        """A share of what a run may still spend, at most so much; None when there is not the least.

        Leases that are over are taken back first. A dead worker is charged what it has reported and `at_once` calls
        that it may have begun since.
        """
        wanted = _Wanted(uuid.uuid4().hex, run, micro_usd, calls, least_micro_usd, at_once, self.lease_seconds)
        return self._work(lambda execute, now: _leased(execute, now, wanted))

    def report(self, lease: Lease, *, micro_usd: int, calls: int, dearest: int = 0) -> bool:
        """Say what was spent of a lease so far, and keep it for as long again; False when it was taken back."""
        statement = (
            "UPDATE hallumeter_lease SET used_micro_usd = ?, used_calls = ?, dearest = ?, expires_at = ? "
            "WHERE id = ? AND is_open = 1 RETURNING id"
        )
        return self._work(
            lambda execute, now: bool(execute(statement, (micro_usd, calls, dearest, now + lease.seconds, lease.id)))
        )

    def charge(self, run: str, *, micro_usd: int, calls: int = 0) -> None:
        """Count what was spent outside a lease, such as by a call that ended after its lease was given back."""
        self._work(lambda execute, _: _charge(execute, run, micro_usd=micro_usd, calls=calls))

    def settle(self, lease: Lease, *, micro_usd: int, calls: int) -> None:
        """Give a lease back: so much of it was spent, the rest is there for others."""
        self._work(lambda execute, _: _settled(execute, lease, micro_usd=micro_usd, calls=calls))

    def balance(self, run: str) -> Balance:
        """What a run has spent; leases that are over count as taken back."""

        def steps(execute: Execute, now: float) -> Balance:
            purse = _held_purse(execute, run)
            if purse is None:
                return Balance(0, 0, 0, 0)
            usd, calls = _take_back(execute, now, run)
            return Balance(purse[2] + usd, purse[3] + calls, *_open_leases(execute, run))

        return self._work(steps)

    def reserve(self, name: str, amount: float, *, seconds_each: float) -> float:
        """Take the next place on a meter that all workers share; gives the seconds until it is this one's turn."""
        statement = (
            "INSERT INTO hallumeter_meter VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET "
            "free_at = CASE WHEN hallumeter_meter.free_at > ? THEN hallumeter_meter.free_at ELSE ? END + ? "
            "RETURNING free_at"
        )
        taken = amount * seconds_each

        def steps(execute: Execute, now: float) -> float:
            free_at = float(execute(statement, (name, now + taken, now, now, taken))[0][0])
            return max(0.0, free_at - taken - now)

        return self._work(steps, is_lasting=False)


class _Wanted(Struct, frozen=True):
    """A lease that is asked for; its id makes asking twice the same as asking once."""

    id: str
    run: str
    micro_usd: int
    calls: int
    least_micro_usd: int
    at_once: int
    seconds: float


def _held_purse(execute: Execute, run: str) -> tuple[int | None, int | None, int, int] | None:
    """Limits and spending of a run, which nobody else can change until the transaction ends; None without a purse.

    It comes first in every transaction, so that no two wait for each other. An update that changes nothing holds the
    row in PostgreSQL as in SQLite.
    """
    rows = execute(
        "UPDATE hallumeter_purse SET run = run WHERE run = ? RETURNING micro_usd, calls, spent_micro_usd, spent_calls",
        (run,),
    )
    if not rows:
        return None
    usd, calls, spent_usd, spent_calls = rows[0]
    return usd, calls, spent_usd, spent_calls


def _leased(execute: Execute, now: float, wanted: _Wanted) -> Lease | None:
    purse = _held_purse(execute, wanted.run)
    if purse is None:
        raise SettingsError(f"the ledger has no budget for the run {wanted.run}; open it first")
    known = execute("SELECT micro_usd, calls FROM hallumeter_lease WHERE id = ?", (wanted.id,))
    if known:
        return Lease(wanted.id, wanted.run, known[0][0], known[0][1], wanted.seconds)
    back = _take_back(execute, now, wanted.run)
    budget_usd, budget_calls, spent_usd, spent_calls = purse
    leased_usd, leased_calls = _open_leases(execute, wanted.run)
    usd = _share(wanted.micro_usd, budget_usd, spent_usd + back[0] + leased_usd, least=wanted.least_micro_usd)
    calls = _share(wanted.calls, budget_calls, spent_calls + back[1] + leased_calls, least=1)
    if usd is None or calls is None:
        return None
    row = (wanted.id, wanted.run, usd, calls, 0, 0, wanted.at_once, 0, now + wanted.seconds, 1)
    execute("INSERT INTO hallumeter_lease VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id", row)
    return Lease(wanted.id, wanted.run, usd, calls, wanted.seconds)


def _share(wanted: int, budget: int | None, taken: int, *, least: int) -> int | None:
    """How much of a budget a lease gets; None when the least is not left."""
    if budget is None:
        return wanted
    left = budget - taken
    return min(max(wanted, least), max(least, left // _SHARES)) if left >= least else None


def _open_leases(execute: Execute, run: str) -> tuple[int, int]:
    rows = execute(
        "SELECT coalesce(sum(micro_usd), 0), coalesce(sum(calls), 0) FROM hallumeter_lease "
        "WHERE run = ? AND is_open = 1",
        (run,),
    )
    return int(rows[0][0]), int(rows[0][1])


def _take_back(execute: Execute, now: float, run: str) -> tuple[int, int]:
    """Close leases that are over; gives what they are charged with, which the purse counts as spent."""
    rows = execute(
        "UPDATE hallumeter_lease SET is_open = 0 WHERE run = ? AND is_open = 1 AND expires_at < ? "
        "RETURNING id, micro_usd, calls, used_micro_usd, used_calls, at_once, dearest",
        (run, now),
    )
    usd_back, calls_back = 0, 0
    for name, usd, calls, used_usd, used_calls, at_once, dearest in rows:
        charged_calls = max(used_calls, min(calls, used_calls + at_once))
        # Before the first report nobody knows what a call costs: the whole lease is charged.
        charged_usd = max(used_usd, min(usd, used_usd + at_once * dearest)) if dearest else max(usd, used_usd)
        execute(
            "UPDATE hallumeter_lease SET used_micro_usd = ?, used_calls = ? WHERE id = ? RETURNING id",
            (charged_usd, charged_calls, name),
        )
        usd_back, calls_back = usd_back + charged_usd, calls_back + charged_calls
    if rows:
        _charge(execute, run, micro_usd=usd_back, calls=calls_back)
    return usd_back, calls_back


def _settled(execute: Execute, lease: Lease, *, micro_usd: int, calls: int) -> None:
    _held_purse(execute, lease.run)
    rows = execute(
        "DELETE FROM hallumeter_lease WHERE id = ? RETURNING is_open, used_micro_usd, used_calls", (lease.id,)
    )
    for is_open, charged_usd, charged_calls in rows:  # none: it was settled before, and the answer was lost
        if is_open:
            _charge(execute, lease.run, micro_usd=micro_usd, calls=calls)
        else:  # it was taken back and charged with what was known then
            beyond = max(0, micro_usd - charged_usd), max(0, calls - charged_calls)
            _charge(execute, lease.run, micro_usd=beyond[0], calls=beyond[1])


def _charge(execute: Execute, run: str, *, micro_usd: int, calls: int) -> None:
    execute(
        "UPDATE hallumeter_purse SET spent_micro_usd = spent_micro_usd + ?, spent_calls = spent_calls + ? "
        "WHERE run = ? RETURNING run",
        (micro_usd, calls, run),
    )


class SqliteLedger(Ledger):
    """A ledger in a folder of this machine: the verdict cache, and a database of purses and meters beside it."""

    def __init__(self, folder: Path | None = None, *, lease_seconds: float = LEASE_SECONDS) -> None:
        self.lease_seconds = lease_seconds
        self._folder = folder or cache_folder()
        self._replies = VerdictCache.in_folder(self._folder)
        self._lock = threading.Lock()
        path = self._folder / FILE_NAME
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            # isolation_level=None: transactions begin and end where this module says so.
            self._database = sqlite3.connect(path, timeout=_LOCK_SECONDS, isolation_level=None, check_same_thread=False)
            use_log(self._database)
            self._database.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing
            migrate(self._database, path, schema=schema_named("ledger"))
        except (sqlite3.Error, OSError) as error:
            raise InputError(f"{path}: the ledger cannot be opened: {error}; name another folder") from error

    @property
    def trouble(self) -> str | None:
        """What went wrong with the replies; a purse that cannot be kept is an error."""
        return self._replies.trouble

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The replies that are known, by key."""
        with self._lock:
            return self._replies.get_many(keys)

    def put_many(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep replies by key."""
        with self._lock:
            self._replies.put_many(rows)

    def close(self) -> None:
        """Let go of both files."""
        with self._lock:
            self._replies.close()
            self._database.close()

    def _work(self, steps: Callable[[Execute, float], _Result], **_: bool) -> _Result:
        with self._lock:
            try:
                with transaction(self._database):
                    return steps(lambda sql, values: self._database.execute(sql, values).fetchall(), time.time())
            except sqlite3.Error as error:
                path = self._folder / FILE_NAME
                raise InputError(f"{path}: the ledger cannot be used: {error}; try again") from error
