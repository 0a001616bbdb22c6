"""Audit answers: which of their sentences does the evidence not support, where, and how sure is that?

The answers ship with hallumeter: eleven questions with passages, each answered by six models. Any JSONL, CSV or Parquet
file with the columns response and evidence can take their place, or a list of dicts as below. Nothing is downloaded:
the judge is a small model inside the package, with rules for numbers, dates, names and negations.
"""

from importlib.resources import as_file, files

import hallumeter

with as_file(files("hallumeter.samples") / "rag_answers.jsonl") as path:
    run = hallumeter.audit(path, by="model")

print("Sentences that the passages do not support, as far as a small model can tell, with 95% intervals:\n")
for row in run.summary.metrics:
    if row.metric == "mihr" and row.value is not None and row.interval is not None:
        low, high = row.interval
        name = row.by.get("model", "all models")
        print(f"  {name:20} {row.count:3.0f} of {row.total:3.0f}  {row.value:6.1%}   ({low:.1%} to {high:.1%})")

print("\nWhat the evidence does not support, and where:\n")
answers = [
    {"id": "en", "response": "The tower is 999 m high.", "evidence": "The tower is 330 m high."},
    {"id": "fr", "response": "La tour fut achevée en 1989.", "evidence": "La tour fut achevée en 1889."},
    {"id": "ko", "response": "서울의 인구는 약 490만 명이다.", "evidence": "서울의 인구는 약 940만 명이다."},
]
for finding in hallumeter.audit(answers).findings():
    for verdict in finding.verdicts:
        place = f"characters {verdict.start} to {verdict.end}"
        print(f"  {verdict.record_id}: {verdict.label.value}, {place}: {verdict.note}")
