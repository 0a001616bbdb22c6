"""A ledger in PostgreSQL, for workers on several machines."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import psycopg

from hallumeter.errors import InputError

from .database import schema_named
from .ledger import LEASE_SECONDS, Execute, Ledger, LedgerAddress, without_password

_Result = TypeVar("_Result")
_PATIENCE_SECONDS = 60.0
"""A server that is started again is back by then."""
_FIRST_DELAY_SECONDS = 0.1
_LONGEST_DELAY_SECONDS = 2.0
_CONNECT_SECONDS = 10
_LOCK = int.from_bytes(b"hmP1")
"""The advisory lock under which the first worker makes the tables."""
_VERSION = 1
_REPLIES = "CREATE TABLE hallumeter_reply (key BYTEA PRIMARY KEY, body BYTEA NOT NULL)"
_NOW = "SELECT extract(epoch FROM clock_timestamp())::float8"
"""The server's clock: the workers' own may differ."""


class PostgresLedger(Ledger):
    """Connects when it is first used, and again when the connection is lost.

    Every operation can be done twice with the same effect, so one whose answer was lost is simply done again.
    """

    def __init__(
        self,
        address: LedgerAddress,
        *,
        lease_seconds: float = LEASE_SECONDS,
        patience_seconds: float = _PATIENCE_SECONDS,
    ) -> None:
        self.lease_seconds = lease_seconds
        self._address = address
        self._patience = patience_seconds
        self._connection: psycopg.Connection | None = None
        self._lock = threading.Lock()
        self._trouble: str | None = None

    @property
    def trouble(self) -> str | None:
        """Whether the server was away for a while."""
        return self._trouble

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """The replies that are known, by key."""
        if not keys:
            return {}
        wanted = list(set(keys))
        rows = self._done(
            lambda connection: connection.execute(
                "SELECT key, body FROM hallumeter_reply WHERE key = ANY(%s)", (wanted,)
            ).fetchall()
        )
        return {bytes(key): bytes(body) for key, body in rows}

    def put_many(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep replies by key, in one transaction; a later one replaces an earlier one."""
        last = dict(rows)
        if not last:
            return
        keys = sorted(last)  # always in one order, so that two workers never wait for each other
        self._done(
            lambda connection: connection.execute(
                "INSERT INTO hallumeter_reply SELECT * FROM unnest(%s::bytea[], %s::bytea[]) "
                "ON CONFLICT (key) DO UPDATE SET body = excluded.body",
                (keys, [last[key] for key in keys]),
            )
        )

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            self._hang_up()

    def _work(self, steps: Callable[[Execute, float], _Result], *, is_lasting: bool = True) -> _Result:
        def transaction(connection: psycopg.Connection) -> _Result:
            with connection.transaction():
                if not is_lasting:
                    connection.execute("SET LOCAL synchronous_commit = off")
                now = connection.execute(_NOW).fetchall()[0][0]
                return steps(
                    lambda sql, values: connection.execute(sql.replace("?", "%s").encode(), values).fetchall(), now
                )

        return self._done(transaction)

    def _done(self, work: Callable[[psycopg.Connection], _Result]) -> _Result:
        """Do work on the connection, again and again while the server is away."""
        with self._lock:
            deadline = time.monotonic() + self._patience
            delay = _FIRST_DELAY_SECONDS
            while True:
                try:
                    return work(self._connected())
                except psycopg.Error as error:
                    self._recover(error, is_last=time.monotonic() + delay > deadline)
                time.sleep(delay)
                delay = min(2 * delay, _LONGEST_DELAY_SECONDS)

    def _recover(self, error: psycopg.Error, *, is_last: bool) -> None:
        """Hang up, to connect again; an error that would only come again ends the work."""
        self._hang_up()
        reason = without_password(str(error), self._address.url).strip().split("\n")[0]
        if is_last or not isinstance(error, psycopg.OperationalError) or _is_refused(error):
            raise self._error(reason) from None
        self._trouble = f"the ledger {self._address} was away for a while; nothing was lost"

    def _connected(self) -> psycopg.Connection:
        if self._connection is None:
            connection = psycopg.connect(
                self._address.url,
                autocommit=True,
                connect_timeout=_CONNECT_SECONDS,
                application_name="hallumeter",
                # A server that dies with its machine sends nothing: without these a worker waits for hours.
                keepalives_idle=30,
                keepalives_interval=10,
                keepalives_count=3,
            )
            try:
                _make_tables(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _error(self, reason: str) -> InputError:
        return InputError(
            f"the ledger {self._address} cannot be used: {reason}; "
            "what was done is kept: when it is back, run the same command with --resume"
        )


def _is_refused(error: psycopg.OperationalError) -> bool:
    """Whether trying again is no use: the password is wrong, or there is no such database or user."""
    text = str(error)
    refusals = ("authentication failed", "does not exist", "no password supplied", "no pg_hba.conf entry")
    return any(refusal in text for refusal in refusals)


def _make_tables(connection: psycopg.Connection) -> None:
    """Make the tables when they are not there; of many workers the first does it."""
    exists = "SELECT to_regclass('hallumeter_ledger')"
    if connection.execute(exists).fetchall()[0][0] is None:
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            if connection.execute(exists).fetchall()[0][0] is None:
                connection.execute(schema_named("ledger").steps[0].encode())
                connection.execute(_REPLIES)
                connection.execute("CREATE TABLE hallumeter_ledger (version INTEGER NOT NULL)")
                connection.execute("INSERT INTO hallumeter_ledger VALUES (%s)", (_VERSION,))
    version = connection.execute("SELECT version FROM hallumeter_ledger").fetchall()[0][0]
    if version > _VERSION:
        raise InputError(
            f"the ledger was made by a newer hallumeter (version {version}; this one knows {_VERSION}); "
            "update hallumeter"
        )
