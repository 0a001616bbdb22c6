"""Are judges better than counting characters? The embedded and the rules judge beside null baselines.

    python benchmarks/null_baselines.py RAGTRUTH [--answers 200] [--judge embedded --judge rules]
    python benchmarks/null_baselines.py RUN [--labels FILE]

RAGTRUTH holds ``train_responses.jsonl`` and ``train_sources.jsonl``; answers are drawn by source. A sentence counts as
unsupported when it overlaps a span that people marked, an answer when it has such a sentence. Both judges were fitted
on answers of this set, so that their own figures are too good; the baselines know nothing of it. RUN is a run folder
with labels of its own, or with those of a table.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from hallumeter.claims.audit.commands import audit_files
from hallumeter.claims.labelled.scoring import BaselineSettings
from hallumeter.claims.labelled.sources import LabelSettings
from hallumeter.claims.settings import AuditSettings
from hallumeter.decide.baselines import baselines_text, null_baselines
from hallumeter.run.engines.local import available_cores
from hallumeter.run.finished import Run, load
from hallumeter.run.progress import NoProgress
from hallumeter.run.run_folder import MANIFEST, RunFolder
from language_model_agreement import answers


def audited(folder: Path, work: Path, *, count: int, judges: tuple[str, ...]) -> tuple[Run, Path]:
    """Answers of RAGTruth, judged, and what people marked in them as labels of claims."""
    rows = answers(folder, count, seed=0)
    spans = {str(row["id"]): row.pop("spans") for row in rows}
    given = work / "answers.jsonl"
    given.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    settings = AuditSettings(judges=judges, workers=available_cores())
    audit_files([given], work / "run", settings=settings, progress=NoProgress())
    lines = ["record_id,claim_id,label"]
    for claim in RunFolder(work / "run").claims():
        marked = spans[claim.record_id]
        assert isinstance(marked, list)
        assert claim.start is not None
        assert claim.end is not None
        is_marked = any(start < claim.end and end > claim.start for start, end in marked)
        lines.append(f"{claim.record_id},{claim.claim_id},{'UNSUPPORTED' if is_marked else 'SUPPORTED'}")
    labels = work / "labels.csv"
    labels.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return load(work / "run"), labels


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", type=Path)
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--answers", type=int, default=200)
    parser.add_argument("--judge", action="append")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        if (given.path / MANIFEST).is_file():
            run, labels = load(given.path), given.labels
        else:
            judges = tuple(given.judge or ("embedded", "rules"))
            run, labels = audited(given.path, Path(place), count=given.answers, judges=judges)
        started = time.perf_counter()
        settings = BaselineSettings(labels=LabelSettings(labels=labels, by=("task",)), workers=available_cores())
        found = null_baselines(run, settings)
        print(baselines_text(found), end="")
        print(f"\n{time.perf_counter() - started:.1f} s, of which most was spent on asking judges again")


if __name__ == "__main__":
    main()
