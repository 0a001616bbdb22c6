"""What the templates of a page on aspects call."""

from __future__ import annotations

from hallumeter.report.languages.speaking import say

from .families import OPEN
from .tables import DID, blame_columns, blame_groups, flow_lines
from .wording import ERROR_NOTES, ERROR_WORDS, IGNORED_WORDS, PART_WORDS, part_words, step_words


def aspect_functions() -> dict[str, object]:
    """The functions and words, under their names in templates."""
    return {
        "open_families": OPEN,
        "flow_lines_of": flow_lines,
        "blame_groups_of": blame_groups,
        "blame_columns_of": blame_columns,
        "blame_deeds": DID,
        "error_words": ERROR_WORDS,
        "error_notes": ERROR_NOTES,
        "step_words_of": step_words,
        "part_words_of": part_words,
        "part_title_of": _part_title,
        "ignored_words_of": _ignored_words,
    }


def _part_title(name: str) -> str:
    return say(PART_WORDS[name]) if name in PART_WORDS else name.replace("_", " ")


def _ignored_words(reason: str) -> str:
    return say(IGNORED_WORDS[reason]) if reason in IGNORED_WORDS else reason
