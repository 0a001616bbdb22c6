"""Gold: what people say the aspects of a sentence are. It is kept apart from all that agents are told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from hallumeter.errors import RecordError
from hallumeter.formats import plain_message
from hallumeter.records import Failure
from hallumeter.records.aspects import AspectTuple, Polarity, TextSpan
from hallumeter.text.polarity_words import repaired_polarity

from .rows import failure_of, read_table

GOLD_FIELDS = ("gold_tuples", "gold_triplets")
"""Where a row has its gold; triplets name the aspect by ``opinion_term.term``."""
ID_FIELDS = ("text_id", "uid", "id")
Gold = tuple[AspectTuple, ...]


def gold_of(values: Mapping[str, object]) -> Gold | None:
    """The gold of a row; None when it has none, empty when people found no aspect.

    >>> gold_of({"gold_tuples": [{"aspect_term": "", "polarity": "negative"}]})
    (AspectTuple(aspect_term='', polarity='negative', aspect_ref=None, span=None),)

    Raises:
        RecordError: It is no list of aspects.
    """
    for name in GOLD_FIELDS:
        given = values.get(name)
        if given is not None:
            return tuple(_tuple_of(name, each) for each in _listed(name, given))
    return None


def read_gold(path: Path) -> tuple[dict[str, Gold], list[Failure]]:
    """Gold by the id of its sentence; lines without any are failures.

    Raises:
        InputError: The file cannot be read.
    """
    table = read_table(path)
    found: dict[str, Gold] = {}
    failures = list(table.failures)
    for line, values in table.rows:
        name = next((str(values[field]) for field in ID_FIELDS if values.get(field) is not None), None)
        try:
            gold = gold_of(values)
            if name is None or gold is None:
                raise RecordError(f"lacks {'uid' if name is None else 'gold_tuples'}; expected uid and gold_tuples")
            if name in found:
                raise RecordError(f"{name!r} has gold on an earlier line; kept is that")
        except RecordError as error:
            failures.append(failure_of(path, line, str(error)))
        else:
            found[name] = gold
    return found, failures


def _listed(name: str, given: object) -> list[object]:
    """A list; in a table it is JSON in a cell."""
    if isinstance(given, str):
        try:
            given = msgspec.json.decode(given)
        except (msgspec.DecodeError, RecursionError) as error:
            raise RecordError(f"{name}: expected a list of aspects, found text ({plain_message(error)})") from error
    if not isinstance(given, list | tuple):
        raise RecordError(f"{name}: expected a list of aspects, found {type(given).__name__}")
    return list(given)


def _tuple_of(name: str, given: object) -> AspectTuple:
    if not isinstance(given, Mapping):
        raise RecordError(f"{name}: expected aspects with aspect_term and polarity, found {type(given).__name__}")
    term, span = given.get("aspect_term"), given.get("span")
    opinion = given.get("opinion_term")
    named = opinion if term is None else term
    if isinstance(named, Mapping):
        term, span = named.get("term"), named.get("span") if span is None else span
    if term is not None and not isinstance(term, str):
        raise RecordError(f"{name}: aspect_term: expected text, found {type(term).__name__}")
    reference = given.get("aspect_ref")
    return AspectTuple(
        aspect_term=term or "",
        polarity=_polarity_of(name, given.get("polarity")),
        aspect_ref=None if reference is None else str(reference),
        span=_span_of(name, span),
    )


def _polarity_of(name: str, given: object) -> Polarity:
    """A polarity under any of its names; gold with a typing error, or none, says nothing that can be measured by."""
    found = repaired_polarity(given if isinstance(given, str) else None)
    if found.value is None or found.was_repaired:
        shown = "none" if given is None else repr(given)
        raise RecordError(f"{name}: polarity: expected positive, negative or neutral, found {shown}")
    return found.value


def _span_of(name: str, given: object) -> TextSpan | None:
    """A place as an object, or as a list of two numbers."""
    if given is None:
        return None
    pair = [given.get("start"), given.get("end")] if isinstance(given, Mapping) else given
    if isinstance(pair, list | tuple) and len(pair) == 2 and all(_is_whole(each) for each in pair):
        return TextSpan(int(pair[0]), int(pair[1]))
    raise RecordError(f"{name}: span: expected start and end, found {str(given)[:60]}")


def _is_whole(value: object) -> bool:
    """Tables keep a column of whole numbers with gaps as one of floating point."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and value.is_integer())
