"""How pages and engines are counted in words, the same in every renderer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.report.languages.speaking import message, say, say_count
from hallumeter.report.wording import format_count, too_large_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .sections import PageCensus, ReadingSection

WITNESS_WORDS = message(
    "compared with a witness: figures are disagreement, not error; passages are unconfirmed, not proven invented"
)

_ALL_SHOWN = {
    True: message("Every page of every engine ({count}), most invented and left out first."),
    False: message("Every page of every engine ({count}), not aligned, so that nothing is marked."),
}
"""By whether they are aligned."""
_SOME_SHOWN = {
    (True, False): message(
        "The {count} readings with most words invented or left out, of {total}; the others are in records.jsonl."
    ),
    (True, True): message(
        "The {count} readings with most words invented or left out, and {random} drawn at random, of {total}; the "
        "others are in records.jsonl."
    ),
    (False, False): message(
        "The {count} readings that came first, not aligned, of {total}; the others are in records.jsonl."
    ),
    (False, True): message(
        "The {count} readings that came first, not aligned, and {random} drawn at random, of {total}; the others are "
        "in records.jsonl."
    ),
}
"""By whether they are aligned, and whether some were drawn at random."""


def has_witness(signatures: Iterable[str | None]) -> bool:
    """Whether numbers with such signatures rest on the reading of a witness instead of ground truth.

    >>> has_witness(["cer|witness:tesseract|v:1"]), has_witness(["cer|v:1", None])
    (True, False)
    """
    return any("|witness:" in signature for signature in signatures if signature)


def census_words(census: PageCensus, failures: int) -> list[str]:
    """What a run holds, piece by piece."""
    parts = [
        say_count(census.pages, "{count} page", "{count} pages"),
        say_count(census.engines, "{count} engine", "{count} engines"),
        say_count(census.empty_outputs, "{count} empty output", "{count} empty outputs"),
        say_count(failures, "{count} failure", "{count} failures"),
    ]
    if census.empty_references:
        parts.append(
            say_count(
                census.empty_references,
                "{count} page with empty ground truth",
                "{count} pages with empty ground truth",
            )
        )
    if census.undecided:
        parts.append(say_count(census.undecided, "{count} undecided page", "{count} undecided pages"))
    return parts


def reading_coverage_words(section: ReadingSection) -> str:
    """Which pages can be read here, and where the others are."""
    shown = len(section.readings)
    is_aligned = any(view.stretches for view in section.readings)
    if shown == section.total:
        return say(_ALL_SHOWN[is_aligned], count=format_count(shown))
    drawn = sum(view.picked == "random" for view in section.readings)
    told = say(
        _SOME_SHOWN[is_aligned, drawn > 0],
        count=format_count(shown - drawn),
        random=format_count(drawn),
        total=format_count(section.total),
    )
    return f"{told} {too_large_words(section.too_large)}" if section.too_large else told
