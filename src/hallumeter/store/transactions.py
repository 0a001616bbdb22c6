"""A transaction as a block of code."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """All that the block does to a database in autocommit mode, or on any error nothing of it.

    >>> import sqlite3
    >>> database = sqlite3.connect(":memory:", isolation_level=None)
    >>> with transaction(database):
    ...     cursor = database.execute("CREATE TABLE kept (number INTEGER)")
    >>> database.execute("SELECT count(*) FROM kept").fetchone()
    (0,)
    >>> database.close()
    """
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:  # a full disk rolls back by itself
            database.execute("ROLLBACK")
        raise
