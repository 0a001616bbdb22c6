"""Write down what the model in the package says of the pinned claims. Run by hand when the model is another:

    PYTHONPATH=src python tests/claims/judges/embedded/write_pinned.py

Only ``expected`` is written anew in every row of ``pinned_claims.jsonl``; the claims and their evidence stay. How many
rows changed is printed, and which stand so near to a threshold that another processor might decide them otherwise.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from embedded_tasks import TIERS
from pinned_records import PATH, Row, claim_id_of, pinned_rows, said_of

from hallumeter.claims.judges.embedded.judge import EmbeddedJudge
from hallumeter.claims.judges.embedded.model_files import KINDS

_NEAR = 0.001


def write_pinned() -> None:
    rows = pinned_rows()
    said = said_of(rows)
    changed = sum(row.get("expected") != each for row, each in zip(rows, said, strict=True))
    written = [{**row, "expected": each} for row, each in zip(rows, said, strict=True)]
    PATH.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in written), encoding="utf-8")
    sys.stdout.write("\n".join([f"{len(rows)} claims, {changed} of them changed", *_near(written)]) + "\n")


def _near(rows: Sequence[Row]) -> list[str]:
    """Lines about the claims that are nearly as probable as a threshold."""
    thresholds = {tier: {EmbeddedJudge(tier).threshold(kind) for kind in KINDS} for tier in TIERS}
    return [
        f"near the threshold of {tier}: {claim_id_of(row)} of {row['task']}"
        for tier in TIERS
        for row in rows
        if any(abs(row["expected"][tier]["probability"] - each) < _NEAR for each in thresholds[tier])
    ]


if __name__ == "__main__":
    write_pinned()
