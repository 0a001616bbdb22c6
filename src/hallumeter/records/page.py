"""What an engine wrote for a page, and what was measured of it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from .response import FieldValue, Response

PageStatus = Literal["ok", "empty_output", "empty_reference", "both_empty", "refused", "undecided"]
"""What there was to compare; `refused` when the engine said that it cannot read the page, and wrote little else;
`undecided` when a witness was too poor to tell."""


class Transcript(Struct, frozen=True):
    """One engine's reading of one page."""

    page: str
    engine: str
    reference: str
    """The ground truth, or the reading of a witness."""
    response: str
    """What the engine wrote; empty when it wrote nothing."""
    fields: dict[str, FieldValue] = field(default_factory=dict)
    """What else is known of the page, kept for grouping."""


class PageRow(Struct, frozen=True, kw_only=True):
    """One page of one engine in numbers: a row of `pages.csv`. A rate is None where nothing could be counted."""

    page: str
    engine: str
    status: PageStatus
    """`ok`, `empty_output`, `empty_reference`, `both_empty`, `refused`, or `undecided` when a witness was too poor."""
    is_hallucinating: bool | None
    """The product's badge; None for an empty output or a refusal, or when it could not be told."""
    picarones_badge: bool
    """The badge of Picarones: anchor score below its threshold, or length ratio above."""
    cer: float | None = None
    wer: float | None = None
    mer: float | None = None
    wil: float | None = None
    net_insertion_rate: float
    anchor_score: float
    length_ratio: float | None
    """Uncapped; None when the reference is empty and the response is not."""
    length_ratio_capped: float
    """At most 9.99, as Picarones writes it down."""
    true_insertion_rate: float | None = None
    invented_rate: float | None = None
    """Share of the response's words in invented blocks and loops."""
    loop_rate: float | None = None
    omission_rate: float | None = None
    multiset_insertion_rate: float | None = None
    number_insertion_rate: float | None = None
    name_insertion_rate: float | None = None
    reference_words: int
    response_words: int
    picarones_blocks: int = 0
    """Blocks by Picarones' definition: words that the page has nowhere."""
    blocks: int | None = None
    """Blocks by alignment: stretches, not words, as loops and omissions are."""
    loops: int | None = None
    omissions: int | None = None
    remarks: str | None = None
    """Kinds of remarks about the page, joined by `+`: refusal, apology, wrapper, note, description."""
    remark_words: int | None = None
    """Words in such remarks; they are not among the invented ones."""
    is_exact: bool | None = None
    """False when a long page was aligned by anchors: its error rates are then upper bounds."""
    errors_punctuation: int | None = None
    """Words that differ from the page in signs alone; each word is in one class, the gravest that it needs."""
    errors_hyphens: int | None = None
    """Also words divided at the end of a line, and joined."""
    errors_spacing: int | None = None
    """Words cut or joined otherwise."""
    errors_case: int | None = None
    errors_accents: int | None = None
    errors_ligatures: int | None = None
    errors_numerals: int | None = None
    """Numbers in digits or Roman numerals with another value or form."""
    errors_abbreviations: int | None = None
    """Words written out that are short on the page, or the other way round."""
    errors_modernised: int | None = None
    """Words in a later spelling than that of the page: `roi` for `roy`."""
    errors_other: int | None = None
    """All other misread words."""


_ERRORS = "errors_"
ERROR_CLASSES = tuple(name.removeprefix(_ERRORS) for name in PageRow.__struct_fields__ if name.startswith(_ERRORS))
"""What a misread word may differ in, lightest first."""


def page_of(response: Response) -> tuple[str, str]:
    """The page that a response reads, and the engine that read it."""
    engine = response.model or ""
    page = response.fields.get("page")
    return (response.record_id.removesuffix(f"@{engine}") if page is None else str(page)), engine


KINDS = ("block", "loop", "omission", "insertion", "remark", "run")
"""Kinds of stretches, worst first."""


class WorstLine(Struct, frozen=True, kw_only=True):
    """A line of the ground truth that an engine read badly: a row of `lines.csv`."""

    engine: str
    page: str
    line: int
    """From 1; lines without a letter do not count."""
    cer: float
    errors: int
    """Edits of characters."""
    characters: int
    reference: str
    """Cut when it is very long."""
    response: str
    """What was read for it."""
    start: int
    """First code point in the ground truth of the page."""
    end: int


class InventedWord(Struct, frozen=True):
    """A name or a number that an engine wrote and the page does not have: a row of `invented.csv`."""

    engine: str
    page: str
    kind: str
    """`name` or `number`."""
    token: str
    context: str
    """What stands around it in the response."""
    start: int
    """First code point in the response."""
