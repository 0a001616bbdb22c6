"""The Korean ABSA agents' own names: plain mappings in, plain mappings out.

>>> text = "배터리는 좋지만 뷰가 별로"
>>> aspects = [{"term": "뷰", "span": {"start": 9, "end": 10}}, {"term": "화면", "span": {"start": 9, "end": 11}}]
>>> raw, filtered, kept_terms, dropped_terms = build_filtered_aspects(text, aspects)
>>> kept_terms, dropped_terms, ate_score(filtered)["hallucination_flag"]
(['뷰'], ['화면'], True)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec import Struct, structs

from hallumeter.aspects.aggregate.tables import column_of
from hallumeter.aspects.auxiliary import auxiliary_signal, classifier_named
from hallumeter.aspects.catalog import ASPECT_METRICS
from hallumeter.aspects.grounding import AspectGrounder, target_words
from hallumeter.aspects.metrics.counts import count_scorecard
from hallumeter.aspects.metrics.rates import case_columns, repeated
from hallumeter.aspects.readers.by_language import reader_for
from hallumeter.aspects.records.aspect import Aspect
from hallumeter.aspects.records.columns import AspectColumns, CaseColumns
from hallumeter.aspects.records.outputs import (
    AspectExtraction,
    AspectReview,
    AspectSentiments,
    DebateSummary,
    ReviewContext,
    SentimentReview,
    StageOpinion,
    StructuralValidation,
    ValidatorOpinion,
)
from hallumeter.aspects.records.scorecard import DROP, Scorecard
from hallumeter.aspects.score.outputs import output_reader
from hallumeter.aspects.score.reading import tolerant_record
from hallumeter.aspects.score.scorecard import make_scorecard as scorecard_for
from hallumeter.aspects.score.scorecards import scorecard_of
from hallumeter.aspects.sentiment_words import sentence_label
from hallumeter.aspects.settings import OverrideThresholds
from hallumeter.aspects.stages.changes import (
    Memory,
    anchored,
    with_aspect_review,
    with_proposals,
    with_sentiment_review,
)
from hallumeter.aspects.stages.draft import Draft, ReadSentence
from hallumeter.aspects.stages.moderator import moderate as moderated
from hallumeter.aspects.stages.override import with_overrides
from hallumeter.errors import RecordError
from hallumeter.records.metric import Metric

# What other programs hand in, as plain mappings, lists and values: their objects are read by their attributes.


def plain_value(value: object) -> Any:
    """A value in which every object, however deep, is a mapping of its attributes; what has none stays as it is.

    >>> from types import SimpleNamespace
    >>> plain_value([SimpleNamespace(term="battery", span=SimpleNamespace(start=0, end=7))])
    [{'term': 'battery', 'span': {'start': 0, 'end': 7}}]
    """
    if isinstance(value, Enum):
        return plain_value(value.value)
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {key: plain_value(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain_value(each) for each in value]
    names = _names_of(value)
    if names is not None:
        return {name: plain_value(getattr(value, name)) for name in names if hasattr(value, name)}
    return tuple(plain_value(each) for each in value) if isinstance(value, tuple) else value


def plain_mapping(value: object, where: str) -> dict[str, Any]:
    """A mapping or an object as a plain mapping.

    Raises:
        RecordError: It is neither.
    """
    try:
        found = plain_value(value)
    except RecursionError:
        raise RecordError(f"{where}: nested too deeply, or within itself") from None
    if not isinstance(found, dict):
        text = "nothing" if value is None else f"{type(value).__name__} {value!r}"[:80]
        raise RecordError(f"{where}: expected a mapping or an object with attributes, found {text}")
    return found


def listed(values: object, where: str) -> list[object]:
    """The items of anything that holds several.

    Raises:
        RecordError: It holds none; a text and a mapping are one thing, not several.
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise RecordError(f"{where}: expected a list, found {'nothing' if values is None else type(values).__name__}")
    return list(values)


def _names_of(value: object) -> list[str] | None:
    """The attributes by which an object is read; None for what is no object of somebody's own class.

    Properties are read only where nothing else is to be seen: some classes warn when theirs are.
    """
    kind = type(value)
    if isinstance(value, type) or callable(value):
        return None
    if isinstance(value, Struct):
        return list(value.__struct_fields__)
    if is_dataclass(value):
        return [field.name for field in fields(value)]
    if isinstance(value, tuple):
        return list(getattr(kind, "_fields", ())) or None
    slots = [getattr(each, "__slots__", ()) for each in kind.__mro__]
    if not hasattr(value, "__dict__") and not any(slots):
        return None
    stored = [*getattr(value, "__dict__", ()), *(name for each in slots for name in _several(each))]
    seen = [name for name in stored if not name.startswith("_")]
    return seen or [name for each in kind.__mro__ for name, what in vars(each).items() if isinstance(what, property)]


def _several(slots: str | Iterable[str]) -> Iterable[str]:
    return (slots,) if isinstance(slots, str) else slots


__all__ = [
    "ModeratorOutput",
    "aggregate_single_run",
    "ate_score",
    "build_filtered_aspects",
    "build_final_aspects",
    "build_hf_signal",
    "filtered_aspects",
    "has_hallucinated_aspect",
    "make_scorecard",
    "moderate",
]


_OVER_ALL = {"changed_samples_rate": "changed", "guided_change_rate": "guided", "unguided_drift_rate": "unguided"}
"""Rates that are divided by `N` here, whether or not a row tells what changed, and the counts that they divide."""


_RATE = "aspect_hallucination_rate"
_NOTHING_TOLD = "no row tells which aspects stage 1 named"


_OVERRIDE_STATS = ("applied", "skipped_low_signal", "skipped_conflict", "skipped_already_confident")
_NOWHERE = {"start": 0, "end": 0}
_HANGUL = range(0xAC00, 0xD7A4)


class ModeratorOutput(dict[str, Any]):
    """What the moderator decided, by name or as attributes."""

    def __getattr__(self, name: str) -> Any:
        """An entry as an attribute."""
        if name not in self:
            raise AttributeError(name)
        return self[name]


def build_filtered_aspects(
    text: str, aspects: Iterable[object], allowlist: Iterable[str] | None = None
) -> tuple[list[Any], list[dict[str, Any]], list[str], list[str]]:
    """Keep or drop every aspect: what was given, what became of it, the terms kept, and the terms dropped.

    `filtered_aspects` gives the same by name.
    """
    found = filtered_aspects(text, aspects, allowlist)
    return found["raw"], found["filtered"], found["kept_terms"], found["dropped_terms"]


def filtered_aspects(text: str, aspects: Iterable[object], allowlist: Iterable[str] | None = None) -> dict[str, Any]:
    """Keep or drop every aspect; `allowlist` extends the list that ships.

    A span that is missing, negative or beyond the text is a drop. The `drop_reason` is the same for all drops;
    `drop_class` tells H1 (not in the text), H2 (misplaced) and filter (no target) apart.
    """
    if not isinstance(text, str):
        raise RecordError(f"text: expected a string, found {type(text).__name__}")
    raw = [_aspect(each, f"aspects[{number}]") for number, each in enumerate(listed(aspects, "aspects"))]
    read = [tolerant_record({"term": each} if isinstance(each, str) else each, Aspect) for each in raw]
    found = AspectGrounder(target_words(allowlist or ())).ground(text, read)
    filtered = [
        {
            "term": aspect.term,
            "span": None if isinstance(given, str) else given.get("span"),
            "action": aspect.action,
            "drop_reason": aspect.drop_reason,
            "drop_class": aspect.drop_class,
        }
        for given, aspect in zip(raw, found.filtered, strict=True)
    ]
    return {
        "raw": raw,
        "filtered": filtered,
        "kept_terms": list(found.kept_terms),
        "dropped_terms": list(found.dropped_terms),
    }


def ate_score(filtered: object) -> dict[str, Any]:
    """Whether an aspect was dropped; takes the list of filtered aspects, or what `filtered_aspects` gives."""
    found = plain_value(filtered)
    given = listed((found.get("filtered") or ()) if isinstance(found, dict) else filtered, "filtered")
    items = [plain_mapping(each, f"filtered[{number}]") for number, each in enumerate(given)]
    dropped = [item for item in items if item.get("action") == DROP]
    return {
        "hallucination_flag": bool(dropped),
        "kept": len(items) - len(dropped),
        "dropped": len(dropped),
        "aspect_judgements": [
            {"term": item.get("term"), "action": item.get("action"), "reason": item.get("drop_reason")}
            for item in items
        ],
    }


def make_scorecard(entry: object) -> dict[str, Any]:
    """The scorecard of one line of `outputs.jsonl`, a mapping or an object.

    Stage 1 and 2 may stand in `process_trace`. A line without aspects of stage 1 has no `ate`: nobody knows whether
    one was dropped. One without sentiments is scored as if it had none, as the Korean ABSA agents do.
    """
    output = output_reader().record_of(plain_mapping(entry, "entry"))
    untold = tuple(block for block in output.meta.untold if block != "stage1.atsa")
    return _decoded(scorecard_for(structs.replace(output, meta=structs.replace(output.meta, untold=untold))))


def has_hallucinated_aspect(record: object) -> bool:
    """Whether the flag in `ate` is exactly true, or an aspect was dropped; a flag in `ate_score` alone is not read."""
    return _is_hallucinated(scorecard_of(plain_mapping(record, "record")))


def aggregate_single_run(rows: Iterable[object], profile: str | None = None) -> dict[str, Any]:
    """Every metric of some scorecards by its name, and their number `N`; None for what is undefined.

    Sentences that failed count in `N`, and changes are divided by it, as in the definition of the rates. A profile
    that no row has gives `N` 0.
    """
    given = [plain_mapping(each, f"rows[{number}]") for number, each in enumerate(listed(rows, "rows"))]
    chosen = [
        (row, card)
        for row, card in zip(given, map(scorecard_of, given), strict=True)
        if profile is None or card.chosen_profile == profile
    ]
    cards = [card for _, card in chosen]
    counted = AspectColumns.of(count_scorecard(structs.replace(card, flags=None)) for card in cards)
    cases = _cases(cards)
    found: dict[str, Any] = {"N": len(cards), "profile_filter": profile}
    found |= {column_of(metric.id): _value(metric, counted, cases) for metric in ASPECT_METRICS}
    over_all = {name: float(counted.column(count).sum()) for name, count in _OVER_ALL.items()}
    over_all["parse_generate_failure_rate"] = sum(card.is_failed for card in cards)
    found |= {name: number / len(cards) if cards else None for name, number in over_all.items()}
    return found | _hallucinated(cards, counted) | _overrides([row for row, _ in chosen])


def moderate(
    stage1_ate: object,
    stage2_ate: object,
    stage1_atsa: object = None,
    stage2_atsa: object = None,
    validator: object = None,
    debate_summary: object = None,
) -> ModeratorOutput:
    """Apply Rules Z, B, M, C, A, D and E; each opinion is a mapping or an object with label and confidence.

    >>> decided = moderate({"label": "positive", "confidence": 0.9}, {"label": "positive", "confidence": 0.6})
    >>> decided.final_label, decided.arbiter_flags.confidence_margin_used, decided["applied_rules"]
    ('positive', 0.3, ['B'])
    """
    first = _opinion(stage1_ate, "stage1_ate")
    if first is None:
        raise RecordError("stage1_ate: expected label and confidence, found nothing")
    decided = moderated(
        first,
        _opinion(stage2_ate, "stage2_ate"),
        stage1_atsa=_opinion(stage1_atsa, "stage1_atsa"),
        stage2_atsa=_opinion(stage2_atsa, "stage2_atsa"),
        validator=_validator(validator),
        debate_summary=_summary(debate_summary),
    )
    plain = _decoded(decided)
    return ModeratorOutput(plain | {"arbiter_flags": ModeratorOutput(plain["arbiter_flags"])})


def build_final_aspects(final_aspect_sentiments: Iterable[object] | None) -> list[dict[str, Any]]:
    """The final sentiments as a list of mappings; one that is implicit has an empty term that stands nowhere.

    >>> build_final_aspects([{"aspect_term": None, "polarity": "negative", "is_implicit": True}])[0]["aspect_term"]
    {'term': '', 'span': {'start': 0, 'end': 0}}
    """
    given = [] if final_aspect_sentiments is None else listed(final_aspect_sentiments, "final_aspect_sentiments")
    found = [plain_mapping(each, f"final_aspect_sentiments[{number}]") for number, each in enumerate(given)]
    unnamed = {"aspect_term": {"term": "", "span": _NOWHERE}}
    return [each | unnamed if each.get("is_implicit") is True else each for each in found]


def _build_stage_delta(entry: object) -> dict[str, Any]:
    """What changed between the stages of a line of `outputs.jsonl`, by the labels that it gives both of them."""
    row = plain_mapping(entry, "entry")
    log = output_reader().record_of({"text_id": "", "input_text": "", **row}).correction_applied_log
    first, second = (row.get(name) or {} for name in ("stage1_ate", "stage2_ate"))
    do_differ = bool(second) and second.get("label") != (first.get("label") or "")
    if not do_differ and not (row.get("analysis_flags") or {}).get("correction_occurred"):
        return {"changed": False, "change_type": "none", "related_proposal_ids": []}
    kind = "guided" if any(each.applied for each in log) else "unguided"
    return {"changed": True, "change_type": kind, "related_proposal_ids": [str(n) for n in range(len(log))]}


def _apply_stage2_reviews(  # noqa: PLR0917 (as many as the original takes)
    stage1_ate: object,
    stage1_atsa: object,
    stage2_ate_review: object,
    stage2_atsa_review: object,
    stage2_validator: object = None,  # noqa: ARG001 (the original takes it and does not read it)
    stage1_validator: object = None,
    debate_review_context: object = None,
    input_text: str = "",
) -> tuple[dict[str, Any], dict[str, Any], list[str], list[dict[str, Any]]]:
    """Patch the result of stage 1: aspects, sentiments, what could not be tied to an aspect, and the log.

    Spans are checked against `input_text`; without it none can be revised, and no aspect added.
    """
    sentence = ReadSentence(input_text, reader_for("ko" if any(ord(each) in _HANGUL for each in input_text) else "en"))
    draft = Draft(
        _block(stage1_ate, AspectExtraction, "stage1_ate").aspects,
        _block(stage1_atsa, AspectSentiments, "stage1_atsa").aspect_sentiments,
    )
    validation = _block(stage1_validator, StructuralValidation, "stage1_validator")
    proposed = with_proposals(draft, validation.correction_proposals, sentence)
    memory = Memory()
    aspects = _block(stage2_ate_review, AspectReview, "stage2_ate_review")
    draft = with_aspect_review(proposed.draft, aspects, sentence=sentence, memory=memory).draft
    sentiments = _block(stage2_atsa_review, SentimentReview, "stage2_atsa_review")
    draft = with_sentiment_review(draft, sentiments, sentence=sentence, memory=memory).draft
    context = _block(debate_review_context, ReviewContext, "debate_review_context")
    done = with_overrides(draft, context, thresholds=OverrideThresholds(), risks=validation.structural_risks)
    tied = anchored(done.draft)
    return (
        _decoded(AspectExtraction(tied.draft.aspects)),
        _decoded(AspectSentiments(tied.draft.sentiments)),
        [note.removeprefix("anchoring: ") for note in tied.notes],
        [_decoded(each) for each in (*proposed.log, *done.log)],
    )


def build_hf_signal(
    text: str,
    checkpoint: str,
    id2label: Mapping[str, str] | None = None,
    stage1_final: str | None = None,
    stage2_final: str | None = None,
) -> dict[str, Any]:
    """What a sentiment classifier says beside the pipeline; a checkpoint that starts with ``llm:`` is refused."""
    # Whoever calls this in Python names the file and could as well open it.
    named = Path(checkpoint.partition(":")[2])
    classifier = classifier_named(checkpoint, id2label, trusted=[named])
    return _decoded(auxiliary_signal(text, classifier, stage1_label=stage1_final, stage2_label=stage2_final))


def _value(metric: Metric, cards: AspectColumns, cases: CaseColumns) -> float | None:
    result = metric.compute(cases if metric.reads == "aspect_cases" else cards)
    value: float | None = result if result is None or isinstance(result, float) else result.value
    return value


def _hallucinated(cards: list[Scorecard], counted: AspectColumns) -> dict[str, Any]:
    """The share with a dropped aspect among rows that tell their aspects or failed, or why there is none."""
    told = int(counted.column("told").sum())
    if not told:
        return {"undefined": {_RATE: _NOTHING_TOLD}} if cards else {}
    number = told + sum(card.is_failed for card in cards)
    return {_RATE: sum(map(_is_hallucinated, cards)) / number}


def _is_hallucinated(card: Scorecard) -> bool:
    has_flag = card.ate is not None and card.ate.hallucination_flag is True
    return has_flag or any(aspect.action == DROP for aspect in card.filtered)


def _overrides(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """How many overrides of the debate were applied and skipped; None where no row tells."""
    told = [stats for stats in map(_override_stats, rows) if stats is not None]
    sums = {name: sum(_count(stats.get(name)) for stats in told) if told else None for name in _OVERRIDE_STATS}
    weighed = sum(number or 0 for number in sums.values())
    confident = sums["skipped_already_confident"]
    changed = sum(_count(stats.get("applied")) > 0 for stats in told)
    return {f"debate_override_{name}": number for name, number in sums.items()} | {
        "debate_override_skipped_already_confident_rate": confident / weighed
        if confident is not None and weighed
        else None,
        "override_applied_n": changed if told else None,
        "override_applied_rate": changed / len(rows) if told else None,
    }


def _override_stats(row: dict[str, Any]) -> dict[str, Any] | None:
    """The counts of a row, in the block of its debate or in its meta."""
    for block, name in (("debate", "override_stats"), ("meta", "debate_override_stats")):
        place = row.get(block)
        if isinstance(place, dict) and isinstance(place.get(name), dict):
            return dict(place[name])
    return None


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0


def _cases(cards: list[Scorecard]) -> CaseColumns:
    """The same sentences in several runs; a sentence without an id is compared with nothing."""
    names: dict[object, int] = {}
    runs: dict[object, int] = {}
    codes = [names.setdefault(card.case_id or number, len(names)) for number, card in enumerate(cards)]
    run_codes = [runs.setdefault(card.run_key, len(runs)) for card in cards]
    said = np.array([repeated(card) for card in cards], dtype=np.int64).reshape(-1, 3)
    return case_columns(np.array(codes, dtype=np.int64), np.array(run_codes, dtype=np.int64), said)


_Block = TypeVar("_Block", bound=Struct)


def _block(given: object, kind: type[_Block], name: str) -> _Block:
    """What an agent said, empty where it said nothing."""
    return kind() if given is None else tolerant_record(plain_mapping(given, name), kind)


def _opinion(given: object, name: str) -> StageOpinion | None:
    """An opinion of a stage, which must have a label."""
    if given is None:
        return None
    row = plain_mapping(given, name)
    return tolerant_record(row | {"label": _label(row.get("label"), f"{name}: label")}, StageOpinion)


def _validator(given: object) -> ValidatorOpinion | None:
    """What a validator says, which may suggest no label."""
    if given is None:
        return None
    row = _with_lists(plain_mapping(given, "validator"), "issues")
    suggested = row.get("suggested_label") or None
    label = None if suggested is None else _label(suggested, "validator: suggested_label")
    return tolerant_record(row | {"suggested_label": label}, ValidatorOpinion)


def _summary(given: object) -> DebateSummary | None:
    if given is None:
        return None
    row = _with_lists(plain_mapping(given, "debate_summary"), "key_agreements", "key_disagreements")
    return tolerant_record(row, DebateSummary)


def _label(word: object, where: str) -> str:
    label = sentence_label(word) if isinstance(word, str) else None
    if label is None:
        raise RecordError(f"{where} is {word!r}; expected positive, negative, neutral or mixed"[:160])
    return label


def _with_lists(row: dict[str, Any], *names: str) -> dict[str, Any]:
    """A row in which a single text stands in a list, where a list is expected."""
    return row | {name: [row[name]] for name in names if isinstance(row.get(name), str)}


def _aspect(given: object, where: str) -> Any:
    return given if isinstance(given, str) else plain_mapping(given, where)


def _decoded(record: Struct) -> dict[str, Any]:
    """A record as plain mappings, lists and values."""
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(record))
    return found
