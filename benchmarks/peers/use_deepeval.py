"""The answers through DeepEval, as its user would write it between the two marks."""

import json
import os
import sys
from pathlib import Path

ANSWERS, OUT, JUDGE = sys.argv[1:]
os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_UPDATE_WARNING_OPT_IN": "NO", "ERROR_REPORTING": "NO"}

# begin
from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import FaithfulnessMetric
from deepeval.models import OpenAIModel
from deepeval.test_case import LLMTestCase

rows = [json.loads(line) for line in Path(ANSWERS).open()]
cases = [
    LLMTestCase(name=row["id"], input=row["question"], actual_output=row["response"], retrieval_context=row["evidence"])
    for row in rows
]
judge = OpenAIModel(model="gpt-4o-mini", base_url=JUDGE, api_key="none")
result = evaluate(
    cases,
    [FaithfulnessMetric(model=judge, include_reason=False)],
    async_config=AsyncConfig(max_concurrent=16),
    cache_config=CacheConfig(write_cache=True, use_cache=True),
    display_config=DisplayConfig(show_indicator=False, print_results=False),
    error_config=ErrorConfig(ignore_errors=True),
)
scores = {case.name: case.metrics_data[0].score if case.metrics_data else None for case in result.test_results}
# end

Path(OUT).write_text(json.dumps({"scores": scores, "noted": []}))
