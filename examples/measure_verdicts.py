"""Measure a file of verdicts: how often is each model not backed by its sources, and how sure is that?

The file ships with hallumeter: 66 answers of six models, each sentence checked by a person. Any JSONL, CSV or Parquet
file with the columns record_id, claim_id and label can take its place.
"""

from importlib.resources import as_file, files

import hallumeter

with as_file(files("hallumeter.samples") / "rag_answers.jsonl") as path:
    summary = hallumeter.measure(path, by=("model",))

print("Sentences that the sources do not support (MiHR), with 95% intervals:\n")
for row in summary.metrics:
    if row.metric == "mihr" and row.value is not None and row.interval is not None:
        low, high = row.interval
        name = row.by.get("model", "all models")
        print(f"  {name:20} {row.count:3.0f} of {row.total:3.0f}  {row.value:6.1%}   ({low:.1%} to {high:.1%})")

print("\nEleven answers per model leave wide intervals: this sample is too small to rank the models.")
print(f"To repeat the first line: {summary.metrics[0].signature}")
