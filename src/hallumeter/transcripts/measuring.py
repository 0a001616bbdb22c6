"""Jobs in, measured pages out: what each process does with its share of the pages."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache, partial
from itertools import repeat, starmap
from math import isinf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple
from numpy.typing import NDArray

from hallumeter.errors import InputError, RecordError
from hallumeter.records.claim import Failure
from hallumeter.records.columns import stable_hashes
from hallumeter.records.measurement import NO_VALUE
from hallumeter.records.page import Transcript
from hallumeter.records.response import FieldValue
from hallumeter.run.engines.local import map_in_order
from hallumeter.text.spelling import PROFILES, without_layout

from .anchoring import LENGTH_RATIO_CAP, AnchoringColumns, PageTexts, anchor_pages
from .inputs import TRUTH, EngineReading, PageJob, Source, Told
from .pages.page_file import read_page_file
from .pages.page_xml import PageLevel
from .pages_table import encoded_rows
from .records import MeasuredPage, record_name, status_of
from .report.thumbnails import IMAGE, REFERENCE_PLACES, RESPONSE_PLACES, written_places
from .settings import TranscriptSettings

if TYPE_CHECKING:
    from hallumeter.models.page_readers import PageReader

    from .page_reading import PageReading

_BYTES_AT_ONCE = 1 << 18
_PAGES_AT_ONCE = 64
_SHARES_AT_ONCE = 8
"""How many times as much is a share whose pages are not aligned."""
_COMPOSING = frozenset({"nfc", "nfkc", "dinglehopper", "picarones"})
"""Steps of a spelling after which the Unicode form of a text does not matter."""


_WITHOUT_LAYOUT = frozenset({"layout", "punctuation", *PROFILES})
_FEWEST_MARKS, _TELLING_MARKS = 20, 0.01
"""Characters, and their share of those of the reference: a bar that was misread here and there is no table."""
_PRIVATE = re.compile("[\ue000-\uf8ff]")
PRIVATE_LETTERS = (
    "has letters of the private use area (MUFI) where engines wrote plain ones, which count as misread;"
    " --normalize dinglehopper resolves them"
)

LAYOUT_MARKS = (
    "has rules or layout marks (|---|, box drawing, dot leaders) that the other text lacks, which count in CER and WER;"
    " --normalize layout leaves them out"
)


class Task(Struct, frozen=True):
    """How the pages of a run are measured."""

    settings: TranscriptSettings
    reference_name: str = TRUTH
    is_kept: bool = False
    """Whether findings are written into a run folder."""
    has_one_engine: bool = False


class Notice(NamedTuple):
    """What had to be guessed or left out when a file was read."""

    path: str
    message: str


class MeasuredJob(Struct, frozen=True):
    """What came of one page."""

    page: str
    pages: tuple[MeasuredPage, ...]
    failures: tuple[Failure, ...]
    notices: tuple[Notice, ...]
    digests: dict[str, str]
    """SHA-256 of every text that came from a file, by engine; the reference's is under the empty name."""
    other_forms: int
    """Readings in another Unicode form than the reference, where the spelling does not make them alike."""


class _Opened(Struct):
    """A page whose files have been read."""

    job: PageJob
    level: PageLevel = "line"
    transcripts: list[Transcript] = []
    readings: list[PageReading | None] = []
    """The transcripts, aligned; None where that is not asked for."""
    failures: list[Failure] = []
    notices: list[Notice] = []
    digests: dict[str, str] = {}
    confidence: float | None = None
    """How sure a witness is of its reading; None when it does not say."""
    places: dict[str, str] = {}
    """Where the lines of each text stand on the image of the page, by engine; those of the reference under ``""``."""


def measure_jobs(jobs: Iterable[PageJob], task: Task) -> Generator[MeasuredJob, None, None]:
    """Measure pages, in their order, in as many processes as the settings say."""
    from . import page  # noqa: F401 (loaded before there are other processes, so that none loads it again)

    measure = partial(_measure_share, task=task)
    with closing(_shares(jobs)) as shares:
        found = map_in_order(measure, shares, workers=task.settings.workers)
        with closing(found) as measured:
            for share in measured:
                yield from share


def _shares(jobs: Iterable[PageJob], *, factor: int = 1) -> Generator[list[PageJob], None, None]:
    """Some pages at a time: enough to be worth sending to another process, few enough that memory stays flat."""
    share: list[PageJob] = []
    size = 0
    for job in jobs:
        share.append(job)
        for source in (job.reference, *(reading.source for reading in job.readings)):
            size += len(source) if isinstance(source, str) else _size(source)
        if size >= factor * _BYTES_AT_ONCE or len(share) == factor * _PAGES_AT_ONCE:
            yield share
            share, size = [], 0
    if share:
        yield share


def _size(source: Source) -> int:
    """Bytes to read, roughly; an image takes as long as a share of texts."""
    if source.path is None:
        return _BYTES_AT_ONCE
    try:
        return source.path.stat().st_size
    except OSError:
        return 0


def _measure_share(jobs: list[PageJob], *, task: Task) -> list[MeasuredJob]:
    from .page import Comparison, measure_page
    from .page_reading import read_page

    def comparison(page: _Opened, transcript: Transcript) -> Comparison:
        record_id = record_name(page.job.page, transcript.engine, has_one_engine=task.has_one_engine)
        return Comparison(
            settings=task.settings,
            reference_name=task.reference_name,
            confidence=page.confidence,
            record_id=record_id if task.is_kept else None,
        )

    # Aligned first: a page too long for that is left out before anything else is done with it.
    opened = [_aligned(_open(job, task.settings), task.settings, read_page) for job in jobs]
    pages = ((page.transcripts[0].reference if page.transcripts else "", _responses(page)) for page in opened)
    texts = _texts(pages, task.settings)
    found = (row for columns in anchor_pages(texts, settings=task.settings.anchoring) for row in columns.rows())
    measured = []
    for page in opened:
        rows = tuple(
            measure_page(transcript, next(found), comparison(page, transcript), reading=reading)
            for transcript, reading in zip(page.transcripts, page.readings, strict=True)
        )
        failures, notices = tuple(page.failures), tuple(page.notices)
        reference = page.transcripts[0].reference if page.transcripts else ""
        other_forms = _count_other_forms(reference, _responses(page), task.settings)
        measured.append(MeasuredJob(page.job.page, rows, failures, notices, page.digests, other_forms))
    return measured


def _aligned(page: _Opened, settings: TranscriptSettings, read_page: Callable[..., PageReading]) -> _Opened:
    """Align the readings of a page, if that is asked for; what cannot be aligned is a failure."""
    if settings.measures != "all":
        page.readings = [None] * len(page.transcripts)
        return page
    if page.transcripts and _has_private_letters(page.transcripts, settings):
        page.notices.append(Notice(page.job.page, PRIVATE_LETTERS))
    if page.transcripts and _has_other_layout(page.transcripts, settings):
        page.notices.append(Notice(page.job.page, LAYOUT_MARKS))
    sound = []
    for transcript in page.transcripts:
        try:
            page.readings.append(
                read_page(
                    transcript.reference,
                    transcript.response,
                    spelling=settings.spelling,
                    count_notes=settings.count_notes,
                )
            )
        except RecordError as error:
            message = f"{transcript.page}: {transcript.engine}: {error}"
            page.failures.append(Failure(transcript.page, None, "measure", None, "unmeasurable", message))
        else:
            sound.append(transcript)
    page.transcripts = sound
    return page


def _has_private_letters(transcripts: list[Transcript], settings: TranscriptSettings) -> bool:
    """Whether the reference has letters of its own, such as MUFI's ligatures, for which an engine wrote others."""
    reference = transcripts[0].reference
    if settings.spelling.steps == ("dinglehopper",) or reference.isascii() or not _PRIVATE.search(reference):
        return False
    return any(not _PRIVATE.search(each.response) for each in transcripts if each.response.strip())


def _has_other_layout(transcripts: list[Transcript], settings: TranscriptSettings) -> bool:
    """Whether the reference or a response has many more rules and layout marks than the other."""
    if not _WITHOUT_LAYOUT.isdisjoint(settings.spelling.steps):
        return False  # a profile of another tool counts them as that does
    reference = transcripts[0].reference
    own, most = _marks(reference), max(_FEWEST_MARKS, _TELLING_MARKS * len(reference))
    return any(abs(_marks(each.response) - own) >= most for each in transcripts if each.response.strip())


def _marks(text: str) -> int:
    return len(text) - len(without_layout(text))


def _responses(page: _Opened) -> list[str]:
    return [transcript.response for transcript in page.transcripts]


def _count_other_forms(reference: str, responses: Sequence[str], settings: TranscriptSettings) -> int:
    """Readings of a page that are composed (NFC) where its reference is not, or the other way round."""
    if not _COMPOSING.isdisjoint(settings.spelling.steps):
        return 0
    is_composed = unicodedata.is_normalized("NFC", reference)
    others = [text for text in responses if unicodedata.is_normalized("NFC", text) != is_composed]
    return sum(not text.isspace() for text in others if text)


def _texts(pages: Iterable[tuple[str, Sequence[str]]], settings: TranscriptSettings) -> Iterator[PageTexts]:
    """The texts of every page, spelled as they are compared."""
    spelling = settings.spelling
    if spelling.profile.is_for_edits_alone or not spelling.steps:
        yield from starmap(PageTexts, pages)
        return
    for reference, responses in pages:
        yield PageTexts(spelling.text(reference) if responses else "", [spelling.text(text) for text in responses])


def _open(job: PageJob, settings: TranscriptSettings) -> _Opened:
    """Read the files of a page; one that cannot be read is a failure and takes no other with it."""
    opened = _Opened(
        job,
        level=settings.level,
        failures=list(job.told.failures),
        notices=[Notice(*notice) for notice in job.told.notices],
        confidence=job.told.confidence,
    )
    reference = _text_of(job.reference, "", opened)
    if reference is None:
        return opened
    for reading in job.readings:
        response = _text_of(reading.source, reading.engine, opened)
        if response is not None:
            fields = _placed(opened, reading) if opened.places and IMAGE in reading.fields else reading.fields
            opened.transcripts.append(Transcript(job.page, reading.engine, reference, response, fields))
    return opened


class ReadJob(Struct, frozen=True):
    """A page whose texts are known, wherever they came from, and the digests of those that came from files."""

    job: PageJob
    digests: dict[str, str]


def read_jobs(jobs: Iterable[PageJob], settings: TranscriptSettings) -> Generator[ReadJob, None, None]:
    """Read the files of pages, in their order, in as many processes as the settings say."""
    read = partial(_read_share, settings=settings)
    with closing(_shares(jobs)) as shares, closing(map_in_order(read, shares, workers=settings.workers)) as found:
        for share in found:
            yield from share


def _read_share(jobs: list[PageJob], *, settings: TranscriptSettings) -> list[ReadJob]:
    return [_read(job, settings) for job in jobs]


def _read(job: PageJob, settings: TranscriptSettings) -> ReadJob:
    if isinstance(job.reference, str) and all(isinstance(reading.source, str) for reading in job.readings):
        return ReadJob(job, {})
    opened = _open(job, settings)
    reference = opened.transcripts[0].reference if opened.transcripts else ""
    readings = tuple(EngineReading(each.engine, each.response, each.fields) for each in opened.transcripts)
    told = Told(
        tuple(opened.failures), tuple((notice.path, notice.message) for notice in opened.notices), opened.confidence
    )
    return ReadJob(PageJob(job.page, reference, readings, told), opened.digests)


def _placed(opened: _Opened, reading: EngineReading) -> dict[str, FieldValue]:
    """The fields of a reading whose page has an image, with where its lines stand on that."""
    sides = ((REFERENCE_PLACES, opened.places.get("")), (RESPONSE_PLACES, opened.places.get(reading.engine)))
    return {**reading.fields, **{name: places for name, places in sides if places}}


def _text_of(source: Source | str, engine: str, opened: _Opened) -> str | None:
    if isinstance(source, str):
        return source
    try:
        text = _text_from_disk(source, opened, engine=engine)
    except InputError as error:
        opened.failures.append(Failure(opened.job.page, None, "read", None, "unreadable", str(error)))
        return None
    opened.digests[engine] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return text


def _text_from_disk(source: Source, opened: _Opened, *, engine: str) -> str:
    if source.image is not None and source.reader is not None:
        reading = _reader(source.reader).read(source.image)
        opened.confidence = reading.confidence
        return reading.text
    assert source.path is not None
    page = read_page_file(source.path, level=opened.level)
    if not engine:
        opened.confidence = page.confidence
    if page.places:
        opened.places[engine] = written_places(page.places)
    opened.notices.extend(Notice(str(source.path), notice) for notice in page.notices)
    return page.text


@cache
def _reader(name: str) -> PageReader:
    """Each process starts an OCR engine once."""
    from hallumeter.models.page_readers_by_name import page_reader

    return page_reader(name)


# Pages that are not aligned, as columns: no record is made for any of them.

PAGE, ENGINE = "page", "engine"
"""What every reading can be grouped by."""
_COUNTED = (
    *("reference_words", "response_words", "unknown_words", "anchored_ngrams", "ngrams", "anchor_score"),
    *("reference_characters", "response_characters", "length_ratio", "picarones_badge"),
)
"""Fields of `PageCounts` that the vocabulary gives."""
_IN_ROWS = (
    *("picarones_badge", "net_insertion_rate", "anchor_score", "reference_words", "response_words"),
    "picarones_blocks",
)
"""Fields of a row of the table of pages that it gives as they are."""


class AnchoredShare(Struct, frozen=True, eq=False):
    """What came of some pages that were not aligned; columns have one value for each reading."""

    jobs: int
    """How many pages there were."""
    told: tuple[MeasuredJob, ...]
    """Pages with something to say beside their numbers."""
    counts: dict[str, NDArray[Any]]
    """Columns by the names of `PageCounts`; those that are missing are 0."""
    pages: NDArray[np.int64]
    """Which of the pages a reading is of."""
    hashes: NDArray[np.int64]
    """Of the names of the pages."""
    groups: dict[tuple[str, ...], int]
    """What readings are grouped by, numbered."""
    group_of: NDArray[np.int64]
    fields: dict[str, None]
    """What they could be grouped by."""
    statuses: Counter[str]
    rows: bytes
    """The rows of the table of pages, as `StoredRows` keeps them."""


def anchor_jobs(jobs: Iterable[PageJob], task: Task) -> Generator[AnchoredShare, None, None]:
    """Measure pages by their vocabulary alone, in their order, in as many processes as the settings say."""
    anchor = partial(_anchor_share, task=task)
    with (
        closing(_shares(jobs, factor=_SHARES_AT_ONCE)) as shares,
        closing(map_in_order(anchor, shares, workers=task.settings.workers)) as anchored,
    ):
        yield from anchored


def group_of(known: dict[str, FieldValue], by: Iterable[str]) -> tuple[str, ...]:
    """The values of some fields, as the names of a group."""
    return tuple(NO_VALUE if value is None else str(value) for value in map(known.get, by))


def grouped_by(settings: TranscriptSettings) -> tuple[str, ...]:
    """The fields that group pages, the engine first."""
    return tuple(dict.fromkeys((ENGINE, *settings.by)))


@cache
def _keep_freed_memory() -> None:
    """Let the C library keep what arrays give back, once for each process.

    glibc returns large blocks to the system, and every page of the next one is then a fault; it stops once a block of
    a few megabytes has been freed. Elsewhere this does nothing. The block is never written, so it takes no memory.
    """
    np.empty(1 << 24, dtype=np.uint8)


def _anchor_share(jobs: list[PageJob], *, task: Task) -> AnchoredShare:
    _keep_freed_memory()
    settings = task.settings
    read = [_read(job, settings) for job in jobs]
    pages = [(str(each.job.reference), [str(reading.source) for reading in each.job.readings]) for each in read]
    readings = [(each.job, reading) for each in read for reading in each.job.readings]
    columns = _anchored_columns(list(anchor_pages(_texts(pages, settings), settings=settings.anchoring)))
    statuses = [status_of(reference, text) for reference, responses in pages for text in responses]
    groups, fields, group_numbers = _grouped(readings, grouped_by(settings))
    is_empty = np.array([status == "empty_output" for status in statuses], dtype=bool)
    return AnchoredShare(
        jobs=len(jobs),
        told=tuple(_told(read, pages, settings)),
        counts={**{name: columns[name] for name in _COUNTED}, "is_empty_output": is_empty},
        hashes=stable_hashes(job.page for job in jobs),
        pages=np.repeat(np.arange(len(pages)), [len(responses) for _, responses in pages]),
        groups=groups,
        group_of=group_numbers,
        fields=fields,
        statuses=Counter(statuses),
        rows=encoded_rows(_anchored_rows(readings, statuses, columns)),
    )


def _grouped(
    readings: list[tuple[PageJob, EngineReading]], by: tuple[str, ...]
) -> tuple[dict[tuple[str, ...], int], dict[str, None], NDArray[np.int64]]:
    fields = dict.fromkeys([*(name for _, reading in readings for name in reading.fields), PAGE, ENGINE])
    groups: dict[tuple[str, ...], int] = {}
    numbers = [groups.setdefault(_group_of(page, reading, by), len(groups)) for page, reading in readings]
    return groups, fields, np.array(numbers, dtype=np.int64)


def _group_of(page: PageJob, reading: EngineReading, by: tuple[str, ...]) -> tuple[str, ...]:
    if by == (ENGINE,):
        return (reading.engine,)
    return group_of({**reading.fields, PAGE: page.page, ENGINE: reading.engine}, by)


def _told(
    read: list[ReadJob], pages: list[tuple[str, list[str]]], settings: TranscriptSettings
) -> Iterator[MeasuredJob]:
    for (job, digests), (reference, responses) in zip(map(astuple, read), pages, strict=True):
        other_forms = (
            0
            if reference.isascii() and all(map(str.isascii, responses))
            else (_count_other_forms(reference, responses, settings))
        )
        if other_forms or digests or job.told.failures or job.told.notices:
            notices = tuple(Notice(*notice) for notice in job.told.notices)
            yield MeasuredJob(job.page, (), job.told.failures, notices, digests, other_forms)


def _anchored_columns(batches: Sequence[AnchoringColumns]) -> dict[str, NDArray[Any]]:
    """What the vocabulary says of the readings, by the names of counts and rows."""
    own = {
        "anchor_score": "anchor_scores",
        "net_insertion_rate": "net_insertion_rates",
        "length_ratio": "length_ratios",
        "picarones_badge": "are_hallucinating",
    }
    names = dict.fromkeys((*_COUNTED, *_IN_ROWS))
    del names["picarones_blocks"]
    found = {name: np.concatenate([getattr(each, own.get(name, name)) for each in batches]) for name in names}
    blocks = [np.bincount(each.block_rows, minlength=len(each)) for each in batches]
    return {**found, "picarones_blocks": np.concatenate(blocks)}


def _anchored_rows(
    readings: list[tuple[PageJob, EngineReading]], statuses: Sequence[str], columns: dict[str, NDArray[Any]]
) -> Iterator[dict[str, object]]:
    """A row of the table of pages for each reading, with what is not empty in it."""
    ratios = columns["length_ratio"].tolist()
    names = (PAGE, ENGINE, "status", "is_hallucinating", "length_ratio", "length_ratio_capped", *_IN_ROWS)
    rows = zip(
        (page.page for page, _ in readings),
        (reading.engine for _, reading in readings),
        statuses,
        repeat(None, len(readings)),
        (None if isinf(ratio) else ratio for ratio in ratios),
        (min(ratio, LENGTH_RATIO_CAP) for ratio in ratios),
        *(columns[name].tolist() for name in _IN_ROWS),
        strict=True,
    )
    return (dict(zip(names, row, strict=True)) for row in rows)
