"""Inspect: logs of evaluations, as an ``.eval`` archive or as JSON.

An archive is a zip whose members are compressed by zstd, which Python reads from 3.14 on; before that the extra
``inspect`` does. A grade that was not found is NaN there, or INCORRECT in older versions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from hallumeter.errors import InputError
from hallumeter.formats.archive import Archive, MemberError
from hallumeter.formats.shapes import evidence_in, names_of
from hallumeter.records.claim import Failure
from hallumeter.records.response import Response

from .documents import Document, decoded_json
from .record import HIGHER, ForeignRecord, Reading, Score, kind_of_score, unmeasured
from .values import (
    evidence_of,
    fields_of,
    first_of,
    in_one_line,
    is_nothing,
    list_of,
    mapping_of,
    mappings_of,
    number_of,
    text_of,
)

Sample = Mapping[str, object]

GRADES = {"C": 1.0, "I": 0.0, "P": 0.5}
"""Letters of Inspect's graders and the numbers that it counts them as; N, no answer, it counts as 0."""
NO_ANSWER = "N"
_BUILT_IN = ("model_graded_qa", "model_graded_fact", "match", "includes", "pattern", "answer", "exact", "f1", "choice")


def is_inspect(document: Document) -> bool:
    """Whether a file is a log."""
    if document.is_archive:
        return True
    value = mapping_of(document.value)
    return "eval" in value and "plan" in value and ("samples" in value or "status" in value)


def read_inspect(documents: Sequence[Document], reading: Reading) -> Iterator[ForeignRecord]:
    """The samples with their scores."""
    for document in documents:
        header, samples = _archive(document, reading) if document.is_archive else _log(document)
        evaluation = mapping_of(header.get("eval"))
        epochs = number_of(mapping_of(evaluation.get("config")).get("epochs")) or 1
        version = text_of(mapping_of(evaluation.get("packages")).get("inspect_ai")) or "not known"
        reading.notice(f"Inspect {version}, task {text_of(evaluation.get('task')) or 'not known'}")
        if header.get("status") not in (None, "success"):
            reading.notice(f"{document.name}: the evaluation ended with {text_of(header.get('status'))}")
        for sample in samples:
            record = _record(sample, text_of(evaluation.get("model")), is_one_epoch=epochs == 1)
            for score in record.scores:
                name = score.metric.removeprefix("inspect:")
                is_graded = name in _BUILT_IN or _is_letter(mapping_of(sample.get("scores")).get(name))
                known = reading.kinds.get(score.metric, kind_of_score(name))
                reading.kinds[score.metric] = HIGHER if is_graded else known
            yield record


def _log(document: Document) -> tuple[Sample, list[Sample]]:
    value = mapping_of(document.value)
    return value, mappings_of(value.get("samples"))


def _archive(document: Document, reading: Reading) -> tuple[Sample, Iterator[Sample]]:
    archive = Archive(document.path)
    names = archive.names
    samples = [name for name in names if name.startswith("samples/") and name.endswith(".json")]
    header = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
    if header is None:
        raise InputError(f"{document.name}: an archive without header.json; expected an .eval log of Inspect")
    value = _member(archive, header)
    if isinstance(value, str):
        raise InputError(f"{document.name}, {header}: {value}")
    return value, _samples(archive, samples, document=document, reading=reading)


def _samples(archive: Archive, names: Sequence[str], *, document: Document, reading: Reading) -> Iterator[Sample]:
    with archive:
        for name in names:
            value = _member(archive, name)
            if isinstance(value, str):
                reading.fault(f"{document.name}, {name}", "damaged_member", value)
            else:
                yield value


def _member(archive: Archive, name: str) -> Sample | str:
    """A member of an archive as JSON, or why it is none."""
    try:
        value = decoded_json(archive.read(name))
    except MemberError as error:
        return str(error)
    except (ValueError, RecursionError, OSError) as error:
        return f"damaged ({error})"
    return value if isinstance(value, dict) else "expected an object"


def _record(sample: Sample, model: str | None, *, is_one_epoch: bool) -> ForeignRecord:
    name = text_of(sample.get("id")) or "sample"
    metadata = mapping_of(sample.get("metadata"))
    output = mapping_of(sample.get("output"))
    response = Response(
        record_id=name if is_one_epoch else f"{name} / epoch {text_of(sample.get('epoch'))}",
        question=_question(sample.get("input")),
        response=text_of(output.get("completion")) or "",
        evidence=evidence_of(evidence_in(metadata)),
        reference="\n".join(filter(None, map(text_of, list_of(sample.get("target"))))) or None,
        model=model,
        fields=fields_of({key: value for key, value in metadata.items() if key not in names_of("evidence")}),
    )
    if sample.get("error"):
        cause = in_one_line(mapping_of(sample["error"]).get("message"))
        message = f"the sample ended with an error: {cause}"
        return ForeignRecord(
            response, error=Failure(response.record_id, None, "measure", None, "sample_error", message)
        )
    scores = (
        score
        for scorer, values in mapping_of(sample.get("scores")).items()
        for score in _scores(f"inspect:{scorer}", mapping_of(values))
    )
    return ForeignRecord(response, scores=tuple(scores))


def _question(given: object) -> str | None:
    """The text of the input, or of its last message by the user."""
    messages = [message for message in mappings_of(given) if message.get("role") == "user"]
    if not messages:
        return text_of(given)
    content = messages[-1].get("content")
    if isinstance(content, list):
        return "\n".join(filter(None, (text_of(part.get("text")) for part in mappings_of(content))))
    return text_of(content)


def _is_letter(score: object) -> bool:
    return mapping_of(score).get("value") in (*GRADES, NO_ANSWER)


def _scores(metric: str, score: Sample) -> Iterator[Score]:
    value = score.get("value")
    if isinstance(value, dict):
        for name, part in value.items():
            yield _score(f"{metric}/{name}", part, score)
    else:
        yield _score(metric, value, score)


def _score(metric: str, value: object, score: Sample) -> Score:
    if value == NO_ANSWER:
        return unmeasured(metric, "no_answer", "Inspect counts N, no answer, as 0")
    number = GRADES.get(value) if isinstance(value, str) and value in GRADES else number_of(value)
    if number is None and not is_nothing(value):
        return unmeasured(metric, "no_number", f"the score is {in_one_line(value, 60)!r}, which is no number")
    if number is None or math.isnan(number):
        why = in_one_line(first_of(score, "explanation", "reason")) or "no reason is given"
        return unmeasured(metric, "unscored", f"Inspect left it unscored: {why}")
    return Score(metric, number)
