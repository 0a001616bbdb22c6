"""Stage 1, the result and gold of every sentence side by side: a table for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hallumeter.metrics.aspects import match_tuples, pairs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hallumeter.records.aspects import AspectTuple
    from hallumeter.records.aspects.scorecard import Scorecard

COLUMNS = (
    *("text_id", "run", "seed", "text", "label", "stage1", "stage2", "final", "gold"),
    *("f1_stage1", "f1_final", "status"),
)
HEAD = "\t".join(COLUMNS).encode() + b"\n"
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_FORMULA = ("=", "+", "-", "@")
"""With which a cell begins that a spreadsheet would calculate."""


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
    plain = text.translate(_ESCAPES)
    return f"'{plain}" if plain.startswith(_FORMULA) else plain


def _shown(tuples: Sequence[AspectTuple] | None) -> str:
    if tuples is None:
        return ""
    told = "; ".join(f"{each.aspect_term or '(unnamed)'}: {each.polarity or '(missing)'}" for each in tuples)
    return safe_cell(told) if told else "–"


def _f1(tuples: Sequence[AspectTuple] | None, gold: Sequence[AspectTuple] | None) -> str:
    if tuples is None or gold is None:
        return ""
    return f"{match_tuples(tuples, pairs_of(gold)).f1:.4f}"
