"""Outputs in, scorecards out: many lines at a time, in several processes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from hallumeter.aspects.grounding import TargetWords
from hallumeter.aspects.records.aspect import AspectTuple
from hallumeter.errors import InputError, RecordError
from hallumeter.formats.yaml import parse_yaml
from hallumeter.records.claim import Failure
from hallumeter.run.engines.local import map_in_order

from .outputs import output_reader
from .reading import Chunk, opened_lines
from .scorecard import ScorecardMaker

# Lists of terms that are targets, as users write them.

_STRUCTURED = (".json", ".yaml", ".yml")
_BETWEEN = re.compile(r"[,;\t\r\n]+")
_KEYS = ("allowlist", "aspect_allowlist", "terms")


def read_allowlist(path: Path) -> tuple[str, ...]:
    """The terms of a file: a JSON or YAML list, or text with a term on each line or between commas.

    Raises:
        InputError: The file cannot be read, or holds no list of terms.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8"
        raise InputError(f"{path}: cannot be read ({reason}); expected a list of terms") from error
    if path.suffix.lower() in _STRUCTURED:
        terms = _listed(path, text)
    else:
        lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
        terms = [term.strip() for line in lines for term in _BETWEEN.split(line)]
    found = tuple(dict.fromkeys(term for term in terms if term))
    if not found:
        raise InputError(f"{path}: holds no term; expected a JSON or YAML list, or a term on each line")
    return found


def _listed(path: Path, text: str) -> list[str]:
    file = parse_yaml(text.encode(), path.name)  # JSON is YAML, too
    if file.root is None or file.faults:
        raise InputError(f"{path}: cannot be read as a list ({file.faults[0]})")
    found = file.root.plain
    if isinstance(found, dict):
        found = next((found[key] for key in _KEYS if key in found), found)
    terms = [term for term in found if isinstance(term, str)] if isinstance(found, list) else []
    if not isinstance(found, list) or len(terms) < len(found):
        raise InputError(f'{path}: expected a list of terms in quotes, such as ["맛", "앱"]')
    return terms


INSTRUMENT = "aspects score"
"""What manifests call outputs that were scored in shards; in one piece they are a file, and no run."""
FIRST_FAILURES = 1_000
"""Failures that are kept in memory."""
_ENCODER = msgspec.json.Encoder()


class ScoreSettings(Struct, frozen=True, kw_only=True):
    """By what outputs are scored."""

    words: TargetWords
    profile: str | None = None
    """Without it every output names its own."""
    gold: dict[str, tuple[AspectTuple, ...]] | None = None
    is_strict: bool = False
    """Stop at a line that cannot be used."""
    workers: int = 1


class ScoredLines(NamedTuple):
    """The scorecards of a chunk, written."""

    cards: bytes
    sentences: int
    with_gold: int
    """Those whose gold is known."""
    matched: tuple[str, ...]
    """Ids of sentences that found gold in the file of gold."""
    silent: int
    """Sentences that do not tell the aspects of stage 1."""
    failures: list[Failure]


class Scored(Struct):
    """What came of all outputs."""

    sentences: int = 0
    with_gold: int = 0
    silent: int = 0
    """Sentences that do not tell the aspects of stage 1."""
    failures_total: int = 0
    failures: list[Failure] = msgspec.field(default_factory=list)
    """The first of them."""
    notices: list[str] = msgspec.field(default_factory=list)


def score_outputs(path: Path, settings: ScoreSettings, write: Callable[[bytes], object]) -> Scored:
    """Score all outputs of a file, in their order.

    Raises:
        InputError: The file cannot be read, or no line of it can be used.
        RecordError: A line cannot be used, and the settings are strict.
    """
    found = Scored()
    matched: set[str] = set()
    for lines in scored_chunks(path, settings):
        if settings.is_strict and lines.failures:
            raise RecordError(lines.failures[0].message)
        write(lines.cards)
        found.sentences += lines.sentences
        found.with_gold += lines.with_gold
        found.silent += lines.silent
        found.failures_total += len(lines.failures)
        found.failures += lines.failures[: max(0, FIRST_FAILURES - len(found.failures))]
        matched.update(lines.matched)
    if not found.sentences:
        first = f"; the first fault: {found.failures[0].message}" if found.failures else ""
        raise InputError(f"{path}: no output could be scored{first}")
    if found.silent:
        found.notices.append(
            f"sentences without aspects of stage 1 (neither in stage1.ate nor in process_trace): {found.silent:,}; "
            "they count in no rate of dropped aspects"
        )
    if settings.gold is not None:
        found.notices += _gold_notices(found, unused=len(settings.gold) - len(matched))
    return found


def scored_chunks(path: Path, settings: ScoreSettings) -> Iterator[ScoredLines]:
    """The scorecards of a file, some at a time."""
    score = partial(scored_chunk, settings=settings)
    with opened_lines(path) as chunks, closing(map_in_order(score, chunks, workers=settings.workers)) as found:
        yield from found


def scored_chunk(chunk: Chunk, settings: ScoreSettings) -> ScoredLines:
    """The scorecards of some lines."""
    maker = ScorecardMaker(settings.words, profile=settings.profile, gold=settings.gold)
    failures: list[Failure] = []
    gold = settings.gold or {}
    cards = bytearray()
    matched = []
    sentences = with_gold = silent = 0
    for output in output_reader().records(chunk, failures):
        card = maker.make(output)
        cards += _ENCODER.encode(card)
        cards += b"\n"
        sentences += 1
        with_gold += card.inputs is not None and card.inputs.gold_tuples is not None
        silent += card.ate is None and not card.is_failed
        if output.text_id in gold:
            matched.append(output.text_id)
    return ScoredLines(bytes(cards), sentences, with_gold, tuple(matched), silent, failures)


def _gold_notices(found: Scored, *, unused: int) -> Iterator[str]:
    if unused:
        yield f"gold of sentences that no output is about: {unused:,}"
    if found.with_gold < found.sentences:
        yield f"sentences without gold: {found.sentences - found.with_gold:,}"
