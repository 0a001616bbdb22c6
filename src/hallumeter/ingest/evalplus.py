"""EvalPlus and HumanEval: programs that models wrote, and whether they passed their tests.

``*_eval_results.json`` of EvalPlus lists the runs of each task; ``*_results.jsonl`` of HumanEval has a line for each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import structs

from hallumeter.records.response import Response

from .documents import Document
from .record import HIGHER, ForeignRecord, Reading, Score, unmeasured
from .values import first_of, in_one_line, is_nothing, mapping_of, mappings_of, text_of

_STATUS = {"pass": 1.0, "passed": 1.0, "fail": 0.0, "failed": 0.0, "timeout": 0.0, "timed out": 0.0}
"""A program that does not end in time has failed its tests."""


def is_evalplus(document: Document) -> bool:
    """Whether a file holds results of programs."""
    tasks = mapping_of(mapping_of(document.value).get("eval"))
    runs = mappings_of(next(iter(tasks.values()), None))
    in_lines = {"task_id", "passed"} <= document.first.keys()
    return in_lines or any("base_status" in run or "plus_status" in run for run in runs)


def read_evalplus(documents: Sequence[Document], reading: Reading) -> Iterator[ForeignRecord]:
    """Every program with the tests that it passed."""
    counts: dict[str, int] = {}
    rows = [row for document in documents for row in _rows(document)]
    asked = [name for name in ("base", "plus") if any(not is_nothing(row.get(f"{name}_status")) for row in rows)]
    for values in rows:
        task = text_of(values.get("task_id")) or "task"
        counts[task] = counts.get(task, 0) + 1
        response = Response(
            record_id=task if counts[task] == 1 else f"{task} / {counts[task]}",
            response=text_of(first_of(values, "solution", "completion")) or "",
            fields={"task_id": task},
        )
        scores = tuple(_scores(values, asked))
        reading.kinds |= {score.metric: HIGHER for score in scores}
        yield ForeignRecord(response, scores=scores)


def _rows(document: Document) -> Iterator[Mapping[str, object]]:
    yield from (row.values for row in document.rows)
    for task, runs in mapping_of(mapping_of(document.value).get("eval")).items():
        yield from ({"task_id": task, **run} for run in mappings_of(runs))


def _scores(values: Mapping[str, object], asked: Sequence[str]) -> Iterator[Score]:
    """Its scores; EvalPlus counts a program for plus only if it passes the base tests as well."""
    base = None
    for name in asked:
        score = _score(f"evalplus:{name}", values.get(f"{name}_status"))
        base = score if name == "base" else base
        yield structs.replace(score, value=0.0) if score.value and base is not None and base.value == 0 else score
    if "passed" in values:
        passed = values["passed"]
        yield _score("humaneval:passed", ("pass" if passed else "fail") if isinstance(passed, bool) else passed)


def _score(metric: str, status: object) -> Score:
    found = _STATUS.get((text_of(status) or "").split(":")[0].strip().lower())
    if found is None:
        what = "nothing" if is_nothing(status) else in_one_line(status, 60)
        return unmeasured(metric, "no_status", f"the tests ended with {what}")
    return Score(metric, found)
