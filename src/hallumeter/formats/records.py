"""Rows as records: from the columns of a file to responses, claims and verdicts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from hallumeter.errors import RecordError
from hallumeter.records.claim import Claim, Label, Verdict
from hallumeter.records.response import FieldValue, Passage, Quote, Response

from .batch import Batch, expanded
from .fields import KNOWN_FIELDS
from .files import read_rows
from .literals import literal_of
from .plain import plain
from .shapes import RowShape

# Labels as judges of all kinds spell them.

LABEL_SYNONYMS = {
    **{label.value: label for label in Label},
    **dict.fromkeys(
        ("SUPPORT", "SUPPORTS", "ENTAILMENT", "ENTAILED", "ENTAILS", "TRUE", "FAITHFUL", "FACTUAL", "CONFIRMED"),
        Label.SUPPORTED,
    ),
    **dict.fromkeys(
        ("REFUTE", "REFUTES", "CONTRADICTION", "CONTRADICTED", "CONTRADICTS", "CONTRADICTORY", "FALSE", "CONFLICT"),
        Label.REFUTED,
    ),
    **dict.fromkeys(
        (
            *("NEI", "NOT_ENOUGH_INFORMATION", "NOT_ENOUGH_EVIDENCE", "INSUFFICIENT_INFORMATION", "NOT_MENTIONED"),
            *("INSUFFICIENT_INFO", "INSUFFICIENT_EVIDENCE", "NEUTRAL", "UNVERIFIABLE", "UNKNOWN", "BASELESS"),
            *("NOT_SUPPORTED", "UNSUPPORTED"),  # no support is not a contradiction
        ),
        Label.NOT_ENOUGH_INFO,
    ),
    **dict.fromkeys(("UNSURE", "UNCLEAR", "CANNOT_TELL", "ABSTAIN"), Label.UNDECIDED),
}
"""What judges and other tools call the labels, in capitals with underscores."""


def label_of(text: str) -> Label | None:
    """The label that a text names, whatever its case and the marks around it; None when it names none.

    >>> label_of(" not enough info. ")
    <Label.NOT_ENOUGH_INFO: 'NOT_ENOUGH_INFO'>
    """
    return LABEL_SYNONYMS.get(spelled(text))


def spelled(text: str) -> str:
    """A label as it would be written here: in capitals with underscores, without the marks around it."""
    return "_".join(text.strip(" \t\r\n.,;:!*`'\"[]()").upper().replace("-", " ").replace("_", " ").split())


Row = dict[str, object]
OUTCOMES = (Label.SUPPORTED.value, Label.REFUTED.value, Label.NOT_ENOUGH_INFO.value)
"""The order of the numbers in a distribution over labels."""


def read(path: str | Path, *, map: Mapping[str, str] | None = None) -> Iterator[Response]:  # noqa: A002 (as --map)
    """Read responses from a file of any shape; the first row that cannot be used raises, naming the file and the line.

    A response without an id is called by its place, such as ``answers.jsonl:3``. The `map` says where fields stand
    that are not found by their names: ``{"response": "output.text", "evidence": "docs[].content"}``.
    """
    path = Path(path)
    for batch in read_rows(path, fields=None, shape=RowShape.of(map or {})):
        if batch.faults:
            raise RecordError(f"{path.name}:{batch.faults[0].line}: {batch.faults[0].message}")
        for line, row in rows_of(batch):
            if row.get("record_id") in (None, "") and row.get("response") is None:
                raise RecordError(f"{path.name}:{line}: response: expected the text of the answer, found none")
            yield response_of(row, None if row.get("record_id") not in (None, "") else f"{path.name}:{line}")


def rows_of(batch: Batch) -> Iterator[tuple[int, Row]]:
    """The rows of a batch one by one, with their lines."""
    if not batch.columns:  # objects without any field are rows as well
        yield from ((line, {}) for line in batch.lines)
        return
    names = tuple(batch.columns)
    rows = zip(*map(expanded, batch.columns.values()), strict=True)
    for line, values in zip(batch.lines, rows, strict=True):
        yield line, dict(zip(names, values, strict=True))


def response_of(row: Mapping[str, object], record_id: str | None = None) -> Response:
    """The response that a row speaks of; fields that are not known are kept."""
    answerable = row.get("answerable")
    if answerable is None and row.get("is_nonexistent") is not None:
        answerable = not row["is_nonexistent"]
    logprobs = row.get("token_logprobs")
    return Response(
        record_id=record_id or str(row["record_id"]),
        question=_text(row.get("question")),
        response=_text(row.get("response")),
        evidence=passages_of(row.get("evidence")),
        reference=_text(row.get("reference")),
        samples=tuple(map(str, _listed(row.get("samples")))),
        token_logprobs=None if logprobs is None else tuple(map(float, _listed(logprobs))),  # type: ignore[arg-type]
        answerable=None if answerable is None else bool(answerable),
        model=_text(row.get("model")),
        fields={
            name: _field_value(value)
            for name, value in row.items()
            if value is not None and (name not in KNOWN_FIELDS or name == "question_id")
        },
    )


def passages_of(evidence: object) -> tuple[Passage, ...]:
    """Evidence of any form as numbered passages.

    It may be a text, a list or array of texts, documents of LangChain, nodes of LlamaIndex, objects with a text, any
    JSON object, or such a list printed as text. What is missing, such as NaN, is left out.

    >>> passages_of(["Paris is in France.", {"evidence_id": "b", "text": "It is the capital."}])
    (Passage(evidence_id='e1', text='Paris is in France.'), Passage(evidence_id='b', text='It is the capital.'))
    >>> [passage.text for passage in passages_of("[Document(page_content='Paris is big.', metadata={'page': 3})]")]
    ['Paris is big.']

    Raises:
        TypeError: There is nothing in it that could be read.
    """
    if type(evidence) is list and not any(type(item) is not str or item[:1] in _OPENINGS for item in evidence):
        items = evidence  # texts that are nothing else, as nearly all are
    else:
        items = [part for item in _items(evidence) for part in _parts(item)]
    return tuple(_passage(item, f"e{number}") for number, item in enumerate(items, 1) if item is not None)


def looks_serialized(evidence: object) -> bool:
    """Whether some text of the evidence looks like a printed list or document, but cannot be read as one.

    >>> looks_serialized("[Document(page_content='Paris is"), looks_serialized("[1] Paris is big.")
    (True, False)
    """
    texts = [item for item in _items(evidence) if isinstance(item, str)]
    return any(_LOOKS_PRINTED.match(text) and _printed(text) is None for text in texts)


_MAY_BE_PRINTED = re.compile(r"\s*(?:[\[({]|array\(|Document\(|NodeWithScore\()")
_OPENINGS = frozenset("[({ \t\r\naND")
"""What the text of a printed list or document can begin with."""
_LOOKS_PRINTED = re.compile(
    r"""\s*(?:\[\s*\{\s*['"] | [\[(]?\s*\w*(?:Document|Node)\w*\(\w+= | array\(\[ | \{\s*['"]page_content['"]\s*:
    | \[\s*(?:'[^'\n]*'|"[^"\n]*")\s*(?:,\s*['"_a-z]|\]\s*$))""",
    re.VERBOSE,
)
_TEXT_KEYS = ("page_content", "text")
_OTHER_TEXT_KEYS = ("content", "chunk_text", "chunk", "passage", "snippet", "document", "body", "context")
_INNER_KEYS = ("node", "text_resource", "document", "doc", "kwargs")
_BESIDE_TEXT = frozenset(
    {
        "id",
        "_id",
        "id_",
        "doc_id",
        "docid",
        "evidence_id",
        "chunk_id",
        "metadata",
        "meta",
        "score",
        "similarity",
        "type",
    }
    | {"distance", "rank", "index", "position", "source", "url", "uri", "doc_uri", "link", "title", "embedding"}
)
"""Keys that speak about a text: an object with others is a record, and all of it is evidence."""


def _items(evidence: object) -> list[object]:
    """Evidence as a list."""
    if evidence is None or (isinstance(evidence, str) and not evidence):
        return []
    if isinstance(evidence, str):
        return [evidence]
    if not (isinstance(evidence, list) and all(type(item) is str for item in evidence)):
        evidence = plain(evidence)
    items = evidence if isinstance(evidence, list) else [evidence]
    while len(items) == 1 and isinstance(items[0], list):  # one question's passages in a list for each question
        items = items[0]
    return items


def _parts(item: object) -> list[object]:
    """An item of the evidence, or the several that were printed as one text."""
    if isinstance(item, str) and _MAY_BE_PRINTED.match(item):
        printed = _printed(item)
        return [] if printed == [] else _printed_items(printed) or [item]
    if isinstance(item, list) and len(item) == 2 and isinstance(item[1], int | float):  # a document with its score
        return [item[0]]
    return [item]


def _printed(text: str) -> object:
    """What a text spells as JSON or as Python prints it; None when it spells nothing."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return literal_of(text)


def _printed_items(value: object) -> list[object]:
    """Passages that were printed as text; none where it may be a record that is evidence itself."""
    if isinstance(value, dict):
        is_passage = "page_content" in value or value.keys() <= {*_TEXT_KEYS, *_BESIDE_TEXT, "node"}
        return [value] if is_passage and _text_of_passage(value) is not None else []
    if not isinstance(value, list):
        return []
    if len(value) == 1 and isinstance(value[0], list):
        return _printed_items(value[0])
    is_passages = all(isinstance(item, str) or (isinstance(item, dict) and _text_of_passage(item)) for item in value)
    return value if is_passages else []


def claim_of(row: Mapping[str, object], record_id: str, *, response: str | None = None) -> Claim:
    """The claim that a verdict row speaks of.

    The row's span may mark the whole claim or only its unsupported part; with the words of the response the place of
    the claim is the occurrence of its text around that span, or its only occurrence.
    """
    weight = row.get("weight")
    text = _text(row.get("text"))
    start, end = _span(row)
    if text is not None and response is not None:
        start, end = _place_of(text, response, start) or (start, end)
    return Claim(
        record_id=record_id,
        claim_id=str(row["claim_id"]),
        kind=_text(row.get("kind")) or "claim",
        start=start,
        end=end,
        text=text,
        weight=1.0 if weight is None else float(weight),  # type: ignore[arg-type]
    )


def verdict_of(row: Mapping[str, object], record_id: str, *, label: Label, judge: str) -> Verdict:
    """The verdict that a row holds; quotations that do not fit are left to whoever keeps unknown fields."""
    start, end = _span(row)
    given = row.get("probabilities")
    return Verdict(
        record_id=record_id,
        claim_id=str(row["claim_id"]),
        judge=judge,
        label=label,
        unsupported_probability=_number(row.get("unsupported_probability")),
        reason=_text(row.get("reason")),
        start=start,
        end=end,
        evidence=_quotes(row.get("quotes")),
        note=_text(row.get("note")),
        cost_usd=_number(row.get("cost_usd")),
        confidence=_number(row.get("confidence")),
        probabilities=None if given is None else distribution_of(given),
        inference_samples=tuple(distribution_of(sample) for sample in _listed(row.get("inference_samples"))),
    )


def distribution_of(values: object) -> tuple[float, ...]:
    """A distribution as a tuple; one given by label is put in the order of the labels, any other by name in A-Z order.

    >>> distribution_of({"yes": 0.75, "no": 0.25})
    (0.25, 0.75)
    """
    if isinstance(values, dict):
        known = {str(name).upper(): value for name, value in values.items()}
        is_by_label = known.keys() <= set(OUTCOMES)
        by_name = known if is_by_label else values
        numbers = [by_name.get(name, 0.0) for name in (OUTCOMES if is_by_label else sorted(values))]
    else:
        numbers = _listed(values)
    return tuple(float(number) for number in numbers)


def _place_of(text: str, response: str, start: int | None) -> tuple[int, int] | None:
    """Where a claim's text stands in the response: around a known position, else where it stands only once."""
    if not text:
        return None
    first = response.find(text, 0 if start is None else max(0, start - len(text) + 1))
    if first < 0 or (start is not None and first > start) or (start is None and response.find(text, first + 1) >= 0):
        return None
    return first, first + len(text)


def _span(row: Mapping[str, object]) -> tuple[int | None, int | None]:
    return _position(row.get("start")), _position(row.get("end"))


def _position(value: object) -> int | None:
    """A whole number; tables keep a column of whole numbers with gaps as one of floating point."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else None


def _quotes(values: object) -> tuple[Quote, ...]:
    """Places in the evidence; a field of that name that holds something else is none of ours."""
    if not isinstance(values, (list, tuple)):
        return ()
    try:
        return msgspec.convert(values, tuple[Quote, ...])
    except (msgspec.ValidationError, RecordError):
        return ()


def _passage(item: object, evidence_id: str) -> Passage:
    if isinstance(item, str):
        return Passage(evidence_id, item)
    text = _text_of_passage(item) if isinstance(item, dict) else None
    if text is not None:
        return Passage(str(item.get("evidence_id", evidence_id)), text)  # type: ignore[attr-defined]
    return Passage(evidence_id, str(_field_value(item)))


def _text_of_passage(item: dict[str, object]) -> str | None:
    """The text of a document, a node, or an object that holds a text and little else."""
    for key in _TEXT_KEYS:
        if isinstance(text := item.get(key), str):
            return text
    for key in _INNER_KEYS:
        if isinstance(inner := item.get(key), dict) and (text := _text_of_passage(inner)) is not None:
            return text
    for key in _OTHER_TEXT_KEYS:
        if isinstance(text := item.get(key), str) and item.keys() <= {key, *_BESIDE_TEXT}:
            return text
    return None


def _field_value(value: object) -> FieldValue:
    """A value as it can be kept: lists and objects as JSON, times and bytes out of tables as text."""
    if isinstance(value, (str, int, float, bool)):
        return value
    plain = msgspec.to_builtins(value, enc_hook=str)
    return plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _number(value: object) -> float | None:
    return None if value is None else float(value)  # type: ignore[arg-type]


def _listed(values: object) -> list[object]:
    return list(values) if isinstance(values, (list, tuple)) else []
