"""Weave: a scorer whose summary has intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from hallumeter.claims.checked import OnRefusal
from hallumeter.claims.settings import DEFAULT_JUDGE
from hallumeter.stats.bootstrap import cluster_bootstrap_interval

from .checked_answer import UNMEASURED, UNSUPPORTED_RATE, Checker, PartsReader, missing

try:
    import weave
except ImportError as error:
    raise missing("weave", "Weave") from error

__all__ = ["UnsupportedClaims"]


class UnsupportedClaims(weave.Scorer):
    """The share of an answer's claims that the evidence does not support, 0 is best.

    Evidence and question are looked for in the output of the model and in the columns of the dataset under the usual
    names (``context``, ``documents``, ...). What cannot be measured has None for a rate, which no summary counts, and
    the reason in `problem` and `explanation`.
    """

    judge: Any = DEFAULT_JUDGE
    preset: str | None = None
    threshold: float | None = None
    on_refusal: OnRefusal = "unmeasured"
    paths: dict[str, str] | None = None
    """Where else something is, such as ``{"evidence": "row.docs[].text"}``; a row has the columns of the dataset."""
    _checker: Checker | None = None
    _reader: PartsReader | None = None

    def model_post_init(self, context: Any, /) -> None:
        """Look at the settings once, before anything is scored."""
        super().model_post_init(context)
        options = {"judge": self.judge, "preset": self.preset, "threshold": self.threshold}
        self._checker = Checker({**options, "on_refusal": self.on_refusal})  # type: ignore[typeddict-item]
        self._reader = PartsReader(self.paths)

    @weave.op
    async def score(self, *, output: Any, **row: Any) -> dict[str, Any]:
        """Check one output against the evidence of its row."""
        assert self._checker is not None
        assert self._reader is not None
        parts = self._reader.parts({"output": output, "row": row}, answer="output", asked=("row",))
        answer = await self._checker.in_thread(parts)
        return {
            UNSUPPORTED_RATE: answer.unsupported_rate,
            "label": answer.label,
            "explanation": answer.explanation,
            **answer.metadata(),
        }

    @weave.op
    def summarize(self, score_rows: list[Any]) -> dict[str, Any]:
        """Counts of all rows; the rate of their claims together and its 95 % interval, rows being resampled."""
        measured = [row for row in score_rows if row and row.get(UNSUPPORTED_RATE) is not None]
        unsupported = np.array([row["unsupported"] for row in measured], dtype=np.float64)
        decided = unsupported + np.array([row["supported"] for row in measured], dtype=np.float64)
        interval = cluster_bootstrap_interval(unsupported, decided, rng=np.random.default_rng(0)) if measured else None
        return {
            UNSUPPORTED_RATE: float(unsupported.sum() / decided.sum()) if measured else None,
            "low": None if interval is None else interval.low,
            "high": None if interval is None else interval.high,
            "unsupported_claims": int(unsupported.sum()),
            "decided_claims": int(decided.sum()),
            "measured": len(measured),
            UNMEASURED: len(score_rows) - len(measured),
        }
