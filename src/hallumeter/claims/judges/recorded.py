"""Verdicts that were given before, out of a file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from hallumeter.errors import RecordError, SettingsError
from hallumeter.formats.files import read_rows
from hallumeter.formats.jsonl import batch_of
from hallumeter.formats.records import label_of, rows_of, verdict_of
from hallumeter.records.claim import Claim, Failure, Verdict
from hallumeter.records.judging import JudgeSpec, JudgeTask, claim_text
from hallumeter.records.response import Response
from hallumeter.text.normalize import claim_key

Row = Mapping[str, object]
_UNNAMED = "recorded"
_NEARLY = 0.8
"""Share of both claims, the recorded and the present one, that must be common to them."""


class RecordedJudge:
    """Says again what a file of verdicts says; what the file does not have is a failure, `not_recorded`.

    A verdict belongs to the claim with the same record and claim id, unless both have words and these differ; else to
    the claim of the same record with the same words, or at nearly the same place of the response. Two verdicts with
    different labels on one claim are a failure.

    >>> rows = [{"record_id": "r1", "claim_id": "c1", "label": "REFUTED", "judge": "Ada"}]
    >>> judge = RecordedJudge(rows)
    >>> task = JudgeTask(Response("r1"), (Claim("r1", "c1"), Claim("r1", "c2")))
    >>> judge.spec.name, [getattr(said, "label", None) or said.code for said in judge.judge(task)]
    ('Ada', [<Label.REFUTED: 'REFUTED'>, 'not_recorded'])
    """

    def __init__(self, verdicts: str | Path | Iterable[Row], name: str | None = None) -> None:
        """Read all verdicts.

        Args:
            verdicts: A JSONL, CSV, TSV or Parquet file, or rows in Python, with `record_id`, `claim_id`, `label`.
            name: Whose verdicts to take from a file of several judges.

        Raises:
            InputError: The file, or a row of it, cannot be used.
            SettingsError: The file has verdicts of several judges and `name` chooses none, or one who is not there.
        """
        where = str(verdicts) if isinstance(verdicts, str | Path) else "the rows"
        rows = [(place, row) for place, row in _rows(verdicts) if row.get("label") not in (None, "")]
        self._name = _chosen(name, {str(row.get("judge") or _UNNAMED): None for _, row in rows}, where)
        self._where = where
        self._by_id: dict[tuple[str, str], Verdict | Failure] = {}
        self._by_words: dict[tuple[str, str], Verdict | Failure] = {}
        self._words: dict[tuple[str, str], str] = {}
        self._models: dict[str, set[str]] = {}
        self._places: dict[str, list[tuple[int, int, Verdict | Failure]]] = {}
        for place, row in rows:
            if str(row.get("judge") or _UNNAMED) == self._name:
                self._keep(row, place)
        known = [[*table.items()] for table in (self._by_id, self._words, self._places)]
        digest = hashlib.blake2b(msgspec.json.encode(known), digest_size=8).hexdigest()
        self._spec = JudgeSpec(self._name, settings=(("recorded", digest),))

    @property
    def spec(self) -> JudgeSpec:
        """Whose verdicts these are."""
        return self._spec

    def judge(self, task: JudgeTask) -> list[Verdict | Failure]:
        """What was recorded for each claim."""
        return [self._said_of(claim, task.response) for claim in task.claims]

    def _keep(self, row: Row, place: str) -> None:
        record_id, claim_id = str(row["record_id"]), str(row["claim_id"])
        label = label_of(str(row["label"]))
        said: Verdict | Failure
        if label is None:
            message = f"{place}: {row['label']!r} is not a label"
            said = Failure(record_id, claim_id, "judge", self._name, "unknown_label", message)
        else:
            said = _verdict(row, place, label=label, judge=self._name)
        model = row.get("model")
        if model:
            self._models.setdefault(record_id, set()).add(str(model))
            record_id = f"{record_id}@{model}"
        key = (record_id, claim_id)
        self._by_id[key] = _agreed(self._by_id.get(key), said, place)
        if row.get("text"):
            words = self._words[key] = claim_key(str(row["text"]))
            by_words = (record_id, words)
            self._by_words[by_words] = _agreed(self._by_words.get(by_words), said, place)
            start, end = row.get("start"), row.get("end")
            # A narrower place marks what is wrong inside the claim, and not the claim.
            if isinstance(start, int) and isinstance(end, int) and end - start == len(str(row["text"])):
                self._places.setdefault(record_id, []).append((start, end, said))

    def _said_of(self, claim: Claim, response: Response) -> Verdict | Failure:
        words = claim_key(claim_text(claim, response))
        said = None
        for record_id in self._names_of(claim.record_id, response.model):
            key = (record_id, claim.claim_id)
            is_same = not words or self._words.get(key) in (None, words)
            said = said or (self._by_id.get(key) if is_same else None) or self._by_words.get((record_id, words))
            said = said or self._said_at(claim, record_id)
        if said is None:
            message = f"{self._where} has no verdict of {self._name} on this claim"
            return Failure(claim.record_id, claim.claim_id, "judge", self._name, "not_recorded", message)
        if isinstance(said, Verdict) and not _fits(said, response):
            said = msgspec.structs.replace(said, start=claim.start, end=claim.end)
        return msgspec.structs.replace(said, record_id=claim.record_id, claim_id=claim.claim_id)

    def _said_at(self, claim: Claim, record_id: str) -> Verdict | Failure | None:
        """What was said of nearly the same stretch of the response, which others may have cut a little differently."""
        if claim.start is None or claim.end is None:
            return None
        for start, end, said in self._places.get(record_id, ()):
            shared = min(end, claim.end) - max(start, claim.start)
            if shared >= _NEARLY * max(end - start, claim.end - claim.start):
                return said
        return None

    def _names_of(self, record_id: str, model: str | None) -> list[str]:
        """What a response may be called here: a run adds the model's name where several models answered."""
        models = {model} if model else self._models.get(record_id, set())
        if len(models) != 1:
            return [record_id]
        suffix = f"@{models.pop()}"
        plain = record_id.removesuffix(suffix)
        return [plain + suffix, record_id, plain]


def _rows(verdicts: str | Path | Iterable[Row]) -> Iterator[tuple[str, Row]]:
    """Rows with where they stand."""
    if isinstance(verdicts, str | Path):
        path = Path(verdicts)
        batches, name = read_rows(path, fields=None), f"{path.name}:"
    else:
        batches, name = iter([batch_of(list(verdicts), fields=None)]), "row "
    for batch in batches:
        if batch.faults:
            raise RecordError(f"{name}{batch.faults[0].line}: {batch.faults[0].message}")
        for line, row in rows_of(batch):
            lacking = [field for field in ("record_id", "claim_id") if row.get(field) in (None, "")]
            if lacking:
                raise RecordError(f"{name}{line}: {lacking[0]}: expected the id that the verdict is about, found none")
            yield f"{name}{line}", row


def _chosen(name: str | None, judges: Iterable[str], where: str) -> str:
    known = list(judges)
    if name is None and len(known) <= 1:
        return known[0] if known else _UNNAMED
    if name is None or name not in known:
        asked = "verdicts of several judges" if name is None else f"no verdict of {name!r}"
        shown = ", ".join(known) or "nobody"
        raise SettingsError(f"{where} has {asked}; choose one with recorded:FILE#JUDGE: {shown}")
    return name


def _verdict(row: Row, place: str, *, label: object, judge: str) -> Verdict:
    evidence = row.get("evidence")
    if row.get("quotes") is None and isinstance(evidence, list):  # the verdicts of a run have their quotations there
        quotes = [item for item in evidence if isinstance(item, dict) and "text" not in item]
        row = {**row, "quotes": quotes}
    try:
        return verdict_of(row, str(row["record_id"]), label=label, judge=judge)  # type: ignore[arg-type]
    except RecordError as error:
        raise RecordError(f"{place}: {error}") from error


def _agreed(before: Verdict | Failure | None, now: Verdict | Failure, place: str) -> Verdict | Failure:
    if before is None or isinstance(before, Failure):
        return before or now
    if isinstance(now, Verdict) and now.label is before.label:
        return before
    message = f"{place}: another row has {before.label.value} for the same claim"
    return Failure(before.record_id, before.claim_id, "judge", before.judge, "conflicting_record", message)


def _fits(verdict: Verdict, response: Response) -> bool:
    return verdict.end is not None and response.response is not None and verdict.end <= len(response.response)
