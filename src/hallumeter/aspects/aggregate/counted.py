"""Some scorecards at a time: their counts, what repeated runs compare, and their lines in tables and run files."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from hallumeter.aspects.catalog import METRICS_BY_ID
from hallumeter.aspects.grounding import JUDGE, CountedText, drop_class_of, placement_of
from hallumeter.aspects.metrics.counts import count_row, count_scorecard
from hallumeter.aspects.metrics.rates import WHOLE, Repeated, breakdown_items, rate_of, repeated
from hallumeter.aspects.metrics.tuples import match_tuples, pairs_of
from hallumeter.aspects.records.aspect import AspectTuple, TextSpan
from hallumeter.aspects.records.columns import ASPECT_COUNTS, AspectColumns
from hallumeter.aspects.records.scorecard import DROP, AspectPlacement, Scorecard
from hallumeter.aspects.score.reading import Chunk
from hallumeter.aspects.score.scorecards import completed, scorecard_reader
from hallumeter.formats.delimited import formula_safe
from hallumeter.records.claim import Claim, Failure, Label, Verdict
from hallumeter.records.measurement import Measurement
from hallumeter.records.response import Passage, Quote, Response

SENTENCE = "sentence"
"""The passage that aspects are held against."""
STAGE_1, FINAL = "aspect", "final_aspect"
RECORD_METRICS = (
    "aspect_hallucination_rate",
    "aspect_drop_rate",
    "out_of_text_aspect_rate",
    "misplaced_aspect_rate",
    "off_target_aspect_rate",
    "opinion_grounded_rate",
    "evidence_relevance_rate",
    "tuple_f1_s1",
    "tuple_f1_s2",
    "tuple_f1_final",
)
"""The metrics that a single sentence has a value of."""
FAILED = "the pipeline broke off"
_ENCODER = msgspec.json.Encoder()
_VERDICTS: dict[str | None, tuple[Label, str | None]] = {
    None: (Label.SUPPORTED, None),
    "H1": (Label.REFUTED, "out_of_text"),
    "H2": (Label.REFUTED, "span_mismatch"),
    "filter": (Label.NOT_ENOUGH_INFO, "not_a_target"),
}


class RecordLines(NamedTuple):
    """The lines of one sentence, or of several."""

    records: bytes
    claims: bytes
    verdicts: bytes
    measurements: bytes
    failures: bytes
    claim_count: int
    failure_count: int


def card_lines(card: Scorecard, first_run: tuple[str, int | None] | None) -> RecordLines:
    """The lines of a sentence; those of other runs than the first have the run in their id."""
    record_id = record_id_of(card, first_run)
    made = _Made(record_id, card.text or "")
    failures = []
    if card.is_failed:
        failures.append(_failure(card, record_id))
    else:
        made.add_stage1(card)
        made.add_final(card)
    return RecordLines(
        _lines([_record(card, record_id)]),
        _lines(made.claims),
        _lines(made.verdicts),
        _lines(_measurements(card, record_id)),
        _lines(failures),
        len(made.claims),
        len(failures),
    )


def joined_lines(cards: Sequence[RecordLines]) -> RecordLines:
    """The lines of several sentences, one after the other."""
    return RecordLines(
        b"".join([each.records for each in cards]),
        b"".join([each.claims for each in cards]),
        b"".join([each.verdicts for each in cards]),
        b"".join([each.measurements for each in cards]),
        b"".join([each.failures for each in cards]),
        sum(each.claim_count for each in cards),
        sum(each.failure_count for each in cards),
    )


def record_id_of(card: Scorecard, first_run: tuple[str, int | None] | None) -> str:
    """The id of a sentence: its own in the first run, with run and seed in the others."""
    return record_name(card.case_id, card.run_key, first_run)


def record_name(sentence: str | None, run: RunKey, first_run: RunKey | None) -> str:
    """The id of a sentence of a run."""
    known = sentence or ""
    if first_run is None or run == first_run:
        return known
    named = "" if run[0] == first_run[0] else f"{run[0]}/"
    return f"{known}@{named}{'' if run[1] is None else run[1]}"


def _record(card: Scorecard, record_id: str) -> Response:
    meta, (run, seed) = card.meta, card.run_key
    fields = {
        "text_id": card.case_id,
        "run_id": run or None,
        "seed": seed,
        "profile": card.chosen_profile,
        "label": card.final_label,
        "mode": None if meta is None else meta.mode,
        "split": None if meta is None else meta.split,
        "case_type": None if meta is None else meta.case_type,
        "language": None if meta is None else meta.language_code,
        "domain": None if meta is None else meta.domain_id,
    }
    text = card.text
    return Response(
        record_id=record_id,
        response=text,
        evidence=() if text is None else (Passage(SENTENCE, text),),
        model=run or None,
        fields={name: value for name, value in fields.items() if value is not None},
    )


def _failure(card: Scorecard, record_id: str) -> Failure:
    assert card.flags is not None
    text = card.flags.failure or FAILED
    parts = text.split(": ", 2)
    code = parts[1] if len(parts) == 3 else "parse_failed" if card.flags.parse_failed else "generate_failed"
    return Failure(record_id, None, "pipeline", None, code, f"sentence {record_id}: {text}")


def _measurements(card: Scorecard, record_id: str) -> list[Measurement]:
    columns = AspectColumns.of([count_scorecard(card)])
    found = []
    for name in RECORD_METRICS:
        metric = METRICS_BY_ID[name]
        rate = rate_of(columns, **metric.compute.keywords).pooled  # type: ignore[attr-defined]
        why = None
        if rate.value is None:
            why = FAILED if card.is_failed else metric.undefined_when
        found.append(Measurement(name, "record", record_id, {}, None, rate.count, rate.total, rate.value, why))
    return found


class _Made:
    """The claims of a sentence and the verdicts on them."""

    def __init__(self, record_id: str, text: str) -> None:
        self._record_id = record_id
        self._text = text
        self.claims: list[Claim] = []
        self.verdicts: list[Verdict] = []

    def add_stage1(self, card: Scorecard) -> None:
        """The aspects of stage 1, as the filter left them."""
        for aspect in card.filtered:
            span = TextSpan(*aspect.span) if isinstance(aspect.span, tuple) else aspect.span
            is_dropped = aspect.action == DROP
            found = (aspect.drop_class or "unknown") if is_dropped else None
            self._add(STAGE_1, aspect.term or "", span, found=found, placement=aspect.placement)

    def add_final(self, card: Scorecard) -> None:
        """The named aspects of the result; one without a place has only to stand in the text."""
        result = card.final_result
        counted = CountedText(self._text)
        for each in () if result is None else result.final_tuples or ():
            if not each.aspect_term:
                continue
            found = drop_class_of(counted, each.aspect_term, each.span)
            is_right = found == "filter" or (found == "H2" and each.span is None)
            placement = None if is_right else placement_of(counted, each.aspect_term, each.span)
            self._add(FINAL, each.aspect_term, each.span, found=None if is_right else found, placement=placement)

    def _add(
        self, kind: str, term: str, span: TextSpan | None, *, found: str | None, placement: AspectPlacement | None
    ) -> None:
        place = self._possible(span)
        start, end = (None, None) if place is None else (place.start, place.end)
        claim_id = f"{self._record_id}#{len(self.claims)}"
        label, reason = _VERDICTS.get(found, (Label.UNDECIDED, None))
        nearest = self._possible(None if placement is None else placement.nearest)
        if found is None:
            nearest = place
        quotes = () if nearest is None else (self._quote(nearest),)
        is_kept_nowhere = found is None and place is not span
        note = _given(span) if is_kept_nowhere else _note(term, span, found=found, placement=placement)
        self.claims.append(Claim(self._record_id, claim_id, kind, start, end, term))
        self.verdicts.append(
            Verdict(self._record_id, claim_id, JUDGE, label, None, reason, start, end, evidence=quotes, note=note)
        )

    def _possible(self, span: TextSpan | None) -> TextSpan | None:
        """A place in the text; scorecards that were made elsewhere may name others."""
        return span if span is not None and span.is_within(self._text) else None

    def _quote(self, span: TextSpan) -> Quote:
        return Quote(SENTENCE, span.start, span.end, self._text[span.start : span.end])


def _note(term: str, span: TextSpan | None, *, found: str | None, placement: AspectPlacement | None) -> str | None:
    if found is None:
        return None
    given = _given(span)
    if found == "H1":
        return f"{term!r} does not stand in the text; {given}"
    nearest = None if placement is None else placement.nearest
    if nearest is None:
        return f"{term!r} is no target; {given}" if found == "filter" else given
    text = f"{term!r} stands at {nearest.start}-{nearest.end}; {given}"
    if placement is not None and placement.conventions:
        text += f", which is right when counted as {', '.join(placement.conventions)}"
    return text


def _given(span: TextSpan | None) -> str:
    return "no span given" if span is None else f"given_span {span.start}-{span.end}"


def _lines(records: Sequence[msgspec.Struct]) -> bytes:
    return _ENCODER.encode_lines(records)


# Stage 1, the result and gold of every sentence side by side: a table for people.

COLUMNS = (
    *("text_id", "run", "seed", "text", "label", "stage1", "stage2", "final", "gold"),
    *("f1_stage1", "f1_final", "status"),
)
HEAD = "\t".join(COLUMNS).encode() + b"\n"
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def triptych_line(card: Scorecard) -> bytes:
    """The line of a sentence; what is not known is empty, and no aspect is a dash."""
    run, seed = card.run_key
    result = card.final_result
    gold = None if card.inputs is None else card.inputs.gold_tuples
    stage1, stage2, final = (
        (None, None, None) if result is None else (result.stage1_tuples, result.stage2_tuples, result.final_tuples)
    )
    cells = (
        safe_cell(card.case_id or ""),
        safe_cell(run),
        "" if seed is None else str(seed),
        safe_cell(card.text or ""),
        safe_cell(card.final_label or ""),
        *map(_shown, (stage1, stage2, final, gold)),
        _f1(stage1, gold),
        _f1(final, gold),
        "failed" if card.is_failed else "",
    )
    return "\t".join(cells).encode("utf-8", "replace") + b"\n"


def safe_cell(text: str) -> str:
    r"""A text that stays in its cell, and that no spreadsheet takes for a formula.

    >>> safe_cell("a\tb\nc"), safe_cell("=1+1")
    ('a\\tb\\nc', "'=1+1")
    """
    return formula_safe(text.translate(_ESCAPES))


def _shown(tuples: Sequence[AspectTuple] | None) -> str:
    if tuples is None:
        return ""
    text = "; ".join(f"{each.aspect_term or '(unnamed)'}: {each.polarity or '(missing)'}" for each in tuples)
    return safe_cell(text) if text else "–"


def _f1(tuples: Sequence[AspectTuple] | None, gold: Sequence[AspectTuple] | None) -> str:
    if tuples is None or gold is None:
        return ""
    return f"{match_tuples(tuples, pairs_of(gold)).f1:.4f}"


_ROW = struct.Struct(f"={len(ASPECT_COUNTS)}d")
RunKey = tuple[str, int | None]
"""The id of a run, and its seed."""
RUN, SEED = "run", "seed"
UNNAMED = "unnamed"
"""What a run is called whose scorecards do not name it; nothing stands for all runs together."""


def run_name(run: RunKey) -> dict[str, str]:
    """A run as the group that it is.

    >>> run_name(("demo", 1)), run_name(("", None))
    ({'run': 'demo', 'seed': '1'}, {'run': 'unnamed'})
    """
    name = run[0] or UNNAMED
    return {RUN: name} if run[1] is None else {RUN: name, SEED: str(run[1])}


class CountTask(Struct, frozen=True):
    """What is wanted of scorecards."""

    profile: str | None = None
    is_kept: bool = False
    """Whether lines for tables and run files are wanted."""
    first_run: RunKey | None = None
    """The run whose sentences keep their ids as they are."""


class CountedCards(NamedTuple):
    """What some scorecards come to."""

    table: NDArray[np.float64]
    said: NDArray[np.int64]
    """What repeated runs compare."""
    cases: list[str | None]
    runs: list[RunKey]
    breakdowns: dict[RunKey, Counter[tuple[str, str]]]
    profiles: Counter[str]
    """Of all scorecards, those left out included."""
    triptych: bytes
    lines: RecordLines | None
    failures: list[Failure]


def counted_chunk(chunk: Chunk, task: CountTask) -> CountedCards:
    """Read some lines and count them."""
    failures: list[Failure] = []
    return counted_cards(map(completed, scorecard_reader().records(chunk, failures)), task, failures)


def counted_cards(cards: Iterable[Scorecard], task: CountTask, failures: list[Failure]) -> CountedCards:
    """Count scorecards, of the profile that is wanted, one after the other."""
    counting = _Counting(task)
    for card in cards:
        counting.add(card)
    return counting.counted(failures)


class _Counting:
    """Scorecards while they are counted."""

    def __init__(self, task: CountTask) -> None:
        self._task = task
        self._rows = bytearray()
        self._said: list[Repeated] = []
        self._cases: list[str | None] = []
        self._runs: list[RunKey] = []
        self._breakdowns: dict[RunKey, Counter[tuple[str, str]]] = {}
        self._profiles: Counter[str] = Counter()
        self._triptych: list[bytes] = []
        self._lines: list[RecordLines] = []

    def add(self, card: Scorecard) -> None:
        """Take one more."""
        task, named = self._task, card.chosen_profile or ""
        self._profiles[named] += 1
        if task.profile is not None and named != task.profile:
            return
        run = card.run_key
        self._rows += _ROW.pack(*count_row(card))
        self._said.append(repeated(card))
        self._cases.append(card.case_id)
        self._runs.append(run)
        mine = self._breakdowns.get(run)
        if mine is None:
            mine = self._breakdowns[run] = Counter()
        for name, part, number in breakdown_items(card):
            mine[name, part] += number
        if task.is_kept:
            self._triptych.append(triptych_line(card))
            self._lines.append(card_lines(card, task.first_run))

    def counted(self, failures: list[Failure]) -> CountedCards:
        """What they come to."""
        return CountedCards(
            np.frombuffer(self._rows, dtype=np.float64).reshape(-1, len(ASPECT_COUNTS)),
            np.array(self._said, dtype=np.int64).reshape(-1, len(Repeated._fields)),
            self._cases,
            self._runs,
            self._breakdowns,
            self._profiles,
            b"".join(self._triptych),
            joined_lines(self._lines) if self._task.is_kept else None,
            failures,
        )


# The counts of all scorecards, as they come in.

MOST_PARTS = 1_000
"""Different parts of breakdowns that are told apart; reasons come from files, and need not end."""
OTHERS = "others"
FIRST_FAILURES = 1_000
"""Failures that are kept in memory."""


def bounded_parts(parts: Counter[tuple[str, str]]) -> Counter[tuple[str, str]]:
    """Parts of breakdowns; of very many the first by name are told apart, whatever they are added up from."""
    # The same ones stay for any split and order of the scorecards: one that is left out has enough others before it.
    told = sorted(key for key in parts if key[1] not in (WHOLE, OTHERS)) if len(parts) > MOST_PARTS else []
    for key in told[MOST_PARTS:]:
        parts[key[0], OTHERS] += parts.pop(key)
    return parts


class CardCounts:
    """Counts of scorecards, with the sentence and the run of each."""

    def __init__(self, runs: Iterable[RunKey] = ()) -> None:
        """Begin; runs that are known already keep their order."""
        self._tables: list[NDArray[np.float64]] = []
        self._said: list[NDArray[np.int64]] = []
        self._case_codes: list[int] = []
        self._run_codes: list[int] = []
        self._cases: dict[str, int] = {}
        self._unnamed = 0
        self.runs: dict[RunKey, int] = {run: code for code, run in enumerate(runs)}
        self.breakdowns: dict[RunKey, Counter[tuple[str, str]]] = {}
        self.profiles: Counter[str] = Counter()
        self.claims = self.failures_total = 0
        self.failures: list[Failure] = []

    def add(self, found: CountedCards) -> None:
        """Take some more scorecards."""
        self._tables.append(found.table)
        self._said.append(found.said)
        self._case_codes += [self._case_code(case) for case in found.cases]
        self._run_codes += [self.runs.setdefault(run, len(self.runs)) for run in found.runs]
        for run, counted in found.breakdowns.items():
            self.breakdowns[run] = bounded_parts(self.breakdowns.get(run, Counter()) + counted)
        self.profiles.update(found.profiles)
        if found.lines is not None:
            self.claims += found.lines.claim_count
        self.failures_total += len(found.failures)
        self.failures += found.failures[: max(0, FIRST_FAILURES - len(self.failures))]

    def column(self, name: str) -> NDArray[np.float64]:
        """One count of all scorecards. They are never put together as a whole: that would take twice the memory."""
        place = ASPECT_COUNTS.index(name)
        return np.concatenate([np.empty(0), *(table[:, place] for table in self._tables)])

    def total(self, name: str) -> float:
        """One count added up over all scorecards."""
        return float(self.column(name).sum())

    @property
    def said(self) -> NDArray[np.int64]:
        """What repeated runs compare; a sentence without an id is compared with nothing."""
        return np.concatenate([np.empty((0, 3), dtype=np.int64), *self._said])

    @property
    def cases(self) -> NDArray[np.int64]:
        """Which sentence each scorecard is of."""
        return np.array(self._case_codes, dtype=np.int64)

    @property
    def run_codes(self) -> NDArray[np.int64]:
        """Which run each scorecard is of."""
        return np.array(self._run_codes, dtype=np.int64)

    @property
    def repeated_in_a_run(self) -> int:
        """Scorecards of a sentence that its run has one of already."""
        places = self.cases * max(1, len(self.runs)) + self.run_codes
        return len(places) - len(np.unique(places))

    def __len__(self) -> int:
        return len(self._case_codes)

    def _case_code(self, case: str | None) -> int:
        """A number for each sentence; every one without an id is another."""
        if case is None:
            self._unnamed += 1
            case = f"\0{self._unnamed}"
        return self._cases.setdefault(case, len(self._cases))
