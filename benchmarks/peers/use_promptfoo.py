"""The answers through promptfoo, as its user would write it between the two marks."""

import json
import os
import subprocess
import sys
from pathlib import Path

ANSWERS, OUT, JUDGE = sys.argv[1:]
os.environ |= {"PROMPTFOO_DISABLE_TELEMETRY": "1", "PROMPTFOO_DISABLE_UPDATE": "1", "PROMPTFOO_CONFIG_DIR": "state"}
PROMPTFOO = os.environ.get("PROMPTFOO", "promptfoo")

# begin
CONFIG = f"""
prompts: ["{{{{response}}}}"]
providers: [echo]
tests: file://tests.json
defaultTest:
  assert:
    - type: context-faithfulness
      threshold: 0.8
      provider:
        id: openai:chat:gpt-4o-mini
        config: {{apiBaseUrl: "{JUDGE}", apiKey: none}}
"""
rows = [json.loads(line) for line in Path(ANSWERS).open()]
tests = [
    {
        "description": row["id"],
        "vars": {"query": row["question"], "response": row["response"], "context": "\n".join(row["evidence"])},
    }
    for row in rows
]
Path("tests.json").write_text(json.dumps(tests))
Path("promptfooconfig.yaml").write_text(CONFIG)
subprocess.run([PROMPTFOO, "eval", "--max-concurrency", "16", "--no-table", "--output", "results.json"], check=False)
results = json.loads(Path("results.json").read_text())["results"]["results"]
scores = {result["testCase"]["description"]: result["score"] for result in results}
# end

noted = [
    result["testCase"]["description"]
    for result in results
    if not (result["gradingResult"] or {}).get("reason", "").startswith(("All assertions passed", "Faithfulness"))
]
Path(OUT).write_text(json.dumps({"scores": scores, "noted": noted}))
