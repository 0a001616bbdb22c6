"""Find records by words anywhere in them, also parts of words, in any script."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from .texts import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

_GRAM = 3
"""The words of the index are all pieces of three characters."""
_TERMS_AT_ONCE = 500
_FOUND = """
SELECT rowid FROM own_words WHERE own_words MATCH ?1
UNION SELECT position FROM passage WHERE passage IN (SELECT rowid FROM passage_words WHERE passage_words MATCH ?1)
"""


def positions_with(database: sqlite3.Connection, search: str) -> set[int] | None:
    """Positions of the records that hold every word of a search; None when it asks for nothing."""
    found: set[int] | None = None
    for word in dict.fromkeys(plain(search).split()):
        own = _positions(database, word)
        found = own if found is None else found & own
        if not found:
            break
    return found


def _positions(database: sqlite3.Connection, word: str) -> set[int]:
    found: set[int] = set()
    for query in _queries(database, word):
        found.update(position for (position,) in database.execute(_FOUND, (query,)))
    return found


def _queries(database: sqlite3.Connection, word: str) -> Iterator[str]:
    """What to ask of the index; a word shorter than its pieces is asked for by all pieces that begin with it."""
    if len(word) >= _GRAM:
        yield _quoted(word)
        return
    last = word[:-1] + chr(min(ord(word[-1]) + 1, 0x10FFFF))
    rows = database.execute("SELECT term FROM term WHERE term >= ? AND term < ?", (word, last)).fetchall()
    terms = [term for (term,) in rows]
    for start in range(0, len(terms), _TERMS_AT_ONCE):
        yield " OR ".join(map(_quoted, terms[start : start + _TERMS_AT_ONCE]))


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'
