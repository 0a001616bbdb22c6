"""Pages measured in parts and merged give the summary of the whole, bit for bit."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from hallumeter import InputError, SettingsError, Transcript, TranscriptSettings, load
from hallumeter.records.response import FieldValue
from hallumeter.run.run_folder import keeping_partials
from hallumeter.transcripts.commands import measure_transcripts, transcripts_to_folder
from hallumeter.transcripts.inputs import opened_records
from hallumeter.transcripts.instrument import INSTRUMENT
from hallumeter.transcripts.partial import TranscriptsPartial, partial_from_bytes

WORDS = ("le", "roi", "de", "france", "et", "navarre", "1789", "Paris", "la", "reine", "des", "indes", "mil", "sept")
ENGINES = ("zulu", "alpha", "mike")
SETTINGS = TranscriptSettings(resamples=100, by=("decade",))


def pages_of(seed: int, count: int, engines: tuple[str, ...] = ENGINES) -> list[list[Transcript]]:
    """Pages read by some engines, with words left out, added and misread; some outputs are empty."""
    draw, found = random.Random(seed), []
    for number in range(count):
        truth = draw.choices(WORDS, k=draw.randrange(0, 20))
        decade: dict[str, FieldValue] = {"decade": draw.choice(["1780", "1790", None])}
        readings = []
        for engine in draw.sample(engines, draw.randint(1, len(engines))):
            text = [word for word in truth if draw.random() < 0.9] + draw.choices(WORDS, k=draw.choice([0, 0, 2, 9]))
            response = draw.choice([" ".join(text)] * 8 + ["", "I cannot read this page."])
            readings.append(Transcript(f"p{number}", engine, " ".join(truth), response, decade))
        found.append(readings)
    return found


def partial_of_pages(
    pages: list[list[Transcript]], settings: TranscriptSettings = SETTINGS, engines: tuple[str, ...] | None = None
) -> TranscriptsPartial:
    """The partial of pages; every part knows all engines, unless it is to find them itself."""
    given = [reading for page in pages for reading in page]
    with keeping_partials(), opened_records(given, columns=settings.columns) as jobs:
        jobs.engines = jobs.engines if engines is None else engines
        return measure_transcripts(jobs, settings).partial


def merged(partials: list[TranscriptsPartial]) -> TranscriptsPartial:
    while len(partials) > 1:
        first, second, *rest = partials
        partials = [*rest, partial_from_bytes(first.to_bytes()).merge(second)]
    return partials[0]


@pytest.mark.parametrize(("seed", "parts", "count"), [(1, 3, 40), (2, 2, 7), (3, 4, 640)])
def test_any_split_by_page_merged_in_any_order_is_the_whole(seed: int, parts: int, count: int) -> None:
    pages, draw = pages_of(seed, count), random.Random(seed)
    settings = TranscriptSettings(resamples=100, by=("decade",), measures="all" if count < 100 else "anchoring")
    whole = partial_of_pages(pages, settings, ENGINES)
    shuffled = draw.sample(pages, len(pages))
    cuts = sorted(draw.randrange(1, count) for _ in range(parts - 1))
    split = [shuffled[start:end] for start, end in zip([0, *cuts], [*cuts, count], strict=True)]
    found = merged([partial_of_pages(part, settings, ENGINES) for part in draw.sample(split, len(split))])
    assert found.to_bytes() == whole.to_bytes()
    assert found.summary() == whole.summary()


def test_parts_of_interpreters_with_other_hash_seeds_give_the_same() -> None:
    pages = pages_of(6, 24)
    program = (
        "import sys; from tests.transcripts.test_transcripts_partial import *; "
        "part = partial_of_pages(pages_of(6, 24)[int(sys.argv[1]) :: 2], SETTINGS, ENGINES); "
        "sys.stdout.buffer.write(part.to_bytes())"
    )
    found = [
        subprocess.run(
            [sys.executable, "-c", program, str(part)],
            env={**os.environ, "PYTHONHASHSEED": str(part + 5)},
            cwd=Path(__file__).parents[2],
            capture_output=True,
            check=True,
        ).stdout
        for part in range(2)
    ]
    assert (
        merged(list(map(partial_from_bytes, found))).to_bytes() == partial_of_pages(pages, SETTINGS, ENGINES).to_bytes()
    )


def test_parts_that_do_not_know_each_others_engines_list_them_by_name() -> None:
    pages = pages_of(7, 20)
    found = merged([partial_of_pages(pages[:8]), partial_of_pages(pages[8:])])
    assert found.engines == tuple(sorted(ENGINES))
    assert found.summary().metrics == partial_of_pages(pages, SETTINGS, tuple(sorted(ENGINES))).summary().metrics


def test_engines_in_one_order_give_the_same_bytes() -> None:
    pages = [[page[0]] for page in pages_of(5, 30, engines=("one",))]
    assert (
        merged([partial_of_pages(pages[20:]), partial_of_pages(pages[:20])]).to_bytes()
        == partial_of_pages(pages).to_bytes()
    )


def test_a_ranking_is_merged_from_the_values_of_the_pages() -> None:
    pages = [page for page in pages_of(9, 60, engines=("a", "b")) if len(page) == 2]
    pages = [sorted(page, key=lambda reading: reading.engine) for page in pages]
    whole = partial_of_pages(pages).summary()
    found = merged([partial_of_pages(pages[10:]), partial_of_pages(pages[:10])]).summary()
    assert whole.ranking is not None
    assert found.ranking == whole.ranking
    assert found == whole


def test_a_run_that_is_a_part_keeps_its_partial(tmp_path: Path) -> None:
    pages = [reading for page in pages_of(4, 12) for reading in page]
    with keeping_partials():
        transcripts_to_folder(opened_records(pages, columns=SETTINGS.columns), tmp_path / "part", settings=SETTINGS)
    assert INSTRUMENT.partials is not None
    partials = INSTRUMENT.partials()
    assert partials.partial_of(tmp_path / "part").summary() == load(tmp_path / "part").summary
    with pytest.raises(InputError, match="not a partial"):
        partials.partial_from_bytes(b"[]")


def test_parts_of_different_settings_are_refused() -> None:
    pages = pages_of(1, 3)
    with pytest.raises(SettingsError, match="different settings"):
        partial_of_pages(pages).merge(partial_of_pages(pages, TranscriptSettings(resamples=200)))
