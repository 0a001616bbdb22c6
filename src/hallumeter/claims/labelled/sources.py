"""Labels from wherever they are kept, checked against the run that they speak of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct, structs

from hallumeter.errors import InputError
from hallumeter.formats.files import read_rows
from hallumeter.formats.records import LABEL_SYNONYMS, label_of, rows_of
from hallumeter.records.claim import Label
from hallumeter.records.decisions import GivenLabel
from hallumeter.records.manifest import Manifest
from hallumeter.run.labels import LABELS, HumanLabel, LabelStore

VERDICT_INSTRUMENTS = ("audit", "measure", "ingest")
"""Instruments whose judges can be wrong about claims; the others count against a truth of their own."""

# Tables of labels that people gave: from the viewer, from `hallumeter label`, or from a spreadsheet.

_COLUMNS = ("record_id", "claim_id", "label", "judged", "is_right", "annotator", "fingerprint")
_TRUE, _FALSE = {"true", "1", "yes", "y"}, {"false", "0", "no", "n"}
_HALLUCINATED = {
    **dict.fromkeys(("hallucinated", "unfaithful", *_TRUE), Label.NOT_ENOUGH_INFO),
    **dict.fromkeys(("faithful", "not hallucinated", *_FALSE), Label.SUPPORTED),
}
"""What a label of a whole response may be called beside the labels of claims."""


def read_given_labels(path: Path) -> Iterator[tuple[int, GivenLabel]]:
    """The labels of a CSV, TSV, JSONL or Parquet file, with their lines.

    A row has a `record_id`, mostly a `claim_id` (without one it speaks of the whole response), and a `label`, or a
    verdict `judged` and whether it `is_right`; an `annotator` where there are several.

    Raises:
        InputError: A row cannot be read; it is named by its line.
    """
    for batch in read_rows(path, _COLUMNS):
        for fault in batch.faults:
            raise InputError(f"{path}:{fault.line}: {fault.message}")
        for line, row in rows_of(batch):
            yield line, _given(row, f"{path}:{line}")


def truth_of(text: str) -> Label | None:
    """The label that a word for a whole response stands for: yes and true are hallucinated.

    >>> truth_of("Yes"), truth_of("faithful")
    (<Label.NOT_ENOUGH_INFO: 'NOT_ENOUGH_INFO'>, <Label.SUPPORTED: 'SUPPORTED'>)
    """
    return _HALLUCINATED.get(text.strip().lower()) or label_of(text)


def _given(row: Mapping[str, object], place: str) -> GivenLabel:
    record_id, claim_id = row.get("record_id"), row.get("claim_id")
    if record_id in (None, ""):
        raise InputError(f"{place}: record_id is missing")
    claim = None if claim_id in (None, "") else str(claim_id)
    annotator = str(row.get("annotator") or "labels")
    said = row.get("label")
    if said in (None, ""):
        given = _from_verdict(row, place, ids=(str(record_id), claim), annotator=annotator)
    else:
        label = label_of(str(said)) if claim is not None else truth_of(str(said))
        if label is None:
            raise InputError(f"{place}: label: expected one of {_known_labels()}, found {str(said)!r}")
        given = GivenLabel.saying(label, str(record_id), claim, annotator=annotator)
    fingerprint = row.get("fingerprint")
    return given if fingerprint in (None, "") else structs.replace(given, fingerprint=str(fingerprint))


def _from_verdict(row: Mapping[str, object], place: str, *, ids: tuple[str, str | None], annotator: str) -> GivenLabel:
    given = row.get("is_right")
    judged, is_right = label_of(str(row.get("judged") or "")), "" if given is None else str(given).strip().lower()
    if judged is None or is_right not in _TRUE | _FALSE:
        raise InputError(f"{place}: expected a label, or judged and is_right (true or false)")
    return GivenLabel.of_verdict(judged, *ids, is_right=is_right in _TRUE, annotator=annotator)


def _known_labels() -> str:
    return ", ".join(dict.fromkeys(label.value for label in LABEL_SYNONYMS.values()))


# Which labels count, and whose verdicts they are held against.


class LabelSettings(Struct, frozen=True, kw_only=True):
    """Where the truth about a run comes from."""

    labels: Path | None = None
    """A table of labels; None takes those that the viewer and `hallumeter label` keep in the run folder."""
    reference: str | None = None
    """A judge of the run whose verdicts are the truth."""
    gold: str | None = None
    """A field of the records that says whether the response is hallucinated."""
    annotator: str | None = None
    """Only the labels of this person; None for all."""
    judge: str | None = None
    """Whose verdicts are examined; None for the one that the headline rests on."""
    by: tuple[str, ...] = ()
    """Fields of records that slice the run."""
    cluster: str | None = None
    """The field that says which records belong together; None for the same question, patient or page."""

    def drawn_as_in(self, manifest: Manifest) -> LabelSettings:
        """The same, drawing what the intervals of the run draw, so that new ones can stand beside these."""
        own = manifest.settings.get("cluster")
        return structs.replace(self, cluster=own) if self.cluster is None and isinstance(own, str) else self


Target = tuple[str, str | None]
"""A record, and a claim of it or None for the whole response."""


class LabelLog:
    """Every label that was given, by what it speaks of."""

    def __init__(self, run: Path, settings: LabelSettings) -> None:
        self.is_from_run = settings.labels is None
        self.source = run / LABELS if settings.labels is None else settings.labels
        self._by_target: dict[Target, dict[str, GivenLabel]] = {}
        self._lines: dict[Target, int] = {}
        if settings.labels is not None:
            self._read_table(settings.labels, settings.annotator)
        elif settings.reference is None and settings.gold is None:
            for label in LabelStore(run).latest():
                if settings.annotator in (None, label.annotator):
                    self._keep(stored_label(label))

    def take(self, record_id: str, claim_id: str | None) -> list[GivenLabel]:
        """What was said of a claim, or of a response; each is handed out once."""
        return list(self._by_target.pop((record_id, claim_id), {}).values())

    @property
    def records(self) -> set[str]:
        """The records that something was said of."""
        return {record_id for record_id, _ in self._by_target}

    @property
    def left(self) -> int:
        """Labels that nothing in the run has asked for."""
        return sum(map(len, self._by_target.values()))

    def refuse_unknown(self) -> None:
        """Refuse labels from a table that speak of nothing in the run."""
        if self.is_from_run or not self._by_target:
            return
        target, *others = self._by_target
        more = f" (and {len(others):,} more)" if others else ""
        raise InputError(f"{self.source}:{self._lines[target]}: {_named(target)} is not in the run{more}")

    def _read_table(self, path: Path, annotator: str | None) -> None:
        for line, label in read_given_labels(path):
            if annotator not in (None, label.annotator):
                continue
            target = label.record_id, label.claim_id
            self._lines.setdefault(target, line)
            before = self._by_target.get(target, {}).get(label.annotator)
            if before is not None and before != label:
                raise InputError(
                    f"{path}:{line}: {label.annotator!r} gave {_named(target)} another label in line "
                    f"{self._lines[target]}; keep one of them, or name the annotators"
                )
            self._keep(label)

    def _keep(self, label: GivenLabel) -> None:
        self._by_target.setdefault((label.record_id, label.claim_id), {})[label.annotator] = label


def _named(target: Target) -> str:
    record_id, claim_id = target
    return f"record {record_id!r}" if claim_id is None else f"claim {claim_id!r} of record {record_id!r}"


def stored_label(label: HumanLabel) -> GivenLabel:
    """What a label that is kept in a run folder says."""
    ids = label.record_id, label.claim_id
    if label.label is not None:
        given = GivenLabel.saying(Label(label.label), *ids, annotator=label.annotator)
    else:
        judged = Label.UNDECIDED if label.judged is None else Label(label.judged)
        given = GivenLabel.of_verdict(judged, *ids, is_right=bool(label.is_right), annotator=label.annotator)
    return GivenLabel(*ids, label.annotator, given.is_unsupported, given.is_refuted, label.fingerprint)
