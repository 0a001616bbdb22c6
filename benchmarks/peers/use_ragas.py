"""The answers through Ragas, as its user would write it between the two marks."""

import json
import math
import os
import sys
from pathlib import Path

ANSWERS, OUT, JUDGE = sys.argv[1:]
os.environ["RAGAS_DO_NOT_TRACK"] = "true"

# begin
import asyncio

from openai import AsyncOpenAI
from ragas.cache import DiskCacheBackend
from ragas.llms import llm_factory
from ragas.metrics.collections import Faithfulness

rows = [json.loads(line) for line in Path(ANSWERS).open()]
client = AsyncOpenAI(base_url=JUDGE, api_key="none")
llm = llm_factory("gpt-4o-mini", client=client, cache=DiskCacheBackend())
metric = Faithfulness(llm=llm)
places = asyncio.Semaphore(16)


async def scored(row):
    async with places:
        result = await metric.ascore(
            user_input=row["question"], response=row["response"], retrieved_contexts=row["evidence"]
        )
        return result.value


async def everything():
    return await asyncio.gather(*(scored(row) for row in rows), return_exceptions=True)


found = asyncio.run(everything())
scores = {row["id"]: None if isinstance(value, Exception) else value for row, value in zip(rows, found, strict=True)}
# end

numbers = {name: None if value is None or math.isnan(value) else float(value) for name, value in scores.items()}
Path(OUT).write_text(json.dumps({"scores": numbers, "noted": []}))
