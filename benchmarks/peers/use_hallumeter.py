"""The answers through hallumeter, as its user would write it between the two marks."""

import json
import os
import sys
from pathlib import Path

ANSWERS, OUT, JUDGE = sys.argv[1:]
os.environ["HALLUMETER_API_KEY"] = "none"

# begin
import hallumeter

run = hallumeter.audit(ANSWERS, judge=f"{JUDGE}#gpt-4o-mini", out="run")
rows = run.scores().to_dicts()
scores = {row["record_id"]: row["factscore"] for row in rows}
# end

noted = [row["record_id"] for row in rows if row["failed"]]
Path(OUT).write_text(json.dumps({"scores": scores, "noted": noted}))
