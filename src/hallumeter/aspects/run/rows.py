"""Rows of a file of sentences, under the names that the file gives them: CSV, TSV, JSON, Parquet, or plain text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from hallumeter.aspects.records.aspect import AspectTuple, Polarity, TextSpan
from hallumeter.aspects.sentiment_words import repaired_polarity
from hallumeter.errors import InputError, RecordError
from hallumeter.formats.batch import Batch, plain_message
from hallumeter.formats.delimited import read_delimited_stream
from hallumeter.formats.files import check_readable
from hallumeter.formats.jsonl import open_binary, read_whole
from hallumeter.formats.parquet import read_parquet
from hallumeter.formats.records import rows_of
from hallumeter.records.claim import Failure
from hallumeter.run.inputs import DAMAGE, lines_of

from .experiment import InputFormat

# Refuses sentences that carry their own labels, so that no agent can be told what it is to find.
#
# Agents are told the text, its language and its domain, and nothing else of a row. The guard looks at the whole row
# all the same: fields that hold labels show that a file was made for training, and often the text has them too.

_FORBIDDEN = frozenset(
    {
        *("target", "targets", "span", "spans", "polarity", "polarities", "sentiment", "sentiments"),
        *("라벨", "정답", "극성", "감성", "감정", "속성"),
        *("aspect", "aspects", "aspect_term", "aspect_terms", "opinion_term", "opinion_terms", "triplets", "tuples"),
    }
)
"""Names of fields that hold what agents are to find."""
_INSIDE = ("annotation", "gold", "label")
"""Parts of names that say the same."""
_MARKS = re.compile(
    r"""
      [<\[] /? (?:gold|label|target|aspect|polarity|sentiment|annotation) s? (?:[_\s=:-][^<>\[\]]{0,60})? [>\]]
    | \b(?:gold|label|annotation)s?_[a-z_]{1,40}\s{0,3}[:=]
    | \b[a-z_]{1,40}_(?:gold|label|polarity|annotation)s?\s{0,3}[:=]
    | \b(?:label|polarity|sentiment)\s{0,3}[:=]\s{0,3}["']?(?:positive|negative|neutral|mixed|conflict|pos|neg|neu)\b
    | \#{4}\s{0,3}\[
    | \$T\$
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Labels written into a text: ``[LABEL]``, ``<aspect>``, ``gold_label:``, ``polarity: negative``, ``####[[...]]``."""


def leak_in(text: str, fields: Mapping[str, object]) -> str | None:
    """What of a sentence tells its labels, in words; None when nothing does.

    `fields` are those of its row that are neither the text nor gold that was set apart.

    >>> leak_in("The soup was cold.", {"city": "Busan"})
    >>> leak_in("The soup was cold.", {"meta": {"gold_polarity": "negative"}})
    "the field 'meta.gold_polarity' holds annotations"
    >>> leak_in("The soup was cold. [LABEL] negative", {})
    "the text holds the mark '[LABEL]'"
    """
    for name in _names(fields):
        last = name.rpartition(".")[2].lower()
        if last in _FORBIDDEN or any(part in last for part in _INSIDE):
            return f"the field {name!r} holds annotations"
    found = _MARKS.search(text)
    return None if found is None else f"the text holds the mark {found.group()!r}"


def _names(fields: Mapping[str, object]) -> Iterator[str]:
    """All names, also of objects within objects."""
    left: list[tuple[str, object]] = list(fields.items())
    while left:
        name, value = left.pop(0)
        yield name
        if isinstance(value, Mapping):
            left += [(f"{name}.{inner}", each) for inner, each in value.items()]
        elif isinstance(value, list):
            left += [
                (f"{name}.{inner}", one) for each in value if isinstance(each, Mapping) for inner, one in each.items()
            ]


_ENDINGS: dict[str, InputFormat] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".txt": "text",
}
_ROW = msgspec.json.Decoder(dict[str, object])


class Row(NamedTuple):
    """A row and where it stands."""

    line: int
    values: dict[str, object]


class Rows(NamedTuple):
    """What a file holds."""

    rows: list[Row]
    failures: list[Failure]
    """Of lines that are no rows."""


def read_table(path: Path, form: InputFormat | None = None) -> Rows:
    """All rows of a file, in the form that is told, or that its name ends in.

    Raises:
        InputError: The file cannot be read, or its name tells no form.
    """
    check_readable(path)
    return _READERS[form or _form_of(path)](path)


def failure_of(
    path: Path, line: int | None, message: str, *, code: str = "bad_line", record_id: str | None = None
) -> Failure:
    """A row that cannot be used."""
    where = path.name if line is None else f"{path.name}:{line}"
    return Failure(record_id, None, "read", None, code, f"{where}: {message}")


def _form_of(path: Path) -> InputFormat:
    name = path.name.lower().removesuffix(".gz")
    found = next((form for ending, form in _ENDINGS.items() if name.endswith(ending)), None)
    if found is None:
        known = ", ".join(_ENDINGS)
        raise InputError(f"{path}: unknown ending {path.suffix!r}; expected one of {known}, or say data.input_format")
    return found


def _delimited(path: Path, delimiter: str) -> Rows:
    with open_binary(path) as stream:
        return _of_batches(path, read_delimited_stream(stream, path.name, delimiter, fields=None))


def _of_batches(path: Path, batches: Iterator[Batch]) -> Rows:
    rows: list[Row] = []
    failures: list[Failure] = []
    for batch in batches:
        failures += [failure_of(path, fault.line, fault.message) for fault in batch.faults]
        names = {own: alias for alias, own in batch.aliases.items()}
        rows += [Row(line, {names.get(key, key): value for key, value in row.items()}) for line, row in rows_of(batch)]
    return Rows([Row(line, _without_gaps(values)) for line, values in rows], failures)


def _without_gaps(values: dict[str, object]) -> dict[str, object]:
    """A table has a cell for every column; an empty one says nothing."""
    return {key: value for key, value in values.items() if value is not None}


def _json_lines(path: Path) -> Rows:
    rows: list[Row] = []
    failures: list[Failure] = []
    for number, line in lines_of(path):
        try:
            rows.append(Row(number, _ROW.decode(line)))
        except DAMAGE as error:
            failures.append(failure_of(path, number, plain_message(error)))
    return Rows(rows, failures)


def _json(path: Path) -> Rows:
    """One list of objects; a file that is none may still hold an object on every line."""
    body = read_whole(path)
    try:
        listed = msgspec.json.decode(body, type=list[dict[str, object]])
    except DAMAGE as error:
        if body.lstrip()[:1] == b"{":
            return _json_lines(path)
        raise InputError(f"{path}: expected a list of objects, or an object on every line ({error})") from error
    return Rows([Row(number, values) for number, values in enumerate(listed, 1)], [])


def _text(path: Path) -> Rows:
    """A sentence on every line; empty lines are passed over."""
    rows: list[Row] = []
    for number, line in lines_of(path):
        try:
            rows.append(Row(number, {"text": line.decode("utf-8")}))
        except UnicodeDecodeError as error:
            raise InputError(f"{path}:{number}: not UTF-8 text ({error.reason}); save it as UTF-8") from error
    return Rows(rows, [])


_READERS: dict[InputFormat, Callable[[Path], Rows]] = {
    "csv": lambda path: _delimited(path, ","),
    "tsv": lambda path: _delimited(path, "\t"),
    "jsonl": _json_lines,
    "json": _json,
    "parquet": lambda path: _of_batches(path, read_parquet(path, None)),
    "text": _text,
}


# Gold: what people say the aspects of a sentence are. It is kept apart from all that agents are told.

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
