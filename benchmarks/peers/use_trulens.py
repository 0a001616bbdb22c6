"""The answers through TruLens, as its user would write it between the two marks."""

import json
import os
import sys
from pathlib import Path

ANSWERS, OUT, JUDGE = sys.argv[1:]
os.environ |= {"OPENAI_API_KEY": "none", "TRULENS_OTEL_TRACING": "0"}

# begin
from concurrent.futures import ThreadPoolExecutor

from trulens.core.feedback.feedback import GroundednessConfigs
from trulens.providers.openai import OpenAI

rows = [json.loads(line) for line in Path(ANSWERS).open()]
provider = OpenAI(model_engine="gpt-4o-mini", base_url=JUDGE, rpm=60_000)
configs = GroundednessConfigs(use_sent_tokenize=False, filter_trivial_statements=True)


def scored(row):
    source = "\n".join(row["evidence"])
    try:
        return provider.groundedness_measure_with_cot_reasons(source, row["response"], groundedness_configs=configs)
    except Exception:
        return None, {}


with ThreadPoolExecutor(16) as pool:
    found = list(pool.map(scored, rows))
scores = {row["id"]: None if score == -1 else score for row, (score, _) in zip(rows, found, strict=True)}
# end

noted = [
    row["id"]
    for row, (_, said) in zip(rows, found, strict=True)
    if "reason" in said or any(reason["score"] == -1 for reason in said.get("reasons", []))
]
Path(OUT).write_text(json.dumps({"scores": scores, "noted": noted}))
