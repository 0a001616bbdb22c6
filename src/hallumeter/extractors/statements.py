"""Claims by rule: the sentences of a response that state something, or their clauses.

Works on English, French and Korean, and on Markdown: list marks, headings, fenced code and the heads of tables are
left out; every row of a table is one claim, and so is every field of a response that is JSON.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hallumeter.records import Claim, Response
from hallumeter.text.sentences import iterate_sentence_spans

from .abstention import detect_abstention
from .assertions import Force, default_reader
from .blocks import Block, blocks_of
from .clause_cuts import default_cutter
from .edges import trimmed
from .json_leaves import Leaf, json_leaves

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WORD = re.compile(r"[^\W_]")
_LINE_ENDS_AS_SPACES = str.maketrans("\n\r", "  ")


class SentenceExtractor:
    """Every sentence that states something is a claim.

    >>> response = Response("r1", response="Sure! Paris is in France. Do you need more?")
    >>> [(claim.claim_id, claim.text) for claim in SentenceExtractor().extract(response)]
    [('r1#0', 'Paris is in France.')]
    """

    name = "sentences"
    is_remote = False

    def extract(self, response: Response) -> list[Claim]:
        """The claims of a response in their order."""
        text = response.response or ""
        return _claims(response.record_id, text, _sentences(text))


class ClauseExtractor:
    """Every clause that states something is a claim; a sentence that cannot be cut is one clause.

    >>> response = Response("r1", response="He was born in 1950, and he died in 1990.")
    >>> [claim.text for claim in ClauseExtractor().extract(response)]
    ['He was born in 1950', 'he died in 1990.']
    """

    name = "clauses"
    is_remote = False

    def extract(self, response: Response) -> list[Claim]:
        """The claims of a response in their order."""
        text = response.response or ""
        return _claims(response.record_id, text, _clauses(text))


def statement_spans(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a text stand that state something: start, and end exclusive, in code points."""
    return [(start, end) for start, end, _ in _sentences(text)]


def _claims(record_id: str, text: str, spans: Iterator[tuple[int, int, bool]]) -> list[Claim]:
    return [
        Claim(record_id, f"{record_id}#{number}", start=start, end=end, text=text[start:end])
        for number, (start, end, _) in enumerate(spans)
    ]


def _sentences(text: str) -> Iterator[tuple[int, int, bool]]:
    """Start and end of every claim, and whether it is a sentence that could be cut."""
    leaves = json_leaves(text)
    if leaves is not None:
        for leaf in leaves:
            yield from _in_leaf(text, leaf)
        return
    refuses: bool | None = None
    for block in blocks_of(text):
        if block.is_row:
            yield block.start, block.end, False
            continue
        forces = _with_sources(text, _forces(text, block))
        if refuses is None and any(force is Force.DENIES for _, _, force in forces):
            refuses = detect_abstention(text).did_abstain
        for start, end, force in forces:
            if force is Force.STATES or (force is Force.DENIES and not refuses):
                yield start, end, True


def _forces(text: str, block: Block) -> Iterator[tuple[int, int, Force]]:
    force = default_reader().force
    for start, end in _sentences_within(text, block.start, block.end):
        yield start, end, force(text[start:end])


def _with_sources(text: str, sentences: Iterable[tuple[int, int, Force]]) -> list[tuple[int, int, Force]]:
    """The sentences of a block, each with the source in parentheses that follows it: "Stir well. (Passage 2)"."""
    joined: list[tuple[int, int, Force]] = []
    for start, end, force in sentences:
        if joined and force is Force.NOTHING and text[start] == "(" and text[end - 1] in ").":
            joined[-1] = (joined[-1][0], end, joined[-1][2])
        else:
            joined.append((start, end, force))
    return joined


def _sentences_within(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    # Lines of one block belong together, and the splitter would end a sentence with each of them.
    part = text[start:end].translate(_LINE_ENDS_AS_SPACES)
    for first, last in iterate_sentence_spans(part):
        span = trimmed(text, start + first, start + last)
        if span[0] < span[1]:
            yield span


def _in_leaf(text: str, leaf: Leaf) -> Iterator[tuple[int, int, bool]]:
    """A field as one claim, or the sentences of its text when there are several."""
    # Escaped line ends become line ends of the same length.
    value = text[leaf.value_start : leaf.value_end].replace("\\n", " \n")
    if _WORD.search(value) is None:
        return
    spans = list(iterate_sentence_spans(value))
    if len(spans) < 2 or text[leaf.value_start - 1] != '"':
        yield leaf.start, leaf.end, False
        return
    for first, last in spans:
        if default_reader().force(value[first:last]) is not Force.NOTHING:
            yield leaf.value_start + first, leaf.value_start + last, True


def _clauses(text: str) -> Iterator[tuple[int, int, bool]]:
    force = default_reader().force
    cut = default_cutter().cut
    for start, end, can_be_cut in _sentences(text):
        spans = cut(text, start, end) if can_be_cut else [(start, end)]
        for first, last in spans:
            if len(spans) == 1 or force(text[first:last]) is not Force.NOTHING:
                yield first, last, False
